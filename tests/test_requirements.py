"""Marks, requirements and gaps agree."""

import re
from pathlib import Path

import pytest

from tests.requirements import GAPS, REQUIREMENTS

_MARK = re.compile(r"requirement\(([^)]*)\)", re.DOTALL)
_ID = re.compile(r'"([A-Z]\d+)"')
_KNOWN = {
    **{f"R{n}": 344 for n in range(1, 345)},
    **{f"F{n:02}": 40 for n in range(1, 41)},
    **{f"T{n:02}": 25 for n in range(1, 26)},
    **{f"S{n}": 25 for n in range(1, 26)},
    **{f"D{n}": 16 for n in range(1, 17)},
    **{f"C{n}": 66 for n in range(1, 67)},
    **{f"G{n}": 66 for n in range(1, 67)},
}


def marks_in(folder: Path) -> set[str]:
    """Every id that a test in a folder carries."""
    found: set[str] = set()
    for file in folder.rglob("test_*.py"):
        if file.name != Path(__file__).name:
            for mark in _MARK.findall(file.read_text("utf-8")):
                found.update(_ID.findall(mark))
    return found


def marked() -> set[str]:
    """Every id that a test carries."""
    return marks_in(Path(__file__).parent)


def test_every_mark_is_an_id() -> None:
    assert sorted(marked() - set(_KNOWN)) == []


def test_every_requirement_has_a_test_or_a_reason() -> None:
    covered = {name for name in marked() if name in REQUIREMENTS}
    missing = set(REQUIREMENTS) - covered - set(GAPS)
    assert sorted(missing, key=lambda name: int(name[1:])) == []


def test_a_gap_that_is_covered_is_no_gap() -> None:
    assert sorted(marked() & set(GAPS)) == []


def test_print_how_many_are_covered(capsys: pytest.CaptureFixture[str]) -> None:
    covered = len({name for name in marked() if name in REQUIREMENTS})
    with capsys.disabled():
        print(f"\nrequirements covered: {covered} of {len(REQUIREMENTS)}, known gaps: {len(GAPS)}")  # noqa: T201
    assert covered + len(GAPS) == len(REQUIREMENTS)

"""Each trap of the formats has a test: conversation-format 9 (`C1` to `C66`) and config-and-tools 8 (`G1` to `G66`)."""

from tests.test_requirements import marked

TRAPS = {f"{document}{number}" for document in "CG" for number in range(1, 67)}

GAPS: dict[str, str] = {}
"""Traps without a test, each with the reason."""


def test_every_trap_has_a_test_or_a_reason() -> None:
    missing = TRAPS - marked() - set(GAPS)
    assert sorted(missing, key=lambda name: (name[0], int(name[1:]))) == []


def test_a_gap_that_is_covered_is_no_gap() -> None:
    assert sorted(marked() & set(GAPS)) == []

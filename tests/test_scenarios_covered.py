"""Each scenario of the specification (query pipeline 11) is played over stdio, against the real server."""

from pathlib import Path

from tests.test_requirements import marks_in

SCENARIOS = {f"S{number}" for number in range(1, 26)}

GAPS: dict[str, str] = {}
"""Scenarios without a test below `tests/e2e`, each with the reason."""


def played() -> set[str]:
    """The scenarios that a test over stdio is marked with."""
    return marks_in(Path(__file__).parent / "e2e") & SCENARIOS


def test_every_scenario_is_played_over_stdio() -> None:
    missing = SCENARIOS - played() - set(GAPS)
    assert sorted(missing, key=lambda name: int(name[1:])) == []


def test_a_gap_that_is_played_is_no_gap() -> None:
    assert sorted(played() & set(GAPS)) == []

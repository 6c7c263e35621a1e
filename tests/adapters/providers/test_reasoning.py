"""The table of efforts, and its translation into tokens and words."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.ports.provider import (
    Adaptive,
    Budgetted,
    Effort,
    EffortLevel,
    Leveled,
    ReasoningWish,
    Unsupported,
)
from jp_lsp.providers.reasoning import (
    is_ignored,
    known_to_disable,
    lowest_level,
    nearest_level,
    resolve,
    to_level,
    to_tokens,
)

BUDGETTED = Budgetted(True, 1024)
ADAPTIVE = Adaptive(True, True, True)


def leveled(*levels: EffortLevel, can_disable: bool = False) -> Leveled:
    return Leveled(can_disable, frozenset(levels))


@pytest.mark.parametrize(
    ("support", "unset", "off", "auto"),
    [
        (None, None, None, "auto"),
        (Unsupported(), None, None, None),
        (BUDGETTED, "medium", None, "medium"),
        (ADAPTIVE, "high", None, "high"),
        (leveled("low", "medium", "high"), "medium", None, "medium"),
        (leveled("low", "high"), "high", None, "high"),
        (leveled("low", "xhigh"), "xhigh", None, "xhigh"),
        (leveled("low", "max"), "low", None, "low"),
        (leveled("max"), "max", None, "max"),
        (leveled("xlow"), "xlow", None, "xlow"),
        (leveled(), "xlow", None, "xlow"),
    ],
)
def test_what_is_asked_for(support: Any, unset: Any, off: Any, auto: Any) -> None:
    wishes: list[ReasoningWish] = [None, "off", "auto"]
    assert [resolve(support, wish) for wish in wishes] == [unset, off, auto]
    wanted = None if isinstance(support, Unsupported) else 2048
    assert resolve(support, Effort(2048)) == wanted
    assert is_ignored(support, Effort("high")) is isinstance(support, Unsupported)
    assert not is_ignored(support, "auto")


@pytest.mark.parametrize(
    ("effort", "tokens"),
    [("none", 0), ("xlow", 99), ("low", 199), ("medium", 499), ("auto", 499), ("high", 799), ("max", 999)],
)
def test_efforts_are_parts_of_the_limit(effort: Any, tokens: int) -> None:
    assert to_tokens(effort, 999) == tokens


def test_a_count_of_tokens_is_itself() -> None:
    assert to_tokens(1024, 10) == 1024


@pytest.mark.parametrize(
    ("count", "level"),
    [(95, "max"), (91, "max"), (90, "xhigh"), (81, "xhigh"), (80, "high"), (51, "high"), (50, "medium"),
     (21, "medium"), (20, "low"), (1, "low"), (0, "low")],
)  # fmt: skip
def test_a_count_has_a_word(count: int, level: str) -> None:
    assert to_level(count, 100) == level


def test_words_stay_words() -> None:
    assert to_level("xlow", None) == "xlow"
    assert to_level(5, None) is None
    assert to_level(5, 0) is None


@given(count=st.integers(0, 10_000), limit=st.integers(1, 10_000))
def test_more_tokens_never_mean_less_effort(count: int, limit: int) -> None:
    order = ["low", "medium", "high", "xhigh", "max"]
    one, more = to_level(count, limit), to_level(count + 1, limit)
    assert one is not None
    assert more is not None
    assert order.index(one) <= order.index(more)


def test_the_least_that_a_model_can_think() -> None:
    assert lowest_level(leveled("low", "high")) == "low"
    assert lowest_level(leveled("high", can_disable=True)) == "none"
    assert lowest_level(BUDGETTED) is None
    assert lowest_level(None) is None


@pytest.mark.parametrize(
    ("support", "known"),
    [(None, False), (Unsupported(), True), (BUDGETTED, True), (Adaptive(False, True, True), False)],
)
def test_which_models_can_surely_do_without(support: Any, known: bool) -> None:
    assert known_to_disable(support) is known


@pytest.mark.parametrize(
    ("levels", "can_disable", "wanted", "nearest"),
    [
        ({"low", "high"}, True, "high", "high"),
        ({"low", "high"}, True, "medium", "low"),
        ({"low", "high"}, True, "max", "high"),
        ({"low", "high"}, True, "xlow", "low"),
        ({"low", "high"}, True, "none", "none"),
        ({"low", "high"}, False, "none", "low"),
        ({"high"}, False, "low", "high"),
        (set(), False, "low", "low"),
    ],
)
def test_the_nearest_level(levels: set[Any], can_disable: bool, wanted: Any, nearest: str) -> None:
    assert nearest_level(Leveled(can_disable, frozenset(levels)), wanted) == nearest

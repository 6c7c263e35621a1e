"""A question as a message with buttons, for clients that know only standard LSP."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import converters, types

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.server.message_request import (
    MESSAGE_LIMIT,
    TITLE_LIMIT,
    OtherLevel,
    UnknownAnswer,
    message_requests,
)
from jp_lsp.tools.decision import Choice, Decision, DecisionId, DecisionKind
from jp_lsp.turn.inputs import Answered, Dismissed
from jp_lsp.turn.interrupt import menu

ID = DecisionId("d1")


def decision(
    *choices: Choice, kind: DecisionKind = "approval", message: str = "Run local tool make?"
) -> Decision:
    return Decision(ID, kind, message, choices)


def numbered(count: int) -> Decision:
    return decision(*(Choice(f"c{i}", f"Choice {i}") for i in range(count)), kind="pick")


def titles(asked: Decision, max_actions: int | None = None) -> list[list[str]]:
    return [[button.title for button in request.buttons] for request in message_requests(asked, max_actions)]


APPROVAL = decision(
    Choice("run", "Run"),
    Choice("run_remember", "Run, remember..."),
    Choice("skip", "Skip"),
    Choice("edit", "Edit"),
)


@pytest.mark.requirement("R328")
def test_params_are_as_the_specification_has_them() -> None:
    [request] = message_requests(decision(Choice("skip", "Skip"), Choice("run", "Run")))
    assert request.params() == {
        "type": 3,
        "message": "Run local tool make?",
        "actions": [{"title": "Skip", "id": "skip"}, {"title": "Run", "id": "run"}],
    }
    params = converters.get_converter().structure(request.params(), types.ShowMessageRequestParams)
    assert params.type is types.MessageType.Info


def test_a_menu_is_a_warning() -> None:
    [request] = message_requests(menu("streaming", ID))
    params = converters.get_converter().structure(request.params(), types.ShowMessageRequestParams)
    assert params.type is types.MessageType.Warning
    assert [action.title for action in params.actions or ()] == [
        "Continue",
        "Reply",
        "Stop",
        "Abort (discard)",
    ]


@pytest.mark.requirement("R330")
def test_the_harmless_button_stands_first() -> None:
    """Emacs fills it in and VS Code focuses it, so that Enter presses it."""
    assert titles(APPROVAL) == [["Skip", "Run", "Run, remember...", "Edit"]]


def test_a_pick_keeps_its_default_in_front() -> None:
    asked = decision(Choice("yes", "Yes (default)"), Choice("no", "No"), kind="pick")
    assert titles(asked) == [["Yes (default)", "No"]]


def test_an_approval_without_a_harmless_button_keeps_its_order() -> None:
    asked = decision(Choice("b", "B"), Choice("a", "A"))
    assert titles(asked) == [["B", "A"]]


@pytest.mark.parametrize(
    ("count", "max_actions", "levels"),
    [
        (3, None, ["0 1 2"]),
        (3, 3, ["0 1 2"]),
        (4, 3, ["0 1 M", "B 2 3"]),
        (5, 3, ["0 1 M", "B 2 M", "B 3 4"]),
        (6, 3, ["0 1 M", "B 2 M", "B 3 M", "B 4 5"]),
        (9, 5, ["0 1 2 3 M", "B 4 5 6 M", "B 7 8"]),
        (4, 1, ["0 1 M", "B 2 3"]),
        (2, 1, ["0 1"]),
    ],
)
def test_buttons_are_put_in_levels(count: int, max_actions: int | None, levels: list[str]) -> None:
    short = {"More...": "M", "Back": "B"} | {f"Choice {i}": str(i) for i in range(count)}
    seen = [" ".join(short[title] for title in level) for level in titles(numbered(count), max_actions)]
    assert seen == levels


@given(count=st.integers(1, 60), max_actions=st.none() | st.integers(1, 12))
def test_every_choice_can_be_reached_from_the_first_level(count: int, max_actions: int | None) -> None:
    asked = numbered(count)
    requests = message_requests(asked, max_actions)
    reached: list[str] = []
    level = 0
    for _ in requests:
        request = requests[level]
        assert len(request.buttons) <= max(3, max_actions or count)
        for button in request.buttons:
            outcome = request.read({"title": button.title})
            if isinstance(outcome, Answered):
                reached.append(str(outcome.choice))
            elif isinstance(outcome, OtherLevel):
                assert outcome.level in {0, request.level + 1}
                level = max(level, outcome.level)
    assert reached == [choice.id for choice in asked.choices]


@pytest.mark.parametrize(
    ("result", "outcome"),
    [
        (None, Dismissed(ID)),
        ({"title": "Run"}, Answered(ID, choice="run")),
        ({"title": "Run", "id": "run"}, Answered(ID, choice="run")),
        ({"title": "Ausführen", "id": "run"}, Answered(ID, choice="run")),
        ({"title": "Run", "id": None}, Answered(ID, choice="run")),
        ({"title": "Run", "id": 3, "window": {}}, Answered(ID, choice="run")),
        ({"title": "More..."}, OtherLevel(1)),
        ({"title": "More...", "id": ":more"}, OtherLevel(1)),
    ],
)
@pytest.mark.requirement("R328", "R330", "S14")
def test_answers_are_understood_by_id_or_title(result: JsonValue, outcome: object) -> None:
    assert message_requests(APPROVAL, 3)[0].read(result) == outcome


def test_back_leads_to_the_first_level() -> None:
    assert message_requests(APPROVAL, 3)[1].read({"title": "Back"}) == OtherLevel(0)


@pytest.mark.requirement("R330")
@pytest.mark.parametrize(
    "result",
    [
        {},
        [],
        "Run",
        1,
        True,
        {"title": "run"},
        {"title": "Edit"},
        {"title": None, "id": None},
        {"id": "edit"},
    ],
)
def test_what_was_not_offered_is_no_answer(result: JsonValue) -> None:
    with pytest.raises(UnknownAnswer):
        message_requests(APPROVAL, 3)[0].read(result)


@pytest.mark.requirement("R342")
@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("Run tool\n  make\t?", "Run tool make ?"),
        ("Run \x1b[31mmake\x1b[0m?", "Run make?"),
        ("Run \x1b]0;owned\x07make?", "Run make?"),
        ("word " * 100, "word " * 39 + "word…"),
        ("x" * 500, "x" * (MESSAGE_LIMIT - 1) + "…"),
    ],
)
def test_the_message_is_one_short_plain_line(message: str, shown: str) -> None:
    [request] = message_requests(decision(Choice("skip", "Skip"), message=message))
    assert request.message == shown
    assert len(request.message) <= MESSAGE_LIMIT


@pytest.mark.parametrize(
    ("given_titles", "max_actions", "shown"),
    [
        (["Yes", "Yes", "No", "Yes"], None, [["Yes", "Yes (2)", "No", "Yes (3)"]]),
        (["Yes", "Yes (2)", "Yes"], None, [["Yes", "Yes (2)", "Yes (3)"]]),
        (["a\x1b[0m", "a"], None, [["a", "a (2)"]]),
        (["", "\x1b[0m"], None, [["c0", "c1"]]),
        (["Back", "More..."], None, [["Back", "More..."]]),
        (["Back", "a", "b", "More..."], 3, [["Back (2)", "a", "More..."], ["Back", "b", "More... (2)"]]),
        (["t" * 90, "t" * 91], None, [["t" * 59 + "…", "t" * 59 + "… (2)"]]),
    ],
)
@pytest.mark.requirement("R342")
def test_titles_are_short_plain_and_unique(
    given_titles: list[str], max_actions: int | None, shown: list[list[str]]
) -> None:
    asked = decision(*(Choice(f"c{i}", title) for i, title in enumerate(given_titles)), kind="pick")
    assert titles(asked, max_actions) == shown


@given(st.lists(st.text(max_size=3), min_size=1, max_size=12), st.none() | st.integers(1, 5))
def test_whatever_the_titles_each_button_answers_for_itself(
    given_titles: list[str], max_actions: int | None
) -> None:
    asked = decision(*(Choice(f"c{i}", title) for i, title in enumerate(given_titles)), kind="pick")
    answers: list[Any] = []
    for request in message_requests(asked, max_actions):
        assert all(0 < len(button.title) <= TITLE_LIMIT + 6 for button in request.buttons)
        outcomes = [request.read({"title": button.title}) for button in request.buttons]
        answers += [outcome.choice for outcome in outcomes if isinstance(outcome, Answered)]
    assert answers == [choice.id for choice in asked.choices]


def test_a_huge_message_costs_little() -> None:
    [request] = message_requests(decision(Choice("skip", "Skip"), message="\x1b[0m" * 1_000_000 + "x"))
    assert request.message == ""


def test_a_question_without_buttons_cannot_be_a_message() -> None:
    """Neovim would stop at an empty list and wait for Enter."""
    with pytest.raises(ValueError, match="has none"):
        message_requests(decision(kind="text"))

"""A model is told of answers that were never finished, in what it is shown and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.conversation.interruption import NOTE
from jp_lsp.conversation.pairing import paired
from jp_lsp.conversation.projection import is_provider_visible, project
from jp_lsp.conversation.sanitize import sanitize
from jp_lsp.conversation.thread import build_thread
from tests.support.streams import (
    Raw,
    answer,
    call,
    compaction,
    delta,
    lines,
    message,
    question,
    reasoning,
    result,
    stream_of,
    turn,
    user,
)

CUT: dict[str, bool] = {"interrupted": True}
DATA: Raw = {"timestamp": "2026-10-05 21:09:27", "type": "chat_response", "data": {"a": 1}}


def seen(*entries: Raw, hint: str | None = None) -> list[str]:
    """What a provider is shown, with the note shortened; the stream itself must stay as it was."""
    stream = stream_of(*entries)
    before = stream.events_text()
    shown = lines([item.event for item in build_thread(stream, hint=hint).events])
    assert stream.events_text() == before
    return [line.replace(f"{NOTE}\n\n", "(note) ") for line in shown]


@pytest.mark.requirement("T03")
@pytest.mark.parametrize(
    ("answered", "is_noted"),
    [
        pytest.param([], True, id="no answer at all"),
        pytest.param([message("half a", metadata=CUT)], True, id="a message that was stopped"),
        pytest.param([reasoning("half a", metadata=CUT)], True, id="a thought that was stopped"),
        pytest.param([message("m"), reasoning("and then")], True, id="a thought and no answer behind it"),
        pytest.param([call("c"), result("c", "1")], True, id="a result that nobody looked at"),
        pytest.param([call("c")], True, id="a call that nobody answered"),
        pytest.param([message("m"), question("q"), answer("q")], False, id="what no provider sees"),
        pytest.param([message("whole")], False, id="a message"),
        pytest.param([reasoning("r"), message("whole")], False, id="a thought and a message"),
        pytest.param([DATA], False, id="a structured value"),
        pytest.param([message("half", metadata=CUT), message(" a whole")], False, id="continued"),
        pytest.param([message("m", metadata={"interrupted": False})], False, id="marked as whole"),
    ],
)
def test_the_request_behind_an_unfinished_turn_begins_with_a_note(
    answered: list[Raw], is_noted: bool
) -> None:
    last = seen(turn(), user("a"), *answered, turn(), delta(), user("b"))[-1]
    assert last == ("user: (note) b" if is_noted else "user: b")


def test_each_interruption_is_told_once_and_stays_told() -> None:
    entries = [
        turn(),
        user("a"),
        message("half", metadata=CUT),
        turn(),
        user("b"),
        message("whole"),
        turn(),
        user("c"),
        user("and c"),
        turn(),
        user("d"),
    ]
    expected = [
        "user: a",
        "message: half",
        "user: (note) b",
        "message: whole",
        "user: c",
        "user: and c",
        "user: (note) d",
    ]
    assert seen(*entries) == expected
    assert seen(*entries[:6]) == expected[:4]


def test_a_turn_of_which_nothing_is_visible_changes_nothing() -> None:
    entries = [turn(), user("a"), turn(), question("q"), answer("q"), turn(), user("b")]
    assert seen(*entries) == ["user: a", "user: (note) b"]


def test_a_summary_is_a_whole_answer() -> None:
    entries = [turn(), user("a"), turn(), user("b"), compaction(0, 0, summary={"summary": "S"})]
    assert seen(*entries)[-1] == "user: b"


def test_note_and_hint_go_together() -> None:
    assert seen(turn(), user("a"), turn(), user("b"), hint="(hint)")[-1] == "user: (note) b\n\n(hint)"


@given(
    st.lists(st.sampled_from([turn(), user("u"), message("m"), message("h", metadata=CUT), reasoning("r")]))
)
def test_the_note_is_all_that_is_added(entries: list[Raw]) -> None:
    stream = stream_of(*entries)
    shown = lines([item.event for item in build_thread(stream).events])
    sanitize(stream)
    items = paired(project(stream.entries))
    assert [line.replace(f"{NOTE}\n\n", "") for line in shown] == lines(
        [item.event for item in items if is_provider_visible(item.event)]
    )
    assert sum(NOTE in line for line in shown) < max(stream.turn_count, 1)

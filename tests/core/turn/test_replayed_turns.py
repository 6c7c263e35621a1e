"""A turn that is asked again, what becomes of drafts, and a query that is only explained."""

import pytest

from jp_lsp.conversation.event import ChatRequest
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.turn import actions
from jp_lsp.turn.explanation import Explanation
from jp_lsp.turn.inputs import Prepared, PreparedTurn, Pressed, ShutdownRequested, Start
from jp_lsp.turn.outcome import Outcome
from jp_lsp.turn.phase import Phase
from jp_lsp.turn.stream_event import MaxTokens
from tests.support.streams import delta, stream_of, turn, user
from tests.support.streams import message as answered
from tests.support.turns import CONVERSATION, Desk, done, failure, message

OLD = ["turn", "user: a", "message: A", "turn", "user: b", "message: B"]


def two_turns() -> ConversationStream:
    return stream_of(turn(), user("a"), answered("A"), turn(), user("b"), answered("B"))


def desk(text: str = "better", number: int = 2, **options: object) -> Desk:
    """A conversation of two turns, one of which is asked again; without a text of its own, as it was."""
    at = Desk(stream=two_turns(), is_new=False, **options)  # type: ignore[arg-type]
    request = ChatRequest(text or "b")
    prepared = PreparedTurn(CONVERSATION, at.stream, request, at._options, replaces=number)
    return at.feed(Start(text), Prepared(prepared))


@pytest.mark.requirement("F35")
@pytest.mark.parametrize(
    ("number", "stored"),
    [
        (2, ["turn", "user: a", "message: A", "turn", "user: better", "message: C"]),
        (1, ["turn", "user: better", "message: C"]),
    ],
)
def test_the_new_turn_takes_the_place_and_the_number_of_the_old(number: int, stored: list[str]) -> None:
    at = desk(number=number).says(message("C"), done())
    assert at.stored == stored
    assert [summary.index for summary in at.result.turns] == [number]
    assert at.saved[0] == "P1"


@pytest.mark.requirement("R344", "S22")
@pytest.mark.parametrize(("text", "drafts"), [("better", ["better"]), ("", [])])
def test_when_the_turn_cannot_be_stored_nothing_was_lost(text: str, drafts: list[str]) -> None:
    at = desk(text, failing_saves=("P1",))
    assert at.stored == OLD
    (refusal,) = [action for action in at.log if isinstance(action, actions.Refuse)]
    assert (refusal.error.code, refusal.draft) == ("persist_failed", drafts[0] if drafts else None)
    assert at.actions_of(actions.KeepDraft) == [actions.KeepDraft(each) for each in drafts]


@pytest.mark.requirement("R344")
@pytest.mark.parametrize(("text", "draft"), [("better", "better"), ("", None)])
def test_abort_brings_the_replaced_turns_back(text: str, draft: str | None) -> None:
    """A draft is only what would be gone otherwise: the old text is in the conversation again."""
    at = desk(text, number=1).says(message("C")).press("abort")
    assert (at.result.outcome, at.result.draft, at.result.text) == (Outcome.ABORTED, draft, "")
    assert at.stored == OLD
    assert at.saved[-1] == "P7"
    (summary,) = at.result.turns
    assert summary.events_from == summary.events_to == len(at.stream)


def test_a_reply_that_cannot_be_stored_does_not_bring_them_back() -> None:
    at = desk().says(message("C"))
    at._failing.add("P1")
    at.press("reply", "and more")
    assert at.stored == ["turn", "user: a", "message: A", "turn", "user: better", "message: C"]
    assert (at.result.outcome, at.result.draft) == (Outcome.FAILED, "and more")


@pytest.mark.requirement("F27")
def test_a_lonely_marker_does_not_shift_the_number() -> None:
    at = Desk(stream=stream_of(turn(), user("a"), answered("A"), turn(), delta(x=1)), is_new=False)
    at.start("again", replaces=2).says(message("C"), done())
    assert at.stored == ["turn", "user: a", "message: A", "turn", "user: again", "message: C"]
    assert at.result.turns[0].index == 2


@pytest.mark.requirement("R344")
@pytest.mark.parametrize(
    ("run", "is_cleared"),
    [
        (lambda at: at.says(message("x"), done()), True),
        (lambda at: at.says(message("x"), done(MaxTokens())), True),
        (lambda at: at.says(message("x")).press("stop"), True),
        (lambda at: at.says(message("x")).press("abort"), False),
        (lambda at: at.says(message("x"), failure("auth")), False),
        (lambda at: at.says(message("x")).feed(Pressed(), Pressed()), False),
    ],
    ids=["completed", "truncated", "stopped", "aborted", "failed", "interrupted"],
)
def test_an_older_draft_goes_when_a_query_succeeds(run: object, is_cleared: bool) -> None:
    at = Desk().start()
    run(at)  # type: ignore[operator]
    kinds = [type(action) for action in at.log]
    assert (actions.ClearDraft in kinds) is is_cleared
    if is_cleared:
        assert kinds.index(actions.ClearDraft) == kinds.index(actions.Finish) - 1


@pytest.mark.requirement("R344")
def test_a_draft_of_this_query_stays() -> None:
    """The reply that could not follow any more is a draft, though the turn itself was stopped in good order."""
    at = Desk(holds_saves=("P7",)).start().says(message("x")).press("reply", "but why")
    at.feed(ShutdownRequested()).report_saved()
    assert at.result.outcome is Outcome.STOPPED
    assert at.result.draft == "but why"
    assert at.actions_of(actions.ClearDraft) == []


EXPLANATION = Explanation("test/big", None, (), (), (), ChatRequest("hi"), "auto", 0, ())


@pytest.mark.parametrize(("is_new", "conversation"), [(True, None), (False, CONVERSATION)])
def test_a_query_that_is_explained_begins_no_turn(is_new: bool, conversation: str | None) -> None:
    at = Desk(is_new=is_new).start("hi", explanation=EXPLANATION)
    assert [type(action) for action in at.log] == [actions.Prepare, actions.Finish]
    result = at.result
    assert (result.outcome, result.turns, result.draft) == (Outcome.COMPLETED, (), None)
    assert (result.explanation, result.is_persisted, result.conversation) == (
        EXPLANATION,
        False,
        conversation,
    )
    assert (at.phase, at.stored) == (Phase.COMPLETE, [])

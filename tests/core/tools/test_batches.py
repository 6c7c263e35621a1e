"""The results of one response of the model fit together, whatever each may have alone."""

import pytest

from jp_lsp.conversation.event import ChatRequest, ConversationEvent, MessageResponse, ToolCallResponse
from jp_lsp.conversation.ids import CallId
from jp_lsp.conversation.thread import Thread, ThreadEvent
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.tools.batches import with_limited_batches

AT = Timestamp(5)


def thread(*texts: str) -> Thread:
    """A thread whose texts of digits are results, each of that size, and whose other texts are messages."""
    kinds = [
        ToolCallResponse(CallId(f"c{at}"), "x" * int(text), is_error=False)
        if text.isdigit()
        else MessageResponse(text)
        for at, text in enumerate(texts)
    ]
    events = [ChatRequest("go"), *kinds]
    return Thread((), (), tuple(ThreadEvent(ConversationEvent(AT, each), "p") for each in events), None, AT)


def sizes(limited: Thread) -> list[int]:
    kinds = [item.event.kind for item in limited.events]
    return [len(kind.content) for kind in kinds if isinstance(kind, ToolCallResponse)]


# The note's number may have a digit less than there was room for, so a byte may be free.
@pytest.mark.requirement("T05", "R119")
@pytest.mark.parametrize(
    ("texts", "left"),
    [
        (["100", "1000", "1000"], [100, 449, 449]),
        (["100", "1000", "say", "1000"], [100, 899, 1000]),
        (["100", "200"], [100, 200]),
        (["say", "2000"], [1000]),
    ],
)
def test_each_batch_has_its_own_budget(texts: list[str], left: list[int]) -> None:
    given = thread(*texts)
    limited = with_limited_batches(given, 1000)
    assert sizes(limited) == left
    assert with_limited_batches(limited, 1000) == limited
    assert [type(item.event.kind) for item in limited.events] == [
        type(item.event.kind) for item in given.events
    ]


def test_what_fits_is_the_same_thread() -> None:
    assert with_limited_batches(thread("100", "say", "200")) == thread("100", "say", "200")

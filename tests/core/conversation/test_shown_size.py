"""How much models are shown of a conversation, which is what a compaction is for."""

import pytest

from jp_lsp.conversation.shown_size import shown_size
from tests.support.streams import (
    Raw,
    answer,
    call,
    compaction,
    delta,
    message,
    question,
    raw,
    reasoning,
    result,
    stream_of,
    turn,
    user,
)


@pytest.mark.requirement("T14")
@pytest.mark.parametrize(
    ("entries", "size"),
    [
        ((), 0),
        ((turn(), delta(), question("c"), answer("c")), 0),
        ((turn(), user("abc"), message("de"), reasoning("f")), 6),
        ((turn(), user("é")), 2),
        ((turn(), user("a"), raw("chat_response", data=[1])), 1 + len("[\n  1\n]")),
        ((turn(), user("a"), call("c", name="read"), result("c", "b2s=")), 1 + len("read{}") + len("ok")),
        ((turn(), user("a" * 99), compaction(0, 0, summary={"summary": "b"})), 34 + len("b")),
        ((turn(), user("a"), reasoning("bcd"), compaction(0, 0, reasoning="strip")), 1),
    ],
)
def test_text_that_a_model_is_shown_is_counted(entries: tuple[Raw, ...], size: int) -> None:
    """A summary brings a request of its own, of 34 bytes."""
    assert shown_size(stream_of(*entries)) == size

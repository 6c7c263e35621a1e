"""A copy of a conversation's stream that goes on by itself (conversation format 7.4).

Everything is appended as it is: ids, texts of entries, changes of settings, compactions, and what we do not
know. The source is only read.
"""

from jp_lsp.conversation.retain import keep_last
from jp_lsp.conversation.sanitize import sanitize
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp


def fork(
    source: ConversationStream, *, created_at: Timestamp, keep_turns: int | None = None
) -> ConversationStream:
    """Copy a stream, repaired.

    Args:
        source: what is copied.
        created_at: when the copy was made, as its id says.
        keep_turns: keep only so many of the last turns; with 0 only the settings, with `None` all.
    """
    copy = source.copy(created_at=created_at)
    sanitize(copy)  # first, so that a turn that was opened and got nothing does not count as one (F27)
    if keep_turns is not None:
        keep_last(copy, keep_turns)
        sanitize(copy)
    return copy

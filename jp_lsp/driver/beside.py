"""Work that grows with a conversation, done beside the event loop where the conversation is long.

While something is computed on the loop, no press is handled and nothing is answered, of no conversation. Most
conversations are short, and a worker thread would take longer for them than the work itself; so only what is
made of many entries goes there. What is handed over is never changed meanwhile: whoever calls this hands over a
copy (`ConversationStream.copy`, which costs next to nothing).
"""

from collections.abc import Callable
from typing import TypeVar

from anyio import to_thread

from jp_lsp.collecting import without_collecting
from jp_lsp.conversation.sanitize import sanitize
from jp_lsp.conversation.stream import ConversationStream

LONG = 500
"""So many entries are worth a worker thread: a few milliseconds of work."""

Result = TypeVar("Result")


async def beside_when_long(count: int, work: Callable[[], Result]) -> Result:
    """Do the work, and give what it gives; cancelled, nobody waits for it any longer.

    Args:
        count: how many entries or events the work goes through.
        work: touches nothing that others change.
    """
    if count <= LONG:
        return work()
    return await to_thread.run_sync(_without_collecting, work, abandon_on_cancel=True)


def _without_collecting(work: Callable[[], Result]) -> Result:
    with without_collecting():
        return work()


async def look_through(stream: ConversationStream) -> None:
    """Find out that a long conversation needs no repair, so that the core need not find it out on the loop.

    One that does need repair, which is rare, is left as it is: repairing it is the turn's business.
    """
    if len(stream) <= LONG:
        return
    copy = stream.copy()
    if not await beside_when_long(len(copy), lambda: sanitize(copy)):
        stream.note_sound()

"""A process that saves one conversation again and again until it is killed.

Arguments: the scratch folder of a `Place`, how many saves to make at most, and whether titles alternate. It
prints a line when the first save is durable, and then the number of entries of each durable save.
"""

import sys
from pathlib import Path

import anyio

from jp_lsp.conversation.event import ChatRequest, ConversationEvent, MessageResponse, TurnStart
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.workspace.open_conversation import DiskConversation
from jp_lsp.workspace.paths import open_roots
from jp_lsp.workspace.store import DiskStore
from tests.support.streams import at
from tests.support.workspaces import ID, START


class MovingClock:
    """Wall time that is a minute later each time, so that every save writes the metadata too."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> Timestamp:
        self.time = Timestamp(self.time.nanoseconds + 60_000_000_000)
        return self.time


async def save_in_a_loop(folder: Path, count: int, *, renames: bool) -> None:
    store = DiskStore(open_roots(folder / "project", folder / "data", START), now=MovingClock())
    conversation = await store.open(ID)
    assert isinstance(conversation, DiskConversation)
    stream = conversation.stream
    stream.append(ConversationEvent(at(0), TurnStart()))
    stream.append(ConversationEvent(at(0), ChatRequest("hi")))
    for number in range(count):
        stream.append(ConversationEvent(at(1), MessageResponse(f"text {number} " * 500)))
        if renames:
            conversation.set_title(f"title {number % 2}")
        await conversation.save()
        print(len(stream), flush=True)  # noqa: T201  # the parent reads it
    await conversation.release()


if __name__ == "__main__":
    anyio.run(lambda: save_in_a_loop(Path(sys.argv[1]), int(sys.argv[2]), renames=sys.argv[3] == "renames"))

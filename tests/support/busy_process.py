"""A process that does all kinds of things to one conversation, while others do the same.

Arguments: the scratch folder of a `Place`, the conversation, a name, and how many turns to store. It prints the
text of each turn that it has stored. What is refused, because somebody has the conversation or it is not where it was, is
passed over.
"""

import random
import sys
from pathlib import Path

import anyio

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.ports.refusal import Refusal
from tests.support.conversation_model import (
    Archive,
    Compact,
    Label,
    Move,
    Operation,
    Pin,
    Process,
    Remove,
    Restore,
    Title,
    Turn,
    Unarchive,
)
from tests.support.workspaces import Place

MOST_ROUNDS = 100_000


async def go_on(place: Place, one: ConversationId, name: str, turns: int) -> None:
    process, chance = Process(place), random.Random(name)
    for number in range(MOST_ROUNDS):
        turn = Turn(one, f"{name} {number}")
        operations: list[Operation] = [
            turn,
            Title(one, f"title {number % 3}"),
            Label(one, name, str(number)),
            Pin(one, is_pinned=number % 2 == 0),
            Compact(one, "short"),
            Archive(one),
            Unarchive(one),
            Remove(one),
            Restore(one),
            Move(one, is_local=number % 2 == 0),
        ]
        operation = chance.choice([turn, turn, *operations])
        try:
            await operation.run(process)
        except Refusal:
            continue
        if operation is turn:
            print(turn.text, flush=True)  # noqa: T201  # the parent reads it
            turns -= 1
        if turns == 0:
            return
    raise TimeoutError("the others never let go")


if __name__ == "__main__":
    folder, conversation, own_name, count = sys.argv[1:]
    anyio.run(go_on, Place(Path(folder)), ConversationId(conversation), own_name, int(count))

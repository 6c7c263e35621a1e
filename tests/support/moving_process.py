"""A process that does something to one conversation again and again until it is killed.

Arguments: the scratch folder of a `Place`, and what to do. It prints a line after each round.
"""

import sys
from pathlib import Path

import anyio

from jp_lsp.conversation import amend
from jp_lsp.conversation.metadata_edit import ChangeLabels, SetPin, SetTitle
from jp_lsp.workspace.listing import Listing
from jp_lsp.workspace.operations import DiskOperations
from jp_lsp.workspace.paths import open_roots
from jp_lsp.workspace.store import DiskStore
from tests.support.workspaces import ID, START

ROUNDS = 100_000


async def go_on(folder: Path, what: str) -> None:
    roots = open_roots(folder / "project", folder / "data", START)
    shelf = DiskOperations(roots, Listing(roots), now=lambda: START)
    store = DiskStore(roots, now=lambda: START)
    for number in range(ROUNDS):
        match what:
            case "title":
                await shelf.edit(ID, [SetTitle(f"title {number % 2}")])
            case "labels":
                await shelf.edit(ID, [ChangeLabels({"round": str(number)}), SetPin(START)])
            case "archive":
                await shelf.archive(ID)
                await shelf.unarchive(ID)
            case "move":
                await shelf.relocate(ID, is_local=True)
                await shelf.relocate(ID, is_local=False)
            case "remove":
                await shelf.remove(ID)
                await shelf.restore(ID)
            case "amend":
                opened = await store.open(ID)
                assert opened is not None
                amend.set_request(opened.stream, 0, f"text {number % 2}")
                await opened.save()
                await opened.release()
            case "fork":
                fork = await store.fork(ID, keep_turns=None, persist=True)
                await fork.save()
                await fork.release()
                await shelf.remove(fork.id)
            case _:
                raise ValueError(what)
        print(number, flush=True)  # noqa: T201  # the parent reads it


if __name__ == "__main__":
    anyio.run(lambda: go_on(Path(sys.argv[1]), sys.argv[2]))

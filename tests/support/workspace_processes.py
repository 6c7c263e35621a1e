"""Processes that do something to the conversations of a workspace, and a look at what is there then."""

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

import anyio

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.labels import Labels
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.upkeep import ConversationFacts
from jp_lsp.workspace.folders import EVENTS, METADATA
from jp_lsp.workspace.metadata import Metadata
from tests.support.conversation_model import Kept, Operation, Process, World
from tests.support.workspaces import Place


class Outcome:
    """What came of an operation: whether it was done, and the id of what it made."""

    def __init__(self) -> None:
        self.is_done = False
        self.made: ConversationId | None = None
        self.refused: str | None = None

    def perform(self, operation: Operation, process: Process) -> None:
        """Run an operation to its end, as a process of its own would: in a thread with a loop of its own."""
        problems: list[BaseException] = []

        def work() -> None:
            try:
                self.made = anyio.run(operation.run, process)
                self.is_done = True
            except Refusal as refusal:
                self.refused = refusal.error.code
            except BaseException as problem:
                problems.append(problem)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        for problem in problems:
            raise problem


def look(place: Place) -> World:
    """Find all conversations, as a process that was started just now does."""
    return anyio.run(_look, Process(place))


def check_files(folder: Path) -> None:
    """Every file is whole."""
    for path in folder.rglob("*.json"):
        if "locks" not in path.parts:
            json.loads(path.read_text(encoding="utf-8"))


async def _look(process: Process) -> World:
    found: dict[ConversationId, Kept] = {}
    for removed in await process.shelf.trashed():
        found[removed.id] = _in_the_trash(removed.folders)
    for is_archived in (True, False):
        for facts in await process.shelf.list(is_archived=is_archived):
            if facts.problem is None:
                found[facts.id] = await _kept(process, facts)
            else:
                assert facts.problem == "metadata.json is missing", "only what was never whole cannot be read"
    return found


async def _kept(process: Process, facts: ConversationFacts) -> Kept:
    stream = (await process.store.copy(facts.id)).stream
    return Kept(
        "archived" if facts.is_archived else "live",
        title=facts.title,
        labels=_pairs(facts.labels),
        is_pinned=facts.pinned_at is not None,
        is_local=facts.presence == "user_local",
    ).holding(json.loads(stream.events_text()))


def _in_the_trash(uris: Sequence[str]) -> Kept:
    """What is in the trash is read as files: nobody loads it from there. The newer copy counts, as for readers."""
    folders = [Path(unquote(urlsplit(uri).path)) for uri in uris]
    metadata = Metadata.parse(_newest(folders, METADATA).read_text(encoding="utf-8"))
    return Kept(
        "trash",
        title=metadata.title,
        labels=_pairs(metadata.labels),
        is_pinned=metadata.pinned_at is not None,
        is_local=not any(".jp" in folder.parts for folder in folders),
    ).holding(json.loads(_newest(folders, EVENTS).read_text(encoding="utf-8")))


def _newest(folders: Sequence[Path], name: str) -> Path:
    """A crash may leave one of the copies without the file."""
    paths = [folder / name for folder in reversed(folders) if (folder / name).exists()]
    return max(paths, key=lambda path: path.stat().st_mtime_ns)


def _pairs(labels: Labels) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((key, value) for key, values in labels.items() for value in values))

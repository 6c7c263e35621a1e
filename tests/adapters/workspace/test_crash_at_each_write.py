"""Each operation on conversations is cut off before each of its writes, one after the other.

What is found then is what was there before or what was wanted, all of it; and the conversation can be gone on
with as if nothing had been.
"""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jp_lsp.conversation.ids import ConversationId
from tests.support.conversation_model import (
    Archive,
    Compact,
    EditRequest,
    Fork,
    Label,
    Move,
    New,
    Operation,
    Process,
    Remove,
    RemoveTurn,
    Restore,
    Title,
    Turn,
    Unarchive,
    World,
)
from tests.support.file_calls import Crash, crash, watched
from tests.support.workspace_processes import Outcome, check_files, look
from tests.support.workspaces import Place

MOST_WRITES = 40
"""More than any operation has."""

LIVE: dict[str, Callable[[ConversationId], Operation]] = {
    "a new title": lambda one: Title(one, "two words"),
    "no title": lambda one: Title(one, None),
    "a label": lambda one: Label(one, "k", "v"),
    "a turn": lambda one: Turn(one, "more"),
    "another text": lambda one: EditRequest(one, "other"),
    "a turn less": RemoveTurn,
    "a compaction": lambda one: Compact(one, "short"),
    "archiving": Archive,
    "removal": Remove,
    "for the user alone": lambda one: Move(one, is_local=True),
    "for all": lambda one: Move(one, is_local=False),
    "a copy": Fork,
    "a new one": lambda one: New(is_local=False),
}
ELSEWHERE: dict[str, Callable[[ConversationId], Operation]] = {"archived": Unarchive, "removed": Restore}
_LIKE_OTHERS = ("a new title", "no title", "another text", "a turn less", "a compaction", "a new one")
"""Operations that make the same writes as another one, or do not depend on the place."""

CASES = [
    *(("projected", what) for what in LIVE),
    *((kind, what) for kind in ("external", "local") for what in LIVE if what not in _LIKE_OTHERS),
    *(("archived", what) for what in ("archived", "a copy")),
    ("removed", "removed"),
]


class Prepared:
    """A workspace with one conversation, to be copied for each try."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.folder = folder
        place = Place(folder / "first")
        outcome = Outcome()
        outcome.perform(New(is_local=kind == "local"), Process(place))
        assert outcome.made is not None
        self.one = outcome.made
        steps: list[Operation] = [Title(self.one, "one"), Turn(self.one, "a"), Turn(self.one, "b")]
        for step in (*steps, *(_there(kind, self.one))):
            Outcome().perform(step, Process(place))
        if kind == "external":
            shutil.rmtree(place.silo / "conversations")
        self.world = look(place)

    def tries(self) -> Iterator[tuple[int, Place]]:
        """Give the number of a write, and a workspace that nothing was done to."""
        for number in range(1, MOST_WRITES):
            folder = self.folder / str(number)
            shutil.copytree(self.folder / "first", folder, symlinks=True)
            yield number, Place(folder)
            shutil.rmtree(folder)


def _there(kind: str, one: ConversationId) -> list[Operation]:
    match kind:
        case "archived":
            return [Archive(one)]
        case "removed":
            return [Remove(one)]
        case _:
            return []


def go_on(place: Place, world: World, *steps: Operation) -> None:
    """Do things one after the other, and compare what is there in the end."""
    process = Process(place)
    for step in steps:
        outcome = Outcome()
        outcome.perform(step, process)
        assert outcome.refused is None
        after = step.apply(world, outcome.made)
        assert after is not None
        world = after
    assert look(place) == world


@pytest.mark.requirement("R289", "S11", "F28")
@pytest.mark.parametrize(("kind", "what"), CASES)
def test_a_process_that_ends_before_a_write(tmp_path: Path, kind: str, what: str) -> None:
    prepared = Prepared(tmp_path, kind)
    one = prepared.one
    operation = {**LIVE, **ELSEWHERE}[what](one)
    for number, place in prepared.tries():
        process = Process(place)
        outcome = Outcome()
        try:
            with watched(place.folder.parent, number, crash):
                outcome.perform(operation, process)
        except Crash:
            found = look(place)
            made = next(iter(found.keys() - prepared.world.keys()), None)
            assert found in (prepared.world, operation.apply(prepared.world, made)), f"before write {number}"
            check_files(place.folder.parent)
            shelf = found[one].shelf
            back = [] if shelf == "live" else [Unarchive(one) if shelf == "archived" else Restore(one)]
            steps = (Remove(one), Restore(one), Turn(one, "later"), Archive(one), Unarchive(one))
            go_on(place, found, *back, *steps)
        else:
            assert outcome.is_done
            assert number > 1, "it writes something"
            return
    pytest.fail(f"more than {MOST_WRITES} writes")

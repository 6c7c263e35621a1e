"""Any operations on conversations, with crashes at any write and a second process in between.

A plain model says what is to be kept. After each step everything on disk is compared with it: no entry is
lost, every file is whole, and what was removed or archived comes back exactly.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import anyio
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.workspace.atomic import TEMPORARY_SUFFIX
from tests.support.conversation_model import (
    Archive,
    Compact,
    EditRequest,
    Fork,
    Label,
    Move,
    New,
    Operation,
    Pin,
    Process,
    Remove,
    RemoveTurn,
    Reset,
    Restore,
    Title,
    Turn,
    Unarchive,
    World,
)
from tests.support.file_calls import Crash, crash, watched
from tests.support.workspace_processes import Outcome, check_files, look
from tests.support.workspaces import Place

MOST_CONVERSATIONS = 4

titles = st.sampled_from([None, "", "one", "two words", "Ünï"])
texts = st.sampled_from(["a", "b", "long " * 200])
OF_ONE: list[Callable[[ConversationId], st.SearchStrategy[Operation]]] = [
    lambda one: st.builds(Title, st.just(one), titles),
    lambda one: st.builds(Label, st.just(one), st.sampled_from(["k", "l"]), st.sampled_from(["", "v"])),
    lambda one: st.builds(Pin, st.just(one), st.booleans()),
    lambda one: st.builds(Turn, st.just(one), texts),
    lambda one: st.builds(EditRequest, st.just(one), texts),
    lambda one: st.just(RemoveTurn(one)),
    lambda one: st.builds(Compact, st.just(one), st.sampled_from(["s", "t"])),
    lambda one: st.just(Reset(one)),
    lambda one: st.just(Archive(one)),
    lambda one: st.just(Unarchive(one)),
    lambda one: st.just(Remove(one)),
    lambda one: st.just(Restore(one)),
    lambda one: st.builds(Move, st.just(one), st.booleans()),
    lambda one: st.builds(Fork, st.just(one), st.booleans()),
]


class Operations(RuleBasedStateMachine):
    """Two processes and one workspace."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.place = Place(self.folder)
        self.world: World = {}
        self.cut_off: set[ConversationId] = set()
        self.processes = [Process(self.place), Process(self.place)]

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    @initialize(is_local=st.booleans())
    def begin(self, is_local: bool) -> None:
        self.perform(New(is_local=is_local))
        self.perform(Turn(next(iter(self.world)), "first"))

    @rule(data=st.data(), process=st.integers(0, 1))
    def one_after_the_other(self, data: st.DataObject, process: int) -> None:
        self.perform(data.draw(self.operations()), process)

    @rule(data=st.data(), number=st.integers(1, 24))
    def dies(self, data: st.DataObject, number: int) -> None:
        """The process ends before one of its writes; whoever comes next finds what was there before, or after."""
        operation = data.draw(self.operations())
        self.place.clock.advance(1)
        outcome = Outcome()
        try:
            with watched(self.folder, number, crash):
                outcome.perform(operation, self.processes[0])
        except Crash:
            self.processes[0] = Process(self.place)
            if isinstance(operation, Archive | Unarchive):
                self.cut_off.add(operation.conversation)
            found = look(self.place)
            new = next(iter(found.keys() - self.world.keys()), None)
            afterwards = operation.apply(self.world, new)
            self.settle(found, [self.world, *([] if afterwards is None else [afterwards])], operation)
        else:
            self.check_alone(operation, outcome)

    @rule(data=st.data(), number=st.integers(1, 8))
    def another_acts_in_between(self, data: st.DataObject, number: int) -> None:
        """The second process does something whole before one of the writes of the first."""
        first, second = data.draw(self.operations()), data.draw(self.operations())
        self.place.clock.advance(1)
        ours, theirs = Outcome(), Outcome()
        with watched(self.folder, number, lambda: theirs.perform(second, self.processes[1])):
            ours.perform(first, self.processes[0])
        done = [
            (operation, outcome)
            for operation, outcome in ((first, ours), (second, theirs))
            if outcome.is_done
        ]
        self.settle(look(self.place), list(_in_any_order(self.world, done)), (first, second, number))

    @rule(data=st.data())
    def removal_undone_is_exact(self, data: st.DataObject) -> None:
        self.undo_is_exact(data.draw(self.live()), Remove, Restore)

    @rule(data=st.data())
    def archiving_undone_is_exact(self, data: st.DataObject) -> None:
        one = data.draw(self.live())
        if one is not None:
            # An archiving that a crash cut off has left its mark, which goes with the first undo.
            self.perform(Archive(one))
            self.perform(Unarchive(one))
        self.undo_is_exact(one, Archive, Unarchive)

    def undo_is_exact(
        self,
        one: ConversationId | None,
        do: Callable[[ConversationId], Operation],
        undo: Callable[[ConversationId], Operation],
    ) -> None:
        if one is None:
            return
        self.perform(Pin(one, is_pinned=False))  # brings the copies of a crash together
        for folder in self.folders_of(one):
            (folder / "notes.txt").write_text("mine", encoding="utf-8")
        before = self.files_of(one)
        self.perform(do(one))
        self.perform(undo(one))
        assert self.files_of(one) == before

    @invariant()
    def every_file_is_whole(self) -> None:
        check_files(self.folder)

    @invariant()
    def nobody_is_kept_out(self) -> None:
        held = anyio.run(self.processes[0].shelf.held)
        assert held == set()

    def perform(self, operation: Operation, process: int = 0) -> None:
        self.place.clock.advance(1)
        outcome = Outcome()
        outcome.perform(operation, self.processes[process])
        self.check_alone(operation, outcome)

    def check_alone(self, operation: Operation, outcome: Outcome) -> None:
        afterwards = operation.apply(self.world, outcome.made)
        # What was cut off on its way to the archive or back can be brought back, though it is in the list still.
        may_finish = isinstance(operation, Unarchive) and operation.conversation in self.cut_off
        assert outcome.is_done == (afterwards is not None) or may_finish, (operation, outcome.refused)
        self.settle(look(self.place), [self.world if afterwards is None else afterwards], operation)

    def settle(self, found: World, allowed: list[World], what: object) -> None:
        """Compare what is there with what may be there, and go on with it."""
        assert found in allowed, (what, found, allowed)
        self.world = found

    def operations(self) -> st.SearchStrategy[Operation]:
        known = sorted(self.world)
        kinds = [build(one) for one in known for build in OF_ONE]
        if len(known) >= MOST_CONVERSATIONS:
            return st.one_of(kinds).filter(lambda operation: not isinstance(operation, Fork))
        return st.one_of([*kinds, st.builds(New, is_local=st.booleans())])

    def live(self) -> st.SearchStrategy[ConversationId | None]:
        return st.sampled_from(
            [one for one, kept in sorted(self.world.items()) if kept.shelf == "live"] or [None]
        )

    def folders_of(self, one: ConversationId) -> list[Path]:
        number = one.removeprefix("jp-c")
        roots = (self.place.silo, self.place.storage)
        return [folder for root in roots for folder in (root / "conversations").glob(f"{number}*")]

    def files_of(self, one: ConversationId) -> Mapping[Path, bytes]:
        """All files of a conversation that is live, by where they are."""
        paths = [path for folder in self.folders_of(one) for path in folder.iterdir()]
        return {path: path.read_bytes() for path in paths if path.suffix != TEMPORARY_SUFFIX}


def _in_any_order(world: World, done: list[tuple[Operation, Outcome]]) -> Iterator[World]:
    for order in (done, done[::-1]):
        after: World | None = world
        for operation, outcome in order:
            after = None if after is None else operation.apply(after, outcome.made)
        if after is not None:
            yield after


@pytest.mark.requirement("R289", "S11", "T24")
class TestOperations(Operations.TestCase):  # type: ignore[name-defined,misc]
    settings = settings(max_examples=settings().max_examples // 2, stateful_step_count=15)

"""The first opening of a workspace: its conversations are copied beside everything else that goes on."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from anyio import CancelScope, from_thread, to_thread

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.metadata_edit import SetTitle
from jp_lsp.workspace.first_run import copy_conversations, is_unfinished
from jp_lsp.workspace.listing import Listing
from jp_lsp.workspace.lock import acquire, lock_path
from jp_lsp.workspace.operations import DiskOperations
from jp_lsp.workspace.paths import FIRST_RUN, Roots, open_roots
from jp_lsp.workspace.store import DiskStore
from tests.support.streams import message, turn, user
from tests.support.workspaces import START, Place, fill, make_old, states, tree

pytestmark = pytest.mark.anyio

FIRST, SECOND, THIRD = (ConversationId(f"jp-c1791234567{number}") for number in range(3))


@pytest.fixture
def roots(place: Place) -> Roots:
    """A workspace with three conversations, one of them archived, which was just opened for the first time."""
    for conversation in (FIRST, SECOND):
        make_old(fill(place.storage, f"{conversation[4:]}-x", turn(), user("hi"), message("hello")), 500)
    archive = place.storage / "conversations" / ".archive"
    archive.mkdir()
    fill(place.storage / "scratch", f"{THIRD[4:]}-x", turn()).rename(archive / f"{THIRD[4:]}-x")
    return open_roots(place.folder, place.user_data, START)


def copied(roots: Roots) -> list[ConversationId]:
    """What the user's folder has, live and archived."""
    assert roots.silo is not None
    return sorted(
        [*roots.silo.conversation_folders(), *roots.silo.conversation_folders(is_archived=True)],
    )


def at_look(number: int, work: Callable[[], None]) -> Callable[[], None]:
    """Do something at a certain moment of the copying: before the conversation of that number is copied."""
    moments = iter(range(1000))

    def check() -> None:
        if next(moments) == number:
            work()

    return check


@pytest.mark.requirement("R280", "C56")
async def test_until_it_is_copied_a_conversation_is_read_where_it_is(roots: Roots) -> None:
    assert (is_unfinished(roots), copied(roots)) == (True, [])
    store = DiskStore(roots, now=lambda: START)
    assert [(each.id, each.presence) for each in await store.summaries()] == [
        (FIRST, "external"),
        (SECOND, "external"),
    ]
    assert len((await store.copy(FIRST)).stream) == 3
    copy_conversations(roots, START)
    assert (is_unfinished(roots), copied(roots)) == (False, [FIRST, SECOND, THIRD])
    assert {each.presence for each in await store.summaries()} == {"projected"}


def test_a_copy_is_exact(roots: Roots) -> None:
    copy_conversations(roots, START)
    assert roots.silo is not None
    for conversation in (FIRST, SECOND):
        name = f"{conversation[4:]}-x"
        one, other = (
            {path: (time, data) for path, (time, _, data) in states(root.conversations / name).items()}
            for root in roots.in_reading_order
        )
        assert one == other
    assert not any("lock" in path or FIRST_RUN in path for path in tree(roots.silo.path))


class _CutOff(Exception):
    """The server ends."""


def _end() -> None:
    raise _CutOff


@pytest.mark.parametrize("number", range(3))
def test_what_was_cut_off_is_taken_up_again(roots: Roots, number: int) -> None:
    with pytest.raises(_CutOff):
        copy_conversations(roots, START, at_look(number, _end))
    assert is_unfinished(roots)
    copy_conversations(roots, START)
    assert (is_unfinished(roots), copied(roots)) == (False, [FIRST, SECOND, THIRD])


async def test_the_end_of_the_server_cuts_it_off(roots: Roots) -> None:
    with CancelScope() as scope:

        def check() -> None:
            from_thread.run_sync(scope.cancel)
            from_thread.check_cancelled()

        await to_thread.run_sync(copy_conversations, roots, START, check)
    assert scope.cancelled_caught
    assert (is_unfinished(roots), copied(roots)) == (True, [])
    copy_conversations(roots, START)
    assert copied(roots) == [FIRST, SECOND, THIRD]


async def test_what_is_written_meanwhile_stays(roots: Roots) -> None:
    """The write brings a copy of its own along; the one that was just made is dropped."""
    shelf = DiskOperations(roots, Listing(roots), now=lambda: START)

    def write() -> None:
        from_thread.run(shelf.edit, FIRST, [SetTitle("New")])

    await to_thread.run_sync(copy_conversations, roots, START, at_look(1, write))
    assert roots.silo is not None
    assert sorted(roots.silo.conversation_folders().values()) == [f"{FIRST[4:]}-new", f"{SECOND[4:]}-x"]


@pytest.mark.parametrize("moment", [0, 1])
async def test_what_is_changed_meanwhile_is_not_copied_half(roots: Roots, moment: int) -> None:
    """Changed before its copy is made it is copied as it is then; changed behind it, its next write does that."""
    events = roots.workspace.conversations / f"{FIRST[4:]}-x" / "events.json"

    def change() -> None:
        events.write_text("[]\n", encoding="utf-8")

    copy_conversations(roots, START, at_look(moment, change))
    assert (FIRST in copied(roots)) is (moment == 0)
    shelf = DiskOperations(roots, Listing(roots), now=lambda: START)
    assert (await shelf.edit(FIRST, [SetTitle("T")])).presence == "projected"
    assert roots.silo is not None
    assert (roots.silo.conversations / f"{FIRST[4:]}-t" / "events.json").read_text("utf-8") == "[]\n"


def test_what_somebody_holds_is_left_to_its_holder(roots: Roots) -> None:
    lock = acquire(lock_path(roots, FIRST), START)
    assert lock is not None
    copy_conversations(roots, START)
    lock.release()
    assert copied(roots) == [SECOND, THIRD]
    assert not is_unfinished(roots)


def test_two_processes_do_it_once(roots: Roots) -> None:
    found: list[list[ConversationId]] = []

    def second() -> None:
        assert not copy_conversations(roots, START)
        found.append(copied(roots))

    assert copy_conversations(roots, START, at_look(1, second))
    assert (found, copied(roots)) == ([[]], [FIRST, SECOND, THIRD])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")
def test_what_cannot_be_copied_stays_in_the_workspace_alone(
    roots: Roots, caplog: pytest.LogCaptureFixture
) -> None:
    os.mkfifo(roots.workspace.conversations / f"{FIRST[4:]}-x" / "pipe")
    copy_conversations(roots, START)
    assert (is_unfinished(roots), copied(roots)) == (False, [SECOND, THIRD])
    assert "no copy of 1 of the workspace's conversations" in caplog.text


def test_a_workspace_without_conversations_has_nothing_to_copy(place: Place) -> None:
    roots = open_roots(place.folder, place.user_data, START)
    assert not is_unfinished(roots)
    alone = Roots(roots.workspace, None)
    copy_conversations(alone, START)
    assert not is_unfinished(alone)
    assert Path(place.storage / "conversations").exists() is False

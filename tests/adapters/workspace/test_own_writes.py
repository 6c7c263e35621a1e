"""Which changes of a conversation's files are our own is seen by the files, however soon somebody else comes."""

import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import pytest

from jp_lsp.conversation.event import ConversationEvent, MessageResponse
from jp_lsp.conversation.metadata_edit import SetTitle
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.upkeep import Mark
from jp_lsp.workspace.folders import BASE_CONFIG, EVENTS, MANAGED, METADATA
from jp_lsp.workspace.listing import Listing
from jp_lsp.workspace.operations import DiskOperations
from jp_lsp.workspace.paths import Roots
from jp_lsp.workspace.store import DiskStore
from tests.support.streams import Raw, turn, user
from tests.support.workspaces import ID, Place, fill

pytestmark = pytest.mark.anyio


class Scene:
    """A workspace with one conversation, and the two ways in which this program changes it."""

    def __init__(self, folder: Path) -> None:
        self.place = Place(folder)
        metadata: Raw = {"title": "old", "last_activated_at": "2026-10-05 21:09:27.8"}
        fill(self.place.storage, f"{ID[4:]}-old", turn(), user("hi"), metadata=metadata)
        self.roots: Roots = self.place.open()
        self.store = DiskStore(self.roots, now=self.place.clock)
        self.shelf = DiskOperations(self.roots, Listing(self.roots), now=self.place.clock)

    async def mark(self) -> Mark | None:
        return (await self.shelf.marks()).get(ID)

    async def save_answer(self) -> None:
        conversation = await self.store.open(ID)
        assert conversation is not None
        conversation.stream.append(ConversationEvent(Timestamp(0), MessageResponse("Hello.")))
        await conversation.save()
        await conversation.release()

    async def give_title(self) -> None:
        await self.shelf.edit(ID, [SetTitle("new")])

    async def archive(self) -> None:
        await self.shelf.archive(ID)

    async def archive_and_back(self) -> None:
        await self.shelf.archive(ID)
        await self.shelf.unarchive(ID)

    async def remove_and_restore(self) -> None:
        await self.shelf.remove(ID)
        await self.shelf.restore(ID)

    async def keep_for_the_user(self) -> None:
        await self.shelf.relocate(ID, is_local=True)

    async def share_again(self) -> None:
        await self.shelf.relocate(ID, is_local=True)
        await self.shelf.relocate(ID, is_local=False)

    def files(self) -> list[Path]:
        """The files of the conversation, wherever it is."""
        return [
            folder / name
            for root in self.roots.in_reading_order
            for is_archived in (False, True)
            for folder in root.folders_of(ID, is_archived=is_archived)
            for name in MANAGED
        ]


WORKS: Mapping[str, Callable[[Scene], Awaitable[None]]] = {
    "a save": Scene.save_answer,
    "a title": Scene.give_title,
    "archived": Scene.archive,
    "archived and back": Scene.archive_and_back,
    "removed and restored": Scene.remove_and_restore,
    "kept for the user": Scene.keep_for_the_user,
    "shared again": Scene.share_again,
}


@pytest.mark.requirement("R281")
@pytest.mark.parametrize("work", WORKS)
async def test_what_we_wrote_is_ours_and_what_came_right_after_is_not(work: str, tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    before = await scene.mark()
    await WORKS[work](scene)
    after = await scene.mark()
    assert after is not None
    assert scene.shelf.is_own(ID, before, after)
    for file in scene.files():
        replace(file)
        theirs = await scene.mark()
        assert theirs is not None
        assert not scene.shelf.is_own(ID, before, theirs), (
            f"{file.name} is another file of the same size and time"
        )
        before = theirs


def replace(file: Path) -> None:
    """Put another file in place of one, with the same bytes and times: what git or an editor may do."""
    status = file.stat()
    fresh = file.with_suffix(".fresh")
    fresh.write_bytes(file.read_bytes())
    os.utime(fresh, ns=(status.st_atime_ns, status.st_mtime_ns))
    fresh.replace(file)


@pytest.mark.requirement("R281")
@pytest.mark.parametrize("name", [METADATA, BASE_CONFIG, EVENTS])
async def test_a_file_that_somebody_took_away_is_not_ours(name: str, tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    before = await scene.mark()
    await scene.save_answer()
    (file,) = [each for each in scene.files() if each.name == name and scene.place.storage in each.parents]
    file.unlink()
    after = await scene.mark()
    assert after is not None
    assert not scene.shelf.is_own(ID, before, after)


async def test_a_new_conversation_is_ours_until_somebody_else_writes(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    conversation = await scene.store.create({}, local=False, persist=True)
    await conversation.save()
    await conversation.release()
    after = (await scene.shelf.marks())[conversation.id]
    assert scene.shelf.is_own(conversation.id, None, after)
    (folder,) = scene.roots.workspace.folders_of(conversation.id)
    replace(folder / EVENTS)
    assert not scene.shelf.is_own(conversation.id, None, (await scene.shelf.marks())[conversation.id])

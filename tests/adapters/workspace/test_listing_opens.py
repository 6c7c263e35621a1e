"""Which files a list of conversations opens, counted: metadata once, and nothing that was said (complaint T07)."""

from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from jp_lsp.conversation.metadata_edit import SetTitle
from jp_lsp.workspace.listing import Listing
from jp_lsp.workspace.operations import DiskOperations
from jp_lsp.workspace.store import DiskStore
from tests.support.file_calls import watched
from tests.support.streams import file_text, message, turn, user
from tests.support.workspaces import ID, Place, fill

pytestmark = pytest.mark.anyio

FIRST = 17912340000
METADATA = file_text({"title": "t", "last_activated_at": "2026-10-05 21:09:27.8"})
EVENTS = file_text([turn(), user("hi"), message("hello")])


def make(conversations: Path, count: int) -> None:
    for number in range(FIRST, FIRST + count):
        folder = conversations / f"{number}-t"
        folder.mkdir(parents=True)
        (folder / "metadata.json").write_text(METADATA, encoding="utf-8")
        (folder / "base_config.json").write_text("{}\n", encoding="utf-8")
        (folder / "events.json").write_text(EVENTS, encoding="utf-8")


async def opened(folder: Path, work: Callable[[], Awaitable[object]]) -> Counter[str]:
    """The names of the files that are opened meanwhile, and how often."""
    with watched(folder) as calls:
        await work()
    assert calls.changes == 0, "a look changes nothing"
    return Counter(Path(name).name for name in calls.opened)


class Looks:
    """What clients look at all the time."""

    def __init__(self, place: Place) -> None:
        roots = place.open()
        self.shelf = DiskOperations(roots, Listing(roots), now=place.clock)
        self.store = DiskStore(roots, now=place.clock)

    async def list(self) -> None:
        await self.shelf.list(is_archived=False)
        await self.shelf.list(is_archived=True)

    async def rest(self) -> None:
        await self.shelf.held()
        await self.shelf.marks()
        await self.store.last()


@pytest.mark.requirement("T07")
async def test_five_thousand_conversations(tmp_path: Path) -> None:
    place = Place(tmp_path, has_silo=False)
    make(place.storage / "conversations", 5000)
    looks = Looks(place)
    assert await opened(tmp_path, looks.list) == {"metadata.json": 5000}
    assert await opened(tmp_path, looks.list) == {}
    assert await opened(tmp_path, looks.rest) == {"metadata.json": 5000}, "the store has a list of its own"
    assert await opened(tmp_path, looks.rest) == {}
    changed = place.storage / "conversations" / f"{FIRST}-t" / "metadata.json"
    changed.write_text(METADATA.replace('"t"', '"other"'), encoding="utf-8")
    assert await opened(tmp_path, looks.list) == {"metadata.json": 1}


@pytest.mark.requirement("T07")
async def test_what_both_places_have(place: Place) -> None:
    """Only the newer metadata of the two are read; a new title costs its own conversation and no other."""
    place.open()
    make(place.silo / "conversations", 50)
    make(place.storage / "conversations", 50)
    looks = Looks(place)
    assert await opened(place.folder.parent, looks.list) == {"metadata.json": 50}
    assert await opened(place.folder.parent, looks.list) == {}
    fill(place.storage, ID.removeprefix("jp-c"), turn())
    assert await opened(place.folder.parent, looks.list) == {"metadata.json": 1}
    await looks.shelf.edit(ID, [SetTitle("new")])
    assert await opened(place.folder.parent, looks.list) == {"metadata.json": 1}
    assert await opened(place.folder.parent, looks.list) == {}


@pytest.mark.requirement("T07")
async def test_the_counter_sees_a_full_read(place: Place) -> None:
    """What the tests above say is not there would be seen."""
    place.open()
    fill(place.silo, ID.removeprefix("jp-c"), turn())
    looks = Looks(place)
    names = await opened(place.folder.parent, lambda: looks.store.copy(ID))
    assert names == {"metadata.json": 1, "base_config.json": 1, "events.json": 1}

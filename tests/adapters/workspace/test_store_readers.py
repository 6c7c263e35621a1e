"""Readers beside a writer, and many conversations."""

import subprocess
import sys
from pathlib import Path

import pytest

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.workspace.folders import Root
from jp_lsp.workspace.paths import Roots
from jp_lsp.workspace.reading import UnreadableError, read_conversation
from tests.support.streams import file_text, turn
from tests.support.workspaces import ID, Place, fill, tree

pytestmark = pytest.mark.anyio


@pytest.mark.requirement("F29")
@pytest.mark.parametrize("has_silo", [True, False])
async def test_a_conversation_that_is_being_renamed_is_never_missed(tmp_path: Path, has_silo: bool) -> None:
    place = Place(tmp_path)
    place.open()
    if not has_silo:
        (place.user_data / "workspace").rename(place.user_data / "aside")
        (place.user_data / "workspace").write_text("no folder here", encoding="utf-8")
    fill(place.storage, "17912345678", turn())
    for other in range(20):
        fill(place.storage, f"1791234{other:04d}-other", turn())
    store = place.store()
    assert (store.roots.silo is not None) is has_silo
    command = [sys.executable, "-m", "tests.support.saving_process", str(tmp_path), "1000", "renames"]
    looks = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        while process.poll() is None:
            assert ID in {each.id for each in await store.summaries()}
            assert await store.find(ID)
            assert len((await store.copy(ID)).stream.events()) >= 3
            looks += 1
            if looks == 150:
                process.kill()
    assert looks > 50


class RenamedBehindOurBack(Root):
    """A root in which somebody renames the conversation right after we looked where it is, so many times."""

    renames = 0

    def folder_of(self, conversation: ConversationId, *, is_archived: bool = False) -> Path | None:
        folder = super().folder_of(conversation, is_archived=is_archived)
        if folder is not None and type(self).renames > 0:
            type(self).renames -= 1
            folder.rename(folder.with_name(f"17912345678-{type(self).renames}"))
        return folder


@pytest.mark.requirement("F29")
@pytest.mark.parametrize(("renames", "is_found"), [(1, True), (7, True), (1_000_000, False)])
def test_a_folder_that_vanishes_between_look_and_read_is_looked_for_again(
    place: Place, renames: int, is_found: bool
) -> None:
    fill(place.storage, "17912345678", turn())
    RenamedBehindOurBack.renames = renames
    roots = Roots(RenamedBehindOurBack("workspace", place.storage), None)
    if is_found:
        reading = read_conversation(roots, ID)
        assert reading is not None
        assert reading.events == file_text([turn()])
    else:
        with pytest.raises(UnreadableError, match="its files change all the time"):
            read_conversation(roots, ID)


def many(place: Place, count: int) -> None:
    for number in range(count):
        folder = place.storage / "conversations" / f"{17912345678 + number}-title-{number}"
        folder.mkdir(parents=True)
        (folder / "metadata.json").write_text(
            file_text({"title": f"title {number}", "last_activated_at": "2026-10-05 21:09:27.8"}),
            encoding="utf-8",
        )


@pytest.mark.requirement("T07", "C64")
async def test_five_thousand_conversations_are_listed_without_their_events(
    tmp_path: Path,
) -> None:
    place = Place(tmp_path)
    place.open()
    many(place, 5000)  # there are no events that could be read
    store = place.store()
    summaries = await store.summaries()
    assert len(summaries) == 5000
    assert [each.title for each in summaries[:2]] == ["title 0", "title 1"]


class TestListing:
    async def test_both_roots_are_listed_once_by_number(self, place: Place) -> None:
        place.open()
        fill(place.storage, "17912345678-shared", turn())
        fill(place.silo, "17912345678-shared", turn())
        fill(place.silo, "9-mine", turn())
        fill(place.storage, "100", turn())
        found = [(each.id, each.presence) for each in await place.store().summaries()]
        assert found == [("jp-c9", "user_local"), ("jp-c100", "external"), (ID, "projected")]

    @pytest.mark.requirement("C7", "C8")
    async def test_what_is_no_conversation_is_not_listed(self, place: Place) -> None:
        for name in ("notes", ".hidden", "17x-foo", "017912345678"):
            (place.storage / "conversations" / name).mkdir(parents=True)
        (place.storage / "conversations" / "17912345679").write_text("a file", encoding="utf-8")
        assert await place.store().summaries() == []

    @pytest.mark.requirement("T20")
    async def test_a_broken_one_is_listed_with_the_reason(self, place: Place) -> None:
        fill(place.storage, "1", turn())
        fill(place.storage, "2", turn(), metadata={"title": "T"})
        (fill(place.storage, "3", turn()) / "metadata.json").unlink()
        (fill(place.storage, "4", turn()) / "metadata.json").write_bytes(b"\xff")
        (fill(place.storage, "5", turn()) / "events.json").write_text("[{", encoding="utf-8")
        found = await place.store().summaries()
        assert [each.problem for each in found] == [
            None,
            "metadata.json: 'last_activated_at' is missing",
            "metadata.json is missing",
            "metadata.json is not UTF-8: invalid start byte at byte 0",
            None,
        ]
        assert await place.store().last() == "jp-c5"

    async def test_a_change_is_seen_and_what_is_gone_is_forgotten(self, place: Place) -> None:
        folder = fill(place.storage, "17912345678", turn())
        store = place.store()
        assert [each.title for each in await store.summaries()] == [None]
        (folder / "metadata.json").write_text(
            file_text({"title": "changed", "last_activated_at": "2026-10-05 21:09:27.8"}), encoding="utf-8"
        )
        (place.silo / "conversations" / "17912345678" / "metadata.json").unlink()
        assert [each.title for each in await store.summaries()] == ["changed"]
        folder.rename(place.folder / "gone")
        (place.silo / "conversations" / "17912345678").rename(place.folder / "gone too")
        assert await store.summaries() == []

    @pytest.mark.requirement("C64", "T07")
    async def test_what_did_not_change_is_neither_read_nor_made_again(self, place: Place) -> None:
        folders = [fill(place.storage, str(number), turn()) for number in (1, 2, 3)]
        place.open()
        store = place.store()
        first = await store.summaries()
        assert await store.summaries() is first
        (folders[1] / "metadata.json").write_text(
            file_text({"title": "changed", "last_activated_at": "2026-10-05 21:09:27.8"}), encoding="utf-8"
        )
        second = await store.summaries()
        assert [one is other for one, other in zip(first, second, strict=True)] == [True, False, True]
        assert second[1].title == "changed"

    @pytest.mark.requirement("F32")
    async def test_if_the_last_one_was_archived_none_is_opened_in_its_place(self, place: Place) -> None:
        def activated(second: int) -> dict[str, str]:
            return {"last_activated_at": f"2026-10-05 21:09:{second}.0"}

        fill(place.storage, "1", turn(), metadata={**activated(10)})
        last = fill(place.storage, "2", turn(), metadata={**activated(20)})
        (place.storage / "conversations" / ".archive").mkdir()
        old = fill(place.storage, "3", turn(), metadata={**activated(5)})
        old.rename(place.storage / "conversations" / ".archive" / "3")
        store = place.store()
        assert await store.last() == "jp-c2"
        for root in (place.storage, place.silo):
            (root / "conversations" / "2").rename(root / "conversations" / ".archive" / "2")
        assert await store.last() is None
        assert await store.find(ConversationId("jp-c1"))
        assert last.parent.is_dir()


async def test_listing_writes_nothing(place: Place) -> None:
    fill(place.storage, "17912345678", turn())
    store = place.store()
    before = tree(place.folder.parent)
    await store.summaries()
    await store.last()
    await store.find(ID)
    await store.copy(ID)
    await store.lock_holder(ID)
    assert tree(place.folder.parent) == before

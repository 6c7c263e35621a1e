"""What is particular to the disk: two roots, folder names, other people's files, failures of the disk."""

import json
import logging
import os
from pathlib import Path

import anyio
import pytest

from jp_lsp.conversation.event import ChatRequest, ConversationEvent, MessageResponse, TurnStart
from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.store import StoreError
from jp_lsp.workspace.open_conversation import DiskConversation
from jp_lsp.workspace.reading import LARGEST_FILE
from jp_lsp.workspace.store import DiskStore
from tests.support.shelf import shelf_of
from tests.support.streams import Raw, at, compaction, delta, file_text, lines, message, raw, turn, user
from tests.support.workspaces import ID, Place, fill, make_old, states, tree

pytestmark = pytest.mark.anyio

NAME = "17912345678"
BASE: Raw = {"assistant": {"name": "A"}}


async def opened(store: DiskStore, id: ConversationId = ID) -> DiskConversation:
    conversation = await store.open(id)
    assert isinstance(conversation, DiskConversation)
    return conversation


async def created(store: DiskStore, *, local: bool = False) -> DiskConversation:
    conversation = await store.create(BASE, local=local, persist=True)
    assert isinstance(conversation, DiskConversation)
    return conversation


def say(stream: ConversationStream, text: str = "new") -> None:
    stream.append(ConversationEvent(at(1), MessageResponse(text)))


def ask(stream: ConversationStream, text: str = "hi") -> None:
    stream.append(ConversationEvent(at(0), TurnStart()))
    stream.append(ConversationEvent(at(0), ChatRequest(text)))


def events_in(root: Path, name: str = NAME) -> str:
    return (root / "conversations" / name / "events.json").read_text(encoding="utf-8")


def conversation_tree(root: Path) -> list[str]:
    return tree(root / "conversations")


ALL_FILES = [f"{NAME}/base_config.json", f"{NAME}/events.json", f"{NAME}/metadata.json"]


class TestRoots:
    @pytest.mark.requirement("R45")
    async def test_a_new_conversation_is_in_both(self, place: Place) -> None:
        conversation = await created(place.store())
        assert conversation_tree(place.storage) == conversation_tree(place.silo) == []
        ask(conversation.stream)
        await conversation.save()
        for root in (place.storage, place.silo):
            folder = root / "conversations" / NAME
            assert conversation_tree(root) == ALL_FILES
            assert events_in(root) == file_text([turn(), user("hi")])
            assert (folder / "base_config.json").read_text(encoding="utf-8") == file_text(BASE)
            assert (folder / "metadata.json").read_text(encoding="utf-8") == file_text(
                {"last_activated_at": "2026-10-05 21:09:27.8"}
            )

    async def test_a_local_one_is_the_user_s_alone_and_stays_so(self, place: Place) -> None:
        conversation = await created(place.store(), local=True)
        ask(conversation.stream)
        await conversation.save()
        await conversation.release()
        again = await opened(place.store())
        say(again.stream)
        await again.save()
        assert conversation_tree(place.storage) == []
        assert lines(again.stream.events())[-1] == "message: new"

    async def test_without_a_folder_of_the_user_the_workspace_has_it(self, tmp_path: Path) -> None:
        place = Place(tmp_path, has_silo=False)
        conversation = await created(place.store(), local=True)
        ask(conversation.stream)
        await conversation.save()
        assert conversation_tree(place.storage) == ALL_FILES

    @pytest.mark.requirement("C56")
    async def test_one_of_the_workspace_alone_is_imported_before_its_first_save(self, place: Place) -> None:
        place.open()
        folder = fill(place.storage, NAME, turn(), user("a"), base=BASE, age=100)
        (folder / "notes.md").write_text("mine", encoding="utf-8")
        conversation = await opened(place.store())
        assert conversation_tree(place.silo) == []
        say(conversation.stream)
        await conversation.save()
        assert (
            conversation_tree(place.silo)
            == conversation_tree(place.storage)
            == [*ALL_FILES, f"{NAME}/notes.md"]
        )
        assert (
            events_in(place.silo)
            == events_in(place.storage)
            == file_text([turn(), user("a"), message("new", 1)])
        )
        await conversation.save()

    @pytest.mark.parametrize(
        ("workspace_age", "silo_age", "winner"),
        [(10, 20, "workspace"), (20, 10, "silo"), (10, 10, "silo")],
    )
    async def test_the_newer_copy_is_read_and_both_are_written(
        self, place: Place, workspace_age: float, silo_age: float, winner: str
    ) -> None:
        place.open()
        fill(place.storage, NAME, turn(), user("workspace"), base={"from": "workspace"}, age=workspace_age)
        fill(place.silo, NAME, turn(), user("silo"), base={"from": "silo"}, age=silo_age)
        conversation = await opened(place.store())
        assert lines(conversation.stream.events()) == ["turn", f"user: {winner}"]
        assert conversation.stream.base_config == {"from": winner}
        await conversation.save()
        assert events_in(place.storage) == events_in(place.silo) == file_text([turn(), user(winner)])

    async def test_the_two_stream_files_are_never_mixed(self, place: Place) -> None:
        place.open()
        ours = fill(place.silo, NAME, turn(), user("silo"), base={"from": "silo"}, age=100)
        theirs = fill(place.storage, NAME, turn(), user("workspace"), base={"from": "workspace"}, age=200)
        newer = (ours / "events.json").stat().st_mtime_ns + 1
        os.utime(theirs / "base_config.json", ns=(newer, newer))
        conversation = await opened(place.store())
        assert conversation.stream.base_config == {"from": "workspace"}
        assert lines(conversation.stream.events()) == ["turn", "user: workspace"]

    async def test_metadata_are_decided_by_themselves(self, place: Place) -> None:
        place.open()
        activated = "2026-10-05 21:09:27.8"
        fill(place.silo, NAME, metadata={"title": "silo", "last_activated_at": activated}, age=100)
        folder = fill(
            place.storage, NAME, user("x"), metadata={"title": "ws", "last_activated_at": activated}, age=200
        )
        os.utime(folder / "metadata.json")
        conversation = await opened(place.store())
        assert conversation.title == "ws"
        assert len(conversation.stream) == 0

    @pytest.mark.requirement("C53")
    async def test_a_newer_but_shorter_copy_is_read_with_a_warning(
        self, place: Place, caplog: pytest.LogCaptureFixture
    ) -> None:
        place.open()
        fill(place.storage, NAME, turn(), age=10)
        fill(place.silo, NAME, turn(), user("a"), age=20)
        with caplog.at_level(logging.WARNING):
            conversation = await opened(place.store())
        assert len(conversation.stream) == 1
        assert "has fewer entries than the older copy" in caplog.text

    @pytest.mark.requirement("C55")
    async def test_a_copy_without_events_is_no_copy(self, place: Place) -> None:
        """A crash fell between the files of its first save; the other root has them all."""
        place.open()
        folder = fill(place.storage, NAME, turn(), base={"from": "workspace"}, age=10)
        (folder / "events.json").unlink()
        other = fill(place.silo, NAME, turn(), user("a"), base={"from": "silo"}, age=20)
        conversation = await opened(place.store())
        assert len(conversation.stream) == 2
        assert conversation.stream.base_config == {"from": "silo"}
        say(conversation.stream)
        await conversation.save()
        assert events_in(place.storage) == events_in(place.silo)
        await conversation.release()
        for each in (folder, other):
            (each / "events.json").unlink()
        with pytest.raises(Refusal, match=r"events.json is missing in "):
            await place.store().open(ID)

    async def test_a_copy_that_vanished_from_the_workspace_alone_is_written_again(self, place: Place) -> None:
        conversation = await created(place.store())
        ask(conversation.stream)
        await conversation.save()
        (place.storage / "conversations" / NAME).rename(place.folder / "aside")
        say(conversation.stream)
        await conversation.save()
        assert events_in(place.storage) == events_in(place.silo)


class TestNothingChanges:
    @pytest.mark.requirement("F33", "F27", "C54")
    async def test_opening_and_saving_without_a_change_touches_nothing(self, place: Place) -> None:
        fill(
            place.storage,
            "17912345678-t",
            turn(),
            user("a"),
            turn(),
            metadata={"title": "T", "last_activated_at": "2026-10-05 21:09:27.8"},
            age=100,
        )
        place.open()
        before = states(place.folder.parent)
        place.clock.advance(1000)
        for _ in range(2):
            conversation = await opened(place.store())
            await conversation.save()
            await conversation.save()
            await conversation.release()
            await (await place.store().copy(ID)).save()
        await place.store().summaries()
        assert states(place.folder.parent) == before

    async def test_a_second_save_of_the_same_touches_nothing(self, place: Place) -> None:
        conversation = await created(place.store())
        ask(conversation.stream)
        await conversation.save()
        before = states(place.folder.parent)
        place.clock.advance(1000)
        await conversation.save()
        assert states(place.folder.parent) == before

    async def test_activation_is_recorded_with_changes_and_not_with_each(self, place: Place) -> None:
        conversation = await created(place.store())
        metadata = place.silo / "conversations" / NAME / "metadata.json"
        found: list[str] = []
        for seconds in (0, 1, 3, 60):
            place.clock.advance(seconds)
            say(conversation.stream)
            await conversation.save()
            found.append(json.loads(metadata.read_text(encoding="utf-8"))["last_activated_at"])
        assert found == [
            "2026-10-05 21:09:27.8",
            "2026-10-05 21:09:27.8",
            "2026-10-05 21:09:27.8",
            "2026-10-05 21:10:31.8",
        ]


class TestLegacy:
    async def test_the_first_save_makes_the_third_file_and_drops_the_first_entry(self, place: Place) -> None:
        place.open()
        first: Raw = {"type": "config_delta", "timestamp": str(at(0)), "delta": BASE}
        folder = fill(place.storage, NAME, first, user("a"), age=100)
        (folder / "base_config.json").unlink()
        conversation = await opened(place.store())
        await conversation.save()
        for root in (place.storage, place.silo):
            assert events_in(root) == file_text([user("a")])
            assert (root / "conversations" / NAME / "base_config.json").read_text(
                encoding="utf-8"
            ) == file_text(BASE)
        await conversation.release()
        again = await opened(place.store())
        assert (again.stream.base_config, lines(again.stream.events())) == (BASE, ["user: a"])

    async def test_the_newer_form_is_written_only_when_asked(self, place: Place) -> None:
        conversation = await created(place.store(newer_format=True))
        ask(conversation.stream)
        await conversation.save()
        assert all("event_id" in entry for entry in json.loads(events_in(place.silo)))


class TestTitles:
    @pytest.mark.requirement("R219")
    async def test_a_new_title_renames_the_folders_with_all_that_is_in_them(self, place: Place) -> None:
        conversation = await created(place.store())
        ask(conversation.stream)
        await conversation.save()
        folder = place.silo / "conversations" / NAME
        (folder / "notes.md").write_text("mine", encoding="utf-8")
        inode = folder.stat().st_ino
        conversation.set_title("Fix the bug")
        assert conversation.title == "Fix the bug"
        assert folder.is_dir()
        await conversation.save()
        renamed = folder.with_name(f"{NAME}-fix-the-bug")
        assert renamed.stat().st_ino == inode
        assert (renamed / "notes.md").is_file()
        for root in (place.storage, place.silo):
            (only,) = (root / "conversations").iterdir()
            assert only.name == f"{NAME}-fix-the-bug"
            assert json.loads((only / "metadata.json").read_text(encoding="utf-8"))["title"] == "Fix the bug"
        say(conversation.stream)
        await conversation.save()
        await conversation.release()
        again = await opened(place.store())
        assert again.title == "Fix the bug"
        again.set_title(None)
        await again.save()
        assert [path.name for path in (place.silo / "conversations").iterdir()] == [NAME]

    @pytest.mark.requirement("F24")
    async def test_a_suggested_title_gives_way_to_one_that_somebody_wrote_meanwhile(
        self, place: Place
    ) -> None:
        conversation = await created(place.store())
        ask(conversation.stream)
        await conversation.save()
        conversation.suggest_title("Theirs", None)
        for root in (place.storage, place.silo):
            path = root / "conversations" / NAME / "metadata.json"
            fields = json.loads(path.read_text(encoding="utf-8"))
            path.write_text(json.dumps({"title": "Mine", **fields}), encoding="utf-8")
        await conversation.save()
        assert conversation.title == "Mine"
        (folder,) = (place.silo / "conversations").iterdir()
        assert folder.name == f"{NAME}-mine"

    @pytest.mark.requirement("C6")
    async def test_of_two_folders_the_newest_is_read_and_the_other_set_aside(
        self, place: Place, caplog: pytest.LogCaptureFixture
    ) -> None:
        place.open()
        activated = "2026-10-05 21:09:27.8"
        fill(
            place.silo,
            f"{NAME}-one",
            turn(),
            user("older"),
            age=200,
            metadata={"title": "one", "last_activated_at": activated},
        )
        fill(
            place.silo,
            f"{NAME}-two",
            turn(),
            user("newer"),
            age=100,
            metadata={"title": "two", "last_activated_at": activated},
        )
        with caplog.at_level(logging.WARNING):
            conversation = await opened(place.store())
        assert "has several folders for jp-c17912345678" in caplog.text
        assert lines(conversation.stream.events()) == ["turn", "user: newer"]
        conversation.set_title("one")
        await conversation.save()
        live = [
            path.name for path in (place.silo / "conversations").iterdir() if not path.name.startswith(".")
        ]
        assert live == [f"{NAME}-one"]
        assert events_in(place.silo, f"{NAME}-one") == file_text([turn(), user("newer")])
        assert events_in(place.silo, f".trash/{NAME}-one") == file_text([turn(), user("older")])


class TestConflicts:
    async def changed(self, place: Place, name: str, text: str) -> tuple[DiskConversation, Path]:
        conversation = await created(place.store())
        ask(conversation.stream)
        await conversation.save()
        path = place.storage / "conversations" / NAME / name
        path.write_text(text, encoding="utf-8")
        return conversation, path

    @pytest.mark.requirement("R344")
    @pytest.mark.parametrize(
        ("name", "text"), [("events.json", file_text([turn()])), ("base_config.json", "{}\n")]
    )
    async def test_the_save_goes_to_a_recovery_copy(self, place: Place, name: str, text: str) -> None:
        conversation, path = await self.changed(place, name, text)
        say(conversation.stream)
        before = states(place.storage)
        with pytest.raises(StoreError) as failed:
            await conversation.save()
        copy = place.silo / "recovery" / NAME
        assert str(failed.value) == (
            f"{path} was changed by somebody else; nothing was overwritten, and your copy is in {copy}"
        )
        assert states(place.storage) == before
        assert (copy / "events.json").read_text(encoding="utf-8") == file_text(
            [turn(), user("hi"), message("new", 1)]
        )
        assert sorted(path.name for path in copy.iterdir()) == [
            "base_config.json",
            "events.json",
            "metadata.json",
        ]
        assert await conversation.save_recovery_copy() == copy.as_uri()

    async def test_copies_of_different_openings_do_not_overwrite_each_other(self, place: Place) -> None:
        conversation, _ = await self.changed(place, "events.json", "[]")
        first = await conversation.save_recovery_copy()
        await conversation.release()
        other = await opened(place.store())
        assert await other.save_recovery_copy() == f"{first}-1"

    async def test_equal_bytes_with_another_time_are_no_change(self, place: Place) -> None:
        conversation = await created(place.store())
        ask(conversation.stream)
        await conversation.save()
        for root in (place.storage, place.silo):
            make_old(root / "conversations" / NAME, 5000)
        say(conversation.stream)
        await conversation.save()
        assert "new" in events_in(place.storage)

    async def test_a_file_that_was_removed_is_a_change(self, place: Place) -> None:
        conversation, path = await self.changed(place, "events.json", "")
        path.unlink()
        with pytest.raises(StoreError, match=r"events.json was changed by somebody else"):
            await conversation.save()

    async def test_metadata_changes_of_both_sides_are_brought_together(self, place: Place) -> None:
        conversation, _ = await self.changed(
            place,
            "metadata.json",
            file_text({"title": "theirs", "last_activated_at": str(at(0)), "extra": 1}),
        )
        place.clock.advance(100)
        say(conversation.stream)
        await conversation.save()
        for root in (place.storage, place.silo):
            found = json.loads(
                (root / "conversations" / f"{NAME}-theirs" / "metadata.json").read_text(encoding="utf-8")
            )
            assert found == {"title": "theirs", "last_activated_at": "2026-10-05 21:11:07.8", "extra": 1}

    async def test_our_title_goes_before_theirs(self, place: Place) -> None:
        conversation, _ = await self.changed(
            place, "metadata.json", file_text({"title": "theirs", "last_activated_at": str(at(0))})
        )
        conversation.set_title("ours")
        await conversation.save()
        assert [path.name for path in (place.silo / "conversations").iterdir()] == [f"{NAME}-ours"]

    async def test_metadata_that_were_damaged_are_not_overwritten(self, place: Place) -> None:
        conversation, path = await self.changed(place, "metadata.json", "{")
        say(conversation.stream)
        with pytest.raises(StoreError, match=r"metadata.json was damaged by somebody else"):
            await conversation.save()
        assert path.read_text(encoding="utf-8") == "{"

    async def test_archiving_elsewhere_is_a_removal(self, place: Place) -> None:
        conversation = await created(place.store())
        ask(conversation.stream)
        await conversation.save()
        for root in (place.storage, place.silo):
            archive = root / "conversations" / ".archive"
            archive.mkdir()
            (root / "conversations" / NAME).rename(archive / NAME)
        say(conversation.stream)
        with pytest.raises(StoreError, match="conversation gone: its folder was removed or moved"):
            await conversation.save()


class TestFailures:
    @pytest.mark.requirement("F28")
    async def test_a_disk_that_refuses_is_reported_and_the_next_save_goes_through(self, place: Place) -> None:
        conversation = await created(place.store())
        ask(conversation.stream)
        await conversation.save()
        obstacle = place.storage / "conversations" / NAME / "events.json.tmp"
        obstacle.mkdir()
        (obstacle / "x").touch()
        say(conversation.stream)
        with pytest.raises(StoreError, match=r"jp-c17912345678 could not be written \(.*events.json.tmp\)"):
            await conversation.save()
        assert events_in(place.storage) == file_text([turn(), user("hi")])
        (obstacle / "x").unlink()
        obstacle.rmdir()
        await conversation.save()
        assert (
            events_in(place.storage)
            == events_in(place.silo)
            == file_text([turn(), user("hi"), message("new", 1)])
        )

    async def test_a_first_save_that_fails_can_be_repeated(self, place: Place) -> None:
        conversation = await created(place.store())
        ask(conversation.stream)
        (place.storage / "conversations").write_text("in the way", encoding="utf-8")
        with pytest.raises(StoreError, match="could not be written"):
            await conversation.save()
        assert conversation.is_new
        (place.storage / "conversations").unlink()
        await conversation.save()
        assert not conversation.is_new

    async def test_a_save_that_failed_behind_the_import_can_be_repeated(self, place: Place) -> None:
        place.open()
        fill(place.storage, NAME, turn(), age=100)
        (place.storage / "conversations" / NAME / "events.json.tmp").mkdir()
        (place.storage / "conversations" / NAME / "events.json.tmp" / "x").touch()
        conversation = await opened(place.store())
        say(conversation.stream)
        with pytest.raises(StoreError, match="could not be written"):
            await conversation.save()
        for root in (place.silo, place.storage):
            (root / "conversations" / NAME / "events.json.tmp" / "x").unlink()
            (root / "conversations" / NAME / "events.json.tmp").rmdir()
        await conversation.save()
        assert events_in(place.storage) == events_in(place.silo) == file_text([turn(), message("new", 1)])

    async def test_no_recovery_copy_either(self, place: Place) -> None:
        conversation = await created(place.store())
        (place.silo / "recovery").write_text("in the way", encoding="utf-8")
        with pytest.raises(StoreError, match="no recovery copy could be written to"):
            await conversation.save_recovery_copy()

    async def test_a_configuration_that_no_file_can_hold_is_refused(self, place: Place) -> None:
        with pytest.raises(Refusal, match="The configuration cannot be stored: inf cannot be") as refused:
            await place.store().create({"temperature": float("inf")}, local=False, persist=True)
        assert refused.value.error.code == "config_invalid"
        assert tree(place.silo / "locks") == []

    async def test_a_lock_that_cannot_be_made_is_refused(self, place: Place) -> None:
        store = place.store()
        (place.silo / "locks").write_text("in the way", encoding="utf-8")
        with pytest.raises(Refusal, match=r"The lock .* cannot be made") as refused:
            await store.create(BASE, local=False, persist=True)
        assert refused.value.error.code == "persist_failed"

    async def test_letting_go_waits_for_the_save_and_survives_cancellation(self, place: Place) -> None:
        store = place.store()
        conversation = await created(store)
        ask(conversation.stream)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(conversation.save)
            await anyio.wait_all_tasks_blocked()  # the writing has begun
            tasks.cancel_scope.cancel()
            await conversation.release()
        assert await store.lock_holder(ID) is None
        assert "hi" in events_in(place.storage)


class TestDiscarding:
    async def test_nothing_stays_but_the_draft(self, place: Place) -> None:
        store = place.store()
        conversation = await created(store)
        ask(conversation.stream)
        await conversation.save()
        await conversation.keep_draft("my text")
        await conversation.discard()
        assert conversation_tree(place.storage) == conversation_tree(place.silo) == []
        assert await store.draft(ID) == "my text"
        await conversation.release()
        assert tree(place.silo / "locks") == []

    async def test_a_folder_that_holds_more_is_set_aside(self, place: Place) -> None:
        conversation = await created(place.store())
        ask(conversation.stream)
        await conversation.save()
        (place.storage / "conversations" / NAME / "notes.md").write_text("mine", encoding="utf-8")
        await conversation.discard()
        assert conversation_tree(place.storage)[0].startswith(".trash/")
        assert (place.storage / "conversations" / ".trash" / NAME / "notes.md").is_file()
        assert conversation_tree(place.silo) == []


class TestDrafts:
    @pytest.mark.requirement("R344", "T20")
    async def test_a_draft_stands_in_the_user_s_copy_and_goes_after_success(self, place: Place) -> None:
        store = place.store()
        conversation = await created(store)
        ask(conversation.stream)
        await conversation.save()
        await conversation.keep_draft("first")
        await conversation.keep_draft("é\ud800")
        draft = place.silo / "conversations" / NAME / "QUERY_MESSAGE.md"
        assert draft.read_text(encoding="utf-8") == "first\n\né?"
        assert conversation_tree(place.storage) == ALL_FILES
        assert await store.draft(ID) == "first\n\né?"
        say(conversation.stream)
        await conversation.save()
        assert draft.is_file()
        await conversation.clear_draft()
        await conversation.clear_draft()
        assert await store.draft(ID) is None

    @pytest.mark.requirement("R344")
    @pytest.mark.parametrize(
        ("texts", "kept"),
        [
            (["one", "two"], "one\n\ntwo"),
            (["one", "one"], "one"),
            (["one", "one and more"], "one and more"),
            (["one and more", "one"], "one and more"),
            (["one\n\n", "two\n"], "one\n\ntwo\n"),
            ([" \n", "two"], "two"),
            (["\ud800", "\ud800"], "?"),
        ],
    )
    async def test_no_draft_pushes_another_out(self, place: Place, texts: list[str], kept: str) -> None:
        store = place.store()
        conversation = await created(store)
        for text in texts:
            await conversation.keep_draft(text)
        assert await store.draft(ID) == kept

    async def test_without_files_of_its_own_a_folder_would_look_broken(self, place: Place) -> None:
        store = place.store()
        conversation = await created(store)
        await conversation.keep_draft("text")
        assert conversation_tree(place.silo) == []
        assert await store.draft(ID) == "text"
        await conversation.clear_draft()
        assert await store.draft(ID) is None


class TestFinding:
    async def test_archived_ones_can_be_read_and_not_opened(self, place: Place) -> None:
        place.open()
        folder = fill(place.storage, NAME, turn(), user("old"))
        (place.storage / "conversations" / ".archive").mkdir()
        folder.rename(place.storage / "conversations" / ".archive" / NAME)
        store = place.store()
        assert await store.find(ID) is False
        with pytest.raises(Refusal, match="may have been archived"):
            await store.open(ID)
        assert lines((await store.copy(ID)).stream.events()) == ["turn", "user: old"]
        assert [each.id for each in await store.summaries(is_archived=True)] == [ID]
        assert await store.summaries() == []

    @pytest.mark.requirement("C5")
    async def test_a_shorter_id_does_not_find_a_longer_one(self, place: Place) -> None:
        fill(place.storage, NAME, turn())
        assert await place.store().find(ConversationId("jp-c1791234567")) is False

    @pytest.mark.parametrize("where", ["conversations", "conversations/.archive", "conversations/.trash"])
    async def test_an_id_that_was_ever_used_is_not_given_again(self, place: Place, where: str) -> None:
        place.open()
        (place.storage / where / f"{NAME}-old").mkdir(parents=True)
        conversation = await created(place.store())
        assert conversation.id == "jp-c17912345679"

    @pytest.mark.requirement("C10")
    async def test_an_id_whose_name_a_link_has_is_not_given(self, place: Place, tmp_path: Path) -> None:
        place.open()
        (place.storage / "conversations").mkdir()
        (place.storage / "conversations" / NAME).symlink_to(tmp_path)
        assert (await created(place.store())).id == "jp-c17912345679"

    @pytest.mark.requirement("C10")
    async def test_an_id_that_another_process_has_just_taken_is_not_given(self, place: Place) -> None:
        first = await created(place.store())
        second = await created(place.store())
        assert (first.id, second.id) == ("jp-c17912345678", "jp-c17912345679")

    async def test_links_are_not_followed(self, place: Place, tmp_path: Path) -> None:
        outside = fill(tmp_path / "outside", NAME, turn())
        (place.storage / "conversations").mkdir()
        (place.storage / "conversations" / NAME).symlink_to(outside)
        assert await place.store().find(ID) is False
        other = fill(place.storage, "5", turn())
        (other / "base_config.json").unlink()
        (other / "base_config.json").symlink_to(outside / "base_config.json")
        with pytest.raises(Refusal, match=r"base_config\.json is a link, which is not followed"):
            await place.store().copy(ConversationId("jp-c5"))
        (other / "events.json").write_text(file_text([delta(0), user("a")]), encoding="utf-8")
        with pytest.raises(Refusal, match=r"base_config\.json is a link"):  # and not one of the oldest form
            await place.store().copy(ConversationId("jp-c5"))

    async def test_a_file_that_is_too_large_to_be_one_is_not_read(self, place: Place) -> None:
        folder = fill(place.storage, NAME, turn())
        os.truncate(folder / "events.json", LARGEST_FILE + 1)
        place.has_silo = False  # or the copy of the first run would take its time
        with pytest.raises(Refusal, match=r"events.json in .* is larger than 512 MiB"):
            await place.store().open(ID)


@pytest.mark.requirement("R219", "R35")
async def test_foreign_content_goes_through_a_whole_query(place: Place) -> None:
    foreign = [
        raw("mood", value="c3Jj"),
        {"type": "later", "nested": {"s": "c3Jj"}},
        compaction(0, 0, reasoning="strip", note="kept"),
        {**user("a"), "model": "x"},
    ]
    place.open()
    fill(place.storage, NAME, turn(), *foreign, metadata={"local": True, "last_activated_at": str(at(0))})
    conversation = await opened(place.store())
    say(conversation.stream)
    await conversation.save()
    assert json.loads(events_in(place.silo)) == [turn(), *foreign, message("new", 1)]
    found = json.loads((place.silo / "conversations" / NAME / "metadata.json").read_text(encoding="utf-8"))
    assert found["local"] is True


@pytest.mark.requirement("C53")
class TestAnOldCopyThatIsNewer:
    """A checkout gives the workspace's copy a new time; by the format it counts then, whatever it lacks."""

    @pytest.mark.parametrize(
        ("mine", "is_kept"),
        [([turn(), user("a"), message("b")], True), ([turn(), user("x")], True), ([turn()], False)],
        ids=["more was said", "something else was said", "it goes on from there"],
    )
    async def test_what_only_the_other_copy_has_is_kept(
        self, place: Place, mine: list[Raw], is_kept: bool
    ) -> None:
        place.open()
        fill(place.storage, NAME, turn(), user("a"), age=100)
        own = fill(place.silo, NAME, *mine, age=500)
        (own / "notes.md").write_text("mine", encoding="utf-8")
        conversation = await opened(place.store())
        for _ in range(2):
            say(conversation.stream)
            await conversation.save()
        assert events_in(place.silo) == events_in(place.storage)
        kept = place.silo / "conversations" / ".trash" / NAME
        assert kept.exists() == is_kept
        if is_kept:
            assert (kept / "events.json").read_text(encoding="utf-8") == file_text(mine)
            assert "was copied here" in (kept / "TRASHED.md").read_text(encoding="utf-8")
            assert (own / "notes.md").read_text(encoding="utf-8") == "mine"
        assert not (place.storage / "conversations" / ".trash").exists()

    async def test_so_it_is_when_the_conversation_becomes_the_user_s_alone(self, place: Place) -> None:
        place.open()
        fill(place.storage, NAME, turn(), user("a"), age=100)
        fill(place.silo, NAME, turn(), user("a"), message("b"), age=500)
        await shelf_of(place).relocate(ID, is_local=True)
        assert events_in(place.silo, f".trash/{NAME}") == file_text([turn(), user("a"), message("b")])

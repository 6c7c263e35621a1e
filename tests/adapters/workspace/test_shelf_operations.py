"""What is done to whole conversations on disk: each operation with what it changes, and all that it leaves alone."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.metadata_edit import (
    Activate,
    ChangeLabels,
    MetadataEdit,
    SetArchived,
    SetExpiry,
    SetPin,
    SetTitle,
)
from jp_lsp.conversation.search import SearchQuery
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.upkeep import HeldElsewhere
from jp_lsp.workspace.lock import acquire, lock_path
from jp_lsp.workspace.operations import DiskOperations
from tests.support.closed_folder import closed
from tests.support.shelf import ARCHIVE, TRASH, folders, metadata_of, shelf_of
from tests.support.streams import Raw, turn, user
from tests.support.workspaces import ID, START, Place, fill, states

pytestmark = pytest.mark.anyio

NAME = "17912345678"
LATER = Timestamp.parse("2026-10-05 22:00:00.0")
METADATA: Raw = {
    "title": "Old",
    "last_activated_at": "2026-10-05 21:09:27.8",
    "labels": {"wip": ""},
    "mood": "kept",
}


def stock(place: Place, *roots: str, name: str = f"{NAME}-old", metadata: Raw = METADATA) -> None:
    """A conversation in some roots, with a file of somebody else's in each."""
    place.open()
    for root in roots:
        folder = fill(
            place.silo if root == "silo" else place.storage, name, turn(), user("hi"), metadata=metadata
        )
        (folder / "notes.txt").write_text("mine", encoding="utf-8")


def only(place: Place, root: str, part: str = "") -> Path:
    (folder,) = [
        each
        for each in ((place.silo if root == "silo" else place.storage) / "conversations" / part).iterdir()
        if each.name[0] != "."
    ]
    return folder


@pytest.mark.requirement("R281", "F33")
@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([SetTitle("New")], {**METADATA, "title": "New"}),
        ([SetTitle("")], {**METADATA, "title": ""}),
        ([SetTitle(None)], {key: value for key, value in METADATA.items() if key != "title"}),
        ([SetPin(LATER)], {**METADATA, "pinned_at": "2026-10-05 22:00:00.0"}),
        ([SetPin(LATER, is_pinned=True)], {**METADATA, "pinned_at": "2026-10-05 22:00:00.0"}),
        ([SetPin(LATER), SetPin(LATER)], METADATA),
        ([SetPin(LATER, is_pinned=False)], METADATA),
        ([SetExpiry(LATER)], {**METADATA, "expires_at": "2026-10-05 22:00:00.0"}),
        ([SetExpiry(LATER), SetExpiry(None)], METADATA),
        ([SetArchived(LATER), SetArchived(None)], METADATA),
        ([Activate(LATER)], {**METADATA, "last_activated_at": "2026-10-05 22:00:00.0"}),
        ([ChangeLabels({"area": "auth"})], {**METADATA, "labels": {"area": "auth", "wip": ""}}),
        (
            [ChangeLabels(removed=("wip",))],
            {key: value for key, value in METADATA.items() if key != "labels"},
        ),
        ([ChangeLabels()], METADATA),
    ],
)
async def test_an_edit_changes_the_metadata_of_both_copies_and_no_other_byte(
    place: Place, edits: Sequence[MetadataEdit], expected: Raw
) -> None:
    stock(place, "silo", "workspace")
    before = {root: states(path) for root, path in (("silo", place.silo), ("workspace", place.storage))}
    facts = await shelf_of(place).edit(ID, edits)
    assert facts.title == expected.get("title")
    for root in ("silo", "workspace"):
        folder = only(place, root)
        assert metadata_of(folder) == expected
        assert list(metadata_of(folder)) == sorted(
            expected, key=["title", "last_activated_at", "pinned_at", "expires_at", "labels", "mood"].index
        )
        after = states(folder)
        for name in ("events.json", "base_config.json", "notes.txt"):
            assert after[name] == before[root][f"conversations/{NAME}-old/{name}"], name
        if expected == METADATA and edits == [ChangeLabels()]:
            assert after["metadata.json"] == before[root][f"conversations/{NAME}-old/metadata.json"]
    assert not lock_path(place.open(), ID).exists()


@pytest.mark.requirement("R281", "C1")
async def test_a_title_renames_the_folders_with_all_that_is_in_them(place: Place) -> None:
    """The folder stays the same one, so whoever stands in it still does (trap 1)."""
    stock(place, "silo", "workspace")
    inodes = {root: only(place, root).stat().st_ino for root in ("silo", "workspace")}
    await shelf_of(place).edit(ID, [SetTitle("Fix the login bug")])
    assert folders(place) == {
        "silo": [f"{NAME}-fix-the-login-bug"],
        "workspace": [f"{NAME}-fix-the-login-bug"],
    }
    for root, inode in inodes.items():
        assert only(place, root).stat().st_ino == inode
        assert (only(place, root) / "notes.txt").read_text(encoding="utf-8") == "mine"


async def test_the_metadata_that_were_written_last_count_and_both_copies_get_them(place: Place) -> None:
    stock(place, "silo", "workspace")
    fill(place.folder, "x", metadata={"title": "Newer", "last_activated_at": "2026-10-05 21:30:00.0"})
    newer = (place.folder / "conversations" / "x" / "metadata.json").read_bytes()
    (only(place, "workspace") / "metadata.json").write_bytes(newer)
    facts = await shelf_of(place).edit(ID, [SetPin(LATER)])
    assert (facts.title, facts.pinned_at) == ("Newer", LATER)
    assert metadata_of(only(place, "silo")) == metadata_of(only(place, "workspace"))


@pytest.mark.requirement("C56")
async def test_the_first_change_of_a_conversation_that_only_the_workspace_has_brings_it_to_the_user(
    place: Place,
) -> None:
    """With everything that is in its folder (trap 56)."""
    stock(place, "workspace")
    facts = await shelf_of(place).edit(ID, [SetPin(LATER)])
    assert facts.presence == "projected"
    assert states(only(place, "silo")).keys() == states(only(place, "workspace")).keys()


async def test_a_conversation_of_the_user_alone_stays_that(place: Place) -> None:
    stock(place, "silo")
    facts = await shelf_of(place).edit(ID, [SetTitle("Mine")])
    assert (facts.presence, folders(place)) == ("user_local", {"silo": [f"{NAME}-mine"]})


async def test_labels_are_lists_where_that_is_wanted(place: Place) -> None:
    stock(place, "silo")
    facts = await shelf_of(place, newer_format=True).edit(ID, [ChangeLabels({"wip": "soon"})])
    assert facts.labels == {"wip": ("soon",)}
    assert metadata_of(only(place, "silo"))["labels"] == {"wip": ["soon"]}


@pytest.mark.requirement("R281")
async def test_archived_and_back_again(place: Place) -> None:
    stock(place, "silo", "workspace")
    content = states(only(place, "silo"))["events.json"]
    shelf = shelf_of(place)
    place.clock.advance(60)
    facts = await shelf.archive(ID)
    assert (facts.is_archived, facts.archived_at) == (True, place.clock())
    assert folders(place) == {"silo.archive": [f"{NAME}-old"], "workspace.archive": [f"{NAME}-old"]}
    assert [each.id for each in await shelf.list(is_archived=False)] == []
    assert [each.id for each in await shelf.list(is_archived=True)] == [ID]
    assert await shelf.facts(ID) == facts
    assert len((await place.store().copy(ID)).stream) == 2, "it can still be read"
    facts = await shelf.unarchive(ID)
    assert (facts.is_archived, facts.archived_at, facts.presence) == (False, None, "projected")
    assert folders(place) == {"silo": [f"{NAME}-old"], "workspace": [f"{NAME}-old"]}
    assert metadata_of(only(place, "workspace")) == METADATA
    assert states(only(place, "silo"))["events.json"] == content


@pytest.mark.requirement("C61")
async def test_an_older_archived_copy_goes_to_the_trash(place: Place) -> None:
    """Unlike the reference, which deletes it (trap 61)."""
    stock(place, "silo")
    shelf = shelf_of(place)
    await shelf.archive(ID)
    stock(place, "silo", name=f"{NAME}-again")
    await shelf.archive(ID)
    assert folders(place) == {"silo.archive": [f"{NAME}-old"], "silo.trash": [f"{NAME}-old"]}


async def test_an_archived_copy_never_takes_the_place_of_the_one_in_use(place: Place) -> None:
    stock(place, "silo")
    shelf = shelf_of(place)
    await shelf.archive(ID)
    stock(place, "silo", name=f"{NAME}-in-use", metadata={**METADATA, "title": "In use"})
    facts = await shelf.unarchive(ID)
    assert facts.title == "In use"
    assert folders(place) == {"silo": [f"{NAME}-in-use"], "silo.trash": [f"{NAME}-old"]}


@pytest.mark.requirement("R281", "R287")
async def test_what_is_removed_can_be_taken_back(place: Place) -> None:
    stock(place, "silo", "workspace")
    before = states(only(place, "silo"))
    shelf = shelf_of(place)
    trash = await shelf.remove(ID)
    assert folders(place) == {"silo.trash": [f"{NAME}-old"], "workspace.trash": [f"{NAME}-old"]}
    places = [only(place, root, ".trash") for root in ("silo", "workspace")]
    assert trash == [path.as_uri() for path in places]
    assert await shelf.list(is_archived=False) == []
    for path, root in zip(places, (place.silo, place.storage), strict=True):
        (path / "TRASHED.md").unlink()
        path.rename(root / "conversations" / path.name)
    assert states(only(place, "silo")) == before
    assert (await shelf.facts(ID)).title == "Old"


async def test_one_that_is_damaged_can_be_removed_all_the_same(place: Place) -> None:
    stock(place, "silo")
    (only(place, "silo") / "metadata.json").write_text("{", encoding="utf-8")
    shelf = shelf_of(place)
    (facts,) = await shelf.list(is_archived=False)
    assert facts.problem is not None
    for change in (shelf.edit(ID, [SetTitle("x")]), shelf.archive(ID)):
        with pytest.raises(Refusal) as caught:
            await change
        assert caught.value.error.code == "conversation_unreadable"
    assert len(await shelf.remove(ID)) == 1


@pytest.mark.requirement("C60")
async def test_kept_by_the_user_alone_and_in_the_workspace_again(place: Place) -> None:
    """The workspace's copy goes, and what only it had is the user's then (trap 60)."""
    stock(place, "silo", "workspace")
    (only(place, "workspace") / "shared.txt").write_text("ours", encoding="utf-8")
    (only(place, "silo") / "QUERY_MESSAGE.md").write_text("a draft", encoding="utf-8")
    before = states(only(place, "silo"))
    shelf = shelf_of(place)
    facts = await shelf.relocate(ID, is_local=True)
    assert (facts.presence, folders(place)) == ("user_local", {"silo": [f"{NAME}-old"]})
    after = states(only(place, "silo"))
    assert after.pop("shared.txt")[2] == b"ours"
    assert after == before
    facts = await shelf.relocate(ID, is_local=False)
    assert facts.presence == "projected"
    shared = states(only(place, "workspace"))
    assert shared.keys() == {"metadata.json", "base_config.json", "events.json"}, "drafts are not shared"
    assert {name: shared[name][2] for name in shared} == {name: after[name][2] for name in shared}
    assert await shelf.relocate(ID, is_local=False) == facts
    assert states(only(place, "workspace")) == shared


async def test_the_newer_copy_is_the_one_that_is_kept(place: Place) -> None:
    stock(place, "silo", "workspace")
    newer = b'[\n  {\n    "timestamp": "2026-10-05 21:09:27.8",\n    "type": "turn_start"\n  }\n]\n'
    (only(place, "workspace") / "events.json").write_bytes(newer)
    await shelf_of(place).relocate(ID, is_local=True)
    assert (only(place, "silo") / "events.json").read_bytes() == newer


async def test_two_files_of_one_name_are_both_kept(place: Place) -> None:
    stock(place, "silo", "workspace")
    (only(place, "workspace") / "notes.txt").write_text("ours", encoding="utf-8")
    await shelf_of(place).relocate(ID, is_local=True)
    assert (only(place, "silo") / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert (only(place, "workspace", ".trash") / "notes.txt").read_text(encoding="utf-8") == "ours"


async def test_without_a_folder_of_ones_own_there_is_nowhere_to_move(tmp_path: Path) -> None:
    place = Place(tmp_path, has_silo=False)
    fill(place.storage, NAME, turn())
    with pytest.raises(Refusal) as caught:
        await shelf_of(place).relocate(ID, is_local=True)
    assert caught.value.error.code == "persist_failed"
    facts = await shelf_of(place).edit(ID, [SetTitle("Works")])
    assert (facts.title, facts.presence) == ("Works", "external")


OPERATIONS = {
    "edit": lambda shelf, id_: shelf.edit(id_, [SetTitle("x")]),
    "archive": lambda shelf, id_: shelf.archive(id_),
    "unarchive": lambda shelf, id_: shelf.unarchive(id_),
    "remove": lambda shelf, id_: shelf.remove(id_),
    "relocate": lambda shelf, id_: shelf.relocate(id_, is_local=True),
}
each_operation = pytest.mark.parametrize("operation", OPERATIONS)


async def do(shelf: DiskOperations, operation: str, conversation: ConversationId = ID) -> object:
    return await OPERATIONS[operation](shelf, conversation)  # type: ignore[no-untyped-call]


@pytest.mark.requirement("T24")
@each_operation
async def test_what_somebody_holds_is_left_alone_and_who_it_is_is_said(place: Place, operation: str) -> None:
    stock(place, "silo", "workspace")
    shelf = shelf_of(place)
    if operation == "unarchive":
        await shelf.archive(ID)
    before = states(place.silo), states(place.storage)
    lock = acquire(lock_path(place.open(), ID), START, "other")
    assert lock is not None
    assert await shelf.held() == {ID}
    with pytest.raises(HeldElsewhere, match=r"in use by process \d+, since 2026") as caught:
        await do(shelf, operation)
    assert caught.value.error.code == "lock_timeout"
    lock.release()
    assert await shelf.held() == set()
    assert (states(place.silo), states(place.storage)) == before
    await do(shelf, operation)


@each_operation
async def test_what_is_not_there_is_said_and_leaves_no_trace(place: Place, operation: str) -> None:
    stock(place, "silo")
    shelf = shelf_of(place)
    before = states(place.silo)
    with pytest.raises(Refusal) as caught:
        await do(shelf, operation, ConversationId("jp-c17900000000"))
    assert caught.value.error.code == "conversation_not_found"
    assert states(place.silo) == before
    assert not (place.silo / "locks").exists()


@each_operation
async def test_an_archived_one_is_not_found_and_what_to_do_is_said(place: Place, operation: str) -> None:
    stock(place, "silo")
    shelf = shelf_of(place)
    await shelf.archive(ID)
    if operation == "unarchive":
        await shelf.unarchive(ID)
    with pytest.raises(Refusal) as caught:
        await do(shelf, operation)
    assert caught.value.error.code == "conversation_not_found"
    if operation != "unarchive":
        assert "unarchive it first" in caught.value.error.message


async def test_the_folder_and_the_draft_of_a_conversation(place: Place) -> None:
    stock(place, "silo", "workspace")
    (only(place, "silo") / "QUERY_MESSAGE.md").write_text("not sent", encoding="utf-8")
    shelf = shelf_of(place)
    assert await shelf.folder(ID) == only(place, "workspace").as_uri()
    assert await shelf.draft(ID) == "not sent"
    assert await shelf.folder(ConversationId("jp-c1")) is None


@pytest.mark.requirement("C6")
async def test_of_two_folders_the_newest_is_listed_and_kept_whatever_its_name(place: Place) -> None:
    """A merge of two branches, each with its own title; the older one comes last by name, and has the wanted one."""
    place.open()
    for name, text, age in (("aaa", "newer", 100), ("zzz", "older", 500)):
        metadata: Raw = {"title": name, "last_activated_at": "2026-10-05 21:09:27.8"}
        fill(place.storage, f"{NAME}-{name}", user(text), metadata=metadata, age=age)
    shelf = shelf_of(place)
    assert [each.title for each in await shelf.list(is_archived=False)] == ["aaa"]
    await shelf.edit(ID, [SetTitle("zzz")])
    assert folders(place) == {
        "silo": [f"{NAME}-zzz"],
        "workspace": [f"{NAME}-zzz"],
        "workspace.trash": [f"{NAME}-zzz"],
    }
    for root in ("silo", "workspace"):
        assert "newer" in (only(place, root) / "events.json").read_text(encoding="utf-8")
    assert "older" in (only(place, "workspace", TRASH) / "events.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["link", "file"])
async def test_what_stands_in_the_way_of_a_new_name_is_neither_used_nor_moved(
    place: Place, tmp_path: Path, kind: str
) -> None:
    stock(place, "silo", "workspace")
    outside = tmp_path / "outside"
    outside.mkdir()
    obstacle = place.storage / "conversations" / f"{NAME}-new"
    obstacle.symlink_to(outside) if kind == "link" else obstacle.write_text("mine", encoding="utf-8")
    facts = await shelf_of(place).edit(ID, [SetTitle("New")])
    assert (facts.title, facts.presence) == ("New", "projected")
    assert folders(place) == {"silo": [f"{NAME}-new"], "workspace": [f"{NAME}-new", f"{NAME}-old"]}
    assert metadata_of(place.storage / "conversations" / f"{NAME}-old")["title"] == "New"
    assert list(outside.iterdir()) == []
    assert kind == "link" or obstacle.read_text(encoding="utf-8") == "mine"


@pytest.mark.requirement("C54", "F33")
async def test_an_edit_that_changes_nothing_leaves_lines_that_git_ended_its_own_way(place: Place) -> None:
    stock(place, "silo", "workspace")
    for root in ("silo", "workspace"):
        path = only(place, root) / "metadata.json"
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    before = states(place.silo / "conversations"), states(place.storage / "conversations")
    await shelf_of(place).edit(ID, [SetTitle("Old"), ChangeLabels()])
    assert (states(place.silo / "conversations"), states(place.storage / "conversations")) == before


async def test_a_folder_with_a_name_in_another_encoding_can_be_removed_and_restored(place: Place) -> None:
    stock(place, "workspace", name=f"{NAME}-caf\udce9")
    shelf = shelf_of(place)
    (removed,) = await shelf.remove(ID)
    assert removed.endswith(f".trash/{NAME}-caf%E9")
    assert (await shelf.restore(ID)).title == "Old"


async def test_a_closed_folder_hides_no_other_conversation(place: Place) -> None:
    stock(place, "workspace")
    folder = fill(place.storage, "17912345679", turn(), user("closed"))
    shelf, other = shelf_of(place), ConversationId("jp-c17912345679")
    with closed(folder):
        assert [(each.title, each.problem) for each in await shelf.list(is_archived=False)] == [
            ("Old", None),
            (None, "metadata.json: Permission denied"),
        ]
        assert (await shelf.marks()).keys() == {ID, other}
        assert (await shelf.edit(ID, [SetTitle("New")])).title == "New"
        with pytest.raises(Refusal, match=r"could not be changed \(.*Permission denied"):
            await shelf.edit(other, [SetTitle("New")])
        query = SearchQuery("hi", is_regex=False)
        assert "Permission denied" in str((await shelf.search(await shelf.facts(other), query, 9)).problem)
    assert (await shelf.facts(other)).problem is None


async def test_that_no_conversation_can_be_looked_at_is_said(place: Place) -> None:
    stock(place, "workspace")
    shelf = shelf_of(place)
    with closed(place.storage / "conversations"):
        for look in (
            shelf.marks,
            shelf.trashed,
            partial(shelf.facts, ID),
            partial(shelf.list, is_archived=False),
        ):
            with pytest.raises(Refusal, match="cannot be looked at: Permission denied"):
                await look()


async def test_where_names_may_be_written_in_several_ways_a_folder_is_not_in_its_own_way(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Disks that know no case are played: the wanted name is there as soon as the same letters are."""
    stock(place, "workspace", name=f"{NAME}-OLD")
    place.open()

    def is_there(path: Path) -> bool:
        return any(each.name.lower() == path.name.lower() for each in path.parent.iterdir())

    monkeypatch.setattr("jp_lsp.workspace.placing.os.path.lexists", is_there)
    monkeypatch.setattr(Path, "samefile", lambda one, other: one.name.lower() == other.name.lower())
    assert (await shelf_of(place).edit(ID, [SetPin(LATER)])).title == "Old"
    assert folders(place) == {"silo": [f"{NAME}-old"], "workspace": [f"{NAME}-old"]}


async def test_what_cannot_be_removed_everywhere_is_removed_nowhere(place: Place) -> None:
    stock(place, "silo", "workspace")
    trash = place.storage / "conversations" / TRASH
    trash.write_text("a file where the folder should be", encoding="utf-8")
    before = states(place.silo / "conversations"), states(place.storage / "conversations")
    with pytest.raises(Refusal, match=r"could not be changed \(.*\.trash\)"):
        await shelf_of(place).remove(ID)
    assert (states(place.silo / "conversations"), states(place.storage / "conversations")) == before
    trash.unlink()
    await shelf_of(place).remove(ID)
    assert (await shelf_of(place).restore(ID)).presence == "projected"


async def test_what_cannot_be_archived_everywhere_is_archived_nowhere(place: Place) -> None:
    stock(place, "silo", "workspace")
    (place.storage / "conversations" / ARCHIVE).write_text("a file", encoding="utf-8")
    with pytest.raises(Refusal, match=r"could not be changed \(.*\.archive"):
        await shelf_of(place).archive(ID)
    assert folders(place) == {"silo": [f"{NAME}-old"], "workspace": [f"{NAME}-old"]}


@pytest.mark.requirement("C6")
async def test_of_several_folders_that_were_removed_together_the_newest_comes_back(place: Place) -> None:
    place.open()
    for name, text, age in (("a", "newest", 100), ("b", "older", 500), ("c", "oldest", 900)):
        fill(place.storage, f"{NAME}-{name}", user(text), metadata={**METADATA, "title": name}, age=age)
    shelf = shelf_of(place)
    assert len(await shelf.remove(ID)) == 3
    assert (await shelf.restore(ID)).title == "a"
    assert "newest" in (only(place, "workspace") / "events.json").read_text(encoding="utf-8")

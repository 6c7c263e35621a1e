"""A process is killed while it does something to a conversation: it is whole afterwards, and can be gone on with."""

import random
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from jp_lsp.conversation.metadata_edit import SetTitle
from jp_lsp.ports.refusal import Refusal
from jp_lsp.workspace.validate import validate
from tests.support.shelf import folders, shelf_of
from tests.support.streams import Raw, message, turn, user
from tests.support.workspaces import ID, Place, fill, tree

pytestmark = pytest.mark.anyio

KILLS = 8
METADATA: Raw = {"title": "old", "last_activated_at": "2026-10-05 21:09:27.8", "mood": "kept"}
STREAM = (turn(), user("hi"), message("hello " * 5000))


def kill_in_the_middle(place: Place, what: str, seconds: float) -> None:
    """Start the process, and kill it that long after its first round; nobody chose the moment."""
    command = [sys.executable, "-m", "tests.support.moving_process", str(place.folder.parent), what]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "0\n"
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        process.kill()


@pytest.mark.requirement("T04", "F28", "R289", "S11")
@pytest.mark.parametrize("what", ["title", "labels", "archive", "move", "fork"])
async def test_killed_at_any_moment(tmp_path: Path, what: str) -> None:
    chance = random.Random(f"20261005 {what}")
    place = Place(tmp_path)
    place.open()
    for root in (place.silo, place.storage):
        folder = fill(root, "17912345678-old", *STREAM, metadata=METADATA)
        (folder / "notes.txt").write_text("mine", encoding="utf-8")
    content = (folder / "events.json").read_bytes()
    shelf = shelf_of(place)
    for _ in range(KILLS):
        kill_in_the_middle(place, what, chance.uniform(0, 0.02))
        place.clock.advance(1e6)
        facts = await shelf.facts(ID)
        assert facts.problem is None
        assert len((await place.store().copy(ID)).stream) == len(STREAM)
        assert not facts.is_archived or what == "archive"
        assert await shelf.held() == set(), "a killed process holds nothing"
        # whatever was in the middle can simply be done once more
        if facts.is_archived or any(".archive" in label for label in folders(place)):
            facts = await shelf.unarchive(ID)
        await shelf.relocate(ID, is_local=False)
        facts = await shelf.edit(ID, [SetTitle("old")])
        assert (facts.presence, facts.title, facts.is_archived) == ("projected", "old", False)
        assert {key: len(names) for key, names in folders(place).items() if "." not in key} == {
            "silo": 1 + count_of_forks(place, "silo"),
            "workspace": 1 + count_of_forks(place, "workspace"),
        }
        for root in (place.silo, place.storage):
            assert (root / "conversations" / "17912345678-old" / "events.json").read_bytes() == content
        assert (place.silo / "conversations" / "17912345678-old" / "notes.txt").exists()
    place.clock.advance(1e9)
    half_made = validate(place.open(), place.clock())
    assert what == "fork" or half_made == []
    assert ID not in [broken.conversation for broken in half_made]
    # a first save writes the metadata last: what it left half made is in no list (R289)
    assert {broken.reason for broken in half_made} <= {"missing metadata.json"}
    left = [name for name in tree(place.folder.parent) if name.endswith(".tmp")]
    assert [name for name in left if "/.trash/" not in name] == []


def count_of_forks(place: Place, root: str) -> int:
    """Copies that were made and not yet removed when the process was killed."""
    return sum(not name.startswith("17912345678") for name in folders(place).get(root, []))


@pytest.mark.requirement("R289")
@pytest.mark.parametrize("crash_after", ["metadata", "user's copy"])
async def test_a_half_archived_conversation_is_still_in_the_list(place: Place, crash_after: str) -> None:
    place.open()
    for root in (place.silo, place.storage):
        fill(root, "17912345678-old", *STREAM, metadata={**METADATA, "archived_at": "2026-10-05 22:00:00.0"})
    if crash_after == "user's copy":
        archive = place.silo / "conversations" / ".archive"
        archive.mkdir()
        (place.silo / "conversations" / "17912345678-old").rename(archive / "17912345678-old")
    shelf = shelf_of(place)
    assert [each.id for each in await shelf.list(is_archived=False)] == [ID]
    assert len((await place.store().copy(ID)).stream) == len(STREAM)
    await shelf.archive(ID)
    assert [label for label in folders(place) if ".trash" not in label] == [
        "silo.archive",
        "workspace.archive",
    ]
    with pytest.raises(Refusal, match="unarchive it first"):
        await shelf.edit(ID, [SetTitle("x")])


@pytest.mark.requirement("R289")
@pytest.mark.parametrize("first", ["edit", "open", "remove"])
async def test_whoever_goes_on_with_a_half_archived_conversation_gets_all_of_it(
    place: Place, first: str
) -> None:
    """The user's copy comes back from the archive with what else is in it, and no second copy stays there."""
    place.open()
    for root in (place.silo, place.storage):
        fill(root, "17912345678-old", *STREAM, metadata=METADATA)
    (place.silo / "conversations" / "17912345678-old" / "notes.txt").write_text("mine", encoding="utf-8")
    archive = place.silo / "conversations" / ".archive"
    archive.mkdir()
    (place.silo / "conversations" / "17912345678-old").rename(archive / "17912345678-old")
    shelf = shelf_of(place)
    if first == "edit":
        await shelf.edit(ID, [SetTitle("old")])
    elif first == "open":
        opened = await place.store().open(ID)
        assert opened is not None
        opened.stream.truncate(2)
        await opened.save()
        await opened.release()
    await shelf.remove(ID)
    assert await shelf.list(is_archived=True) == []
    facts = await shelf.restore(ID)
    assert (facts.presence, facts.is_archived) == ("projected", False)
    assert folders(place) == {"silo": ["17912345678-old"], "workspace": ["17912345678-old"]}
    assert (place.silo / "conversations" / "17912345678-old" / "notes.txt").read_text() == "mine"


@pytest.mark.requirement("R289", "T04")
async def test_nothing_of_a_removed_conversation_comes_back_from_two_crashes(place: Place) -> None:
    """The first ended a change of the events between the two copies, the second an archiving."""
    place.open()
    marked = {**METADATA, "archived_at": "2026-10-05 22:00:00.0"}
    archived = fill(place.silo, "17912345678-old", *STREAM, metadata=marked)
    fill(place.storage, "17912345678-old", *STREAM[:2], metadata=marked)
    archive = place.silo / "conversations" / ".archive"
    archive.mkdir()
    archived.rename(archive / archived.name)
    shelf = shelf_of(place)
    await shelf.remove(ID)
    assert await shelf.list(is_archived=True) == []
    assert folders(place) == {"silo.trash": ["17912345678-old"], "workspace.trash": ["17912345678-old"]}


@pytest.mark.requirement("R289")
async def test_an_archived_copy_with_other_events_stays_where_it_is(place: Place) -> None:
    place.open()
    fill(place.storage, "17912345678-old", *STREAM, metadata=METADATA)
    other = fill(place.folder.parent / "made", "17912345678-old", turn(), user("other"))
    archive = place.silo / "conversations" / ".archive"
    archive.mkdir(parents=True)
    other.rename(archive / "17912345678-old")
    await shelf_of(place).edit(ID, [SetTitle("new")])
    assert folders(place) == {
        "silo": ["17912345678-new"],
        "silo.archive": ["17912345678-old"],
        "workspace": ["17912345678-new"],
    }

"""Conversations whose time is up: which go, which stay, and that those that go can be had back."""

import fcntl
import json
import os
from pathlib import Path

import pytest

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.timestamp import Timestamp
from tests.support.streams import Raw
from tests.support.workspaces import Place, fill, tree

pytestmark = pytest.mark.anyio

OVER, LATER, USED = "2026-10-05 21:09:27.8", "2026-10-05 21:09:27.9", "2026-10-05 20:00:00.0"


def name_of(number: int) -> str:
    return str(17_912_345_600 + number)


def id_of(number: int) -> ConversationId:
    return ConversationId(f"jp-c{name_of(number)}")


def conversation(root: Path, number: int, expires_at: str | None = None, *, used: str = USED) -> Path:
    metadata: Raw = {"last_activated_at": used}
    return fill(root, name_of(number), metadata=metadata | ({"expires_at": expires_at} if expires_at else {}))


@pytest.fixture
def filled(place: Place) -> Place:
    """A conversation that has expired, one that has not, one that never will; another was used last."""
    conversation(place.storage, 1, OVER)
    conversation(place.storage, 2, LATER)
    conversation(place.storage, 3)
    conversation(place.storage, 4, used=OVER)
    place.open()
    return place


def live(place: Place) -> list[str]:
    return sorted(
        folder.name for folder in (place.storage / "conversations").iterdir() if folder.name[0] != "."
    )


async def test_what_has_expired_goes_to_the_trash_of_both_places(filled: Place) -> None:
    (filled.silo / "conversations" / name_of(1) / "QUERY_MESSAGE.md").write_text("mine", encoding="utf-8")
    assert await filled.store().remove_expired() == [id_of(1)]
    assert live(filled) == [name_of(2), name_of(3), name_of(4)]
    for root in (filled.storage, filled.silo):
        trashed = root / "conversations" / ".trash" / name_of(1)
        assert {"events.json", "metadata.json", "base_config.json", "TRASHED.md"} <= set(tree(trashed))
        assert "`expires_at` in metadata.json" in (trashed / "TRASHED.md").read_text(encoding="utf-8")
    assert (filled.silo / "conversations" / ".trash" / name_of(1) / "QUERY_MESSAGE.md").is_file()
    assert not await filled.store().find(id_of(1))
    assert await filled.store().remove_expired() == []


async def test_the_one_that_was_used_last_stays_until_another_is(place: Place) -> None:
    conversation(place.storage, 1, OVER, used=OVER)
    conversation(place.storage, 2)
    assert await place.store().remove_expired() == []
    conversation(place.storage, 3, used=LATER)
    assert await place.store().remove_expired() == [id_of(1)]


async def test_what_somebody_holds_stays(filled: Place) -> None:
    opened = await filled.store().open(id_of(1))
    assert opened is not None
    assert await filled.store().remove_expired() == []
    await opened.release()
    lock = filled.silo / "locks" / f"{id_of(1)}.lock"
    with lock.open("w") as file:  # as another program does it
        fcntl.flock(file, fcntl.LOCK_EX)
        assert await filled.store().remove_expired() == []
    assert await filled.store().remove_expired() == [id_of(1)]
    assert tree(filled.silo / "locks") == []


@pytest.mark.requirement("F31", "F32", "C62")
@pytest.mark.parametrize(
    ("history", "is_active"),
    [
        ([1], True),
        ([1, 3], True),
        ([3, 1], False),
        ([9, 1], True),  # gone ones are passed over
        ([5, 1], False),  # an archived one ends the search
        ([], False),
        (["1", None, True, -1, 10**30, {"id": 1}], False),
    ],
)
async def test_what_a_session_has_open_stays(filled: Place, history: list[object], is_active: bool) -> None:
    archive = filled.storage / "conversations" / ".archive"
    archive.mkdir()
    conversation(filled.storage, 5).rename(archive / name_of(5))
    sessions = filled.silo / "sessions"
    sessions.mkdir()
    entries = [
        {"id": int(name_of(each)) if isinstance(each, int) and 0 < each < 10 and each is not True else each}
        for each in history
    ]
    content = {"history": entries, "id": "48213", "source": {"type": "getsid"}}
    (sessions / "getsid-48213.json").write_text(json.dumps(content), encoding="utf-8")
    (sessions / "getsid-1.json").write_text("{", encoding="utf-8")
    (sessions / "old.json").write_text('["nonsense"]', encoding="utf-8")
    assert await filled.store().remove_expired() == ([] if is_active else [id_of(1)])


@pytest.mark.parametrize("metadata", ["{", "[]", '{"expires_at": "2020-01-01 00:00:00.0"}'])
async def test_damaged_metadata_say_nothing(filled: Place, metadata: str) -> None:
    for root in (filled.storage, filled.silo):
        (root / "conversations" / name_of(1) / "metadata.json").write_text(metadata, encoding="utf-8")
    assert await filled.store().remove_expired() == []
    assert name_of(1) in live(filled)


async def test_archived_ones_are_not_looked_at(filled: Place) -> None:
    for root in (filled.storage, filled.silo):
        archive = root / "conversations" / ".archive"
        archive.mkdir()
        (root / "conversations" / name_of(1)).rename(archive / name_of(1))
    assert await filled.store().remove_expired() == []


async def test_two_copies_that_disagree_stay(filled: Place) -> None:
    """Somebody took the expiry out of one of them: that is the last word, whichever is newer."""
    copy = filled.silo / "conversations" / name_of(1) / "metadata.json"
    copy.write_text(json.dumps({"last_activated_at": USED}), encoding="utf-8")
    os.utime(copy, ns=(0, 0))
    assert await filled.store().remove_expired() == []


async def test_what_cannot_be_moved_stays_and_is_told(
    filled: Place, caplog: pytest.LogCaptureFixture
) -> None:
    for root in (filled.storage, filled.silo):
        (root / "conversations" / ".trash").write_text("in the way", encoding="utf-8")
    assert await filled.store().remove_expired() == []
    assert "has expired and could not be removed" in caplog.text
    assert tree(filled.silo / "locks") == []


async def test_the_stamp_is_written_with_the_next_save_and_can_be_taken_away(place: Place) -> None:
    store = place.store()
    opened = await store.create({}, local=False, persist=True)
    opened.set_expiry(Timestamp.parse(LATER))
    await opened.save()
    (summary,) = await store.summaries()
    assert str(summary.expires_at) == LATER
    opened.set_expiry(None)
    await opened.save()
    (summary,) = await store.summaries()
    assert summary.expires_at is None
    await opened.release()

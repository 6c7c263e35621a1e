"""Copies of conversations on disk: what is copied, where to, and that the source stays as it is."""

import json
from pathlib import Path

import pytest

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.store import OpenConversation
from tests.support.streams import Raw, delta, message, raw, turn, user
from tests.support.workspaces import ID, Place, fill, states, tree

pytestmark = pytest.mark.anyio

METADATA: Raw = {
    "title": "Old title",
    "last_activated_at": "2026-10-01 00:00:00.0",
    "pinned_at": "2026-10-02 00:00:00.0",
    "expires_at": "2026-10-03 00:00:00.0",
    "labels": {"area": "auth"},
    "mood": "kept",
}
ENTRIES = [turn(), user("a"), message("A"), raw("mood"), delta(x=1), turn(), user("b"), message("B")]


async def forked(
    place: Place, source: ConversationId = ID, keep_turns: int | None = None
) -> OpenConversation:
    place.clock.advance(60)
    return await place.store().fork(source, keep_turns=keep_turns, persist=True)


def read(root: Path, conversation: OpenConversation, name: str) -> object:
    (folder,) = (root / "conversations").glob(f"{conversation.id.removeprefix('jp-c')}*")
    return json.loads((folder / name).read_text(encoding="utf-8"))


async def test_everything_is_copied_and_the_source_is_untouched(place: Place) -> None:
    fill(
        place.storage,
        "17912345678-old-title",
        *ENTRIES,
        metadata=METADATA,
        base={"assistant": {"name": "Ada"}},
    )
    place.open()
    before = states(place.storage / "conversations"), states(place.silo / "conversations")
    copy = await forked(place)
    assert (copy.is_new, copy.id) == (True, "jp-c17912346278")
    assert (states(place.storage / "conversations"), states(place.silo / "conversations")) == before
    await copy.save()
    await copy.release()
    for root in (place.storage, place.silo):
        assert read(root, copy, "events.json") == ENTRIES
        assert read(root, copy, "base_config.json") == {"assistant": {"name": "Ada"}}
        assert read(root, copy, "metadata.json") == {
            "title": "Old title",
            "last_activated_at": "2026-10-05 21:10:27.8",
            "pinned_at": "2026-10-02 00:00:00.0",
            "labels": {"area": "auth"},
            "mood": "kept",
        }
        assert (root / "conversations" / "17912346278-old-title").is_dir()
    now = states(place.storage / "conversations"), states(place.silo / "conversations")
    assert all(one.items() <= other.items() for one, other in zip(before, now, strict=True))


async def test_only_the_last_turns(place: Place) -> None:
    fill(place.storage, "17912345678", *ENTRIES)
    copy = await forked(place, keep_turns=1)
    await copy.save()
    assert read(place.storage, copy, "events.json") == [
        raw("mood"),
        delta(x=1),
        turn(),
        user("b"),
        message("B"),
    ]


@pytest.mark.parametrize("is_shared", [True, False])
async def test_a_copy_lies_where_its_source_lies(place: Place, is_shared: bool) -> None:
    place.open()
    fill(place.silo, "17912345678", *ENTRIES)
    if is_shared:
        fill(place.storage, "17912345678", *ENTRIES)
    copy = await forked(place)
    await copy.save()
    in_workspace = (place.storage / "conversations").glob("17912346278*")
    assert (list(in_workspace) != []) is is_shared
    assert read(place.silo, copy, "events.json") == ENTRIES


async def test_an_archived_source_makes_a_live_copy(place: Place) -> None:
    folder = fill(
        place.storage, "17912345678", *ENTRIES, metadata={**METADATA, "archived_at": "2026-10-04 00:00:00.0"}
    )
    (place.storage / "conversations" / ".archive").mkdir()
    folder.rename(place.storage / "conversations" / ".archive" / folder.name)
    copy = await forked(place)
    await copy.save()
    written = read(place.storage, copy, "metadata.json")
    assert isinstance(written, dict)
    assert written.keys() == {"title", "last_activated_at", "pinned_at", "labels", "mood"}


async def test_nothing_is_left_of_a_copy_that_is_not_saved(place: Place) -> None:
    fill(place.storage, "17912345678", *ENTRIES)
    place.open()
    before = tree(place.storage), tree(place.silo)
    for persist in (True, False):
        copy = await place.store().fork(ID, keep_turns=None, persist=persist)
        assert (await place.store().lock_holder(copy.id) is not None) is persist
        await copy.discard()
        await copy.release()
    assert (tree(place.storage), tree(place.silo)) == before


async def test_what_cannot_be_copied_says_so(place: Place) -> None:
    with pytest.raises(Refusal, match="no conversation jp-c17912345678"):
        await forked(place)
    folder = fill(place.storage, "17912345678")
    (folder / "events.json").write_text("[", encoding="utf-8")
    with pytest.raises(Refusal, match="cannot be read"):
        await forked(place)
    assert tree(place.silo / "locks") == []


async def test_copies_within_a_moment_have_ids_of_their_own(place: Place) -> None:
    fill(place.storage, "17912345678", *ENTRIES)
    store = place.store()
    ids = {(await store.fork(ID, keep_turns=None, persist=True)).id for _ in range(3)}
    assert ids == {"jp-c17912345679", "jp-c17912345680", "jp-c17912345681"}

"""What was removed comes back exactly, and what went to the trash for another reason does not."""

from pathlib import Path

import pytest

from jp_lsp.ports.refusal import Refusal
from tests.support.shelf import folders, shelf_of
from tests.support.streams import Raw, message, turn, user
from tests.support.workspaces import ID, Place, fill, make_old, states

pytestmark = pytest.mark.anyio

NAME = "17912345678-plan"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def put(place: Place, *roots: str) -> None:
    place.open()
    for label in roots:
        root = place.silo if label == "silo" else place.storage
        metadata: Raw = {"title": "plan", "last_activated_at": "2026-10-05 21:09:27.8"}
        folder = fill(root, NAME, turn(), user("hi"), message("hello"), metadata=metadata)
        (folder / "notes.txt").write_text("mine", encoding="utf-8")
        make_old(folder, 1000)


def live(place: Place) -> dict[str, object]:
    return {
        f"{label}/{name}": state
        for label, root in (("silo", place.silo), ("workspace", place.storage))
        for name, state in states(root / "conversations").items()
        if not name.startswith(".")
    }


@pytest.mark.requirement("R281", "R344")
@pytest.mark.parametrize("roots", [("silo", "workspace"), ("silo",), ("workspace",)])
async def test_a_removal_is_undone_exactly(place: Place, roots: tuple[str, ...]) -> None:
    put(place, *roots)
    shelf, before = shelf_of(place), live(place)
    was = await shelf.facts(ID)
    await shelf.remove(ID)
    (trashed,) = await shelf.trashed()
    assert (trashed.id, trashed.title, len(trashed.folders)) == (ID, "plan", len(roots))
    assert await shelf.restore(ID) == was
    assert live(place) == before
    assert await shelf.trashed() == []
    assert await shelf.held() == set()


async def test_of_several_removals_the_last_one_is_undone(place: Place) -> None:
    put(place, "silo", "workspace")
    shelf = shelf_of(place)
    await shelf.remove(ID)
    place.clock.advance(3600)
    fill(place.silo, "17912345678", turn(), user("a later one"))
    await shelf.remove(ID)
    facts = await shelf.restore(ID)
    assert (facts.presence, facts.title) == ("user_local", None), (
        "the workspace's copy is of an earlier removal"
    )
    assert folders(place)["workspace.trash"] == [NAME]


@pytest.mark.parametrize(
    ("trashed", "message"),
    [
        (None, "There is no conversation jp-c17912345678 in the trash"),
        ("a newer copy of the conversation took its place", "There is no conversation"),
    ],
)
async def test_only_a_removal_can_be_undone(place: Place, trashed: str | None, message: str) -> None:
    put(place)
    if trashed is not None:
        folder = fill(place.silo, NAME, turn())
        folder.rename(folder.parent / "gone")
        trash = folder.parent / ".trash"
        trash.mkdir()
        (folder.parent / "gone").rename(trash / NAME)
        note = f"# Conversation set aside\n\n- **Reason**: {trashed}\n- **Date**: 2026-10-05T21:09:27Z\n"
        (trash / NAME / "TRASHED.md").write_text(note, encoding="utf-8")
    shelf = shelf_of(place)
    assert await shelf.trashed() == []
    with pytest.raises(Refusal, match=message):
        await shelf.restore(ID)


async def test_nothing_is_restored_over_one_that_is_there(place: Place) -> None:
    put(place, "silo")
    shelf = shelf_of(place)
    await shelf.remove(ID)
    fill(place.storage, "17912345678", turn(), user("another one"))
    before = live(place)
    with pytest.raises(Refusal, match="is there already"):
        await shelf.restore(ID)
    assert live(place) == before

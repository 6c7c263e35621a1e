"""A process is killed while it edits a conversation, or takes it out of the trash: nothing of it is lost."""

import json
import random
from pathlib import Path

import pytest

from jp_lsp.conversation.metadata_edit import SetTitle
from jp_lsp.ports.refusal import Refusal
from jp_lsp.workspace.validate import validate
from tests.adapters.workspace.test_shelf_crashes import KILLS, kill_in_the_middle
from tests.support.shelf import shelf_of
from tests.support.streams import message, turn, user
from tests.support.workspaces import ID, Place, fill

pytestmark = pytest.mark.anyio

STREAM = (turn(), user("text 1"), message("hello " * 5000))


@pytest.mark.requirement("R289", "F28", "S11")
@pytest.mark.parametrize("what", ["amend", "remove"])
async def test_killed_at_any_moment_it_is_whole(tmp_path: Path, what: str) -> None:
    chance = random.Random(f"20261005 {what}")
    place = Place(tmp_path)
    place.open()
    for root in (place.silo, place.storage):
        fill(root, "17912345678", *STREAM)
    shelf = shelf_of(place)
    for _ in range(KILLS):
        kill_in_the_middle(place, what, chance.uniform(0, 0.02))
        place.clock.advance(1e6)
        try:
            await shelf.facts(ID)
        except Refusal:
            assert what == "remove"
            await shelf.restore(ID)
        stored = json.loads((await place.store().copy(ID)).stream.events_text())
        assert stored[1].pop("content") in {"text 0", "text 1"}
        assert stored == [STREAM[0], {key: STREAM[1][key] for key in ("timestamp", "type")}, STREAM[2]]
        facts = await shelf.edit(ID, [SetTitle(None)])
        assert (facts.problem, facts.presence, facts.is_archived) == (None, "projected", False)
        assert await shelf.held() == set()
    place.clock.advance(1e9)
    assert validate(place.open(), place.clock()) == []

"""A process that saves is killed at any moment: whatever it reported is there, and every state loads."""

import random
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from jp_lsp.conversation.event import ConversationEvent, MessageResponse, TurnStart
from jp_lsp.workspace.validate import validate
from tests.support.streams import Raw, at, file_text, turn
from tests.support.workspaces import ID, Place, fill, tree

pytestmark = pytest.mark.anyio

KILLS = 30
LEGACY_BASE: Raw = {"type": "config_delta", "timestamp": str(at(0)), "delta": {"assistant": {"name": "A"}}}


def kill_after(place: Place, seconds: float, mode: str) -> int:
    """Start the process, kill it that long after its first durable save, give the entries it reported last."""
    arguments = [
        sys.executable,
        "-m",
        "tests.support.saving_process",
        str(place.folder.parent),
        "100000",
        mode,
    ]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)  # the kill comes at a moment that nobody chose
        process.kill()
        reported = [first, *process.stdout.read().splitlines(keepends=True)]
    whole = [line for line in reported if line.endswith("\n")]
    return int(whole[-1])


@pytest.mark.requirement("T04", "F28", "R289", "S11")
@pytest.mark.parametrize("mode", ["stays", "renames"])
async def test_killed_at_any_moment(tmp_path: Path, mode: str) -> None:
    chance = random.Random(20261005)
    place = Place(tmp_path)
    place.open()
    fill(place.silo, "17912345678", turn())
    fill(place.storage, "17912345678", turn())
    for _ in range(KILLS // 2):
        reported = kill_after(place, chance.uniform(0, 0.03), mode)
        place.clock.advance(1e6)
        for root in (place.silo, place.storage):
            leftovers = [name for name in tree(root / "conversations") if not name.endswith(".json")]
            assert all(name.endswith(".tmp") for name in leftovers)
            assert len(leftovers) <= 1
        copy = await place.store().copy(ID)
        assert len(copy.stream) >= reported
        last = copy.stream.events()[-1].kind
        assert isinstance(last, MessageResponse)
        assert last.text.startswith("text ")
        assert await place.store().last() == ID
        opened = await place.store().open(ID)
        assert opened is not None
        await opened.save()
        await opened.release()
    place.clock.advance(1e9)
    assert validate(place.open(), place.clock()) == []
    assert [name for name in tree(place.folder.parent) if name.endswith(".tmp")] == []


@pytest.mark.requirement("R289")
async def test_between_any_two_files_of_an_upgrade(place: Place) -> None:
    """The steps of the first save of a legacy conversation, one after the other, as a crash would leave them."""
    place.open()
    folder = fill(place.silo, "17912345678", LEGACY_BASE, turn())
    (folder / "base_config.json").unlink()
    for step in ("nothing", "base_config.json.tmp", "base_config.json", "events.json.tmp", "events.json"):
        if step.endswith(".tmp"):
            (folder / step).write_text('{"half', encoding="utf-8")
        elif step == "base_config.json":
            (folder / step).write_text(file_text(LEGACY_BASE["delta"]), encoding="utf-8")
        elif step == "events.json":
            (folder / step).write_text(file_text([turn()]), encoding="utf-8")
        stream = (await place.store().copy(ID)).stream
        assert stream.base_config == {"assistant": {"name": "A"}}
        assert len(stream.events()) == 1


@pytest.mark.requirement("R289", "S11")
async def test_between_any_two_files_of_a_first_save(place: Place) -> None:
    """Before the metadata are there nobody sees it; from then on it is whole, in one copy or in both."""
    place.open()
    made = fill(place.folder.parent / "made", "17912345678", turn())
    for root in (place.silo, place.storage):
        folder = root / "conversations" / "17912345678"
        folder.mkdir(parents=True)
        for name in ("base_config.json", "events.json", "metadata.json"):
            (folder / name).write_bytes((made / name).read_bytes())
            store = place.store()
            is_whole = (place.silo / "conversations" / "17912345678" / "metadata.json").exists()
            assert await store.last() == (ID if is_whole else None)
            if is_whole:
                assert len((await store.copy(ID)).stream.events()) == 1


async def test_a_first_save_writes_the_metadata_last(place: Place) -> None:
    conversation = await place.store().create({}, local=False, persist=True)
    conversation.stream.append(ConversationEvent(at(0), TurnStart()))
    await conversation.save()
    for root in (place.silo, place.storage):
        (folder,) = (root / "conversations").iterdir()
        times = {path.name: path.stat().st_ctime_ns for path in folder.iterdir()}
        assert max(times, key=lambda name: times[name]) == "metadata.json"
    await conversation.release()


@pytest.mark.requirement("F28")
async def test_a_left_over_is_never_read_and_goes_at_the_next_start(place: Place) -> None:
    place.open()
    folder = fill(place.silo, "17912345678", turn(), age=1000)
    (folder / "events.json.tmp").write_text('[{"type": "turn_st', encoding="utf-8")
    assert len((await place.store().copy(ID)).stream) == 1
    place.clock.advance(1e9)
    assert validate(place.open(), place.clock()) == []
    assert not (folder / "events.json.tmp").exists()
    assert tree(place.silo / "conversations" / ".trash") == []

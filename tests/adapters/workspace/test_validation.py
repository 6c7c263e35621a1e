"""Broken conversations are found and told apart; setting one aside is a step of its own."""

from pathlib import Path

import pytest

from jp_lsp.workspace.lock import acquire, lock_path
from jp_lsp.workspace.validate import BrokenConversation, trash, validate
from tests.support.streams import Raw, at, delta, file_text, raw, turn, user
from tests.support.workspaces import ID, START, Place, fill, make_old, states, tree

NAME = "17912345678"


def broken(place: Place, **files: str | bytes | None) -> Path:
    """A conversation that is whole but for these files, old enough to be judged."""
    folder = fill(place.storage, NAME, turn())
    for name, content in files.items():
        path = folder / f"{name}.json"
        if content is None:
            path.unlink()
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
    make_old(folder, 1000)
    return folder


def findings(place: Place) -> list[tuple[str, bool]]:
    roots = place.open()
    return [
        (each.reason, each.can_be_trashed)
        for each in validate(roots, place.clock())
        if each.root.name == "workspace"
    ]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"metadata": None}, "missing metadata.json"),
        ({"metadata": "{"}, "metadata.json: Expecting property name enclosed in double quotes"),
        ({"metadata": b"\xff"}, "metadata.json: not UTF-8: invalid start byte at byte 0"),
        ({"base_config": "x"}, "base_config.json: Expecting value"),
        ({"events": None}, "missing events.json"),
        ({"events": "[1"}, "events.json: Expecting"),
        ({"events": "{}"}, "events.json: the file is not a JSON array"),
        ({"events": '[{"type": 1}, 2]'}, "events.json: entry 1 is no object with a type"),
        ({"events": "\ufeff[]"}, "events.json: the file starts with a byte order mark"),
        ({"events": "[] x"}, "events.json: Extra data"),
    ],
)
@pytest.mark.requirement("T20")
def test_what_no_reader_can_use_may_be_set_aside(
    place: Place, files: dict[str, str | bytes | None], reason: str
) -> None:
    broken(place, **files)
    ((found, can_be_trashed),) = findings(place)
    assert found.startswith(reason)
    assert can_be_trashed


MISSING_FLAG: Raw = raw("tool_call_response", id="c", content="x")


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"metadata": "[]"}, "metadata.json: must hold an object, not an array"),
        (
            {"events": file_text([turn(), MISSING_FLAG])},
            "events.json: entry 1 (tool_call_response): 'is_error' is missing",
        ),
        (
            {"base_config": None},
            "base_config.json is missing and events.json does not begin with a config_delta",
        ),
    ],
)
def test_what_only_a_query_would_refuse_is_reported_and_stays(
    place: Place, files: dict[str, str | bytes | None], reason: str
) -> None:
    broken(place, **files)
    assert findings(place) == [(reason, False)]


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"events": "[]"},
        {"events": file_text([turn(), {"type": "mood"}])},
        {"base_config": None, "events": file_text([delta(0), user("a")])},
    ],
)
@pytest.mark.requirement("C31")
def test_what_loads_is_whole(place: Place, files: dict[str, str | None]) -> None:
    broken(place, **files)
    assert findings(place) == []


@pytest.mark.parametrize(
    ("name", "finding"),
    [
        ("notes", [("invalid directory name", True)]),
        ("17x-foo", [("invalid directory name", True)]),
        ("017912345678-x", [("invalid directory name", False)]),
        ("+17912345678", [("invalid directory name", False)]),
        (".hidden", []),
    ],
)
@pytest.mark.requirement("C7", "C8")
def test_names(place: Place, name: str, finding: list[tuple[str, bool]]) -> None:
    folder = place.storage / "conversations" / name
    folder.mkdir(parents=True)
    make_old(folder, 1000)
    assert findings(place) == finding


def test_the_oldest_layout_is_named_and_left_alone(place: Place) -> None:
    folder = place.storage / "conversations" / NAME
    folder.mkdir(parents=True)
    (folder / "messages.json").write_text("[]", encoding="utf-8")
    make_old(folder, 1000)
    assert findings(place) == [("unsupported layout: it has messages.json and no events.json", False)]


@pytest.mark.requirement("C7")
def test_plain_files_and_links_are_left_alone(place: Place, tmp_path: Path) -> None:
    conversations = place.storage / "conversations"
    conversations.mkdir()
    (conversations / "README.md").write_text("x", encoding="utf-8")
    (conversations / "17912345679").symlink_to(tmp_path)
    assert findings(place) == []


@pytest.mark.requirement("F30", "C63")
def test_a_conversation_that_is_just_being_made_is_left_alone(place: Place) -> None:
    roots = place.open()
    folder = place.silo / "conversations" / NAME
    folder.mkdir(parents=True)
    (folder / "QUERY_MESSAGE.md").write_text("draft", encoding="utf-8")
    (folder / "metadata.json.tmp").write_text("{", encoding="utf-8")
    make_old(folder, 1000)
    lock = acquire(lock_path(roots, ID), START)
    assert lock is not None
    before = states(place.folder.parent)
    assert validate(roots, place.clock()) == []
    assert states(place.folder.parent) == before
    lock.release()
    (found,) = validate(roots, place.clock())
    assert (found.reason, found.conversation) == ("missing metadata.json", ID)
    make_old(folder, 1)
    assert validate(roots, place.clock()) == []


def one(place: Place) -> BrokenConversation:
    (found,) = validate(place.open(), place.clock())
    return found


@pytest.mark.requirement("F30")
def test_setting_aside_moves_the_folder_and_says_why(place: Place) -> None:
    place.open()
    folder = fill(place.silo, f"{NAME}-t", turn())
    (folder / "events.json").unlink()
    (folder / "notes.md").write_text("mine", encoding="utf-8")
    make_old(folder, 1000)
    (place.silo / "conversations" / ".trash" / f"{NAME}-t").mkdir(parents=True)
    target = trash(one(place), place.open(), START)
    assert target == place.silo / "conversations" / ".trash" / f"{NAME}-t-1"
    assert not folder.exists()
    assert tree(target) == ["TRASHED.md", "base_config.json", "metadata.json", "notes.md"]
    assert (target / "TRASHED.md").read_text(encoding="utf-8") == (
        "# Conversation set aside\n\n"
        f"The folder `{NAME}-t` was moved here and nothing in it was changed.\n\n"
        "- **Reason**: missing events.json\n"
        "- **Date**: 2026-10-05T21:09:27Z\n\n"
        "To restore it, mend what the reason names, delete this note, and move the folder back to "
        "`conversations`.\n"
    )
    assert validate(place.open(), place.clock()) == []


def test_one_that_came_into_use_meanwhile_is_not_set_aside(place: Place) -> None:
    place.open()
    folder = fill(place.silo, NAME, turn())
    (folder / "events.json").unlink()
    make_old(folder, 1000)
    found = one(place)
    lock = acquire(lock_path(place.open(), ID), START)
    assert lock is not None
    with pytest.raises(ValueError, match="is in use"):
        trash(found, place.open(), START)
    lock.release()
    assert folder.is_dir()


def test_one_that_a_person_should_look_at_is_not_set_aside(place: Place) -> None:
    place.open()
    folder = fill(place.silo, NAME, MISSING_FLAG)
    make_old(folder, 1000)
    with pytest.raises(ValueError, match=r"is not to be set aside: events\.json: entry 0"):
        trash(one(place), place.open(), START)
    assert str(at(0)) in (folder / "events.json").read_text(encoding="utf-8")


def test_looking_twice_finds_the_same(place: Place) -> None:
    broken(place, events=None)
    place.open()
    before = states(place.folder.parent)
    assert findings(place) == findings(place)
    assert states(place.folder.parent) == before

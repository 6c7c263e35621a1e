"""Broken conversations are found and told apart; setting one aside is a step of its own."""

import os
from pathlib import Path

import pytest

from jp_lsp.workspace.lock import acquire, lock_path
from jp_lsp.workspace.validate import validate
from tests.support.closed_folder import closed
from tests.support.streams import Raw, delta, file_text, raw, turn, user
from tests.support.workspaces import ID, START, Place, fill, make_old, states

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
        (each.reason, each.is_lost)
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
def test_what_no_reader_can_use_is_lost(
    place: Place, files: dict[str, str | bytes | None], reason: str
) -> None:
    broken(place, **files)
    ((found, is_lost),) = findings(place)
    assert found.startswith(reason)
    assert is_lost


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


def test_looking_twice_finds_the_same(place: Place) -> None:
    broken(place, events=None)
    place.open()
    before = states(place.folder.parent)
    assert findings(place) == findings(place)
    assert states(place.folder.parent) == before


@pytest.mark.parametrize("name", ["metadata.json", "base_config.json", "events.json"])
def test_a_link_in_place_of_a_file_is_for_a_person_to_look_at(place: Place, name: str) -> None:
    folder = broken(place)
    (folder / name).rename(folder / "kept")
    (folder / name).symlink_to("kept")
    make_old(folder, 1000)
    os.utime(folder / name, ns=(0, 0), follow_symlinks=False)
    assert findings(place) == [(f"{name} is a link, which is not followed", False)]


@pytest.mark.requirement("T20")
def test_a_folder_that_cannot_be_looked_into_is_named_and_the_others_are_checked(place: Place) -> None:
    place.open()
    broken(place, events=None)
    shut = fill(place.storage, "17912345679", turn(), age=1000)
    with closed(shut):
        assert findings(place) == [
            ("missing events.json", True),
            ("it cannot be looked at: Permission denied", False),
        ]

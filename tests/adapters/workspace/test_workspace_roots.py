"""The user's own folder of a workspace: found, made, brought together, filled."""

from pathlib import Path

import pytest

from jp_lsp.workspace.paths import WorkspaceError, open_roots, view_roots
from tests.support.streams import user
from tests.support.workspaces import START, Place, fill, make_old, states, tree


def with_id(place: Place, id: str = "ab12c") -> str:
    (place.storage / ".id").write_text(f"x\n{id}\n", encoding="utf-8")
    return id


def test_the_first_opening_makes_everything(place: Place) -> None:
    roots = place.open()
    assert roots.silo is not None
    id = (place.storage / ".id").read_text(encoding="utf-8").splitlines()[-1]
    assert roots.silo.path == place.user_data / "workspace" / f"project-{id}"
    assert (roots.silo.path / "storage").readlink() == place.storage
    assert roots.workspace.path == place.storage
    assert [root.name for root in roots.in_reading_order] == ["silo", "workspace"]
    assert roots.private == roots.silo.path


def test_looking_writes_nothing(place: Place) -> None:
    before = tree(place.folder.parent)
    roots = view_roots(place.folder, place.user_data)
    assert roots.silo is None
    assert tree(place.folder.parent) == before
    opened = place.open()
    before_again = states(place.folder.parent)
    assert view_roots(place.folder, place.user_data) == opened
    assert states(place.folder.parent) == before_again


@pytest.mark.requirement("F33")
def test_opening_again_changes_nothing(place: Place) -> None:
    fill(place.storage)
    place.open()
    before = states(place.folder.parent)
    for _ in range(2):
        place.open()
    assert states(place.folder.parent) == before


@pytest.mark.requirement("R280")
def test_the_first_run_copies_conversations_with_whatever_they_hold(place: Place) -> None:
    live = fill(place.storage, "17912345678-live", user("a"))
    archived = fill(place.storage / "conversations" / "x", "17912345679-old")
    (place.storage / "conversations" / ".archive").mkdir()
    archived.rename(place.storage / "conversations" / ".archive" / "17912345679-old")
    (live / "notes.md").write_text("mine", encoding="utf-8")
    make_old(live, 500)
    roots = place.open()
    assert roots.silo is not None
    copied = roots.silo.conversations
    assert sorted(path.name for path in (copied / "17912345678-live").iterdir()) == [
        "base_config.json",
        "events.json",
        "metadata.json",
        "notes.md",
    ]
    assert (copied / "17912345678-live" / "events.json").stat().st_mtime_ns == (
        live / "events.json"
    ).stat().st_mtime_ns
    assert (copied / ".archive" / "17912345679-old" / "events.json").is_file()
    assert (live / "events.json").is_file()


def test_later_runs_import_nothing(place: Place) -> None:
    place.open()
    fill(place.storage)
    roots = place.open()
    assert roots.silo is not None
    assert roots.silo.conversation_folders() == {}


def test_a_renamed_workspace_keeps_its_folder(place: Place) -> None:
    first = place.open()
    assert first.silo is not None
    renamed = place.folder.with_name("other")
    place.folder.rename(renamed)
    roots = open_roots(renamed, place.user_data, START)
    assert roots.silo == first.silo
    assert (first.silo.path / "storage").readlink() == renamed / ".jp"


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["project-ab12c", "other-ab12c"], "project-ab12c"),
        (["older-ab12c", "newer-ab12c"], "newer-ab12c"),
        (["ab12c"], "ab12c"),
        (["a-xab12c", "project-ab12d"], None),
    ],
)
def test_which_folder_is_taken(place: Place, names: list[str], chosen: str | None) -> None:
    with_id(place)
    for age, name in enumerate(names):
        folder = place.user_data / "workspace" / name
        folder.mkdir(parents=True)
        (folder / "config.toml").write_text("", encoding="utf-8")
        make_old(folder, 1000 - 100 * age)
    found = view_roots(place.folder, place.user_data).silo
    assert (found and found.path.name) == chosen


@pytest.mark.requirement("R344", "C59")
def test_folders_of_one_workspace_are_brought_together(place: Place) -> None:
    with_id(place)
    ours, theirs = (place.user_data / "workspace" / name for name in ("project-ab12c", "branch-ab12c"))
    fill(ours, "17912345671-only-here", user("mine"))
    fill(theirs, "17912345672-only-there", user("theirs"))
    make_old(fill(ours, "17912345673-both", user("ours is older")), 900)
    make_old(fill(theirs, "17912345673-both", user("theirs is newer")), 100)
    make_old(fill(ours, "17912345674-ours-newer", user("ours is newer")), 100)
    make_old(fill(theirs, "17912345674-theirs-older", user("theirs is older")), 900)
    for silo, names in ((ours, ["drafts/a.md"]), (theirs, ["drafts/a.md", "drafts/b.md", "approvals.json"])):
        for name in names:
            (silo / name).parent.mkdir(exist_ok=True)
            (silo / name).write_text(silo.name, encoding="utf-8")
    roots = place.open()
    assert roots.silo is not None
    assert roots.silo.path == ours
    assert not theirs.exists()

    def events(name: str) -> str:
        return (ours / "conversations" / name / "events.json").read_text(encoding="utf-8")

    assert sorted(roots.silo.conversation_folders().values()) == [
        "17912345671-only-here",
        "17912345672-only-there",
        "17912345673-both",
        "17912345674-ours-newer",
    ]
    assert "theirs is newer" in events("17912345673-both")
    assert "ours is newer" in events("17912345674-ours-newer")
    assert "ours is older" in events(".trash/17912345673-both")
    assert "theirs is older" in events(".trash/17912345674-theirs-older")
    assert (ours / "drafts/a.md").read_text(encoding="utf-8") == "project-ab12c"
    assert (ours / "drafts/b.md").read_text(encoding="utf-8") == "branch-ab12c"
    assert (ours / "approvals.json").is_file()


def test_something_else_in_the_place_of_the_link_is_an_error(place: Place) -> None:
    with_id(place)
    (place.user_data / "workspace" / "project-ab12c" / "storage").mkdir(parents=True)
    with pytest.raises(WorkspaceError, match="is not a symbolic link; move it away"):
        place.open()


def test_without_a_writable_place_for_the_user_the_workspace_is_used_alone(
    place: Place, tmp_path: Path
) -> None:
    with_id(place)
    place.open()
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the folder should be", encoding="utf-8")
    roots = open_roots(place.folder, blocked, START)
    assert roots.silo is None
    assert roots.private == place.storage


def test_the_workspace_must_be_writable(tmp_path: Path) -> None:
    (tmp_path / ".jp").write_text("a file", encoding="utf-8")
    with pytest.raises(WorkspaceError, match="The workspace id cannot be stored"):
        open_roots(tmp_path, tmp_path / "data", START)


def test_an_interrupted_copy_is_no_conversation(place: Place) -> None:
    place.open()
    (place.silo / "conversations" / ".copying-17912345678").mkdir(parents=True)
    roots = place.open()
    assert roots.silo is not None
    assert roots.silo.conversation_folders() == {}


def test_a_folder_that_the_user_moved_to_another_disk_is_found_through_its_link(
    place: Place, tmp_path: Path
) -> None:
    with_id(place)
    real = tmp_path / "large disk"
    fill(real, "17912345671-only-here", user("mine"))
    (place.user_data / "workspace").mkdir(parents=True)
    (place.user_data / "workspace" / "renamed-ab12c").symlink_to(real)
    fill(place.storage, "17912345672-theirs", user("theirs"))
    for roots in (view_roots(place.folder, place.user_data), place.open(), place.open()):
        assert roots.silo is not None
        assert roots.silo.path == place.user_data / "workspace" / "renamed-ab12c"
        assert list(roots.silo.conversation_folders().values()) == ["17912345671-only-here"]
    assert (real / "storage").readlink() == place.storage


@pytest.mark.requirement("C6", "C59")
def test_nothing_that_a_folder_held_is_lost_when_it_is_given_up(place: Place) -> None:
    with_id(place)
    ours, theirs = (place.user_data / "workspace" / name for name in ("project-ab12c", "branch-ab12c"))
    (ours / "conversations").mkdir(parents=True)
    make_old(fill(theirs, "17912345671-a", user("newer")), 100)
    make_old(fill(theirs, "17912345671-b", user("older")), 500)
    for name in ("notes/a.md", "a file", ".trash/17912345672-gone/events.json"):
        path = theirs / "conversations" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    (ours / "conversations/.trash/17912345672-gone").mkdir(parents=True)
    place.open()
    assert not theirs.exists()
    kept = ours / "conversations"
    assert "newer" in (kept / "17912345671-a/events.json").read_text(encoding="utf-8")
    assert "older" in (kept / ".trash/17912345671-b/events.json").read_text(encoding="utf-8")
    for name in ("notes/a.md", "a file"):
        assert (kept / ".trash" / name).read_text(encoding="utf-8") == name
    assert (kept / ".trash/17912345672-gone-1/events.json").is_file()


@pytest.mark.parametrize("content", [None, "ab12c", "x\r\nab12c\r\n"])
def test_a_workspace_that_cannot_be_written_can_be_looked_at(place: Place, content: str | None) -> None:
    """A folder where the temporary file should be stands for a disk that is read only, for root too."""
    if content is not None:
        (place.storage / ".id").write_bytes(content.encode())
    (place.storage / ".id.tmp" / "x").mkdir(parents=True)
    folder = fill(place.storage, "17912345671", user("theirs"))
    folder.chmod(0o555)
    before = states(place.storage)
    roots = place.open()
    assert list(roots.workspace.conversation_folders()) == ["jp-c17912345671"]
    assert (roots.silo and roots.silo.path.name) == (None if content is None else "project-ab12c")
    assert states(place.storage) == before
    if roots.silo is not None:
        copy = roots.silo.conversations / "17912345671"
        assert copy.stat().st_mode & 0o700 == 0o700, "the user's own copy is for the user to change"

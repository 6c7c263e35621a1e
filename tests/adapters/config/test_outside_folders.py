"""Which links of a workspace lead out of it, and so need the user's trust."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from jp_lsp.config.outside import outside_folders

pytestmark = pytest.mark.requirement("R306")

CONVERSATIONS = ".jp/conversations"


def link(path: Path, target: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    target.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ({}, {}),
        ({CONVERSATIONS: "clone/docs"}, {}),
        ({CONVERSATIONS: "other"}, {CONVERSATIONS: "other"}),
        ({f"{CONVERSATIONS}/.trash": "other"}, {f"{CONVERSATIONS}/.trash": "other"}),
        (
            {f"{CONVERSATIONS}/.archive": "old", f"{CONVERSATIONS}/.trash": "other"},
            {f"{CONVERSATIONS}/.archive": "old", f"{CONVERSATIONS}/.trash": "other"},
        ),
        ({".jp": "other"}, {".jp": "other"}),
        ({CONVERSATIONS: "clone-of-it"}, {CONVERSATIONS: "clone-of-it"}),
    ],
)
def test_what_leads_outside(tmp_path: Path, links: Mapping[str, str], expected: Mapping[str, str]) -> None:
    root = tmp_path / "clone"
    root.mkdir()
    for name, target in links.items():
        link(root / name, tmp_path / target)
    found = outside_folders(root)
    assert {item.name: item.text for item in found} == {
        name: str(tmp_path / target) for name, target in expected.items()
    }
    assert {item.kind for item in found} <= {"link"}


def test_a_link_behind_a_link_counts_where_it_ends(tmp_path: Path) -> None:
    root = tmp_path / "clone"
    link(root / "inside", tmp_path / "other")
    link(root / CONVERSATIONS, root / "inside")
    (found,) = outside_folders(root)
    assert found.text == str(tmp_path / "other")


def test_a_folder_within_another_one_is_not_told_twice(tmp_path: Path) -> None:
    root = tmp_path / "clone"
    link(root / CONVERSATIONS, tmp_path / "other")
    link(tmp_path / "other" / ".trash", tmp_path / "other" / "gone")
    assert [item.name for item in outside_folders(root)] == [CONVERSATIONS]


def test_a_circle_and_a_link_to_nothing_lead_nowhere(tmp_path: Path) -> None:
    storage = tmp_path / "clone" / ".jp"
    storage.mkdir(parents=True)
    (storage / "conversations").symlink_to(storage / "conversations")
    assert outside_folders(tmp_path / "clone") == ()
    (storage / "conversations").unlink()
    (storage / "conversations").symlink_to(tmp_path / "nothing")
    assert outside_folders(tmp_path / "clone") == ()


def test_a_workspace_that_is_reached_through_a_link_is_inside_of_itself(tmp_path: Path) -> None:
    link(tmp_path / "real" / CONVERSATIONS, tmp_path / "real" / "docs")
    (tmp_path / "way").symlink_to(tmp_path / "real")
    assert outside_folders(tmp_path / "way") == ()

"""What the user said about trusting a workspace, on disk (config-and-tools 10.4)."""

import json
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from jp_lsp.ports.trust import TrustChange, TrustItem
from jp_lsp.workspace.trust import DiskTrustStore

TOOL = TrustItem("tool", "t", "make", ".jp/config.toml:1")
SERVER = TrustItem("mcp_server", "s", "serve", ".jp/config.toml:2")


class World:
    def __init__(self, folder: Path) -> None:
        self.file = folder / "data" / "trust.json"
        self.root = folder / "project"
        self.root.mkdir()

    def store(self, root: Path | None = None) -> DiskTrustStore:
        """A store as a server makes it when it starts."""
        return DiskTrustStore(self.file, root or self.root)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.mark.requirement("T15")
def test_nothing_is_trusted_before_somebody_says_so(world: World):
    store = world.store()
    assert not store.is_trusted("h1")
    assert store.changes([TOOL]) == (TrustChange(TOOL, is_new=True),)
    assert not world.file.exists()


def test_trust_is_kept_for_the_next_server(world: World):
    world.store().trust("h1", [TOOL, SERVER])
    store = world.store()
    assert (store.is_trusted("h1"), store.is_trusted("h2")) == (True, False)
    assert store.changes([TOOL, SERVER]) == ()
    assert store.changes([TOOL]) == ()
    assert store.changes([replace(TOOL, origin="elsewhere:7")]) == ()


def test_what_changed_is_named(world: World):
    world.store().trust("h1", [TOOL, SERVER])
    changed, fresh = replace(TOOL, text="rm"), replace(TOOL, name="u")
    assert world.store().changes([SERVER, changed, fresh, replace(SERVER, kind="tool")]) == (
        TrustChange(changed, is_new=False),
        TrustChange(fresh, is_new=True),
        TrustChange(replace(SERVER, kind="tool"), is_new=True),
    )


def test_going_back_to_what_was_trusted_before_asks_nothing(world: World):
    older, newer = TOOL, replace(TOOL, text="newer")
    store = world.store()
    store.trust("h1", [older, SERVER])
    store.trust("h2", [newer])
    assert store.changes([older, SERVER]) == ()
    assert store.changes([newer]) == ()
    assert (store.is_trusted("h1"), store.is_trusted("h2")) == (False, True)


@pytest.mark.requirement("T15")
def test_a_copy_elsewhere_is_another_workspace_and_a_link_is_the_same(world: World, tmp_path: Path):
    world.store().trust("h1", [TOOL])
    copy, link = tmp_path / "copy", tmp_path / "link"
    copy.mkdir()
    link.symlink_to(world.root)
    assert world.store(copy).changes([TOOL]) == (TrustChange(TOOL, is_new=True),)
    assert not world.store(copy).is_trusted("h1")
    assert world.store(link).is_trusted("h1")
    world.store(copy).trust("h2", [SERVER])
    assert world.store().changes([TOOL]) == ()


def test_only_digests_are_stored_and_the_path_is_canonical(world: World):
    world.store().trust("h1", [replace(TOOL, text="make --token=secret")])
    text = world.file.read_text(encoding="utf-8")
    assert "secret" not in text
    held = json.loads(text)
    assert list(held["workspaces"]) == [str(world.root.resolve())]
    assert held["workspaces"][str(world.root.resolve())]["hash"] == "h1"
    assert not world.file.with_name("trust.json.tmp").exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{",
        b"\xff",
        b'{"workspaces": []}',
        b'{"workspaces": {"ROOT": 3}}',
        b'{"workspaces": {"ROOT": {"hash": 1, "items": "x"}}}',
        b'{"workspaces": {"ROOT": {"hash": "", "items": [1, ["a"], ["tool:t", 2], null]}}}',
    ],
)
def test_a_broken_file_trusts_nothing_and_is_written_anew(world: World, content: bytes):
    world.file.parent.mkdir()
    world.file.write_bytes(content.replace(b"ROOT", str(world.root.resolve()).encode()))
    store = world.store()
    assert not store.is_trusted("")
    assert store.changes([TOOL]) == (TrustChange(TOOL, is_new=True),)
    store.trust("h1", [TOOL])
    assert world.store().is_trusted("h1")


def test_who_takes_an_entry_out_of_the_file_means_it(world: World):
    store = world.store()
    store.trust("h1", [TOOL])
    world.file.write_text("{}", encoding="utf-8")
    assert not store.is_trusted("h1")


def test_where_it_cannot_be_stored_it_holds_until_the_server_ends(
    world: World, caplog: pytest.LogCaptureFixture
):
    world.file.parent.write_text("a file in the way of the folder", encoding="utf-8")
    store = world.store()
    with caplog.at_level(logging.WARNING):
        store.trust("h1", [TOOL])
    assert "cannot be stored" in caplog.text
    assert store.is_trusted("h1")
    assert store.changes([TOOL]) == ()
    assert not world.store().is_trusted("h1")


def test_a_no_holds_until_the_server_ends_or_turns_into_a_yes(world: World):
    store = world.store()
    store.decline("h1")
    assert (store.is_declined("h1"), store.is_declined("h2"), store.is_trusted("h1")) == (True, False, False)
    assert not world.store().is_declined("h1")
    store.trust("h1", [TOOL])
    assert not store.is_declined("h1")


def test_the_file_does_not_grow_without_end(world: World):
    store = world.store()
    for number in range(3):
        store.trust(f"h{number}", [replace(TOOL, text=f"{number}.{index}") for index in range(3000)])
    held = json.loads(world.file.read_text(encoding="utf-8"))
    assert len(held["workspaces"][str(world.root.resolve())]["items"]) == 5000
    assert store.changes([replace(TOOL, text="2.0"), replace(TOOL, text="2.2999")]) == ()

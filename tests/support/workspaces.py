"""A workspace on disk for a test: both roots in a scratch folder, a clock that stands still, folders to fill."""

import os
from collections.abc import Mapping
from pathlib import Path

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.workspace.first_run import copy_conversations, is_unfinished
from jp_lsp.workspace.folders import Root
from jp_lsp.workspace.paths import Roots, open_roots
from jp_lsp.workspace.store import DiskStore
from tests.support.streams import Raw, file_text

ID = ConversationId("jp-c17912345678")
START = Timestamp.parse("2026-10-05 21:09:27.8")


def opened(workspace: Path, user_data: Path, now: Timestamp = START) -> Roots:
    """Open a workspace; when this is the first time, its conversations are copied before this is over."""
    roots = open_roots(workspace, user_data, now)
    if is_unfinished(roots):
        copy_conversations(roots, now)
    return roots


class Clock:
    """Wall time that moves only when told to."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> Timestamp:
        return self.time

    def advance(self, seconds: float) -> None:
        self.time = Timestamp(self.time.nanoseconds + int(seconds * 1e9))


class Place:
    """A workspace in a scratch folder."""

    def __init__(self, folder: Path, *, has_silo: bool = True) -> None:
        self.folder = folder / "project"
        self.user_data = folder / "data"
        self.storage = self.folder / ".jp"
        self.storage.mkdir(parents=True, exist_ok=True)
        self.clock = Clock()
        self.has_silo = has_silo

    def open(self) -> Roots:
        """Open the roots, with all conversations copied; without a silo there is the workspace alone."""
        if not self.has_silo:
            return Roots(Root("workspace", self.storage), None)
        return opened(self.folder, self.user_data, self.clock())

    def store(self, *, newer_format: bool = False) -> DiskStore:
        """A store of its own, as another process would have it."""
        return DiskStore(self.open(), now=self.clock, newer_format=newer_format)

    @property
    def silo(self) -> Path:
        (silo,) = (self.user_data / "workspace").iterdir()
        return silo


def fill(
    root: Path,
    name: str = "17912345678",
    *entries: Mapping[str, JsonValue],
    metadata: Raw | None = None,
    base: Raw | None = None,
    age: float | None = None,
) -> Path:
    """Make a conversation's folder; with an `age` in seconds all its files have that age."""
    folder = root / "conversations" / name
    folder.mkdir(parents=True)
    (folder / "metadata.json").write_text(
        file_text(metadata or {"last_activated_at": "2026-10-05 21:09:27.8"}), encoding="utf-8"
    )
    (folder / "base_config.json").write_text(file_text(base or {}), encoding="utf-8")
    (folder / "events.json").write_text(file_text(list(entries)), encoding="utf-8")
    if age is not None:
        make_old(folder, age)
    return folder


def make_old(folder: Path, seconds: float) -> None:
    """Give everything in a folder, and the folder, an age counted from the test's clock."""
    moment = START.nanoseconds - int(seconds * 1e9)
    for path in (*folder.rglob("*"), folder):
        os.utime(path, ns=(moment, moment))


def states(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every file below a folder: time, inode, bytes; links by what they say."""
    found: dict[str, tuple[int, int, bytes]] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        if path.is_symlink():
            found[str(path.relative_to(folder))] = (
                status.st_mtime_ns,
                status.st_ino,
                str(path.readlink()).encode(),
            )
        elif path.is_file():
            found[str(path.relative_to(folder))] = (status.st_mtime_ns, status.st_ino, path.read_bytes())
    return found


def tree(folder: Path) -> list[str]:
    """The names of all files and links below a folder."""
    return list(states(folder))

"""A file that others write too is replaced only if it holds what was read."""

import stat
import threading
from pathlib import Path

import pytest

from jp_lsp.workspace import replacing
from jp_lsp.workspace.replacing import FileHasChanged, replace_file


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_made_with_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "config.toml"
    replace_file(path, None, b"a = 1\n")
    assert path.read_bytes() == b"a = 1\n"
    assert names(path.parent) == ["config.toml"]


def test_permissions_stay(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"old")
    path.chmod(0o640)
    replace_file(path, b"old", b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o640)


@pytest.mark.parametrize("expected", [b"older", None])
def test_newer_text_is_never_written_over(tmp_path: Path, expected: bytes | None) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"newer")
    with pytest.raises(FileHasChanged):
        replace_file(path, expected, b"mine")
    assert path.read_bytes() == b"newer"
    assert names(tmp_path) == ["config.toml"]


def test_a_file_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    with pytest.raises(FileHasChanged):
        replace_file(tmp_path / "config.toml", b"old", b"mine")
    assert names(tmp_path) == []


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"old")

    def full(descriptor: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(replacing.os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        replace_file(path, b"old", b"new")
    assert (path.read_bytes(), names(tmp_path)) == (b"old", ["config.toml"])


def test_of_many_that_write_at_once_none_is_lost(tmp_path: Path) -> None:
    """Each adds a line to what it has read, and reads again when it came too late."""
    path = tmp_path / "config.toml"
    path.write_bytes(b"")

    def add(line: bytes) -> None:
        while True:
            present = path.read_bytes()
            try:
                replace_file(path, present, present + line)
            except FileHasChanged:
                continue
            return

    threads = [threading.Thread(target=add, args=(b"%d\n" % number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(int, path.read_bytes().split())) == list(range(12))

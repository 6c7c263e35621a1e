"""Locks against other processes, which hold the same kind of lock with the `flock` system call."""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jp_lsp.workspace.lock import acquire, describe_holder, is_locked, lock_path, remove_orphans
from tests.support.workspaces import ID, START, Place

HOLD = """
import fcntl, os, sys
descriptor = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
getattr(fcntl, sys.argv[2])(descriptor, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held_elsewhere(path: Path, kind: str = "flock") -> Generator[subprocess.Popen[str]]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), kind],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()
            process.wait()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "locks" / f"{ID}.lock"


def test_a_lock_is_taken_noted_and_given_back(path: Path) -> None:
    lock = acquire(path, START, "48213")
    assert lock is not None
    text = path.read_text(encoding="utf-8")
    assert text == '{"pid":%d,"session":"48213","acquired_at":"2026-10-05T21:09:27.800+00:00"}' % os.getpid()  # noqa: UP031  # braces
    assert is_locked(path)
    lock.release()
    assert not path.exists()
    assert not is_locked(path)
    lock.release()


def test_nobody_else_gets_it_meanwhile(path: Path) -> None:
    lock = acquire(path, START)
    assert lock is not None
    assert acquire(path, START) is None
    assert "session" not in json.loads(path.read_text(encoding="utf-8"))
    lock.release()
    again = acquire(path, START)
    assert again is not None
    again.release()


@pytest.mark.requirement("T24", "R338", "C57", "C58")
def test_another_process_holds_it_until_it_dies(path: Path) -> None:
    with held_elsewhere(path) as process:
        assert acquire(path, START) is None
        assert is_locked(path)
        process.kill()
        process.wait()
        assert path.exists()
        assert not is_locked(path)
        lock = acquire(path, START)
        assert lock is not None
        lock.release()


@pytest.mark.requirement("C58")
def test_a_lock_on_a_range_of_the_file_is_none(path: Path) -> None:
    """JP holds the other kind, and whoever holds this one keeps neither JP nor us out."""
    with held_elsewhere(path, "lockf"):
        assert not is_locked(path)
        lock = acquire(path, START)
        assert lock is not None
        lock.release()


def test_a_lock_for_a_moment_has_no_note(path: Path) -> None:
    lock = acquire(path, None)
    assert lock is not None
    assert path.read_bytes() == b""
    assert acquire(path, START) is None
    assert describe_holder(path) == "another process"
    lock.release()
    assert not path.exists()


def test_a_shorter_note_leaves_nothing_of_a_longer_one(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("x" * 500, encoding="utf-8")
    lock = acquire(path, START)
    assert lock is not None
    assert json.loads(path.read_text(encoding="utf-8"))["pid"] == os.getpid()
    lock.release()


def test_the_holder_is_described_as_far_as_it_tells(path: Path) -> None:
    assert describe_holder(path) is None
    lock = acquire(path, START)
    assert lock is not None
    assert describe_holder(path) == f"process {os.getpid()}, since 2026-10-05T21:09:27.800+00:00"
    named = '{"pid":%s,"acquired_at":"%s"}'
    strange = named % ("[]", "2026-10-05T21:09:27Z"), named % ("1", "\\u001b[31m"), "[" * 4096
    for note in ("", "[]", "{}", '{"pid":1', "\udcff", *strange):
        path.write_bytes(note.encode("utf-8", "surrogateescape"))
        assert describe_holder(path) == "another process"
    lock.release()


def test_orphans_are_removed_and_held_ones_stay(path: Path) -> None:
    orphan = path.with_name("jp-c17912345679.lock")
    with held_elsewhere(path):
        orphan.write_text("{}", encoding="utf-8")
        assert remove_orphans(path.parent) == 1
        assert [each.name for each in path.parent.iterdir()] == [path.name]
    assert remove_orphans(path.parent / "none") == 0


@pytest.mark.requirement("C58")
def test_a_lock_that_cannot_be_opened_counts_as_held(path: Path) -> None:
    path.parent.mkdir()
    path.symlink_to(path)  # leads nowhere, for root too
    assert is_locked(path)


def test_a_lock_that_is_a_folder_counts_as_held(path: Path) -> None:
    path.mkdir(parents=True)
    assert is_locked(path)
    with pytest.raises(OSError, match="directory"):
        acquire(path, START)


RACE = """
import sys
from pathlib import Path
from jp_lsp.workspace.lock import acquire
from tests.support.workspaces import START
path, counter = Path(sys.argv[1]), Path(sys.argv[2])
done = 0
while done < 200:
    lock = acquire(path, START)
    if lock is None:
        continue
    counter.write_text(str(int(counter.read_text()) + 1))
    lock.release()
    done += 1
"""


@pytest.mark.requirement("T24")
def test_two_processes_never_hold_it_at_once(path: Path, tmp_path: Path) -> None:
    """Each removes the file while it holds the lock; an update would be lost if two ever worked at once."""
    counter = tmp_path / "counter"
    counter.write_text("0", encoding="utf-8")
    processes = [subprocess.Popen([sys.executable, "-c", RACE, str(path), str(counter)]) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert counter.read_text(encoding="utf-8") == "600"


class TestWhere:
    def test_in_the_user_s_folder(self, place: Place) -> None:
        roots = place.open()
        assert lock_path(roots, ID) == place.silo / "locks" / f"{ID}.lock"

    def test_in_the_workspace_if_another_program_put_it_there(self, place: Place) -> None:
        roots = place.open()
        shared = place.storage / "locks" / f"{ID}.lock"
        shared.parent.mkdir()
        shared.touch()
        assert lock_path(roots, ID) == shared
        private = place.silo / "locks" / f"{ID}.lock"
        private.parent.mkdir()
        private.touch()
        assert lock_path(roots, ID) == private

    def test_in_the_workspace_without_a_folder_of_the_user(self, tmp_path: Path) -> None:
        place = Place(tmp_path, has_silo=False)
        assert lock_path(place.open(), ID) == place.storage / "locks" / f"{ID}.lock"


class TestLinks:
    """In a workspace that came from elsewhere a link may stand for any file of the user's."""

    def test_what_a_link_leads_to_is_never_written(self, path: Path, tmp_path: Path) -> None:
        precious = tmp_path / "precious"
        precious.write_text("mine", encoding="utf-8")
        path.parent.mkdir()
        path.symlink_to(precious)
        assert is_locked(path)
        with pytest.raises(OSError, match="symbolic links"):
            acquire(path, START)
        assert precious.read_text(encoding="utf-8") == "mine"

    def test_one_in_the_workspace_is_no_lock(self, place: Place, tmp_path: Path) -> None:
        roots = place.open()
        shared = place.storage / "locks" / f"{ID}.lock"
        shared.parent.mkdir()
        shared.symlink_to(tmp_path)
        assert lock_path(roots, ID) == place.silo / "locks" / f"{ID}.lock"

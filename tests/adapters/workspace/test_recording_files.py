"""Files of recorded turns: for the user alone, written through, and not more than a few."""

import os
import stat
import sys
from pathlib import Path

import pytest

from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.workspace.recordings import LONGEST_KEPT, MOST_RECORDINGS, RecordingFolder

NOW = Timestamp(1_700_000_000_000_000_000)


def later(seconds: float) -> Timestamp:
    return Timestamp(NOW.nanoseconds + int(seconds * 1e9))


def begin(folder: RecordingFolder, seconds: float = 0.0, token: str = "t") -> Path:
    """Make a recording whose file is as old as it says."""
    now = later(seconds)
    file = folder.begin(token, now)
    file.write("x\n")
    file.close()
    os.utime(file.name, ns=(now.nanoseconds, now.nanoseconds))
    return Path(file.name)


@pytest.mark.requirement("R320")
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_only_the_user_can_read_it(tmp_path: Path) -> None:
    path = begin(RecordingFolder(tmp_path / "a" / "recordings"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.requirement("S25", "S11")
def test_what_was_written_is_there_before_it_is_closed(tmp_path: Path) -> None:
    file = RecordingFolder(tmp_path).begin("t", NOW)
    file.write('{"a":1}\n')
    assert Path(file.name).read_text(encoding="utf-8") == '{"a":1}\n'
    file.close()


@pytest.mark.parametrize("token", ["../../etc/passwd", "a/b", "", "ü" * 300, "x" * 300, "\0"])
def test_no_token_leads_out_of_the_folder(tmp_path: Path, token: str) -> None:
    path = begin(RecordingFolder(tmp_path), token=token)
    assert path.parent == tmp_path
    assert len(path.name) < 100


@pytest.mark.requirement("R320")
def test_the_oldest_go_when_there_are_too_many(tmp_path: Path) -> None:
    folder = RecordingFolder(tmp_path)
    (tmp_path / "notes.txt").write_text("not ours", encoding="utf-8")
    paths = [begin(folder, number) for number in range(MOST_RECORDINGS + 3)]
    assert sorted(tmp_path.glob("*.jsonl")) == paths[3:]
    assert (tmp_path / "notes.txt").exists()


@pytest.mark.requirement("R320")
def test_old_ones_go(tmp_path: Path) -> None:
    folder = RecordingFolder(tmp_path)
    begin(folder)
    kept = begin(folder, LONGEST_KEPT)
    latest = begin(folder, LONGEST_KEPT + 1)
    assert sorted(tmp_path.iterdir()) == [kept, latest]


def test_a_planted_link_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("dear", encoding="utf-8")
    folder = tmp_path / "recordings"
    folder.mkdir()
    (folder / f"{NOW.nanoseconds:019d}-{os.getpid()}-t.jsonl").symlink_to(victim)
    with pytest.raises(FileExistsError):
        RecordingFolder(folder).begin("t", NOW)
    assert victim.read_text(encoding="utf-8") == "dear"

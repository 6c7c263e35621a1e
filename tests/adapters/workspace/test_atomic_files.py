import subprocess
import sys
from pathlib import Path

import pytest

from jp_lsp.workspace.atomic import make_folder, read_file, stamp_of, write_file
from tests.support.workspaces import states


@pytest.mark.requirement("R278")
def test_a_file_is_made_with_its_folders(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "file.json"
    assert write_file(path, b"one") == stamp_of(path)
    assert path.read_bytes() == b"one"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.requirement("F33")
def test_equal_bytes_are_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_file(path, b"one")
    before = states(tmp_path)
    assert write_file(path, b"one") == stamp_of(path)
    assert states(tmp_path) == before
    assert write_file(path, b"two") == stamp_of(path)
    assert states(tmp_path) != before


def test_the_mode_of_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one")
    path.chmod(0o600)
    write_file(path, b"two")
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.requirement("S22")
@pytest.mark.skipif(sys.platform == "win32", reason="sizes of files are not limited there")
def test_a_disk_without_room_is_named(tmp_path: Path) -> None:
    """A write that does not fit fails without a name; the program is one of its own, as its limit is for all files."""
    program = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from jp_lsp.workspace.atomic import write_file\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try:\n"
        "    write_file(Path(sys.argv[1]), bytes(8192))\n"
        "except OSError as error:\n"
        "    sys.stdout.write(error.filename)\n"
    )
    path = tmp_path / "file.json"
    path.write_bytes(b"old")
    shown = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True)
    assert shown.stdout == str(path)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == b"old"


def test_a_left_over_neighbour_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "file.tmp").write_bytes(b"half")
    write_file(tmp_path / "file", b"whole")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_planted_link_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("file.tmp", "file"):
        (folder / name).symlink_to(victim)
    write_file(folder / "file", b"mine")
    assert victim.read_bytes() == b"precious"
    assert not (folder / "file").is_symlink()
    assert (folder / "file").read_bytes() == b"mine"


def test_what_cannot_be_renamed_leaves_no_neighbour(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_file(tmp_path / "file", b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from jp_lsp.workspace.atomic import write_file
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_file(Path(sys.argv[1]), b"x" * 5000)
except OSError as error:
    print(error.errno)
"""


@pytest.mark.requirement("F28", "R278")
def test_a_write_that_the_disk_refuses_leaves_the_old_file(tmp_path: Path) -> None:
    """A limit on the size of files stands in for a disk that fills up in the middle of a write."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    before = states(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "27"
    assert states(tmp_path) == before


def test_a_file_is_read_with_the_stamp_of_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_file(path, b"one")
    data, state = read_file(path)
    assert (data, state.stamp) == (b"one", stamp_of(path))
    write_file(path, b"two")
    assert stamp_of(path) != state.stamp
    assert stamp_of(tmp_path / "none") is None
    assert stamp_of(path / "below-a-file") is None


def test_a_folder_that_exists_is_fine(tmp_path: Path) -> None:
    make_folder(tmp_path / "x")
    make_folder(tmp_path / "x")
    assert (tmp_path / "x").is_dir()

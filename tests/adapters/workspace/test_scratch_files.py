"""Files that are lent to an editor."""

import stat
import sys
from pathlib import Path

import pytest

from jp_lsp.workspace.scratch import ScratchFolder

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("R334")]

needs_modes = pytest.mark.skipif(sys.platform == "win32", reason="no modes and no links there")


async def test_a_file_is_written_read_and_removed(tmp_path: Path) -> None:
    scratch = ScratchFolder(tmp_path / "made" / "here")
    uri = await scratch.write("a.md", "grün\udc80")
    assert uri == (scratch.path / "a.md").as_uri()
    assert await scratch.read("a.md", 100) == "grün?".encode()
    assert await scratch.read("a.md", 2) == b"gr"
    before = await scratch.stamp("a.md")
    await scratch.write("a.md", "again")
    assert before is not None
    assert await scratch.stamp("a.md") != before
    await scratch.remove("a.md")
    await scratch.remove("a.md")
    assert await scratch.read("a.md", 100) is None
    assert await scratch.stamp("a.md") is None


@needs_modes
async def test_only_the_user_can_read_it(tmp_path: Path) -> None:
    scratch = ScratchFolder(tmp_path)
    await scratch.write("a.md", "text")
    assert stat.S_IMODE((tmp_path / "a.md").stat().st_mode) == 0o600


@needs_modes
async def test_a_link_is_never_followed(tmp_path: Path) -> None:
    treasure = tmp_path / "treasure"
    treasure.write_text("gold")
    scratch = ScratchFolder(tmp_path / "scratch")
    scratch.path.mkdir()
    (scratch.path / "a.md").symlink_to(treasure)
    assert await scratch.read("a.md", 100) is None
    await scratch.write("a.md", "text")
    assert treasure.read_text() == "gold"
    assert not (scratch.path / "a.md").is_symlink()


async def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError):
        await ScratchFolder(tmp_path / "file").write("a.md", "text")

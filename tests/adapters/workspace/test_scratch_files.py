"""Files that are lent to an editor."""

import stat
import sys
from pathlib import Path

import pytest

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.workspace.scratch import LeftBehind, ScratchFolder

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("R334")]

HERE = ConversationId("jp-c17912345678")

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


@pytest.mark.parametrize(
    ("initial", "written", "kept"),
    [
        ("", "my text\r\n", "my text\n"),
        ("begin", "begin and more", "begin and more"),
        ("begin", "begin\n", ""),
        ("begin", " \n", ""),
        ("begin", None, ""),
    ],
)
async def test_what_a_dead_server_left_is_found(
    tmp_path: Path, initial: str, written: str | None, kept: str
) -> None:
    dead, later = ScratchFolder(tmp_path), ScratchFolder(tmp_path)
    await dead.write("a.md", initial, HERE)
    if written is None:
        (tmp_path / "a.md").unlink()
    else:
        (tmp_path / "a.md").write_text(written, encoding="utf-8", newline="")
    assert later.left_behind() == [], "its server lives"
    dead.close()
    assert later.left_behind() == [LeftBehind("a.md", HERE, kept)]
    await later.remove("a.md")
    assert later.left_behind() == []
    assert list(tmp_path.iterdir()) == []


async def test_a_file_that_came_back_is_still_what_the_user_wrote(tmp_path: Path) -> None:
    dead = ScratchFolder(tmp_path)
    await dead.write("a.md", "begin", HERE)
    (tmp_path / "a.md").unlink()
    await dead.write("a.md", "begin and more", HERE)
    dead.close()
    assert ScratchFolder(tmp_path).left_behind() == [LeftBehind("a.md", HERE, "begin and more")]


async def test_a_text_of_no_conversation_is_found_too(tmp_path: Path) -> None:
    dead = ScratchFolder(tmp_path)
    await dead.write("a.json", "{}")
    dead.close()
    assert ScratchFolder(tmp_path).left_behind() == [LeftBehind("a.json", None, "")]


@pytest.mark.parametrize("origin", ["", "{", "[]", "{}", '{"conversation": 1, "initial": ""}'])
async def test_what_cannot_be_understood_stays(
    tmp_path: Path, origin: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.md").write_text("text", encoding="utf-8")
    (tmp_path / ".a.md.origin").write_text(origin, encoding="utf-8")
    assert ScratchFolder(tmp_path).left_behind() == []
    assert "cannot be understood and stays" in caplog.text
    assert (tmp_path / "a.md").exists()

"""Files with whole results of tools."""

import os
import stat
import sys
from pathlib import Path

import pytest

from jp_lsp.conversation.ids import CallId, ConversationId
from jp_lsp.workspace.results import MAX_AGE, ResultsFolder

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("R264")]

HERE = ConversationId("jp-c17912345678")
CALL = CallId("call_1")


async def test_a_result_is_written_found_and_removed(tmp_path: Path) -> None:
    results = ResultsFolder(tmp_path / "results")
    path = results.new_path(HERE, CALL)
    assert results.uri(HERE, Path(path).name) is None
    await results.write(path, "grün\udc80\r\n")
    await results.write(path, "grün\udc80\r\n")
    assert Path(path).read_bytes() == "grün?\r\n".encode()
    assert results.uri(HERE, Path(path).name) == Path(path).as_uri()
    await results.remove([path, str(tmp_path / "results" / "never" / "made.txt")])
    assert not Path(path).exists()


async def test_a_call_that_ends_leaves_the_folder_to_those_beside_it(tmp_path: Path) -> None:
    results = ResultsFolder(tmp_path)
    slow, quick = results.new_path(HERE, CALL), results.new_path(HERE, CALL)
    await results.write(quick, "text")
    await results.remove([quick])
    await results.write(slow, "text")
    assert Path(slow).read_bytes() == b"text"


def test_no_two_results_share_a_file(tmp_path: Path) -> None:
    """Neither two of one call nor one of now and one of an earlier server (trap 97)."""
    results = ResultsFolder(tmp_path)
    first, second = results.new_path(HERE, CALL), results.new_path(HERE, CALL)
    Path(first).write_text("", encoding="utf-8")
    assert ResultsFolder(tmp_path).new_path(HERE, CALL) not in {first}
    assert first != second


def test_a_call_may_have_any_id(tmp_path: Path) -> None:
    path = Path(ResultsFolder(tmp_path).new_path(HERE, CallId("../../a/b\0c" + "d" * 500)))
    assert path.parent == tmp_path / HERE
    assert len(path.name) < 80


@pytest.mark.parametrize("name", ["../secret", "", ".", "..", "gone.txt"])
def test_a_stored_name_leads_nowhere_else(tmp_path: Path, name: str) -> None:
    (tmp_path / "results" / HERE).mkdir(parents=True)
    (tmp_path / "results" / "secret").write_text("", encoding="utf-8")
    assert ResultsFolder(tmp_path / "results").uri(HERE, name) is None


@pytest.mark.skipif(sys.platform == "win32", reason="no modes there")
async def test_only_the_user_can_read_it(tmp_path: Path) -> None:
    results = ResultsFolder(tmp_path)
    path = results.new_path(HERE, CALL)
    await results.write(path, "text")
    assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600


async def test_a_disk_that_refuses(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    results = ResultsFolder(tmp_path / "file")
    path = results.new_path(HERE, CALL)
    assert caplog.messages[0].startswith("whole results of tools cannot be kept in ")
    with pytest.raises(OSError):
        await results.write(path, "text")


async def test_old_ones_go(tmp_path: Path) -> None:
    results = ResultsFolder(tmp_path)
    old, young = results.new_path(HERE, CALL), results.new_path(HERE, CALL)
    for path in (old, young):
        await results.write(path, "text")
    os.utime(old, (1000.0, 1000.0))
    os.utime(young, (2000.0, 2000.0))
    assert results.remove_old(1500.0 + MAX_AGE) == 1
    assert [each.name for each in (tmp_path / HERE).iterdir()] == [Path(young).name]
    os.utime(tmp_path / HERE, (2000.0, 2000.0))
    assert results.remove_old(5000.0 + MAX_AGE) == 1
    assert list(tmp_path.iterdir()) == []

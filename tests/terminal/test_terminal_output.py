"""The thread that writes, and the editor: what happens at the edges of the system."""

import asyncio
import os
from collections.abc import Generator
from pathlib import Path

import pytest

from jp_lsp.terminal.editor import EditorError, edit, find_editor
from jp_lsp.terminal.output import ROOM, OutputThread
from jp_lsp.terminal.painter import Output, Stream

pytestmark = pytest.mark.anyio


class Pipe:
    def __init__(self) -> None:
        self.read, self.write = os.pipe()

    def take(self) -> bytes:
        return os.read(self.read, 1 << 20)

    def close(self) -> None:
        for descriptor in (self.read, self.write):
            if descriptor >= 0:
                os.close(descriptor)


@pytest.fixture
def pipes() -> Generator[dict[Stream, Pipe]]:
    made: dict[Stream, Pipe] = {"answer": Pipe(), "aside": Pipe()}
    yield made
    for pipe in made.values():
        pipe.close()


def open_output(pipes: dict[Stream, Pipe], lost: list[Stream], encoding: str = "utf-8") -> OutputThread:
    output = OutputThread({stream: pipe.write for stream, pipe in pipes.items()}, lost.append, encoding)
    output.start()
    return output


async def test_what_is_written_arrives(pipes: dict[Stream, Pipe]) -> None:
    output = open_output(pipes, [], "ascii")
    output.write(Output("answer", "é"))
    output.write(Output("aside", "x"))
    output.write(Output("answer", "y\ud800"))
    await output.flush()
    output.stop()
    assert (pipes["answer"].take(), pipes["aside"].take()) == (b"?y?", b"x")


@pytest.mark.requirement("R341")
async def test_who_produces_waits_for_a_slow_reader_and_nobody_else_does(pipes: dict[Stream, Pipe]) -> None:
    output = open_output(pipes, [])
    output.write(Output("answer", "x" * (2 * ROOM)))
    waiting = asyncio.ensure_future(output.has_room())
    output.flush_now(0.01)  # gives up in time
    assert not waiting.done()
    while not waiting.done():
        await asyncio.get_running_loop().run_in_executor(None, pipes["answer"].take)
    output.stop()


async def test_a_descriptor_that_does_not_wait_is_waited_for(pipes: dict[Stream, Pipe]) -> None:
    """Whoever shares our standard output may have switched that."""
    os.set_blocking(pipes["answer"].write, False)
    output = open_output(pipes, [])
    output.write(Output("answer", "x" * 500_000))
    flushed = asyncio.ensure_future(output.flush())
    size = 0
    while size < 500_000:
        size += len(await asyncio.get_running_loop().run_in_executor(None, pipes["answer"].take))
    await flushed
    output.stop()
    assert size == 500_000


async def test_a_lost_stream_is_told_once_and_the_others_go_on(pipes: dict[Stream, Pipe]) -> None:
    lost: list[Stream] = []
    output = open_output(pipes, lost)
    os.close(pipes["answer"].read)
    pipes["answer"].read = -1
    for _ in range(3):
        output.write(Output("answer", "x"))
        output.write(Output("aside", "y"))
    await output.flush()
    output.stop()
    assert lost == ["answer"]
    assert pipes["aside"].take() == b"yyy"


@pytest.mark.parametrize(
    ("environ", "command"),
    [
        ({"VISUAL": "code -w", "EDITOR": "vi"}, ["code", "-w"]),
        ({"VISUAL": " ", "EDITOR": "'my vi' -x"}, ["my vi", "-x"]),
        ({"EDITOR": "it's"}, ["it's"]),
    ],
)
async def test_the_editor_is_the_users(environ: dict[str, str], command: list[str]) -> None:
    assert find_editor(environ) == command


async def test_without_a_setting_a_common_editor_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_editor({}) is None

    found = tmp_path / "vi"
    found.write_text("#!/bin/sh\n")
    found.chmod(0o755)
    assert find_editor({"EDITOR": ""}) == [str(found)]


def program(tmp_path: Path, script: str) -> list[str]:
    path = tmp_path / "editor.sh"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return [str(path)]


@pytest.mark.parametrize(
    ("script", "text"),
    [
        (":", "old\ntext"),
        ("printf 'new\\n\\n' > \"$1\"", "new\n"),
        ("printf 'caf\\351' > \"$1\"", "caf\ufffd"),
        ('case "$1" in *.json) echo yes > "$1";; esac', "yes"),
    ],
)
async def test_what_is_saved_is_the_text(tmp_path: Path, script: str, text: str) -> None:
    assert await edit(program(tmp_path, script), "old\ntext", "json", 2) == text


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("exit 3", "ended with code 3, so its text is not used"),
        ('rm "$1"', "the text cannot be read: No such file or directory"),
        ('head -c 17000000 /dev/zero > "$1"', "the text has more than 16,777,216 bytes"),
    ],
)
async def test_an_editor_that_fails_is_explained(tmp_path: Path, script: str, problem: str) -> None:
    with pytest.raises(EditorError, match=problem):
        await edit(program(tmp_path, script), "old", None, 2)

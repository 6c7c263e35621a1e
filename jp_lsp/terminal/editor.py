"""Text that is longer than a line: the user's own editor on a temporary file."""

import asyncio
import os
import shlex
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

MAX_TEXT_SIZE = 16 * 1024 * 1024
"""Bytes of a text that are taken; more is a mistake."""

_FALLBACKS = ("nano", "vi", "notepad")
_SUFFIXES = {"json": ".json", "markdown": ".md", "plaintext": ".txt", "python": ".py", "yaml": ".yaml"}


class EditorError(Exception):
    """No text came of it; says why, for the user."""


def find_editor(environ: Mapping[str, str]) -> list[str] | None:
    """Give the command of the user's editor: `VISUAL`, `EDITOR`, or what is commonly there."""
    for name in ("VISUAL", "EDITOR"):
        if (command := environ.get(name, "").strip()) and (words := _words(command)):
            return words
    return next(([found] for name in _FALLBACKS if (found := shutil.which(name))), None)


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command, posix=os.name == "posix")
    except ValueError:
        return [command]


async def edit(command: list[str], text: str, language: str | None, terminal: int) -> str:
    """Let the user edit a text, and give what was saved, without the last line end.

    Args:
        command: the editor.
        text: what it starts with.
        language: the LSP language id, for the name of the file.
        terminal: the descriptor that the editor is to use.

    Raises:
        EditorError: it could not be started, or ended with an error.
    """
    handle, name = tempfile.mkstemp(prefix="jp-", suffix=_SUFFIXES.get(language or "", ".md"))
    path = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        await _run([*command, name], terminal)
        return _read(path)
    finally:
        _remove(path)


async def _run(command: list[str], terminal: int) -> None:
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=terminal, stdout=terminal, stderr=terminal
        )
    except OSError as error:
        raise EditorError(
            f"the editor {command[0]!r} cannot be started: {error.strerror}; set EDITOR to another one"
        ) from error
    code = await process.wait()
    if code != 0:
        raise EditorError(f"the editor {command[0]!r} ended with code {code}, so its text is not used")


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_TEXT_SIZE + 1)
    except OSError as error:
        raise EditorError(f"the text cannot be read: {error.strerror}") from error
    if len(data) > MAX_TEXT_SIZE:
        raise EditorError(f"the text has more than {MAX_TEXT_SIZE:,} bytes")
    return data.decode("utf-8", "replace").removesuffix("\n")


def _remove(path: Path) -> None:
    with suppress(OSError):  # an editor may have moved it away
        path.unlink()

"""The server as a child process: how it is started, spoken to, and ended."""

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from jp_lsp.terminal.words import plain

_OWN_SESSION: Mapping[str, Any] = (
    {"creationflags": 0x200} if sys.platform == "win32" else {"start_new_session": True}
)
"""Keeps Ctrl+C in the terminal from reaching the server; on Windows by a process group of its own."""

_READ_SIZE = 64 * 1024
_LAST_SIZE = 16 * 1024


class ServerGone(Exception):
    """The server ended, or never began; the text is for the user."""


class ServerProcess:
    """A running server. It has a session of its own, so that Ctrl+C in the terminal reaches only us.

    What it writes to standard error goes to a file that vanishes with us, to be shown if it breaks.
    """

    def __init__(self, process: asyncio.subprocess.Process, errors: IO[bytes] | None) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._input = process.stdin
        self._output = process.stdout
        self._errors = errors

    @classmethod
    async def start(
        cls, command: Sequence[str], folder: Path, environ: Mapping[str, str], *, shows_log: bool = False
    ) -> "ServerProcess":
        """Start it.

        Args:
            command: the program with its arguments.
            folder: where it runs.
            environ: its environment.
            shows_log: its log goes to our standard error.

        Raises:
            ServerGone: it cannot be started.
        """
        errors = None if shows_log else tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the server
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=folder,
                env=environ,
                **_OWN_SESSION,
            )
        except OSError as error:
            if errors is not None:
                errors.close()
            raise ServerGone(f"The server cannot be started: {error.strerror} ({command[0]}).") from error
        return cls(process, errors)

    def send(self, data: bytes) -> None:
        """Send bytes without waiting; to a server that is gone they do not go anywhere."""
        if not self._input.is_closing():
            self._input.write(data)

    async def read(self) -> bytes:
        """Wait for bytes; empty at the end."""
        return await self._output.read(_READ_SIZE)

    async def end(self, within: float) -> int:
        """Close its input, which ends it, and wait; kill it when that takes too long.

        Somebody must go on reading meanwhile, or be done with it.

        Returns:
            Its exit code.
        """
        self._input.close()
        with suppress(OSError):  # it may be gone already
            await self._input.wait_closed()
        try:
            async with asyncio.timeout(within):
                await self._process.wait()
        except TimeoutError:
            self._kill()
        code = await self._process.wait()
        if self._errors is not None:
            self._errors.close()
        return code

    def last_lines(self, count: int = 15) -> list[str]:
        """Give the end of what it wrote to standard error."""
        if self._errors is None or self._errors.closed:
            return []
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(size - _LAST_SIZE, 0))
        text = plain(self._errors.read(_LAST_SIZE).decode("utf-8", "replace"))
        return [line for line in text.split("\n") if line.strip()][-count:]

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()

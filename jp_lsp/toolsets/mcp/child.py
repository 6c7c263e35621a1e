"""A server as a child process: lines in, lines out, and a certain end.

The child leads a process group of its own, so that a signal reaches what it started too, and a key pressed in
our terminal does not. Its death is told by two signs, whichever comes first: its standard output ends, or it
has exited and something that it left behind still holds the output a second later.

How it ends, all in less than two seconds: its standard input is closed, which is how a server of the protocol
is asked to go; then SIGTERM to the group, then SIGKILL. Should our own process die first, however, the pipe
to the child ends by itself, and `OrphanGuard` ends the group of one that does not care.
"""

import asyncio
import subprocess
from asyncio.subprocess import SubprocessStreamProtocol
from collections.abc import AsyncGenerator, Mapping, Sequence

import anyio

from jp_lsp.toolsets.mcp.tail import Tail
from jp_lsp.toolsets.orphan_guard import OrphanGuard
from jp_lsp.toolsets.process_group import CREATION_FLAGS, ask_group_to_end, group_exists, make_group_end

MAX_LINE_SIZE = 32 * 1024 * 1024
"""The most bytes of one message; a server that sends more is let go."""

_READ_SIZE = 64 * 1024
_POLITE_SECONDS = 0.6
_TERM_SECONDS = 0.6
_KILL_SECONDS = 0.5
_PIPE_PATIENCE = 1.0
_POLL_SECONDS = 0.02


class LineTooLongError(Exception):
    """The server sent a line beyond `MAX_LINE_SIZE`."""


class _Protocol(SubprocessStreamProtocol):
    """Tells of the exit at once; `Process.wait` would wait for the pipes as well."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(limit=_READ_SIZE, loop=loop)
        self.exited = anyio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self.exited.set()


class Child:
    """A started server. Use `start`, read and write, and `end` it in any case."""

    def __init__(
        self, transport: asyncio.SubprocessTransport, protocol: _Protocol, tail: Tail, guard: OrphanGuard
    ) -> None:
        assert protocol.stdin is not None
        assert protocol.stdout is not None
        assert protocol.stderr is not None
        self._transport = transport
        self._exited = protocol.exited
        self._stdin = protocol.stdin
        self._stdout = protocol.stdout
        self._stderr = protocol.stderr
        self._tail = tail
        self._guard = guard
        self._was_forced = False
        self.id = transport.get_pid()

    @classmethod
    async def start(
        cls,
        arguments: Sequence[str],
        folder: str,
        environment: Mapping[str, str],
        tail: Tail,
        guard: OrphanGuard,
    ) -> "Child":
        """Start a program; its standard error goes to `tail` while `watch` runs.

        Raises:
            OSError: it cannot be started.
            ValueError: an argument or variable holds what the system cannot pass on, such as a NUL character.
        """
        loop = asyncio.get_running_loop()
        guard.start()
        transport, protocol = await loop.subprocess_exec(
            lambda: _Protocol(loop),
            *arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment,
            start_new_session=True,
            creationflags=CREATION_FLAGS,
        )
        guard.add(transport.get_pid())
        return cls(transport, protocol, tail, guard)

    def describe_end(self) -> str:
        """Say how it ended by itself, as the end of a sentence."""
        code = self._transport.get_returncode()
        if code is None or self._was_forced:
            return "closed the connection but did not end"
        if code < 0:
            return f"was ended by signal {-code}"
        return f"ended with code {code}"

    async def lines(self) -> AsyncGenerator[bytes, None]:
        """Give the lines of its standard output until that ends.

        Raises:
            LineTooLongError: a line is beyond all measure.
        """
        buffer = bytearray()
        searched = 0
        while piece := await self._stdout.read(_READ_SIZE):
            buffer += piece
            while (end := buffer.find(b"\n", searched)) >= 0:
                yield bytes(buffer[:end])
                del buffer[: end + 1]
                searched = 0
            searched = len(buffer)
            if searched > MAX_LINE_SIZE:
                raise LineTooLongError

    async def discard(self) -> None:
        """Read its standard output without looking, so that it never waits for us to take something."""
        while await self._stdout.read(_READ_SIZE):
            pass

    async def write(self, line: bytes) -> None:
        """Give it a line; waits until there is room.

        Raises:
            ConnectionError: it takes no more.
        """
        self._stdin.write(line + b"\n")
        await self._stdin.drain()

    async def watch(self) -> None:
        """Take its standard error until that ends."""
        while piece := await self._stderr.read(_READ_SIZE):
            self._tail.take(piece)
        self._tail.finish()

    async def cut_off(self) -> None:
        """Wait for its exit; a moment later nothing more is read, whoever still holds its output."""
        await self._exited.wait()
        await anyio.sleep(_PIPE_PATIENCE)
        for descriptor in (1, 2):
            pipe = self._transport.get_pipe_transport(descriptor)
            if pipe is not None:
                pipe.close()

    async def end(self) -> None:
        """End it and all that it started, in bounded time and whatever happens meanwhile."""
        with anyio.CancelScope(shield=True):
            self._stdin.close()
            with anyio.move_on_after(_POLITE_SECONDS):
                await self._exited.wait()
            self._was_forced = not self._exited.is_set()
            if self._is_there():
                ask_group_to_end(self.id)
                await self._wait_for_all(_TERM_SECONDS)
            if self._is_there():
                make_group_end(self.id)
                await self._wait_for_all(_KILL_SECONDS)
            self._guard.drop(self.id)
            self._transport.close()

    async def _wait_for_all(self, seconds: float) -> None:
        with anyio.move_on_after(seconds):
            while self._is_there():  # noqa: ASYNC110 - no event tells that a group is empty
                await anyio.sleep(_POLL_SECONDS)

    def _is_there(self) -> bool:
        """Tell whether it, or anything of its group, is left."""
        if not self._exited.is_set():
            return True
        return group_exists(self.id)

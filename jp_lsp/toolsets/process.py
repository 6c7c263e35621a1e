"""The one place where programs are run for a user: `ports.process.ProcessRunner` with real processes.

A program's outputs are read by threads, one for each, and a third waits for its end. So nothing that a
program writes, be it 500 MB, passes through the event loop, a slow disk holds up only the program that fills
it, and the loop learns just three things: exited, standard output ended, standard error ended. The threads
go on when a run is over: output that nobody wants is still read, so that a process left behind neither
blocks nor dies of a closed pipe.

How a run ends:

- The program exits and its outputs end: that is all.
- It exits, but something that it started holds an output open: a second later the run is over. What was left
  behind goes on, as it would in a shell, until it closes its outputs, ends, or this process does.
- Its time is up, or the run is cancelled: SIGTERM to the whole process group, two seconds, SIGKILL.
- This process dies, however that comes: `OrphanGuard` ends the group.
"""

import asyncio
import io
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

import anyio
import anyio.lowlevel

from jp_lsp.ports.process import Exited, ProcessEnd, Program, SpawnError, TimedOut
from jp_lsp.toolsets.orphan_guard import OrphanGuard
from jp_lsp.toolsets.process_group import ProcessGroup
from jp_lsp.toolsets.process_output import Copy, Head, LineLog, Sink, drain

PIPE_PATIENCE = 1.0
"""Seconds that a run waits for the outputs to end once the program has exited."""

POLITE_TIME = 2.0
"""Seconds between asking a process group to end and making it."""

FORCED_TIME = 0.4
"""Seconds that a killed process is waited for; the kernel may hold it in a read from a dead disk."""

_POLL_TIME = 0.02


class SystemProcesses:
    """Runs programs as child processes. To be used from one event loop.

    Args:
        guard: ends what runs when this process dies; whoever made it closes it, after `aclose`.
        polite_time: seconds between asking a process group to end and making it.
    """

    def __init__(self, guard: OrphanGuard, polite_time: float = POLITE_TIME) -> None:
        self._guard = guard
        self._polite_time = polite_time
        self._left: set[_Running] = set()

    async def run(self, program: Program) -> ProcessEnd:
        """Run a program to its end; see the port.

        Raises:
            SpawnError: it could not be started.
        """
        await anyio.lowlevel.checkpoint_if_cancelled()
        self._guard.start()
        running = _Running(program, self._guard, self._polite_time)
        try:
            code = await running.wait(program.timeout)
            if code is None:
                await running.end()
                return TimedOut(running.stdout.output(), running.stderr.output())
            return Exited(code, running.stdout.output(), running.stderr.output())
        except BaseException:
            await running.end()
            raise
        finally:
            running.let_go()
            self._left = {one for one in (*self._left, running) if one.check_left()}

    async def aclose(self) -> None:
        """End what finished programs left behind."""
        async with anyio.create_task_group() as tasks:
            for running in self._left:
                tasks.start_soon(running.end)
        self._left.clear()


class _Running:
    """One program from its start to its end, and what is left of it then."""

    def __init__(self, program: Program, guard: OrphanGuard, polite_time: float) -> None:
        self.stdout = Head(program.stdout_limit, program.text_limit)
        self.stderr = Head(program.stderr_limit)
        self._guard = guard
        self._polite_time = polite_time
        self._loop = asyncio.get_running_loop()
        self._code: int | None = None
        self._open_outputs = 2
        self._exited = anyio.Event()
        self._drained = anyio.Event()
        try:
            self._group = ProcessGroup(program.arguments, program.folder, {**os.environ, **program.variables})
        except OSError as error:
            where = f": {error.filename}" if error.filename else ""
            raise SpawnError(f"{error.strerror}{where}") from error
        except ValueError as error:  # such as a NUL character
            raise SpawnError(str(error)) from error
        guard.add(self._group.id)
        stdout_sinks: list[Sink] = [self.stdout]
        if program.output_file is not None:
            stdout_sinks.append(Copy(program.output_file))
        stderr_sinks: list[Sink] = [self.stderr, LineLog(program.label)]
        try:
            self._start_thread(lambda: self._read(self._group.stdout, stdout_sinks))
            self._start_thread(lambda: self._read(self._group.stderr, stderr_sinks))
            self._start_thread(self._wait)
        except RuntimeError as error:  # too many threads
            self._group.make_end()
            self._group.wait()
            guard.drop(self._group.id)
            raise SpawnError(str(error)) from error

    async def wait(self, limit: float) -> int | None:
        """Wait for the exit, then a moment for the outputs; give the exit code, or `None` at the limit."""
        with anyio.move_on_after(limit or None):
            await self._exited.wait()
        if self._code is not None:
            with anyio.move_on_after(PIPE_PATIENCE):
                await self._drained.wait()
        return self._code

    async def end(self) -> None:
        """End the whole group, in bounded time and whatever happens meanwhile."""
        with anyio.CancelScope(shield=True):
            if self._is_there():
                self._group.ask_to_end()
            with anyio.move_on_after(self._polite_time):
                while self._is_there():  # noqa: ASYNC110 - no event tells that a group is empty
                    await anyio.sleep(_POLL_TIME)
            if self._is_there():
                self._group.make_end()
            with anyio.move_on_after(FORCED_TIME):
                await self._exited.wait()
                await self._drained.wait()
        self._guard.drop(self._group.id)

    def let_go(self) -> None:
        """The run is over: keep no more output."""
        self.stdout.forget()
        self.stderr.forget()

    def check_left(self) -> bool:
        """Tell whether something in the group still holds an output open; if not, the guard may forget it."""
        is_left = not self._drained.is_set() and self._is_there()
        if not is_left:
            self._guard.drop(self._group.id)
        return is_left

    def _is_there(self) -> bool:
        # Once the program is waited for, its number is free as soon as the group is empty. So the group is
        # never signalled without this look.
        return self._code is None or self._group.exists()

    def _start_thread(self, work: Callable[[], None]) -> None:
        threading.Thread(target=work, name=f"jp-command-{self._group.id}", daemon=True).start()

    def _wait(self) -> None:
        code = self._group.wait()
        self._tell(lambda: self._on_exit(code))

    def _read(self, pipe: io.FileIO, sinks: Sequence[Sink]) -> None:
        drain(pipe, sinks)
        self._tell(self._on_output_end)

    def _tell(self, what: Callable[[], None]) -> None:
        """Have the event loop do it; where that is closed, nobody is interested any more."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(what)

    def _on_exit(self, code: int) -> None:
        self._code = code
        self._exited.set()

    def _on_output_end(self) -> None:
        self._open_outputs -= 1
        if not self._open_outputs:
            self._drained.set()

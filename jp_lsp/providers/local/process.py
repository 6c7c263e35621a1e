"""Owns the child process that runs the local model.

It is started by whoever needs it first and then shared. Starting is a state and not a task: a caller that
gives up leaves a child that goes on loading, and the next caller waits for the same one. A child that died
is replaced at the next use.
"""

import json
import logging
import math
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

import anyio
import anyio.abc
import pydantic

_LOG = logging.getLogger(__name__)
_CHILD_SCRIPT = Path(__file__).with_name("child.py")
_START_SECONDS = 300.0
_END_SECONDS = 1.0
_MAX_REPLY_SIZE = 65_536
_QUOTED_SIZE = 4096
_QUOTED_LINE_SIZE = 200
_QUOTED_LINES = 2
_KEPT_VARIABLES = (
    *("PATH", "HOME", "USERPROFILE", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP"),
    *("SYSTEMROOT", "WINDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
)
_LOG_PREFIX = re.compile(r"^[\d.]+ [EWIDC] +")  # time and level, as llama.cpp writes them
_ILLEGAL_INSTRUCTION_WINDOWS = 0xC000001D

if sys.platform == "win32":
    _CREATION_FLAGS = subprocess.CREATE_NO_WINDOW
else:
    _CREATION_FLAGS = 0


class LocalModelError(Exception):
    """The local model cannot be used. The text is for the user and says why."""


@dataclass(frozen=True, slots=True)
class ChildOptions:
    """What a child is told: where the runtime lies, which model to load and how. Paths are absolute.

    `context` is in tokens, shared by `parallel` requests; `cache_megabytes` bounds the memory in which
    the runtime keeps prompts that it may see again.
    """

    packages: Path
    model: Path
    alias: str
    threads: int = 1
    context: int = 8192
    parallel: int = 2
    cache_megabytes: int = 128


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a running child answers, and the key that it wants."""

    base_url: str
    key: str = field(repr=False)


class _Reply(pydantic.BaseModel):
    """The child's one line."""

    address: str | None = pydantic.Field(default=None, pattern=r"^http://127\.0\.0\.1:\d{1,5}$")
    error: str | None = None


class LocalModel:
    """The child, while there is one.

    Args:
        options: what to run.
        command: the program that understands `child.py`'s protocol.
        start_limit: seconds that loading may take, for all who wait together.
    """

    def __init__(
        self,
        options: ChildOptions,
        *,
        command: Sequence[str] | None = None,
        start_limit: float = _START_SECONDS,
    ) -> None:
        self._options = options
        self._command = command or (sys.executable, "-I", "-B", str(_CHILD_SCRIPT))
        self._start_limit = start_limit
        self._lock = anyio.Lock()
        self._child: _Child | None = None
        self._is_closed = False

    @property
    def process_id(self) -> int | None:
        """The child's process id while it runs, ready or not."""
        return self._child.process_id if self._child is not None and self._child.is_alive else None

    async def start(self) -> Endpoint:
        """Give the running child's endpoint; start one if there is none, and wait until it is ready.

        Cancelling a wait leaves the child to the next caller.

        Raises:
            LocalModelError: the child did not start; the next call tries anew.
        """
        async with self._lock:
            child = self._child
            if child is not None and not child.is_alive:
                _LOG.warning("the local model %s", await child.describe_end())
                await self._discard()
                child = None
            if child is None:
                child = await self._spawn()
            try:
                return await child.wait_until_ready()
            except LocalModelError:
                await self._discard()
                raise

    async def explain_end(self, patience: float = _END_SECONDS) -> str | None:
        """Say how the child ended, waiting up to `patience` seconds for it; `None` while it runs."""
        child = self._child
        if child is None:
            return None
        text = await child.describe_end(patience)
        return None if child.is_alive else text

    async def aclose(self) -> None:
        """End the child, within three seconds whatever it does. A closed model cannot be started again."""
        self._is_closed = True
        await self._discard()

    async def _spawn(self) -> "_Child":
        with anyio.CancelScope(shield=True):
            if not self._is_closed:
                self._child = await _spawn(self._command, self._options, self._start_limit)
            if self._is_closed:
                await self._discard()
        if self._child is None:
            raise LocalModelError("the local model is shut down")
        return self._child

    async def _discard(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            with anyio.CancelScope(shield=True):
                await child.end()


async def _spawn(command: Sequence[str], options: ChildOptions, start_limit: float) -> "_Child":
    log = tempfile.TemporaryFile()  # noqa: SIM115 - `_Child.end` closes it
    try:
        process = await anyio.open_process(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            # Not the server's own folder, which is the user's and may go away.
            cwd=tempfile.gettempdir(),
            env={name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ},
            start_new_session=True,
            creationflags=_CREATION_FLAGS,
        )
    except OSError as error:
        log.close()
        raise LocalModelError(
            f"the local model could not be started ({command[0]}): {error.strerror}"
        ) from error
    key = secrets.token_urlsafe(32)
    told = asdict(options) | {"packages": str(options.packages), "model": str(options.model), "key": key}
    child = _Child(process, log, key, time.monotonic() + start_limit)
    # A child that ended at once does not take it; waiting for its reply will tell why.
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        assert process.stdin is not None
        await process.stdin.send(json.dumps(told).encode() + b"\n")
    return child


class _Child:
    """One process, from its start to its end. `deadline` is when it must be ready."""

    def __init__(self, process: anyio.abc.Process, log: IO[bytes], key: str, deadline: float) -> None:
        self._process = process
        self._log = log
        self._key = key
        self._deadline = deadline
        self._reply = bytearray()
        self._endpoint: Endpoint | None = None

    @property
    def is_alive(self) -> bool:
        return self._process.returncode is None

    @property
    def process_id(self) -> int:
        return self._process.pid

    async def wait_until_ready(self) -> Endpoint:
        if self._endpoint is not None:
            return self._endpoint
        # The reply may have lain there unread since long before: even a late caller gets a look at it.
        remaining = max(_END_SECONDS, self._deadline - time.monotonic())
        try:
            with anyio.fail_after(remaining):
                self._endpoint = await self._read_reply()
        except TimeoutError:
            raise LocalModelError(f"the local model was not ready in time{self._quote_last()}") from None
        return self._endpoint

    async def _read_reply(self) -> Endpoint:
        assert self._process.stdout is not None
        while b"\n" not in self._reply:
            try:
                self._reply += await self._process.stdout.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                raise LocalModelError(f"the local model {await self.describe_end()}") from None
            if len(self._reply) > _MAX_REPLY_SIZE:
                raise LocalModelError("the local model said something else than its address")
        try:
            reply = _Reply.model_validate_json(self._reply.partition(b"\n")[0])
        except pydantic.ValidationError:
            raise LocalModelError("the local model said something else than its address") from None
        if reply.address is None:
            raise LocalModelError(f"the local model could not be loaded: {reply.error}{self._quote_first()}")
        return Endpoint(reply.address, self._key)

    async def describe_end(self, patience: float = _END_SECONDS) -> str:
        """Say how it ended and what it said last, as the end of a sentence."""
        with anyio.move_on_after(patience):
            await self._process.wait()
        code = self._process.returncode
        return f"{_explain_code(code)}{self._quote_last()}"

    def _quote_first(self) -> str:
        """Quote the begin of its standard error: the first complaint says why a model cannot be loaded."""
        return _quote(self._read_log(0)[:_QUOTED_LINES])

    def _quote_last(self) -> str:
        return _quote(self._read_log(-_QUOTED_SIZE)[-_QUOTED_LINES:])

    def _read_log(self, offset: int) -> list[str]:
        if self._log.closed:
            return []
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size + offset) if offset < 0 else 0)
        text = self._log.read(_QUOTED_SIZE).decode(errors="replace")
        lines = [_LOG_PREFIX.sub("", re.sub(r"[^ -~]+", " ", line)).strip() for line in text.splitlines()]
        return [line for line in lines if line]

    async def end(self) -> None:
        """Close its standard input, which ends a healthy child at once; force any other."""
        assert self._process.stdin is not None
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            await self._process.stdin.aclose()
        for force in (None, "SIGTERM", "SIGKILL"):
            if force is not None:
                self._signal_group(force)
            with anyio.move_on_after(_END_SECONDS if force != "SIGKILL" else math.inf):
                await self._process.wait()
                break
        await self._process.aclose()
        self._log.close()

    def _signal_group(self, name: str) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.Signals[name])


def _quote(lines: Sequence[str]) -> str:
    return f" (it said: {'; '.join(line[:_QUOTED_LINE_SIZE] for line in lines)})" if lines else ""


def _explain_code(code: int | None) -> str:
    if code is None:
        return "closed its output but did not end"
    if code in {-getattr(signal, "SIGILL", 4), _ILLEGAL_INSTRUCTION_WINDOWS}:
        return "ended: this processor lacks instructions (AVX2) that its runtime was built for"
    if code == -getattr(signal, "SIGKILL", 9):
        return "was killed, perhaps because memory ran out"
    if code < 0:
        return f"ended by signal {-code}"
    return f"ended with code {code}"

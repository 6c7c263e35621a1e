"""The process around a server: signals that end it, and how it leaves.

A signal ends a connection like any other event: turns are ended and saved first. A second one, sent by somebody
who has waited long enough, ends the process at once; so does SIGQUIT.
"""

import asyncio
import importlib
import logging
import os
import signal
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from typing import Any, NoReturn

from jp_lsp.server.lifecycle import ClosingReason

_REASONS = {
    "SIGTERM": ClosingReason.SIGTERM,
    "SIGINT": ClosingReason.SIGINT,
    "SIGHUP": ClosingReason.SIGHUP,
}


def run_and_leave(main: Coroutine[Any, Any, int]) -> NoReturn:
    """Run a server to its end and leave the process with the exit code that it gives."""

    async def run() -> NoReturn:
        leave(await main)

    _name_the_loop()
    asyncio.run(run())
    raise AssertionError("the process has left before")


def _name_the_loop() -> None:
    """Say which loop this thread runs, also in callbacks that belong to no task, such as those that read.

    anyio asks the package sniffio for that where it is installed, as it is with the SDKs of some vendors, and
    sniffio knows only tasks by itself.
    """
    try:
        sniffio = importlib.import_module("sniffio")
    except ImportError:
        return
    sniffio.thread_local.name = "asyncio"


def leave(code: int) -> NoReturn:
    """End the process now, without taking the interpreter apart.

    By the time this is called everything is saved, flushed and closed. Python would go on to free some hundred
    thousand objects one by one, wait for its worker threads, and for a reader thread that is stuck in a read
    that may never end (components 1.5, 1.8: a quarter of a second, or for ever). Only the log is flushed, and
    not with `logging.shutdown`, which waits for a thread that an editor may have stuck by not reading errors.
    """
    for handler in logging.getLogger().handlers:
        handler.flush()
    os._exit(code)


@contextmanager
def handle_signals(
    close: Callable[[ClosingReason, int], None], *, leave_now: Callable[[int], object] = leave
) -> Generator[None]:
    """Turn signals into the orderly end of what runs inside.

    Args:
        close: told the reason and the exit code, 128 and the signal's number.
        leave_now: ends the process at once, for SIGQUIT and for a second signal.
    """
    loop = asyncio.get_running_loop()
    was_signalled = False

    def end(reason: ClosingReason, exit_code: int) -> None:
        nonlocal was_signalled
        if was_signalled:
            leave_now(exit_code)
            return
        was_signalled = True
        close(reason, exit_code)

    undo: list[Callable[[], object]] = []
    for name, reason in _REASONS.items():
        number = getattr(signal, name, None)
        if number is not None:
            undo.append(_install(loop, number, end, reason, 128 + number))
    quit_number = getattr(signal, "SIGQUIT", None)
    if quit_number is not None:
        undo.append(_install(loop, quit_number, leave_now, 128 + quit_number))
    try:
        yield
    finally:
        for put_back in undo:
            put_back()


def _install(
    loop: asyncio.AbstractEventLoop, number: int, handler: Callable[..., object], *arguments: object
) -> Callable[[], object]:
    """Install a handler that runs on the loop; gives what puts the old one back."""
    try:
        loop.add_signal_handler(number, handler, *arguments)
    except NotImplementedError:  # Windows

        def on_signal(_number: int, _frame: object) -> None:
            loop.call_soon_threadsafe(handler, *arguments)

        before = signal.signal(number, on_signal)
        return lambda: signal.signal(number, before)
    return lambda: loop.remove_signal_handler(number)

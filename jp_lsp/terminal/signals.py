"""Signals as plain calls on the event loop."""

import asyncio
import signal
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager


@contextmanager
def signals_handled(handlers: Mapping[str, Callable[[], None]]) -> Generator[None]:
    """Handle signals inside; those that the system does not have are left out.

    Args:
        handlers: what to call on the running loop, by the name of the signal.
    """
    loop = asyncio.get_running_loop()
    undo: list[Callable[[], object]] = []
    for name, handler in handlers.items():
        number = getattr(signal, name, None)
        if number is not None:
            undo.append(_install(loop, number, handler))
    try:
        yield
    finally:
        for put_back in undo:
            put_back()


def _install(
    loop: asyncio.AbstractEventLoop, number: int, handler: Callable[[], None]
) -> Callable[[], object]:
    try:
        loop.add_signal_handler(number, handler)
    except NotImplementedError:  # Windows

        def on_signal(_number: int, _frame: object) -> None:
            loop.call_soon_threadsafe(handler)

        before = signal.signal(number, on_signal)
        return lambda: signal.signal(number, before)
    return lambda: loop.remove_signal_handler(number)

"""Watches the process that started us, so that a server does not outlive its editor (query pipeline 4.8).

An editor that is killed usually takes the pipe with it, and its end is noticed at once. Where some other
process still holds the pipe open, only the editor's process id, told in `initialize`, shows that it is gone.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable

_LOOK_EVERY = 2.0
_LOOKS_UNTIL_GONE = 5
"""Ten seconds without a process: an editor that restarts itself may take its id back in between."""


def process_exists(process_id: int) -> bool:
    """Tell whether there is a process of this id; a process that we may not signal exists.

    On Windows there is no harmless way to ask; there the end of standard input is the only sign.
    """
    if sys.platform == "win32":
        return True
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


async def wait_until_gone(
    process_id: int,
    *,
    exists: Callable[[int], bool] = process_exists,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Return once the process has been gone for ten seconds on end.

    A process that cannot be seen to begin with is never taken for gone: the editor runs in another container,
    or on another machine.
    """
    looks_without = 0
    was_seen = exists(process_id)
    while looks_without < _LOOKS_UNTIL_GONE:
        await sleep(_LOOK_EVERY)
        if exists(process_id):
            looks_without, was_seen = 0, True
        elif was_seen:
            looks_without += 1

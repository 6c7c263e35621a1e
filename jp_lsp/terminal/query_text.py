"""Where the text of a query comes from: the argument, standard input, or both."""

import asyncio
import os
import stat
import threading
from contextlib import suppress

from jp_lsp.terminal.editor import MAX_TEXT_SIZE

_READ_SIZE = 64 * 1024


class TextTooLarge(Exception):
    """Standard input has more than a query takes; the text is for the user."""


def is_piped(descriptor: int = 0) -> bool:
    """Tell whether standard input was given to us: a pipe, a file or a socket, not a terminal or nothing."""
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def join_texts(argument: str | None, piped: str) -> str:
    """Put the argument before what was piped, as a paragraph of its own."""
    return "\n\n".join(text for text in (well_formed(argument or ""), piped) if text.strip())


def well_formed(text: str) -> str:
    """Replace what is no text: an argument may have any bytes."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


async def read_piped(descriptor: int = 0) -> str:
    """Read standard input to its end, without keeping anybody from noticing signals.

    Raises:
        TextTooLarge: it has more than a query takes.
        OSError: it cannot be read.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[bytes] = loop.create_future()

    def settle(outcome: bytes | OSError) -> None:
        if done.done():
            return
        if isinstance(outcome, OSError):
            done.set_exception(outcome)
        else:
            done.set_result(outcome)

    def work() -> None:
        outcome = _read_all(descriptor)
        with suppress(RuntimeError):  # the loop has ended, and with it whoever wanted to know
            loop.call_soon_threadsafe(settle, outcome)

    # A thread that nobody waits for: it may be stuck in a read that never ends.
    threading.Thread(target=work, name="jp-stdin", daemon=True).start()
    data = await done
    if len(data) > MAX_TEXT_SIZE:
        limit = MAX_TEXT_SIZE // 1024 // 1024
        raise TextTooLarge(f"standard input has more than the {limit} MiB that a query takes.")
    return data.decode("utf-8-sig", "replace").rstrip("\n")


def _read_all(descriptor: int) -> bytes | OSError:
    """Read to the end, or until there is too much."""
    pieces: list[bytes] = []
    size = 0
    try:
        while size <= MAX_TEXT_SIZE and (piece := os.read(descriptor, _READ_SIZE)):
            pieces.append(piece)
            size += len(piece)
    except OSError as error:
        return error
    return b"".join(pieces)

"""Standard input and output as the wire, and as nothing else.

Everything that prints to standard output, a library or a child process, would tear a frame apart (trap 64).
So before anything is served, the two descriptors are moved elsewhere: the wire gets copies that no child
inherits, reading from descriptor 0 finds nothing, and writing to descriptor 1 ends up in the log.
"""

import asyncio
import os
import stat
import sys
from dataclasses import dataclass

from jp_lsp.server.reader import FrameReceiver, ThreadReader
from jp_lsp.server.writer import ThreadWriter, TransportWriter, Writer


class StandardStreamsMissing(Exception):
    """Standard input or output is closed, so there is no wire; the message is for the user."""


@dataclass(frozen=True, slots=True)
class WireDescriptors:
    """The two ends of the wire: open descriptors that belong to nobody else."""

    read: int
    write: int


def take_standard_streams() -> WireDescriptors:
    """Make the process's standard streams the wire, and point the usual descriptors away from it.

    To be called once, early and before there is an event loop: where a stream is closed, the loop's own
    descriptors would take its number.

    Where standard error is the same pipe as standard output (`2>&1`), logging there would break frames as
    well, so it is silenced; a log file still works. On a terminal, where a person reads both, it is left.

    Raises:
        StandardStreamsMissing: one of them is closed.
    """
    if _is_missing(0) or _is_missing(1):
        message = "standard input or output is closed; a language server needs both to talk to its editor"
        raise StandardStreamsMissing(message)
    nothing = os.open(os.devnull, os.O_RDWR)
    if nothing == 2:  # standard error was closed; without this the wire would get its number
        os.set_inheritable(nothing, True)
        nothing = os.dup(nothing)
    read, write = os.dup(0), os.dup(1)
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(read, os.O_BINARY)
        msvcrt.setmode(write, os.O_BINARY)
    if _shares_wire(2, write):
        os.dup2(nothing, 2)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - lives as long as the process
    sys.stdout = sys.stderr or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - likewise
    return WireDescriptors(read, write)


async def open_writer(descriptors: WireDescriptors, writer_is_lost: "asyncio.Future[None]") -> Writer:
    """Open the way out; through a thread where asyncio cannot wait for the descriptor.

    Args:
        descriptors: the wire.
        writer_is_lost: set when the client can no longer be reached.
    """

    def lose() -> None:
        if not writer_is_lost.done():
            writer_is_lost.set_result(None)

    if _is_waitable(descriptors):
        writer = TransportWriter(lose)
        pipe = os.fdopen(descriptors.write, "wb", buffering=0)
        await asyncio.get_running_loop().connect_write_pipe(lambda: writer, pipe)
        return writer
    return ThreadWriter(descriptors.write, lose)


async def open_reader(descriptors: WireDescriptors, receiver: FrameReceiver) -> None:
    """Open the way in; through a thread where asyncio cannot wait for the descriptor."""
    if _is_waitable(descriptors):
        pipe = os.fdopen(descriptors.read, "rb", buffering=0)
        await asyncio.get_running_loop().connect_read_pipe(lambda: receiver, pipe)
    else:
        ThreadReader(descriptors.read, receiver)


def _is_waitable(descriptors: WireDescriptors) -> bool:
    """Whether asyncio can wait for both ends: pipes and sockets, on systems other than Windows.

    One socket for both directions is left to threads, because asyncio watches the writing end of a pipe for
    its closing by reading from it. So are terminals, whose mode is shared with the shell and standard error.
    """
    if sys.platform == "win32":
        return False
    kinds = [os.fstat(descriptor) for descriptor in (descriptors.read, descriptors.write)]
    if not all(stat.S_ISFIFO(kind.st_mode) or stat.S_ISSOCK(kind.st_mode) for kind in kinds):
        return False
    return not os.path.samestat(*kinds)


def _is_missing(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return True
    return False


def _shares_wire(descriptor: int, wire: int) -> bool:
    ours, theirs = os.fstat(descriptor), os.fstat(wire)
    return os.path.samestat(ours, theirs) and not stat.S_ISCHR(ours.st_mode)

"""The port towards programs on this machine: one program, run to its end.

Everything that this program runs for a user goes through it: tools, argument formatters, attachments made
by a command. So the rules hold everywhere: an argument list and no shell, nothing on standard input, a
process group of its own, output that is bounded, and an end in bounded time.
"""

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

STDOUT_LIMIT = 2 * 1024 * 1024
STDERR_LIMIT = 64 * 1024


@dataclass(frozen=True, slots=True)
class Program:
    """What to run.

    `arguments` begin with the program itself, which is looked up in `PATH` unless it holds a slash; it runs
    in `folder`, an absolute path. The environment is ours, with `variables` on top. `label` marks its lines
    in the log. `timeout` is in seconds, 0 is none. The limits are bytes that are kept of each output, from
    its begin; of standard output that is no JSON object, `text_limit` bytes are enough if it is given.
    `output_file` is the absolute path of a file that is made for the whole standard output, up to 64 MiB, when
    that is longer than 4 KiB.
    """

    arguments: tuple[str, ...]
    folder: str
    label: str
    variables: Mapping[str, str] = field(default_factory=lambda: {})
    timeout: float = 0.0
    stdout_limit: int = STDOUT_LIMIT
    stderr_limit: int = STDERR_LIMIT
    text_limit: int | None = None
    output_file: str | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """What a program wrote to one of its outputs: the begin of it, and how many bytes it was in all."""

    head: bytes = b""
    size: int = 0

    @property
    def omitted(self) -> int:
        """Bytes that were read but not kept."""
        return self.size - len(self.head)

    def text(self, limit: int | None = None) -> str:
        """Decode what was kept; bytes that are no UTF-8 become U+FFFD, a character cut in half goes.

        With a limit, no more than so many bytes are decoded.
        """
        head = self.head if limit is None else self.head[:limit]
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        return decoder.decode(head, final=len(head) == self.size)


@dataclass(frozen=True, slots=True)
class Exited:
    """The program ended by itself; `code` is negative for the signal that ended it."""

    code: int
    stdout: Output
    stderr: Output


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The program was ended because it took more than its `timeout`."""

    stdout: Output
    stderr: Output


ProcessEnd: TypeAlias = Exited | TimedOut


class SpawnError(Exception):
    """The program could not be started; the text says why."""


class ProcessRunner(Protocol):
    """Runs programs."""

    async def run(self, program: Program) -> ProcessEnd:
        """Run a program to its end.

        When this is cancelled, the program and everything in its process group is ended first: asked to,
        and two seconds later made to; in all that takes at most 2.5 seconds.

        Raises:
            SpawnError: it could not be started.
        """
        ...

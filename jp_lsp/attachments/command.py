"""What a command prints: `cmd:git diff`, or `cmd://git?arg=diff` (config-and-tools 6.3).

It runs for every query in the workspace folder, through no shell and with nothing on standard input. How it
ended is part of what the model sees, so an exit code is no failure (trap 62). Whether it may run at all was
decided before: the entries of a workspace that is not trusted never come here (10.4).
"""

import shlex
from collections.abc import Sequence
from urllib.parse import unquote
from xml.sax.saxutils import escape

from jp_lsp.attachments.address import Address, address_of
from jp_lsp.conversation.thread import TextAttachment
from jp_lsp.ports.attachment import AttachmentEntry, AttachmentError, Fetched
from jp_lsp.ports.process import Exited, Output, ProcessRunner, Program, SpawnError

COMMAND_SECONDS = 60.0
"""How long a command may take: nobody sees that a query waits for it."""

_ARGUMENTS = ("arg", "args", "arg[]", "args[]")


class CommandHandler:
    """Runs commands.

    Args:
        root: the absolute path of the workspace folder.
        processes: runs programs.
        seconds: how long one may take.
    """

    def __init__(self, root: str, processes: ProcessRunner, *, seconds: float = COMMAND_SECONDS) -> None:
        self._root = root
        self._processes = processes
        self._seconds = seconds

    async def fetch(self, entry: AttachmentEntry) -> Fetched:
        """Run the command of an entry.

        Raises:
            AttachmentError: there is none, it does not start, or it does not end in time.
        """
        address = address_of(entry)
        arguments = _command(entry, address)
        program = Program(tuple(arguments), self._root, f"attachment {arguments[0]}", timeout=self._seconds)
        try:
            end = await self._processes.run(program)
        except SpawnError as error:
            text = f"Attachment {entry.text!r}: failed to run command {shlex.join(arguments)!r}: {error}"
            raise AttachmentError(text, entry.text) from error
        if not isinstance(end, Exited):
            text = (
                f"Attachment {entry.text!r}: command {shlex.join(arguments)!r} did not end within "
                f"{self._seconds:g} s. Attach one that is quicker, or remove the attachment."
            )
            raise AttachmentError(text, entry.text)
        item = TextAttachment(" ".join(arguments), to_xml(end), address.value("description"))
        return Fetched((item,), tuple(_omissions(entry, end)))


def to_xml(end: Exited) -> str:
    """Write how a command ended; a command that a signal ended has code 0, as in the reference."""
    lines = ["<Output>"]
    for name, output in (("stdout", end.stdout), ("stderr", end.stderr)):
        if text := output.text():
            lines.append(f"  <{name}>{escape(text)}</{name}>")
    lines += (f"  <code>{max(end.code, 0)}</code>", "</Output>")
    return "\n".join(lines)


def _command(entry: AttachmentEntry, address: Address) -> list[str]:
    """Give the program and its arguments."""
    if address.is_url and not address.raw_path.startswith("//"):
        words = _split(entry, address.raw_path)
    else:
        words = [address.path.removeprefix("//") if address.is_url else address.path]
    if not words or not words[0].strip():
        text = f"Attachment {entry.text!r} names no command; write `cmd:PROGRAM ARGUMENTS`."
        raise AttachmentError(text, entry.text)
    given = address.values(*_ARGUMENTS)
    # In a URL a value is encoded twice: as part of the query, and again as itself (trap 34).
    return [*words, *(map(unquote, given) if address.is_url else given)]


def _split(entry: AttachmentEntry, line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        text = f"Attachment {entry.text!r} is no command line: {str(error).lower()}"
        raise AttachmentError(text, entry.text) from error


def _omissions(entry: AttachmentEntry, end: Exited) -> Sequence[str]:
    def say(name: str, output: Output) -> str:
        return f"Attachment {entry.text!r}: the last {output.omitted} bytes of its {name} were left out."

    outputs = (("standard output", end.stdout), ("standard error", end.stderr))
    return [say(name, output) for name, output in outputs if output.omitted]

"""What a server said last beside the protocol: quoted in messages, and written to the log as it comes."""

import logging
import re
from collections import deque

from jp_lsp.render.secrets import Secrets, cut

_log = logging.getLogger(__name__)

KEPT_LINES = 100
"""How many lines are kept (config-and-tools 5.2)."""

_MAX_LINE_SIZE = 500
_MAX_TAKEN = 4 * _MAX_LINE_SIZE + 1
"""Bytes of a line; a line that has more is too long, whatever its characters are, so it shows that it was cut."""

_TERMINAL_CODE = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


class Tail:
    """The last lines of a server that are not empty, without terminal codes and keys, each of bounded size.

    `count` is how many lines there were in all.

    Args:
        server: its name, for the log.
        heading: what stands above a quotation, such as `stderr`.
        secrets: what is left out of them.
    """

    def __init__(self, server: str, heading: str = "stderr", secrets: Secrets | None = None) -> None:
        self._server = server
        self._heading = heading
        self._secrets = secrets or Secrets(())
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._line = bytearray()
        self.count = 0

    def take(self, piece: bytes) -> None:
        """Take the next bytes of an output; lines need not be complete."""
        for line in piece.splitlines(keepends=True):
            self._line += line[: _MAX_TAKEN - len(self._line)]
            if line.endswith((b"\n", b"\r")):
                self.finish()

    def finish(self) -> None:
        """Keep what was taken as a line, although its end may be missing."""
        text = self._line.decode(errors="replace")
        self._line.clear()
        self.add(text)

    def add(self, line: str) -> None:
        """Keep a line."""
        text = _CONTROL.sub(" ", _TERMINAL_CODE.sub("", line)).strip()
        if text:
            text = self._secrets.hide(cut(text, _MAX_LINE_SIZE))
            self._lines.append(text)
            self.count += 1
            _log.debug("%s: %s", self._server, text)

    def clear(self) -> None:
        """Forget all lines."""
        self._lines.clear()

    def quote(self, most: int = KEPT_LINES) -> str:
        """Give the last lines as the end of a message; empty when there are none."""
        lines = list(self._lines)[-most:] if most else []
        return "".join([f"\n{self._heading}:", *(f"\n  {line}" for line in lines)]) if lines else ""

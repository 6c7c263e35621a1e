"""Server-sent events from raw bytes, whatever way the network cuts them (providers 2.2).

A line ends at CR, LF or CRLF and nowhere else: JSON strings may hold U+2028, U+0085 or form feeds, which is
where `str.splitlines` and the line iterators of HTTP libraries break. The decoder works on whole chunks and
looks at each line once, so its cost does not depend on how long an event is or how many chunks carry it.
"""

import codecs
from typing import NamedTuple

MAX_EVENT_SIZE = 32 * 1024 * 1024
"""Characters that one event may have before the stream is given up."""

_BYTE_ORDER_MARK = "\ufeff"


class SseEvent(NamedTuple):
    """One dispatched event. A named tuple, since thousands a second are made and dropped at once."""

    name: str
    data: str


class EventTooLargeError(ValueError):
    """An event is over the limit; the stream cannot be read any further."""


class SseDecoder:
    """Feed it bytes, get the events that are complete; call `end` when the body is over."""

    def __init__(self, max_event_size: int = MAX_EVENT_SIZE) -> None:
        self._max_event_size = max_event_size
        # Incremental, because a chunk may end inside a character. Invalid bytes become U+FFFD.
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")
        self._at_start = True
        self._after_cr = False
        # The unfinished line in pieces: joined once when its end arrives, not copied at every chunk.
        self._pieces: list[str] = []
        self._pieces_size = 0
        self._name = ""
        self._data: list[str] = []
        self._data_size = 0

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Take bytes, cut anywhere.

        Raises:
            EventTooLargeError: an event is over the limit.
        """
        return self._take(self._utf8.decode(chunk))

    def end(self) -> list[SseEvent]:
        """Take the end of the body: servers omit the last blank line, some even the last line end.

        The event given here may be cut off in the middle of its data.
        """
        return self._take(self._utf8.decode(b"", True) + "\n\n")

    def _take(self, text: str) -> list[SseEvent]:
        if not text:
            return []
        if self._at_start:
            self._at_start = False
            text = text.removeprefix(_BYTE_ORDER_MARK)
        if self._after_cr or "\r" in text:
            text = self._with_plain_line_ends(text)
        lines = text.split("\n")
        if self._pieces and len(lines) > 1:
            lines[0] = "".join(self._pieces) + lines[0]
            self._pieces.clear()
            self._pieces_size = 0
        rest = lines.pop()
        events = self._dispatch(lines) if lines else []
        if rest:
            self._pieces.append(rest)
            self._pieces_size += len(rest)
            self._check_size()
        return events

    def _with_plain_line_ends(self, text: str) -> str:
        # A CR ends its line at once, even as the last character of a chunk; the LF that may still follow is
        # then swallowed. Waiting for it would hold an event back on servers that end lines with a bare CR.
        if self._after_cr:
            text = text.removeprefix("\n")
        self._after_cr = text.endswith("\r")
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def _dispatch(self, lines: list[str]) -> list[SseEvent]:
        events: list[SseEvent] = []
        data = self._data
        for line in lines:
            if line.startswith("data:"):
                data.append(line[6:] if line.startswith(" ", 5) else line[5:])
                self._data_size += len(line)  # with the field's name: empty lines count too
            elif not line:
                if data:
                    self._check_size()
                    events.append(SseEvent(self._name, data[0] if len(data) == 1 else "\n".join(data)))
                    data.clear()
                    self._data_size = 0
                self._name = ""
            elif line.startswith("event:"):
                self._name = line[7:] if line.startswith(" ", 6) else line[6:]
            elif line == "data":
                data.append("")
                self._data_size += 1
            # Comments, `id`, `retry` and fields that we do not know say nothing to us.
        self._check_size()
        return events

    def _check_size(self) -> None:
        if self._pieces_size + self._data_size > self._max_event_size:
            raise EventTooLargeError(
                f"one event of the stream is longer than {self._max_event_size} characters"
            )

"""JSON lines from raw bytes, whatever way the network cuts them (providers 2.3).

A line ends at a line feed and nowhere else; what is not a whole line yet waits.
"""

from codecs import BOM_UTF8

from jp_lsp.providers.sse import MAX_EVENT_SIZE, EventTooLargeError, SseEvent


class NdjsonDecoder:
    """Feed it bytes, get the lines that are complete; call `end` when the body is over.

    A line is given as an event without a name, so that decoders of both framings are the same.
    """

    def __init__(self, max_line_size: int = MAX_EVENT_SIZE) -> None:
        self._max_line_size = max_line_size
        # The unfinished line in pieces: joined once when its end arrives, not copied at every chunk.
        self._pieces: list[bytes] = []
        self._size = 0
        self._at_start = True

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Take bytes, cut anywhere.

        Raises:
            EventTooLargeError: a line is over the limit.
        """
        lines = chunk.split(b"\n")
        if self._pieces and len(lines) > 1:
            lines[0] = b"".join([*self._pieces, lines[0]])
            self._pieces.clear()
            self._size = 0
        rest = lines.pop()
        if rest:
            self._pieces.append(rest)
            self._size += len(rest)
        if self._size > self._max_line_size or any(len(line) > self._max_line_size for line in lines):
            raise EventTooLargeError(f"one line of the stream is longer than {self._max_line_size} bytes")
        if lines and self._at_start:
            self._at_start = False
            lines[0] = lines[0].removeprefix(BOM_UTF8)
        return [SseEvent("", _text(line)) for line in lines if line]

    def end(self) -> list[SseEvent]:
        """Take the end of the body: the last line counts without its line end, and may be cut off."""
        return self.feed(b"\n")


def _text(line: bytes) -> str:
    return line.removesuffix(b"\r").decode("utf-8", "replace")

"""Bytes to frames and back: the part of the base protocol that knows headers and sizes, and nothing of JSON.

`FrameDecoder` is sans-IO: bytes in whatever pieces they came, frames out. Its one idea is that a stream
with a bad header is not a lost stream. A frame that cannot be used is reported as a `BadFrame`, its bytes
are passed over without being kept, and the search for the next `Content-Length` goes on, so that the
requests behind it are still answered.
"""

import re
from dataclasses import dataclass

MAX_FRAME_SIZE = 64 * 1024 * 1024
"""Largest body, in bytes, that is read into memory. A larger one is passed over."""

_MAX_BELIEVED_SIZE = 4 * 1024 * 1024 * 1024
"""A header that promises more than this is taken for nonsense: waiting for so many bytes is deafness."""

_MAX_LINE = 8 * 1024
_KEPT_TAIL = 64
_KEPT_START = 1024

_CONTENT_LENGTH = b"content-length"
_REQUEST_LINE = re.compile(rb"\sHTTP/\d(\.\d)?$")


@dataclass(frozen=True, slots=True)
class BadFrame:
    """Something that is not a usable frame.

    Attributes:
        message: what was wrong, for the client.
        start: the first bytes of a body that was too large, to find the request's id in.
        is_foreign: the peer speaks HTTP. Whoever connected is no editor, and since an HTTP body looks
            like a frame, a web page could otherwise talk to a server on a local port.
    """

    message: str
    start: bytes = b""
    is_foreign: bool = False


def encode_frame(body: bytes) -> bytes:
    """Put the header before a body; the size counts bytes, not characters."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class FrameDecoder:
    """Cuts a byte stream into frames.

    Header names may have any case, other headers are ignored, and lines may end in a lone line feed.
    Memory is bounded by one frame of `max_size` bytes and what was fed behind it.
    """

    def __init__(self, max_size: int = MAX_FRAME_SIZE) -> None:
        self._max_size = max_size
        self._buffer = bytearray()
        self._position = 0
        self._size: int | None = None
        self._in_body = False
        self._saw_header = False
        self._problem: str | None = None
        self._is_searching = False
        self._skipped_start = b""
        self._bytes_to_skip = 0

    @property
    def is_between_frames(self) -> bool:
        """Whether everything fed so far has been given out, so that an end of the stream cuts nothing."""
        rest_is_blank = not bytes(self._buffer[self._position :]).strip()
        return rest_is_blank and not (self._in_body or self._saw_header or self._bytes_to_skip)

    def feed(self, data: bytes) -> None:
        """Take bytes as they came; `next_frame` gives what they complete."""
        if self._bytes_to_skip:
            data = self._skip(data)
        self._buffer += data

    def next_frame(self) -> bytes | BadFrame | None:
        """Give the body of the next frame, or why there is none; `None` when more bytes are needed."""
        while not self._in_body:
            if self._bytes_to_skip:
                return None
            if self._skipped_start:
                return self._report_oversized()
            line_end = self._buffer.find(b"\n", self._position)
            if line_end < 0:
                return self._wait_for_line_end()
            line = bytes(self._buffer[self._position : line_end]).strip()
            self._position = line_end + 1
            if len(line) > _MAX_LINE:
                self._take_header(line[-_KEPT_TAIL:])
                if (bad := self._search("a header line is too long")) is not None:
                    return bad
            elif line:
                if _REQUEST_LINE.search(line):
                    return BadFrame(
                        "this port speaks the language server protocol, not HTTP", is_foreign=True
                    )
                self._take_header(line)
            elif (bad := self._end_header()) is not None:
                return bad
        return self._take_body()

    def _take_header(self, line: bytes) -> None:
        """Look for the size. After a bad header its body is searched like a header, hence the last match."""
        self._saw_header = True
        name_start = line.lower().rfind(_CONTENT_LENGTH)
        if name_start < 0:
            return
        name, _, value = line[name_start:].partition(b":")
        digits = value.strip()
        if name.strip().lower() != _CONTENT_LENGTH or not digits.isdigit() or len(digits) > 12:
            self._problem = "the Content-Length header is not a plausible number of bytes"
            return
        self._size = int(digits)
        self._problem = None
        if self._size > _MAX_BELIEVED_SIZE:
            self._problem = "the Content-Length header is not a plausible number of bytes"
            self._size = None

    def _end_header(self) -> BadFrame | None:
        """Act on the blank line; gives a `BadFrame` once for a stretch of bytes that makes no sense."""
        if not self._saw_header:
            return None
        size, problem = self._size, self._problem
        self._size, self._problem, self._saw_header = None, None, False
        if size is None or problem is not None:
            return self._search(problem or "the header has no Content-Length")
        self._is_searching = False
        if size <= self._max_size:
            self._size, self._in_body = size, True
            return None
        self._size = size
        self._bytes_to_skip = size
        rest = bytes(self._buffer[self._position :])
        self._buffer.clear()
        self._position = 0
        self._buffer += self._skip(rest)
        return None

    def _search(self, problem: str) -> BadFrame | None:
        was_searching, self._is_searching = self._is_searching, True
        return None if was_searching else BadFrame(problem)

    def _wait_for_line_end(self) -> BadFrame | None:
        self._compact()
        if len(self._buffer) <= _MAX_LINE:
            return None
        del self._buffer[:-_KEPT_TAIL]
        self._saw_header = True
        return self._search("a header line is too long")

    def _take_body(self) -> bytes | None:
        assert self._size is not None, "a body has a size"
        body_end = self._position + self._size
        if len(self._buffer) < body_end:
            self._compact()
            return None
        body = bytes(self._buffer[self._position : body_end])
        self._position = body_end
        self._size, self._in_body = None, False
        return body

    def _skip(self, data: bytes) -> bytes:
        """Pass over the bytes of a frame that is too large; gives what lies behind it."""
        skipped = data[: self._bytes_to_skip]
        self._skipped_start += skipped[: _KEPT_START - len(self._skipped_start)]
        self._bytes_to_skip -= len(skipped)
        return data[len(skipped) :]

    def _report_oversized(self) -> BadFrame:
        size, start = self._size, self._skipped_start
        self._size, self._skipped_start = None, b""
        return BadFrame(f"the message has {size} bytes; at most {self._max_size} are read", start)

    def _compact(self) -> None:
        del self._buffer[: self._position]
        self._position = 0

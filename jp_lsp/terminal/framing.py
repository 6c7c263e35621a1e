"""Bytes to messages and back, as a client needs it: every header is followed by that many bytes of JSON.

The server at the other end is ours, so there is no mending: bytes that make no sense end the connection.
"""

import json
from collections.abc import Mapping
from typing import cast

from jp_lsp.conversation.json_value import JsonObject

MAX_MESSAGE_SIZE = 64 * 1024 * 1024
"""Largest message, in bytes, that is taken."""

_MAX_HEADER_SIZE = 8 * 1024
_END_OF_HEADER = b"\r\n\r\n"
_CONTENT_LENGTH = b"content-length"


class WireBroken(Exception):
    """What came from the server is no message; the text says what it was."""


def encode_message(message: JsonObject) -> bytes:
    """Give a message with its header; the size counts bytes."""
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class MessageReader:
    """Cuts a byte stream into messages. Memory is bounded by one message and what was fed behind it."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._size: int | None = None

    def feed(self, data: bytes) -> list[JsonObject]:
        """Take bytes as they came and give the messages that they complete.

        Raises:
            WireBroken: this is not the protocol.
        """
        self._buffer += data
        messages: list[JsonObject] = []
        while (body := self._next_body()) is not None:
            messages.append(_parse(body))
        return messages

    def _next_body(self) -> bytes | None:
        if self._size is None:
            end = self._buffer.find(_END_OF_HEADER)
            if end < 0:
                if len(self._buffer) > _MAX_HEADER_SIZE:
                    raise WireBroken(f"the server sent {_shown(bytes(self._buffer))}")
                return None
            self._size = _size_in(bytes(self._buffer[:end]))
            del self._buffer[: end + len(_END_OF_HEADER)]
        if len(self._buffer) < self._size:
            return None
        body = bytes(self._buffer[: self._size])
        del self._buffer[: self._size]
        self._size = None
        return body


def _size_in(header: bytes) -> int:
    for line in header.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == _CONTENT_LENGTH and value.strip().isdigit():
            size = int(value)
            if size > MAX_MESSAGE_SIZE:
                raise WireBroken(f"the server sent a message of {size:,} bytes")
            return size
    raise WireBroken(f"the server sent {_shown(header)}")


def _parse(body: bytes) -> JsonObject:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        raise WireBroken(f"the server sent {_shown(body)}, which is not JSON") from None
    if not isinstance(message, Mapping):
        raise WireBroken(f"the server sent {_shown(body)}, which is no message")
    return cast("JsonObject", message)


def _shown(data: bytes) -> str:
    text = data[:60].decode("utf-8", "replace")
    return repr(text) if len(data) <= 60 else f"{text!r}..."

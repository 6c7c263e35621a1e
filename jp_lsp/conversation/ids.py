"""Names of things in a conversation, each with a type of its own."""

import itertools
import re
from collections.abc import Callable
from typing import NewType

from jp_lsp.conversation.timestamp import Timestamp

CallId = NewType("CallId", str)
"""Joins a tool call to its response; chosen by the model's vendor, unique only by position."""

InquiryId = NewType("InquiryId", str)

EventId = NewType("EventId", str)
"""Seven characters of `0-9a-z`, given by the stream (conversation format 3.12)."""

ConversationId = NewType("ConversationId", str)
"""`jp-c` and the creation time in deciseconds (conversation format 2.1)."""

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_EVENT_ID_SIZE = 7


def event_ids(random_bytes: Callable[[int], bytes]) -> Callable[[], EventId]:
    """Make a source of event ids from a source of random bytes; every id is equally likely."""

    def mint() -> EventId:
        digits = ""
        while len(digits) < _EVENT_ID_SIZE:
            fair = (byte for byte in random_bytes(_EVENT_ID_SIZE) if byte < 252)  # 252 is 7 times 36
            digits += "".join(_DIGITS[byte % 36] for byte in fair)
        return EventId(digits[:_EVENT_ID_SIZE])

    return mint


def counting_event_ids() -> Callable[[], EventId]:
    """Make a source that counts: `0000000`, `0000001` and so on, in base 36."""
    numbers = itertools.count()
    return lambda: EventId(base36(next(numbers), _EVENT_ID_SIZE))


def base36(number: int, size: int) -> str:
    """Write the `size` least significant digits of `number` in base 36, padded with zeros."""
    digits = ""
    for _ in range(size):
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits


_NANOSECONDS_IN_DECISECOND = 100_000_000
_LATEST_DECISECONDS = (2**63 - 1) // _NANOSECONDS_IN_DECISECOND
_CONVERSATION_ID = re.compile(r"(?P<digits>\+?\d+)(?:-(?P<place>.*))?\Z", re.ASCII | re.DOTALL)
_PLACE = re.compile(r"[0-9a-z]+\Z", re.ASCII)


def conversation_id(deciseconds: int) -> ConversationId:
    """Make an id from tenths of a second since the Unix epoch.

    Raises:
        ValueError: the number is negative or its time does not fit 64 bits of nanoseconds.
    """
    if not 0 <= deciseconds <= _LATEST_DECISECONDS:
        raise ValueError(f"{deciseconds} is not a time from 0 to {_LATEST_DECISECONDS} tenths of a second")
    return ConversationId(f"jp-c{deciseconds}")


def conversation_id_at(moment: Timestamp) -> ConversationId:
    """Make the id of a conversation that begins now: the time, cut to a tenth of a second."""
    return conversation_id(moment.nanoseconds // _NANOSECONDS_IN_DECISECOND)


def parse_conversation_id(text: str) -> ConversationId:
    """Read an id, with or without the place behind it, and give its short form (conversation format 2.1).

    Raises:
        ValueError: says which part is missing or wrong.
    """
    problem = f"{text!r} is no conversation id such as 'jp-c17912345678'"
    if not text.startswith("jp-"):
        raise ValueError(f"{problem}: it must begin with 'jp-'")
    variant, rest = text[3:4], text[4:]
    if not variant:
        raise ValueError(f"{problem}: the letter behind 'jp-' is missing")
    if variant != "c":
        raise ValueError(f"{problem}: only 'c' names a conversation, not {variant!r}")
    if not rest or rest.startswith("-"):
        raise ValueError(f"{problem}: the digits are missing")
    match = _CONVERSATION_ID.match(rest)
    if match is None or len(match["digits"]) > 20 or int(match["digits"]) >= 2**63:
        raise ValueError(f"{problem}: the digits are not a 64-bit number")
    if match["place"] is not None and _PLACE.match(match["place"]) is None:
        raise ValueError(f"{problem}: what stands behind the digits must be of 0-9 and a-z")
    try:
        return conversation_id(int(match["digits"]))
    except ValueError as error:
        raise ValueError(f"{problem}: {error}") from error


def deciseconds_of(conversation: ConversationId) -> int:
    """Give the number of an id in its short form."""
    return int(conversation.removeprefix("jp-c"))


def created_at(conversation: ConversationId) -> Timestamp:
    """Give the time when a conversation was made."""
    return Timestamp(deciseconds_of(conversation) * _NANOSECONDS_IN_DECISECOND)

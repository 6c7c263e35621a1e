"""Looks for a text in what was said (conversation format 7.8, `grep`).

A search sees what a person would see: tool arguments and results are decoded (trap 29). A hit is addressed by
the number of its turn and the position of its entry, and says which part of an event it was found in.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, assert_never, cast, get_args

from jp_lsp.conversation import entry, json_text, shape
from jp_lsp.conversation.event import (
    Answered,
    ChatRequest,
    ConversationEvent,
    EventKind,
    InquiryRequest,
    InquiryResponse,
    MessageResponse,
    ReasoningResponse,
    StructuredResponse,
    ToolCallRequest,
    ToolCallResponse,
    TurnStart,
)
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.conversation.stored import StreamFormatError
from jp_lsp.conversation.turns import TurnCounter

Scope = Literal[
    "title", "user", "assistant", "reasoning", "structured", "tool_call", "tool_result", "inquiry"
]
SCOPES: tuple[Scope, ...] = get_args(Scope)

LONGEST_PATTERN = 10_000

_BEFORE, _MATCH, _AFTER = 60, 160, 120
_ESCAPE = re.compile(r"\\.", re.DOTALL)


class PatternError(ValueError):
    """A pattern cannot be searched for; the text says why."""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What is searched for, and where.

    With `is_case_sensitive` of `None` the case matters if the pattern has a capital letter.
    """

    pattern: str
    is_regex: bool = False
    is_case_sensitive: bool | None = None
    scopes: frozenset[Scope] = frozenset(SCOPES)

    def compiled(self) -> re.Pattern[str]:
        """Make the pattern ready.

        Raises:
            PatternError: it is empty, too long, or no regular expression.
        """
        if not self.pattern:
            raise PatternError("there is nothing to search for")
        if len(self.pattern) > LONGEST_PATTERN:
            raise PatternError(f"it has more than {LONGEST_PATTERN} characters")
        letters = _ESCAPE.sub("", self.pattern) if self.is_regex else self.pattern
        matters = letters != letters.lower() if self.is_case_sensitive is None else self.is_case_sensitive
        flags = re.MULTILINE | (0 if matters else re.IGNORECASE)
        try:
            return re.compile(self.pattern if self.is_regex else re.escape(self.pattern), flags)
        except (re.error, RecursionError, OverflowError) as error:
            raise PatternError(f"{self.pattern!r} is not a regular expression: {error}") from error


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The first match in a text and what stands around it in the same line; long parts are cut."""

    before: str
    match: str
    after: str


@dataclass(frozen=True, slots=True)
class Hit:
    """An event with a match: its turn, from 0, and the position of its entry; a title has neither.

    `count` is how many matches there are in this scope of the event.
    """

    scope: Scope
    excerpt: Excerpt
    count: int
    turn: int | None = None
    position: int | None = None


def find(pattern: re.Pattern[str], texts: Iterable[str]) -> tuple[Excerpt, int] | None:
    """Give the first match in some texts, and how many there are."""
    excerpt: Excerpt | None = None
    count = 0
    for text in texts:
        for match in pattern.finditer(text):
            excerpt = excerpt or _excerpt(text, match.start(), match.end())
            count += 1
    return None if excerpt is None else (excerpt, count)


def find_all(
    elements: Iterable[JsonValue], pattern: re.Pattern[str], scopes: frozenset[Scope]
) -> Iterator[Hit]:
    """Go through stored entries, in order, as they come from the file.

    Raises:
        StreamFormatError: an entry does not have the shape of its kind.
    """
    turns = TurnCounter()
    for position, raw in enumerate(elements):
        try:
            content = entry.decode(raw)
        except (shape.ShapeError, RecursionError) as error:
            raise StreamFormatError(f"events.json: entry {position}: {error}") from error
        if not isinstance(content, ConversationEvent):
            continue
        turn = turns.feed(content.kind)
        scope, texts = _texts(content.kind)
        if scope in scopes and (found := find(pattern, texts)) is not None:
            yield Hit(scope, *found, turn, position)


def _texts(kind: EventKind) -> tuple[Scope, Iterable[str]]:
    match kind:
        case TurnStart():
            return "user", ()
        case ChatRequest():
            return "user", (kind.content,)
        case MessageResponse():
            return "assistant", (kind.text,)
        case ReasoningResponse():
            return "reasoning", (kind.text,)
        case StructuredResponse():
            return "structured", _leaves(kind.data)
        case ToolCallRequest():
            return "tool_call", (kind.name, *_leaves(kind.arguments))
        case ToolCallResponse():
            return "tool_result", (kind.content,)
        case InquiryRequest():
            return "inquiry", (kind.question.text,)
        case InquiryResponse():
            return "inquiry", _leaves(kind.outcome.answer) if isinstance(kind.outcome, Answered) else ()
        case _:
            assert_never(kind)


def _leaves(value: JsonValue) -> Iterator[str]:
    """Give keys and values one by one, texts as they are and not as JSON writes them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, member in value.items():
            yield key
            yield from _leaves(member)
    elif isinstance(value, list | tuple):
        for item in cast("list[JsonValue]", value):
            yield from _leaves(item)
    else:
        yield json_text.to_text(value)


def _excerpt(text: str, start: int, end: int) -> Excerpt:
    line = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", end)
    stop = len(text) if stop < 0 else stop
    return Excerpt(
        _cut_left(text[line:start], _BEFORE),
        _cut(text[start:end], _MATCH),
        _cut(text[end:stop], _AFTER),
    )


def _cut(text: str, size: int) -> str:
    return text if len(text) <= size else text[: size - 1] + "…"


def _cut_left(text: str, size: int) -> str:
    return text if len(text) <= size else "…" + text[1 - size :]

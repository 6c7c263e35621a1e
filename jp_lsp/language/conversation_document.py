"""The Markdown of a conversation as the server writes it: its turns, what can be folded, and what it points at.

Only marks that the server itself puts are looked for, and only outside of fences, whatever the texts between them
say. Which document is one, its name tells: the conversation and how many turns it had.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from jp_lsp.language.positions import Lines, Span

_NAME = re.compile(r"(jp-c\d+)-\d+\.md")
_TURN = re.compile(r"## (?P<label>.+?) \(turns? (?P<number>\d+)(?:-\d+)?(?:, [^()]*)?\)")
_ROLE = re.compile(r"## \S.*")
_CALL = re.compile(r"Calling tool (?P<name>`+[^`]+`+|\S+)(?: \(\d+\))?")
_RESULT = re.compile(r"Tool result(?: of .+?)?(?: \(truncated\))?:")
_FENCE = re.compile(r"(`{3,}|~{3,})")
_RULE = "---"
_LINK = re.compile(r"<(?P<uri>[a-z][a-z0-9+.-]*://[^\s<>]+)>|\]\((?P<target>[^\s()]+)\)")
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Call:
    """A call as it stands in the document; `number` is which call of this tool it is in its turn, from 0."""

    name: str
    number: int
    span: Span


@dataclass(slots=True)
class ShownTurn:
    """A turn: its number as people count, what it asks, and where it stands."""

    number: int
    name: str
    start: int
    header_end: int
    end: int
    calls: list[Call] = field(default_factory=lambda: [])


@dataclass(frozen=True, slots=True)
class Fold:
    """Lines that can be folded, both counted from 0."""

    first: int
    last: int
    kind: Literal["turn", "reasoning", "call", "result"]


@dataclass(frozen=True, slots=True)
class Link:
    """Something that a piece points at: a URI, or a path in the workspace."""

    span: Span
    target: str


@dataclass(frozen=True, slots=True)
class ConversationDocument:
    """What was found, in the order of the text."""

    turns: Sequence[ShownTurn]
    folds: Sequence[Fold]
    links: Sequence[Link]

    def call_at(self, offset: int) -> tuple[ShownTurn, Call] | None:
        """Find the call whose line an offset is in."""
        for turn in self.turns:
            for call in turn.calls:
                if call.span.holds(offset):
                    return turn, call
        return None


def conversation_of(uri: str) -> str | None:
    """Give the conversation that a document shows, by its name."""
    found = _NAME.fullmatch(uri.rpartition("/")[2])
    return None if found is None else found[1]


def read_conversation(text: str) -> ConversationDocument:
    """Read a document; never fails."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = Lines(text, "utf-32")
        self._turns: list[ShownTurn] = []
        self._folds: list[Fold] = []
        self._links: list[Link] = []
        self._turn_line = 0
        self._role_line: int | None = None

    def read(self) -> ConversationDocument:
        number = 0
        while number < self._lines.count:
            line = self._line(number)
            if (fence := _FENCE.match(line)) is not None:
                number = self._fence_end(number, fence[1]) + 1
                continue
            self._take(number, line)
            number += 1
        self._end_turn(self._lines.count - 1, len(self._text))
        return ConversationDocument(self._turns, sorted(self._folds, key=_order), self._links)

    def _take(self, number: int, line: str) -> None:
        span = self._lines.span_of_line(number)
        if (turn := _TURN.fullmatch(line)) is not None:
            self._end_turn(number - 1, span.start)
            self._turn_line, self._role_line = number, None
            name = self._first_words(number + 1) or turn["label"]
            self._turns.append(ShownTurn(int(turn["number"]), name, span.start, span.end, span.end))
        elif _ROLE.fullmatch(line):
            self._role_line = number
        elif line == _RULE and self._role_line is not None:
            if number - 1 > self._role_line + 1:
                self._folds.append(Fold(self._role_line + 2, number - 1, "reasoning"))
            self._role_line = None
        elif (call := _CALL.fullmatch(line)) is not None:
            self._role_line = None
            self._fold_block(number, "call")
            if self._turns:
                calls, name = self._turns[-1].calls, _plain_name(call["name"])
                calls.append(Call(name, sum(other.name == name for other in calls), span))
        elif _RESULT.match(line):
            self._fold_block(number, "result")
        for link in _LINK.finditer(line):
            group = "uri" if link["uri"] is not None else "target"
            place = Span(span.start + link.start(group), span.start + link.end(group))
            self._links.append(Link(place, link[group]))

    def _fold_block(self, number: int, kind: Literal["call", "result"]) -> None:
        """Fold a line together with the fence that follows it."""
        start = number + 2
        if start < self._lines.count and not self._line(number + 1):
            fence = _FENCE.match(self._line(start))
            if fence is not None:
                self._folds.append(Fold(number, self._fence_end(start, fence[1]), kind))

    def _fence_end(self, start: int, mark: str) -> int:
        """Give the line that closes a fence; the last one if none does."""
        for number in range(start + 1, self._lines.count):
            line = self._line(number).rstrip()
            if line.startswith(mark) and not line.strip(mark[0]):
                return number
        return self._lines.count - 1

    def _end_turn(self, last_line: int, end: int) -> None:
        if self._turns:
            self._turns[-1].end = end
            while last_line > self._turn_line and not self._line(last_line).strip():
                last_line -= 1
            if last_line > self._turn_line:
                self._folds.append(Fold(self._turn_line, last_line, "turn"))

    def _first_words(self, number: int) -> str:
        """Give the first line of text below a header, cut where it is long."""
        while number < self._lines.count and not self._line(number).strip():
            number += 1
        words = " ".join(self._line(number).split()) if number < self._lines.count else ""
        if words.startswith("## "):
            return ""
        return words if len(words) <= _LONGEST_NAME else f"{words[: _LONGEST_NAME - 1]}…"

    def _line(self, number: int) -> str:
        span = self._lines.span_of_line(number)
        return self._text[span.start : span.end]


def _plain_name(written: str) -> str:
    """Take the name of a tool out of a code span, without arguments that are written behind it."""
    return written.strip("`").strip().partition("(")[0] if written.startswith("`") else written


def _order(fold: Fold) -> tuple[int, int]:
    return fold.first, -fold.last

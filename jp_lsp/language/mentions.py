"""What the text of a query names with `@`: `@src/main.py`, `@"my notes.md"`, `@docs/*.md`, `@https://…`, `@jp-c…`.

A mention begins a word. One within code is a piece of code, and one behind a backslash is plain text. What looks
like an address is meant as an attachment; a single word such as `@ada` is one only if there is a file of that name.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jp_lsp.attachments.globs import is_glob
from jp_lsp.language.positions import Span

MOST_MENTIONS = 500
"""So many are looked at in one document."""

_MENTION = re.compile(r'(?<![\w\\@`/.])@(?:"(?P<quoted>[^"\n]*)"|(?P<plain>[^\s`"<>|@]+))')
_BEGUN = re.compile(r'(?<![\w\\@`/.])@(?P<quote>"?)(?P<name>[^\n`"<>|@]*)\Z')
_TRAILING = ".,;:!?'\")]}"
_PAIRS = {")": "(", "]": "[", "}": "{"}
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:.|jp-c[0-9]|!.|.*\.\w{1,8}\Z", re.ASCII | re.DOTALL)
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`\n]*$)|~{3,})")
"""Backticks with more of them behind are no fence, but code within the line."""

_TICKS = re.compile("`+")


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention; `name` is without the `@`, `span` has it. One that `is_certain` must be there."""

    name: str
    span: Span
    is_certain: bool


@dataclass(frozen=True, slots=True)
class BegunMention:
    """A mention that is being written: what stands before the cursor, and the place of all of it behind the `@`."""

    name: str
    span: Span
    is_quoted: bool


def find_mentions(text: str, start: int, most: int = MOST_MENTIONS) -> list[Mention]:
    """Give the mentions from an offset on, in their order, at most so many."""
    code = _code(text, start)
    starts = [span.start for span in code]
    found: list[Mention] = []
    for match in _MENTION.finditer(text, start):
        if _is_within(match.start(), code, starts):
            continue
        quoted, plain = match["quoted"], match["plain"]
        name = plain_name(plain) if quoted is None else quoted
        if name.strip():
            end = match.end() if quoted is not None else match.start() + 1 + len(name)
            found.append(Mention(name, Span(match.start(), end), quoted is not None or is_address(name)))
        if len(found) == most:
            break
    return found


def begun_mention(text: str, start: int, offset: int) -> BegunMention | None:
    """Give the mention that a cursor stands in; `None` if it is elsewhere."""
    line = max(text.rfind("\n", 0, offset) + 1, start)
    match = _BEGUN.search(text, line, offset)
    if match is None or (not match["quote"] and re.search(r"\s", match["name"])):
        return None
    code = _code(text, start)
    if _is_within(match.start(), code, [span.start for span in code]):
        return None
    rest = re.compile(r'[^\n`"<>|@]*' if match["quote"] else r'[^\s`"<>|@]*').match(text, offset)
    end = offset if rest is None else rest.end()
    if match["quote"] and text[end : end + 1] == '"':
        end += 1
    return BegunMention(match["name"], Span(match.start() + 1, end), bool(match["quote"]))


def plain_name(word: str) -> str:
    """Take off what belongs to the sentence around a mention: full stops, closing brackets and the like."""
    unmatched = {closing: word.count(closing) - word.count(opening) for closing, opening in _PAIRS.items()}
    end = len(word)
    while end and word[end - 1] in _TRAILING:
        last = word[end - 1]
        if last in unmatched:
            if unmatched[last] <= 0:
                break
            unmatched[last] -= 1
        end -= 1
    return word[:end]


def is_address(name: str) -> bool:
    """Tell whether a name can hardly be meant as anything else than an attachment."""
    return "/" in name or is_glob(name) or _ADDRESS.match(name) is not None


def written(name: str) -> str:
    """Write a name as it must stand behind the `@`."""
    is_plain = re.fullmatch(r'[^\s`"<>|@]+', name) is not None and plain_name(name) == name
    return name if is_plain else f'"{name}"'


def _is_within(offset: int, spans: Sequence[Span], starts: Sequence[int]) -> bool:
    index = bisect_right(starts, offset) - 1
    return index >= 0 and offset < spans[index].end


def _code(text: str, start: int) -> list[Span]:
    """Give the pieces of code, in their order: fenced lines, and what stands between backticks on one line."""
    spans: list[Span] = []
    fence: str | None = None
    fence_start = start
    for line in re.compile(r"[^\n]*(?:\n|\Z)").finditer(text, start):
        opening = _FENCE.match(line[0])
        if fence is None and opening is None:
            spans += _inline(line[0], line.start())
        elif fence is None and opening is not None:
            fence, fence_start = opening[1], line.start()
        elif fence is not None and _closes(line[0], fence):
            spans.append(Span(fence_start, line.end()))
            fence = None
        if line.end() == len(text):
            break
    if fence is not None:
        spans.append(Span(fence_start, len(text)))
    return spans


def _closes(line: str, fence: str) -> bool:
    closing = _FENCE.match(line)
    return closing is not None and closing[1].startswith(fence) and not line[closing.end() :].strip()


def _inline(line: str, start: int) -> Iterator[Span]:
    runs = [(match.start(), match.end()) for match in _TICKS.finditer(line)]
    closing: dict[int, int] = {}
    partners = [-1] * len(runs)
    for index in range(len(runs) - 1, -1, -1):
        size = runs[index][1] - runs[index][0]
        partners[index] = closing.get(size, -1)
        closing[size] = index
    index = 0
    while index < len(runs):
        partner = partners[index]
        if partner < 0:
            index += 1
            continue
        yield Span(start + runs[index][0], start + runs[partner][1])
        index = partner + 1

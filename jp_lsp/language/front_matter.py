"""The YAML between two lines `---` at the very start of a document, with the place of everything in it.

It is read one level deep: names with a word, or with a list of words. What is deeper is told by its place only.
A front matter that nobody has closed yet reaches to the end of the text.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import yaml

from jp_lsp.config import yaml_core
from jp_lsp.language.positions import Span

MOST_SIZE = 64 * 1024
"""Characters that it may have."""

_OPENING = re.compile("\ufeff?---[ \t]*(?:\r\n|\n|\r|\\Z)")
_CLOSING = re.compile("(?<![^\r\n])(?:---|\\.\\.\\.)[ \t]*(?:\r\n|\n|\r|\\Z)")
"""It begins a line, also one behind a lone carriage return, which ends lines for editors and for YAML too."""
_PLAIN = re.compile(r"(?:[^\W\d]|/|-[^\W\d])(?:[\w ./+=@~-]|:[\w/])*(?<! )", re.DOTALL)
_NO_TEXT = frozenset({"true", "false", "null"})
_KINDS = {"str": "text", "bool": "boolean", "int": "number", "float": "number", "null": "nothing"}

WordKind = Literal["text", "boolean", "number", "nothing", "table"]


@dataclass(frozen=True, slots=True)
class Word:
    """A value; a list or table where none may be is of the kind `table`, and has no text."""

    text: str
    kind: WordKind
    span: Span


@dataclass(frozen=True, slots=True)
class Field:
    """A name with what it is given: one word, or a list of them."""

    name: str
    span: Span
    words: tuple[Word, ...]
    is_list: bool


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a front matter cannot be read, and where."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What was read.

    Attributes:
        span: what stands between the two lines.
        body: where the rest of the document begins.
        fields: in the order of the text.
        problem: what is wrong with it as a whole; there are no fields then.
    """

    span: Span
    body: int
    fields: tuple[Field, ...] = ()
    problem: Unreadable | None = None


def read_front_matter(text: str) -> FrontMatter | None:
    """Read the front matter of a text; `None` if it does not begin with one."""
    opening = _OPENING.match(text)
    if opening is None:
        return None
    closing = _CLOSING.search(text, opening.end())
    span = Span(opening.end(), len(text) if closing is None else closing.start())
    body = len(text) if closing is None else closing.end()
    first_line = Span(
        opening.end() - len(opening[0].lstrip("\ufeff")), opening.end() - len(_end_of(opening[0]))
    )
    if closing is None:
        problem = Unreadable(
            "the front matter has no end; write `---` on a line of its own below it", first_line
        )
        return FrontMatter(span, body, problem=problem)
    if span.end - span.start > MOST_SIZE:
        problem = Unreadable(f"the front matter is longer than {MOST_SIZE // 1024} KiB", first_line)
        return FrontMatter(span, body, problem=problem)
    written = text[span.start : span.end]
    try:
        node = yaml_core.compose(written)
    except yaml_core.YamlError as error:
        place = _place_of(error, text, span)
        return FrontMatter(span, body, problem=Unreadable(f"not valid YAML: {error}", place))
    if node is not None and not isinstance(node, yaml.MappingNode):
        place = _span_of(node, text, span.start)
        return FrontMatter(span, body, problem=Unreadable("expected lines of `name: value`", place))
    return FrontMatter(span, body, () if node is None else tuple(_fields(node, text, span.start)))


def written_word(text: str) -> str:
    """Write a word so that YAML takes it for this text."""
    is_plain = _PLAIN.fullmatch(text) is not None and text.lower() not in _NO_TEXT
    return text if is_plain else json.dumps(text, ensure_ascii=False)


def _end_of(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _fields(mapping: yaml.MappingNode, text: str, start: int) -> Iterator[Field]:
    for key, value in mapping.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else ""
        is_list = isinstance(value, yaml.SequenceNode)
        nodes = value.value if isinstance(value, yaml.SequenceNode) else [value]
        words = tuple(_word(node, text, start) for node in nodes)
        yield Field(name, _span_of(key, text, start), words, is_list)


def _word(node: yaml.Node, text: str, start: int) -> Word:
    span = _span_of(node, text, start)
    if not isinstance(node, yaml.ScalarNode):
        return Word("", "table", span)
    kind = _KINDS.get(node.tag.rpartition(":")[2], "text")
    return Word(node.value, kind, span)  # type: ignore[arg-type]  # the kinds are those of the table above


def _span_of(node: yaml.Node, text: str, start: int) -> Span:
    """Give the place of a node; that of a block has no line end behind it."""
    first, last = start + node.start_mark.index, start + node.end_mark.index
    return Span(first, first + len(text[first:last].rstrip()))


def _place_of(error: yaml_core.YamlError, text: str, span: Span) -> Span:
    """Give the place of an error up to the end of its line; a place behind the text is moved before its end."""
    start = span.start if error.offset is None else min(span.start + error.offset, span.end)
    while start > span.start and (start == span.end or text[start] in "\r\n") and text[start - 1] in "\r\n":
        start -= 1
    rest = re.match(r"[^\r\n]*", text[start : span.end])
    return Span(start, start + (0 if rest is None else len(rest[0].rstrip())))

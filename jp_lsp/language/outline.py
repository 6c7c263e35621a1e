"""The outline of a configuration file: its tables and keys, what can be folded, and the files that it names."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from jp_lsp.config.problem import dotted
from jp_lsp.config.value import ABSENT
from jp_lsp.language.document import Document, Entry, Node, plain
from jp_lsp.language.positions import Lines, Span
from jp_lsp.language.schema_view import show_value

_MOST = 5000
"""So many symbols are listed, and as many folds."""

_SHOWN = 60
_TITLES = ("title", "name", "tag", "path")
"""Keys that tell the items of a list apart, the best one first."""


@dataclass(slots=True)
class Symbol:
    """A table or key. `span` is all of it, `name_span` its name within that."""

    name: str
    kind: Literal["table", "list", "text", "number", "boolean", "null"]
    span: Span
    name_span: Span
    detail: str = ""
    children: "list[Symbol]" = field(default_factory=lambda: [])


@dataclass(frozen=True, slots=True)
class FoldedLines:
    """Lines that can be folded, both counted from 0."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class ExtendedName:
    """What an entry of `extends` names, and where it stands."""

    span: Span
    target: str


def symbols_of(document: Document) -> list[Symbol]:
    """List what the file sets; what follows a header belongs to it."""
    counter = iter(range(_MOST))
    symbols: list[Symbol] = []
    above: Symbol | None = None
    for entry in document.entries:
        if next(counter, None) is None:
            break
        if entry.is_header:
            span = Span(entry.names[0].start, entry.names[-1].end)
            above = Symbol(dotted(entry.path), "table", entry.span, span)
            symbols.append(above)
        elif above is None:
            symbols.append(_symbol(entry, counter))
        else:
            above.children.append(_symbol(entry, counter))
            above.span = Span(above.span.start, entry.end)
    return symbols


def folds_of(document: Document, lines: Lines) -> list[FoldedLines]:
    """Give what takes more than one line: tables, lists and long texts. A closing bracket stays to be seen."""
    folds: dict[int, FoldedLines] = {}
    for span, is_bracketed in _foldable(document):
        first, last = lines.line_of(span.start), lines.line_of(span.end)
        if is_bracketed and document.text[lines.span_of_line(last).start : span.end].strip() in {"]", "}"}:
            last -= 1
        if last > first:
            folds.setdefault(first, FoldedLines(first, last))
    return [folds[first] for first in sorted(folds)][:_MOST]


def extended_names(document: Document) -> Iterator[ExtendedName]:
    """Give what `extends` names, file by file."""
    for entry in document.walk():
        if entry.path[:1] != ("extends",) or entry.value is None:
            continue
        if len(entry.path) == 1:
            yield from _named(document.text, entry.value.items)
        elif entry.path[2:] == ("path",):
            yield from _named(document.text, [entry.value])


def _named(text: str, nodes: Sequence[Node]) -> Iterator[ExtendedName]:
    for node in nodes:
        if isinstance(node.scalar, str) and node.scalar:
            is_quoted = text[node.start] in "\"'" and node.end - node.start > 1
            span = Span(node.start + 1, node.end - 1) if is_quoted else node.span
            yield ExtendedName(span, node.scalar)


def _symbol(entry: Entry, counter: Iterator[int]) -> Symbol:
    name = dotted(entry.path[len(entry.base) :])
    span = Span(entry.names[0].start, entry.names[-1].end)
    symbol = Symbol(name, "null", entry.span, span)
    if entry.value is not None:
        _describe(symbol, entry.value, counter)
    return symbol


def _describe(symbol: Symbol, node: Node, counter: Iterator[int]) -> None:
    """Say what a symbol holds; nothing more is listed once there are enough."""
    match node.kind:
        case "table":
            symbol.kind = "table"
            symbol.children = [
                _symbol(each, counter) for each in node.entries if next(counter, None) is not None
            ]
        case "list":
            symbol.kind = "list"
            for index, item in enumerate(node.items):
                if item.kind == "table" and next(counter, None) is not None:
                    start = Span(item.start, item.start)
                    child = Symbol(str(index), "table", item.span, start, _title(item))
                    _describe(child, item, counter)
                    symbol.children.append(child)
            if not symbol.children and (items := plain(node)) is not ABSENT:
                symbol.detail = _short(show_value(items))
        case "scalar":
            match node.scalar:
                case bool():
                    symbol.kind = "boolean"
                case int() | float():
                    symbol.kind = "number"
                case str():
                    symbol.kind = "text"
                case _:
                    return
            shown = node.scalar if isinstance(node.scalar, str) else show_value(node.scalar)
            symbol.detail = _short(" ".join(shown.split()))


def _title(item: Node) -> str:
    texts = {
        entry.names[0].text: entry.value.scalar
        for entry in item.entries
        if entry.value is not None and isinstance(entry.value.scalar, str)
    }
    return _short(next((texts[name] for name in _TITLES if name in texts), ""))


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _foldable(document: Document) -> Iterator[tuple[Span, bool]]:
    """Give what may take several lines, and whether brackets are around it."""
    header: Entry | None = None
    end = 0
    for entry in document.entries:
        if entry.is_header:
            if header is not None:
                yield Span(header.start, end), False
            header = entry
        end = entry.end
    if header is not None:
        yield Span(header.start, end), False
    for entry in document.walk():
        if entry.value is not None:
            yield entry.span, _is_bracketed(document.text, entry.value)
            yield from ((item.span, _is_bracketed(document.text, item)) for item in entry.value.items)


def _is_bracketed(text: str, node: Node) -> bool:
    return text[node.start : node.start + 1] in {"[", "{"}

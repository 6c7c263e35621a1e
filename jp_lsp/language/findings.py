"""What is wrong or doubtful in a configuration file, with its place in the text and, where known, the remedy.

Two sources are put together. The text itself tells what cannot be read, what no key is and what does not fit; it
is read as far as it makes sense. What only shows beside other files (`FileFacts`) is found by name in the text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from jp_lsp.config.about_file import FileFacts
from jp_lsp.config.models import own_models
from jp_lsp.config.parse import ParseError, parse
from jp_lsp.config.problem import Finding, Problem, Report, Severity, dotted, nearest
from jp_lsp.config.read import read_table
from jp_lsp.config.schema import SCHEMA
from jp_lsp.config.value import Path
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.language.document import MAX_SIZE, Document, Entry, KeyPlace, Name, Node
from jp_lsp.language.positions import Lines, Span
from jp_lsp.language.schema_view import key_at, members, words_of

Code = Literal[
    "not-toml",
    "not-yaml",
    "not-json",
    "unknown-key",
    "wrong-value",
    "problem",
    "not-found",
    "shadowed",
    "unreachable",
]

_MOST = 200
"""So many findings are shown for one file."""

TOO_LARGE = f"the file is longer than {MAX_SIZE:,} characters, so nothing in it is looked at"
_PLACE = re.compile(r" ?\(?at (?:line \d+, column \d+|end of document)\)?")
_NOT_VALID = "not valid "
_NO_COMMA = "a comma is missing between this and what follows"
_SYNTAX_CODES: Mapping[str, Code] = {
    "toml": "not-toml",
    "json": "not-json",
    "json5": "not-json",
    "yaml": "not-yaml",
}
_UNKNOWN = ("unknown key", "is not a known key")


@dataclass(frozen=True, slots=True)
class Replacement:
    """Text to put in the place of a piece."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A finding at its place. `remedy` is what was probably meant; `is_faded` marks what has no effect."""

    span: Span
    text: str
    severity: Severity
    code: Code
    remedy: Replacement | None = None
    is_faded: bool = False


def find_marks(document: Document, facts: FileFacts) -> list[Mark]:
    """Give what there is to say about a file, in the order of the text."""
    if len(document.text) > MAX_SIZE:
        return [Mark(_first_line(document.text), TOO_LARGE, "hint", "problem")]
    places = _places(document)
    findings = _findings(document, is_shared=facts.is_shared)
    told = {(dotted(finding.path), finding.text) for finding in findings}
    others = [problem for problem in facts.problems if (problem.key, problem.text) not in told]
    marks = [
        *_syntax(document),
        *(_mark(document, places, finding) for finding in findings),
        *_problems(document, places, others),
        *_effects(document, places, facts),
    ]
    marks = list(dict.fromkeys(marks))
    marks.sort(key=lambda mark: (mark.span.start, mark.span.end, mark.text))
    return marks[:_MOST]


def _syntax(document: Document) -> Iterator[Mark]:
    text, commas = document.text, document.missing_commas
    for comma in commas:
        remedy = Replacement(Span(comma, comma), ",")
        yield Mark(Span(comma - 1, comma), _NO_COMMA, "error", _SYNTAX_CODES[document.extension], remedy)
    pieces = (text[start:end] for start, end in zip((0, *commas), (*commas, None), strict=True))
    mended = ",".join(pieces)  # what else is wrong shows with the commas in their places
    try:
        parse(mended.encode("utf-8", "surrogatepass"), document.extension)
    except ParseError as error:
        lines = Lines(text, "utf-32")
        line = lines.span_of_line(lines.count - 1 if error.line is None else error.line - 1)
        written = text[line.start : line.end]
        start = line.start + len(written) - len(written.lstrip())
        code = _SYNTAX_CODES[document.extension]
        message = _PLACE.sub("", str(error)).strip()
        yield Mark(Span(start, max(start, line.start + len(written.rstrip()))), message, "error", code)


def _findings(document: Document, *, is_shared: bool) -> Sequence[Finding]:
    """Read the values that make sense."""
    report = Report()
    tree = read_table(SCHEMA, cast("Mapping[str, JsonValue]", document.values()), report)
    return [*report.findings, *(own_models(tree) if is_shared else ())]


def _mark(document: Document, places: "_Places", finding: Finding) -> Mark:
    found = _around(places, finding.path)
    if found is None:
        return Mark(_first_line(document.text), finding.text, finding.severity, "problem")
    place, rest = found
    name = place.name.span
    if finding.text.startswith(_UNKNOWN):
        remedy = _known_name(finding.path) if not rest else None
        there = KeyPlace(finding.path[:-1], place.name.text, name, is_assigned=True)
        replacement = (
            None if remedy is None else Replacement(name, document.write_key(remedy, there, is_table=False))
        )
        return Mark(name, finding.text, finding.severity, "unknown-key", replacement)
    node = _item(place.value, rest)
    span = name if node is None else node.span
    return Mark(
        span, finding.text, finding.severity, "wrong-value", _known_word(document, finding.path, node)
    )


def _problems(document: Document, places: "_Places", problems: Sequence[Problem]) -> Iterator[Mark]:
    """Find the places of problems that only show beside other files."""
    paths = {dotted(path): path for path in reversed(places)}
    for problem in problems:
        if problem.text.startswith(_NOT_VALID):
            continue  # the text itself has told that, with a better place
        path = next((paths[key] for key in _keys_around(problem.key) if key in paths), None)
        if path is None:
            yield Mark(_first_line(document.text), problem.text, problem.severity, "problem")
            continue
        place = places[path]
        rest = problem.key.removeprefix(dotted(path)).removeprefix(".")
        node = _item(place.value, (int(rest),)) if rest.isdecimal() else None
        yield Mark(place.entry.span if node is None else node.span, problem.text, problem.severity, "problem")


def _effects(document: Document, places: "_Places", facts: FileFacts) -> Iterator[Mark]:
    """Say what has no effect: the whole file, or some of its keys."""
    if facts.unreachable is not None:
        yield Mark(_first_line(document.text), facts.unreachable, "hint", "unreachable")
    by_key = {dotted(path): place for path, place in places.items()}
    for each in facts.shadowed:
        if (place := by_key.get(each.key)) is not None:
            yield Mark(
                place.entry.span, f"has no effect: {each.winner} decides", "hint", "shadowed", is_faded=True
            )


@dataclass(frozen=True, slots=True)
class _Place:
    """The name that stands for a path, and the entry that it is written in."""

    entry: Entry
    name: Name

    @property
    def value(self) -> Node | None:
        """The value, if the path leads to it and not to a table around it."""
        return self.entry.value if self.name is self.entry.names[-1] else None


_Places = dict[Path, _Place]


def _places(document: Document) -> _Places:
    """Find the place of each path; the first one counts."""
    places: _Places = {}
    for entry in document.walk():
        end = len(entry.base)
        for name in entry.names:
            end += 1
            places.setdefault(entry.path[:end], _Place(entry, name))
            while end < len(entry.path) and isinstance(entry.path[end], int):
                end += 1
                places.setdefault(entry.path[:end], _Place(entry, name))
    return places


def _around(places: _Places, path: Path) -> tuple[_Place, Path] | None:
    """Find what a path leads to, or the nearest around it; gives the rest of the path too."""
    for end in range(len(path), 0, -1):
        if (place := places.get(path[:end])) is not None:
            return place, path[end:]
    return None


def _keys_around(key: str) -> Iterator[str]:
    while key:
        yield key
        key = key.rpartition(".")[0]


def _item(node: Node | None, path: Path) -> Node | None:
    for segment in path:
        if node is None or not isinstance(segment, int) or segment >= len(node.items):
            return node
        node = node.items[segment]
    return node


def _known_name(path: Path) -> str | None:
    above = key_at(path[:-1])
    table = None if above is None else members(above.kind)
    return None if table is None else nearest(str(path[-1]), table.keys)


def _known_word(document: Document, path: Path, node: Node | None) -> Replacement | None:
    key = key_at(path)
    if key is None or node is None or not isinstance(node.scalar, str):
        return None
    words = dict(words_of(key.kind))
    meant = nearest(node.scalar, words)
    if meant is None or (meant == node.scalar and words[meant]):
        return None
    there = document.text[node.start : node.end]
    return Replacement(node.span, document.write_text(meant, there) if words[meant] else meant)


def _first_line(text: str) -> Span:
    return Lines(text, "utf-32").span_of_line(0)

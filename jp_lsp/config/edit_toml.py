"""Changing a value in the text of a TOML file (see `edit`).

Outside of values a TOML file is a row of statements: headers, and keys with their values. A new key goes
behind those of its table; a table that is not there yet gets a header behind the tables that it is near to.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from jp_lsp.config.edit import AppendItems, Edit, EditError, RemoveValue, SetValue, Splice
from jp_lsp.config.edit_flow import Dialect, Node, flow_splices, unit
from jp_lsp.config.flow_scan import scan_value, toml_grammar
from jp_lsp.config.toml_lines import ASSIGNMENT, HEADER, absolute_path, key_names
from jp_lsp.config.value import Path
from jp_lsp.conversation.json_value import JsonValue

_GRAMMAR = toml_grammar(key_names)
_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
_UNSAFE = re.compile(r'[\x00-\x1f"\\\x7f\ud800-\udfff]')
_ESCAPES = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
_LONGEST_LINE = 100
_ONLY_TABLES = "the list is written as `[[tables]]`, and holds nothing but tables"


@dataclass(frozen=True, slots=True)
class _Statement:
    """A header, or a key with its value, over whole lines. `table` is the path of the table that it stands in."""

    path: Path
    table: Path
    start: int
    end: int
    value: Node | None


def splices(text: str, edit: Edit) -> Sequence[Splice]:
    """Find what to replace in a text that is valid.

    Raises:
        EditError: there is no such place.
    """
    statements = list(_statements(text))
    path = edit.path
    for each in statements:
        if each.value is None or path[: len(each.path)] != each.path:
            continue
        if path == each.path and isinstance(edit, RemoveValue):
            return [Splice(each.start, each.end, "")]
        return list(flow_splices(text, each.value, edit, path[len(each.path) :], _dialect(unit(text))))
    match edit:
        case RemoveValue():
            return list(_without(statements, path))
        case AppendItems(items=items):
            return [_appended(text, statements, path, items)]
        case SetValue(value=value) if any(
            each.path == path and each.value is None for each in statements
        ) and (isinstance(value, Mapping) or isinstance(path[-1], int)):
            return _rewritten(text, statements, path, value)
        case SetValue(value=value):
            rest = [each for each in statements if each.path[: len(path)] != path]
            return [*_without(statements, path, may_be_missing=True), _added(text, rest, path, value)]


def _statements(text: str) -> Iterator[_Statement]:
    counts: dict[Path, int] = {}
    table: Path = ()
    position = 0
    while position < len(text):
        if header := HEADER.match(text, position):
            names = key_names(header[2])
            table = absolute_path(names[:-1], counts)
            if header[1] == "[[":
                index = counts[*table, names[-1]] = counts.get((*table, names[-1]), -1) + 1
                table = (*table, names[-1], index)
            else:
                table = absolute_path(names, counts)
            end = _line_end(text, header.end())
            yield _Statement(table, table, position, end, None)
        elif assignment := ASSIGNMENT.match(text, position):
            value = scan_value(text, assignment.end(), _GRAMMAR)
            end = _line_end(text, value.end)
            yield _Statement((*table, *key_names(assignment[1])), table, position, end, value)
        else:
            end = _line_end(text, position)
        position = end


def _line_end(text: str, position: int) -> int:
    found = text.find("\n", position)
    return len(text) if found < 0 else found + 1


# --------------------------------------------------------------------------------------------- taking away


def _without(
    statements: Sequence[_Statement], path: Path, *, may_be_missing: bool = False
) -> Iterator[Splice]:
    """Take all statements below a path; what stands between two of them goes too."""
    is_missing = not may_be_missing
    start = end = -1
    for each in statements:
        if each.path[: len(path)] != path:
            if start >= 0:
                yield Splice(start, end, "")
            start = -1
            continue
        is_missing = False
        start, end = (each.start if start < 0 else start), each.end
    if start >= 0:
        yield Splice(start, end, "")
    if is_missing:
        raise EditError("there is no such place in the file")


def _rewritten(text: str, statements: Sequence[_Statement], path: Path, value: JsonValue) -> Sequence[Splice]:
    """Give a table with a header of its own other members; the header stays, with the comments below that."""
    if not isinstance(value, Mapping):
        raise EditError(_ONLY_TABLES)
    (header,) = (each for each in statements if each.path == path)
    inside = [each for each in statements if each is not header]
    place = next((each.start for each in inside if each.table == path and each.value is not None), header.end)
    lines = "".join(f"{_assignment(text, (name,), member)}\n" for name, member in value.items())
    return [_at_line_begin(text, lines, place), *_without(inside, path, may_be_missing=True)]


# -------------------------------------------------------------------------------------------------- adding


def _added(text: str, statements: Sequence[_Statement], path: Path, value: JsonValue) -> Splice:
    known = _deepest(statements, path)
    rest = path[len(known) :]
    header = next((each for each in statements if each.value is None and each.path == known), None)
    inside = [each for each in statements if each.table == known and each.value is not None]
    dotted = [
        each
        for each in statements
        if each.value is not None and each.path[: len(known)] == known and len(each.table) < len(known)
    ]
    below = [each for each in statements if each.path[: len(known)] == known]
    has_headers = any(each.value is None for each in statements)
    if len(rest) == 1 and (header is not None or not known):
        first = next((each for each in statements if each.value is None), None)
        last = inside[-1] if inside else header
        return _line(text, _assignment(text, rest, value), last, before=first)
    if known and header is None and dotted:
        # The table exists by its dotted keys alone, and cannot be begun a second time.
        last = dotted[-1]
        return _line(text, _assignment(text, path[len(last.table) :], value), last)
    if not known and not has_headers and inside:
        return _line(text, _assignment(text, rest, value), inside[-1])
    section = f"[{_key(path[:-1])}]\n{_assignment(text, path[-1:], value)}\n"
    if known and below:
        return _section(text, section, below[-1].end)
    return _section(text, section, len(text))


def _deepest(statements: Sequence[_Statement], path: Path) -> Path:
    """Give the longest part of a path, without its last name, that is a table of the file."""
    for end in range(len(path) - 1, 0, -1):
        if any(each.path[:end] == path[:end] for each in statements):
            return path[:end]
    return ()


def _line(text: str, line: str, last: _Statement | None, before: _Statement | None = None) -> Splice:
    """Put a line behind a statement; without one it goes before the first table, or to the end."""
    if last is not None:
        blanks = text[last.start :]
        indent = blanks[: len(blanks) - len(blanks.lstrip(" \t"))]
        return _at_line_begin(text, f"{indent}{line}\n", last.end)
    if before is None:
        return _at_line_begin(text, f"{line}\n", len(text))
    return _at_line_begin(text, f"{line}\n\n", _above(text, before.start))


def _above(text: str, position: int) -> int:
    """Go up over the comment that stands right above a line and belongs to it."""
    while position:
        line = text.rfind("\n", 0, position - 1) + 1
        if not text[line:position].lstrip().startswith("#"):
            return position
        position = line
    return position


def _section(text: str, section: str, position: int) -> Splice:
    is_parted = not text[:position].strip() or text[:position].endswith("\n\n")
    return _at_line_begin(text, section if is_parted else f"\n{section}", position)


def _at_line_begin(text: str, lines: str, position: int) -> Splice:
    if position and text[position - 1] != "\n":
        lines = "\n" + lines
    return Splice(position, position, lines)


def _appended(text: str, statements: Sequence[_Statement], path: Path, items: Sequence[JsonValue]) -> Splice:
    """Put tables behind those of an array of tables."""
    below = [each for each in statements if each.path[: len(path)] == path]
    if not below:
        raise EditError("there is no such list in the file")
    sections: list[str] = []
    for item in items:
        if not isinstance(item, Mapping):
            raise EditError(_ONLY_TABLES)
        lines = [_assignment(text, (name,), member) for name, member in item.items()]
        sections.append("\n".join([f"[[{_key(path)}]]", *lines]) + "\n")
    return _section(text, "\n".join(sections), below[-1].end)


# ------------------------------------------------------------------------------------------------ spelling


def _assignment(text: str, path: Path, value: JsonValue) -> str:
    if isinstance(value, str) and "\n" in value and "\r" not in value:
        return f"{_key(path)} = {_long_text(value)}"
    return f"{_key(path)} = {_value(value, '', unit(text))}"


def _long_text(value: str) -> str:
    lines = [_UNSAFE.sub(_escaped, line) for line in value.split("\n")]
    return '"""\n' + "\n".join(lines) + '"""'


def _dialect(step: str) -> Dialect:
    def value(data: JsonValue, indent: str) -> str:
        return _value(data, indent, step)

    def member(names: tuple[str, ...], data: JsonValue, indent: str) -> str:
        return f"{_key(names)} = {_inline(data)}"

    return Dialect(member, value, one_line_tables=True)


def _key(path: Path) -> str:
    names = [segment for segment in path if isinstance(segment, str)]
    return ".".join(name if _BARE.match(name) else _text(name) for name in names)


def _value(value: JsonValue, indent: str, step: str) -> str:
    """Write a value; a long list has each item in a line of its own."""
    line = _inline(value)
    if len(line) <= _LONGEST_LINE or not isinstance(value, (list, tuple)):
        return line
    items = "".join(f"{indent}{step}{_inline(item)},\n" for item in value)
    return f"[\n{items}{indent}]"


def _inline(value: JsonValue) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case None:
            raise EditError("TOML has no null; take the key away instead")
        case str():
            return _text(value)
        case int():
            return str(value)
        case float():
            return repr(value)
        case Mapping():
            members = [f"{_key((name,))} = {_inline(member)}" for name, member in value.items()]
            return "{ " + ", ".join(members) + " }" if members else "{}"
        case _:
            return "[" + ", ".join(_inline(item) for item in value) + "]"


def _text(value: str) -> str:
    return '"' + _UNSAFE.sub(_escaped, value) + '"'


def _escaped(found: re.Match[str]) -> str:
    return _ESCAPES.get(found[0], f"\\u{ord(found[0]):04x}")

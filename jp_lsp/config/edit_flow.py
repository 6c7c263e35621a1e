"""Values in brackets: finding them in a text, and changing one of them.

JSON and JSON5 are made of nothing else; TOML has inline tables and arrays, YAML has its flow style. A `Node`
is a value with its place. `flow_splices` changes a bracketed one, in a `Dialect` that says how the format
writes keys and values.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, assert_never

from jp_lsp.config.edit import AppendItems, Edit, EditError, RemoveValue, SetValue, Splice
from jp_lsp.config.value import Path
from jp_lsp.conversation.json_value import JsonValue


@dataclass(frozen=True, slots=True)
class Member:
    """A key with its value; `names` are several where the format has dotted keys. `start` is the key's."""

    names: tuple[str, ...]
    start: int
    node: "Node"


@dataclass(frozen=True, slots=True)
class Node:
    """A value between two offsets. `members` are those of a table, `items` those of a list."""

    start: int
    end: int
    kind: Literal["table", "list", "scalar"]
    members: tuple[Member, ...] = ()
    items: "tuple[Node, ...]" = ()


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a format writes what stands in brackets.

    `member` and `value` write a key with its value, and a value; the `str` is the indentation of the line.
    Tables that are `one_line` cannot be broken.
    """

    member: Callable[[tuple[str, ...], JsonValue, str], str]
    value: Callable[[JsonValue, str], str]
    one_line_tables: bool = False


def flow_splices(text: str, node: Node, edit: Edit, path: Path, dialect: Dialect) -> Iterator[Splice]:
    """Change something below a bracketed value; `path` is the way from it.

    Raises:
        EditError: there is no such place.
    """
    if path:
        found = _inner(node, path)
        if found is not None:
            inner, rest = found
            if rest or not isinstance(edit, RemoveValue):
                yield from flow_splices(text, inner, edit, rest, dialect)
                return
        match edit:
            case RemoveValue():
                yield from _removed(text, node, path)
            case SetValue(value=value):
                yield from _removed(text, node, path, may_be_missing=True)
                yield from _added(text, node, path, value, dialect)
            case AppendItems():
                raise EditError("there is no such list in the file")
            case _:
                assert_never(edit)
        return
    indent = indentation(text, node.start)
    match edit:
        case SetValue(value=value):
            yield Splice(node.start, node.end, f"{_lead(text, node)}{dialect.value(value, indent)}")
        case AppendItems(items=items):
            if node.kind != "list":
                raise EditError("there is no such list in the file")
            written = [dialect.value(item, indent + unit(text)) for item in items]
            yield from _extended(text, node, [item.end for item in node.items], written, is_breakable=True)
        case RemoveValue():
            raise EditError("a whole file is not taken away")
        case _:
            assert_never(edit)


def _lead(text: str, node: Node) -> str:
    """Give what parts a value from its key where YAML has a key alone: `{key: }` or `{key}`."""
    if node.start < node.end:
        return ""
    return " " if text[: node.start].rstrip().endswith(":") else ": "


def _inner(node: Node, path: Path) -> tuple[Node, Path] | None:
    """Find the child that a path leads through, and what is left of the path there."""
    if node.kind == "list":
        index = path[0]
        is_there = isinstance(index, int) and index < len(node.items)
        return (node.items[index], path[1:]) if is_there and isinstance(index, int) else None
    for member in node.members:
        if path[: len(member.names)] == member.names:
            return member.node, path[len(member.names) :]
    return None


def _added(text: str, node: Node, path: Path, value: JsonValue, dialect: Dialect) -> Iterator[Splice]:
    names = tuple(segment for segment in path if isinstance(segment, str))
    if node.kind != "table" or len(names) != len(path):
        raise EditError("there is no such place in the file")
    kept = [member.node.end for member in node.members if member.names[: len(names)] != names]
    written = dialect.member(names, value, indentation(text, node.start) + unit(text))
    yield from _extended(text, node, kept, [written], is_breakable=not dialect.one_line_tables)


def _extended(
    text: str, node: Node, ends: list[int], written: list[str], *, is_breakable: bool
) -> Iterator[Splice]:
    """Put members or items behind those that end at `ends`, in the manner of those."""
    close = node.end - 1
    blank_after = len(text[:close].rstrip(" \t\r\n"))
    is_broken = "\n" in text[(ends[-1] if ends else node.start + 1) : close]
    is_blank = not text[node.start + 1 : close].strip()
    if not ends and is_breakable and node.kind == "table" and is_blank and ("\n" in text or node.start == 0):
        indent = indentation(text, node.start)
        lines = ",\n".join(f"{indent}{unit(text)}{each}" for each in written)
        yield Splice(node.start + 1, close, f"\n{lines}\n{indent}")
        return
    comma = _comma(text, ends[-1], close) if ends else None
    if is_broken and is_breakable:
        indent = _item_indent(text, node, ends)
        lines = ",".join(f"\n{indent}{each}" for each in written)
        if ends and comma is None:
            yield Splice(ends[-1], ends[-1], ",")
        tail = "," if comma is not None else ""
        yield Splice(blank_after, blank_after, f"{lines}{tail}")
        return
    one_line = ", ".join(written)
    if not ends:
        yield Splice(
            blank_after, blank_after, f" {one_line} " if node.kind == "table" and is_blank else one_line
        )
    elif comma is not None:
        yield Splice(comma + 1, comma + 1, f" {one_line}")
    else:
        yield Splice(ends[-1], ends[-1], f", {one_line}")


def _item_indent(text: str, node: Node, ends: list[int]) -> str:
    """Give the indentation of the last line that begins with a member or an item."""
    starts = [member.start for member in node.members] or [item.start for item in node.items]
    for start in reversed(starts if ends else []):
        line = text.rfind("\n", 0, start) + 1
        if not text[line:start].strip():
            return text[line:start]
    return indentation(text, node.start) + unit(text)


def _removed(text: str, node: Node, path: Path, *, may_be_missing: bool = False) -> Iterator[Splice]:
    """Take members or an item out, with the comma that parts them from the next or the one before."""
    if node.kind == "list":
        spans = [(item.start, item.end) for item in node.items]
        gone = [index for index in range(len(spans)) if (index,) == path]
    else:
        spans = [(member.start, member.node.end) for member in node.members]
        gone = [index for index, member in enumerate(node.members) if member.names[: len(path)] == path]
    if not gone:
        if may_be_missing:
            return
        raise EditError("there is no such place in the file")
    close = node.end - 1
    for index in gone:
        start, end = spans[index]
        comma = _comma(text, end, close)
        end = end if comma is None else comma + 1
        line = text.rfind("\n", 0, start) + 1
        line_end = text.find("\n", end)
        is_own_line = (
            not text[line:start].strip() and line_end >= 0 and _is_comment_or_blank(text[end:line_end])
        )
        if is_own_line and line > node.start:
            start, end = line, line_end + 1
        elif comma is not None:
            end += len(text[end:close]) - len(text[end:close].lstrip(" \t"))
        is_last = index == len(spans) - 1
        if is_last and comma is None and index and index - 1 not in gone:
            before = _comma(text, spans[index - 1][1], spans[index][0])
            if before is not None:
                if not is_own_line:
                    start = before
                else:
                    yield Splice(before, before + 1, "")
        yield Splice(start, end, "")


def _is_comment_or_blank(rest: str) -> bool:
    rest = rest.strip()
    return not rest or rest.startswith(("//", "#")) or (rest.startswith("/*") and rest.endswith("*/"))


def _comma(text: str, start: int, end: int) -> int | None:
    """Find the comma between two values, which may have comments around it."""
    while start < end:
        match text[start]:
            case ",":
                return start
            case "#":
                start = _line_end(text, start)
            case "/" if text.startswith("//", start):
                start = _line_end(text, start)
            case "/" if text.startswith("/*", start):
                start = text.find("*/", start) + 1
            case _:
                pass
        start += 1
    return None


def _line_end(text: str, start: int) -> int:
    found = text.find("\n", start)
    return len(text) if found < 0 else found


def indentation(text: str, position: int) -> str:
    """Give the blanks that the line around an offset begins with."""
    line = text.rfind("\n", 0, position) + 1
    rest = text[line:]
    return rest[: len(rest) - len(rest.lstrip(" \t"))]


def unit(text: str) -> str:
    """Give what the text is indented with: the blanks of the first line that begins with some."""
    for line in text.split("\n"):
        blanks = line[: len(line) - len(line.lstrip(" \t"))]
        if blanks and line.strip() and not line.lstrip().startswith(("*", "//", "#")):
            return blanks
    return "  "

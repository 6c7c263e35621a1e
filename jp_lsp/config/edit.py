"""Changing a few values of a configuration file, so that whatever else stands in it stays to the byte.

A file's text is read once more with the places of its values, and only the piece that an edit is about is
exchanged: comments, order, quotes and blank lines are nobody else's business. Each format has a module that
finds the piece (`edit_toml`, `edit_yaml`, `edit_flow`). None of them is trusted: the changed text is read as
any file is, and must say just what the old one said, with the change (config-and-tools 1.11).
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never, cast

from jp_lsp.config.parse import ParseError, parse
from jp_lsp.config.value import Path, Segment
from jp_lsp.conversation.json_value import JsonValue

HALF = re.compile(r"[\ud800-\udfff]")
"""Half of a surrogate pair, which a JSON text can name and no encoding can write."""


class EditError(Exception):
    """A text cannot be changed so; the message is for the user."""


@dataclass(frozen=True, slots=True)
class SetValue:
    """Give a key this value; the tables around it are made where they are missing."""

    path: Path
    value: JsonValue


@dataclass(frozen=True, slots=True)
class AppendItems:
    """Put items behind those that a list has."""

    path: Path
    items: tuple[JsonValue, ...]


@dataclass(frozen=True, slots=True)
class RemoveValue:
    """Take a key away, or an item of a list."""

    path: Path


Edit: TypeAlias = SetValue | AppendItems | RemoveValue
"""A change of a file's data. Paths lead through tables (names) and lists (indices), in the file's own spellings."""


@dataclass(frozen=True, slots=True)
class Splice:
    """Replace what stands between two offsets of a text."""

    start: int
    end: int
    text: str


def edited(text: str, extension: str, edits: Sequence[Edit]) -> str:
    """Make edits, one after the other, in the text of a file without byte order mark.

    Raises:
        EditError: the text cannot be read, or it cannot be changed without touching something else.
    """
    for edit in edits:
        if extension != "json" and _has_half(edit):
            raise EditError(
                "half of a character (a lone surrogate) cannot be written in this format, but in JSON"
            )
        wanted = data_after(_read(text, extension), edit)
        text = _spliced(text, _splices(text, extension, edit))
        if not _says(text, extension, wanted):
            raise EditError("this file is written in a way that only you can change it: edit it by hand")
    return text


def _has_half(edit: Edit) -> bool:
    match edit:
        case SetValue(path, value):
            written: JsonValue = [*path, value]
        case AppendItems(path, items):
            written = [*path, *items]
        case RemoveValue(path):
            written = list(path)
        case _:
            assert_never(edit)
    return HALF.search(json.dumps(written, ensure_ascii=False)) is not None


def _says(text: str, extension: str, wanted: JsonValue) -> bool:
    try:
        return _without_empty(_read(text, extension)) == _without_empty(wanted)
    except EditError:
        return False


def _read(text: str, extension: str) -> JsonValue:
    try:
        return parse(text.encode("utf-8", "surrogatepass"), extension)
    except ParseError as error:
        where = "" if error.line is None else f" (line {error.line})"
        raise EditError(f"{error}{where}") from error


def _splices(text: str, extension: str, edit: Edit) -> Sequence[Splice]:
    """Ask the module of the format; they are loaded when a file is changed, which is rare."""
    match extension:
        case "toml":
            from jp_lsp.config import edit_toml

            return edit_toml.splices(text, edit)
        case "yaml" | "yml":
            from jp_lsp.config import edit_yaml

            return edit_yaml.splices(text, edit)
        case _:
            from jp_lsp.config import edit_json

            return edit_json.splices(text, edit)


def _spliced(text: str, splices: Sequence[Splice]) -> str:
    """Make replacements, which do not overlap; new lines end as those of the text do."""
    is_windows = "\r\n" in text
    # What is put in before a piece that is taken away must not be taken away with it; equal ones keep their order.
    for splice in reversed(sorted(splices, key=lambda each: (each.start, each.end))):  # noqa: C413
        new = splice.text.replace("\n", "\r\n") if is_windows else splice.text
        text = text[: splice.start] + new + text[splice.end :]
    return text


def data_after(data: JsonValue, edit: Edit) -> JsonValue:
    """Make an edit to plain data: what the changed file must say."""
    match edit:
        case SetValue(path, value):
            return _with(data, path, value)
        case AppendItems(path, items):
            return _with(data, path, [*_items(_at(data, path)), *items])
        case RemoveValue(path):
            return _without(data, path)


def _at(data: JsonValue, path: Path) -> JsonValue:
    for segment in path:
        data = _child(data, segment)
    return data


def _child(data: JsonValue, segment: Segment) -> JsonValue:
    if isinstance(data, Mapping) and isinstance(segment, str):
        return data.get(segment)
    if isinstance(segment, int) and segment < len(_items(data)):
        return _items(data)[segment]
    return None


def _items(data: JsonValue) -> list[JsonValue]:
    return list(cast("Sequence[JsonValue]", data)) if isinstance(data, (list, tuple)) else []


def _with(data: JsonValue, path: Path, value: JsonValue) -> JsonValue:
    if not path:
        return value
    segment, rest = path[0], path[1:]
    inner = _with(_child(data, segment), rest, value)
    if isinstance(segment, str):
        return {**(data if isinstance(data, Mapping) else {}), segment: inner}
    items = _items(data)
    return [*items[:segment], inner, *items[segment + 1 :]]


def _without(data: JsonValue, path: Path) -> JsonValue:
    segment, rest = path[0], path[1:]
    if isinstance(data, Mapping):
        if not rest:
            return {name: member for name, member in data.items() if name != segment}
        inner = _child(data, segment)
        return data if inner is None else {**data, str(segment): _without(inner, rest)}
    items = _items(data)
    if isinstance(segment, int) and segment < len(items):
        kept = [_without(items[segment], rest)] if rest else []
        return [*items[:segment], *kept, *items[segment + 1 :]]
    return data


def _without_empty(data: JsonValue) -> JsonValue:
    """Leave empty tables out, which some formats cannot keep when their last key goes; they say nothing.

    Lists keep theirs, and what tells one type of number from another, or from true and false, counts.
    """
    match data:
        case Mapping():
            members = {name: _without_empty(member) for name, member in data.items()}
            return {name: member for name, member in members.items() if member != {}}
        case list() | tuple():
            return [_without_empty(item) for item in data]
        case bool() | float():
            return [type(data).__name__, str(data)]
        case _:
            return data

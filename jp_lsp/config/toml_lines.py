"""Which line of a TOML file a key stands in.

`tomllib` gives values without positions, and messages need them. This scanner reads just enough of a file
that is known to be valid: table headers, keys, and where a value ends. Keys inside inline tables have the
line of the value that they are part of.
"""

import re
import tomllib
from collections.abc import Mapping
from typing import cast

from jp_lsp.config.value import Path

_PART = r'(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\')'
_KEY = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
HEADER = re.compile(rf"[ \t]*(\[\[?)[ \t]*({_KEY})[ \t]*\]")
ASSIGNMENT = re.compile(rf"[ \t]*({_KEY})[ \t]*=")
_VALUE_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}'
    r"|'''(?:[^']|'(?!''))*'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
    r"|#[^\n]*|[\[{]|[\]}]|\n|[^\"'#\[\]{}\n]+",
    re.DOTALL,
)


def key_lines(text: str) -> Mapping[Path, int]:
    """Give the line, from 1, of each key, header and element of an array of tables."""
    lines: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    text = text.replace("\r\n", "\n")
    table: Path = ()
    position, line = 0, 1
    while position < len(text):
        if header := HEADER.match(text, position):
            names = key_names(header[2])
            if header[1] == "[[":
                parent = absolute_path(names[:-1], counts)
                index = counts[*parent, names[-1]] = counts.get((*parent, names[-1]), -1) + 1
                table = (*parent, names[-1], index)
            else:
                table = absolute_path(names, counts)
            _note(lines, table, line)
            end = text.find("\n", header.end())
            position = len(text) if end < 0 else end + 1
            line += 1
        elif assignment := ASSIGNMENT.match(text, position):
            _note(lines, (*table, *key_names(assignment[1])), line)
            end = _value_end(text, assignment.end())
            line += text.count("\n", position, end)
            position = end
        else:
            end = text.find("\n", position)
            position = len(text) if end < 0 else end + 1
            line += 1
    return lines


def absolute_path(names: tuple[str, ...], counts: Mapping[Path, int]) -> Path:
    """Put the index of the last element behind each name of an array of tables."""
    path: Path = ()
    for name in names:
        path = (*path, name)
        if path in counts:
            path = (*path, counts[path])
    return path


def _note(lines: dict[Path, int], path: Path, line: int) -> None:
    for end in range(1, len(path) + 1):
        lines.setdefault(path[:end], line)


def key_names(key: str) -> tuple[str, ...]:
    """Split a dotted key; the parser itself knows best what quotes and escapes mean."""
    if '"' not in key and "'" not in key:
        return tuple(part.strip(" \t") for part in key.split("."))
    names: list[str] = []
    node: object = tomllib.loads(f"{key} = 0")
    while isinstance(node, dict):
        ((name, node),) = cast("dict[str, object]", node).items()
        names.append(name)
    return tuple(names)


def _value_end(text: str, position: int) -> int:
    """Find the end of the line in which a value ends."""
    depth = 0
    while position < len(text):
        token = _VALUE_TOKEN.match(text, position)
        if token is None:
            return len(text)
        position = token.end()
        match token[0]:
            case "[" | "{":
                depth += 1
            case "]" | "}":
                depth -= 1
            case "\n" if depth <= 0:
                return position
            case _:
                pass
    return position

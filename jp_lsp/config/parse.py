"""The five file formats as plain data (config-and-tools 1.1).

Files may come with a freshly cloned workspace, so size and nesting are limited and every way to fail ends
in a `ParseError`. YAML and JSON5 parsers are loaded when such a file is met, not before.
"""

import json
import math
import re
import tomllib
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from typing import cast

from jp_lsp.conversation.json_value import JsonValue

EXTENSIONS = ("toml", "json", "json5", "yaml", "yml")
"""In the order in which they are looked for; the first file that exists is taken."""

MAX_FILE_SIZE = 8 * 1024 * 1024
TOO_LARGE = f"the file is larger than {MAX_FILE_SIZE // (1024 * 1024)} MiB"
MAX_DEPTH = 100
MAX_VALUES = 250_000

_TOML_LINE = re.compile(r"\(at line (\d+), column \d+\)")
_JSON5_PLACE = re.compile(r" (?:starting )?near (\d+)")
_JSON5_WORD = re.compile(r"b'(\w+)'")
_JSON5_HALF = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
_JSON5_CHARACTER = re.compile(r"U\+([0-9A-Fa-f]{4,5})\b")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_JSON_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)


class ParseError(Exception):
    """A file is not what its extension says; `line` counts from 1 where it is known."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def parse(data: bytes, extension: str) -> Mapping[str, JsonValue]:
    """Read the bytes of a file; a byte-order mark is removed.

    Raises:
        ParseError: they are too many, not UTF-8, or not what `extension` says.
    """
    if len(data) > MAX_FILE_SIZE:
        raise ParseError(TOO_LARGE)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ParseError(
            f"the file is not UTF-8 (byte {error.start})", data.count(b"\n", 0, error.start) + 1
        ) from error
    try:
        return _checked(_PARSERS[extension](text))
    except RecursionError as error:
        raise ParseError("the file is nested too deep") from error


def _parse_toml(text: str) -> object:
    try:
        return tomllib.loads(text)
    except ValueError as error:
        at = _TOML_LINE.search(str(error))
        message = _TOML_LINE.sub("", str(error)).strip()
        raise ParseError(f"not valid TOML: {message}", int(at[1]) if at else None) from error


def _parse_json(text: str) -> object:
    without_comments = _JSON_TOKEN.sub(_blank_comment, text)
    if not without_comments.strip():
        return {}
    try:
        return json.loads(without_comments, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise ParseError(f"not valid JSON: {error.msg}", error.lineno) from error
    except ValueError as error:
        raise ParseError(f"not valid JSON: {error}") from error


def _half_escape(text: str, position: int) -> str | None:
    """Give the escape of half a surrogate pair that a parser stopped at."""
    found = _JSON5_HALF.finditer(text, max(position - 16, 0), position + 16)
    return next((half[0] for half in found if half.start() - 1 <= position <= half.end() + 1), None)


def is_only_comments(text: str) -> bool:
    """Tell whether a text of JSON or JSON5 has nothing in it but comments."""
    return not _COMMENT.sub("", text).strip()


def _blank_comment(token: re.Match[str]) -> str:
    """Replace a comment by its line breaks, so that lines keep their numbers; strings stay."""
    return token[0] if token[0].startswith('"') else "\n" * token[0].count("\n") or " "


def _refuse_constant(word: str) -> object:
    raise ValueError(f"`{word}` is not a value")


def _parse_json5(text: str) -> object:
    import pyjson5  # most workspaces have no such file

    if is_only_comments(text):
        return {}
    try:
        return cast("object", pyjson5.decode(text, maxdepth=MAX_DEPTH + 1))
    except pyjson5.Json5Exception as error:
        # Its text has all that was read so far behind the message.
        message = str(error.args[0] if error.args else error)
        at = _JSON5_PLACE.search(message)
        half = None if at is None else _half_escape(text, int(at[1]))
        line = None if at is None else text.count("\n", 0, int(at[1])) + 1
        message = _JSON5_WORD.sub(r"`\1`", _JSON5_PLACE.sub("", message)).replace("JSON5Value", "value")
        message = _JSON5_CHARACTER.sub(lambda found: f"`{chr(int(found[1], 16))}`", message)
        if half is not None:
            message = f"`{half}` is half of a character, which JSON5 cannot hold"
        raise ParseError(f"not valid JSON5: {message}", line) from error
    except ValueError as error:
        raise ParseError(f"not valid JSON5: {error}") from error


def _parse_yaml(text: str) -> object:
    from jp_lsp.config import yaml_core  # as above

    try:
        document = yaml_core.load(text)
    except yaml_core.YamlError as error:
        raise ParseError(f"not valid YAML: {error}", error.line) from error
    return {} if document is None else document


_PARSERS: Mapping[str, Callable[[str], object]] = {
    "toml": _parse_toml,
    "json": _parse_json,
    "json5": _parse_json5,
    "yaml": _parse_yaml,
    "yml": _parse_yaml,
}


def _checked(document: object) -> Mapping[str, JsonValue]:
    if not isinstance(document, dict):
        raise ParseError("the file must hold a table")
    return cast("Mapping[str, JsonValue]", _Normaliser().value(cast("object", document), 0))


class _Normaliser:
    """Makes JSON of what a parser gave: dates become text, and what JSON cannot hold is an error."""

    def __init__(self) -> None:
        self._count = 0

    def value(self, raw: object, depth: int) -> JsonValue:
        """Give a value of at most `MAX_DEPTH` levels; counts what it makes, as YAML can repeat itself."""
        self._count += 1
        if self._count > MAX_VALUES:
            raise ParseError(f"the file holds more than {MAX_VALUES} values")
        if depth > MAX_DEPTH:
            raise ParseError("the file is nested too deep")
        match raw:
            case None | bool() | int() | str():
                return raw
            case float():
                return _finite(raw)
            case datetime() | date() | time():
                return raw.isoformat()
            case dict():
                members = cast("dict[object, object]", raw)
                return {_name(name): self.value(member, depth + 1) for name, member in members.items()}
            case list():
                return [self.value(item, depth + 1) for item in cast("list[object]", raw)]
            case _:
                raise ParseError(f"a value of type {type(raw).__name__} is not understood")


def _finite(raw: float) -> float:
    if not math.isfinite(raw):
        raise ParseError(f"`{raw}` is not a number that can be used")
    return raw


def _name(raw: object) -> str:
    """Give the name of a key; YAML may have numbers there."""
    if isinstance(raw, str):
        return raw
    if isinstance(raw, (bool, int)):
        return str(raw).lower()
    raise ParseError(f"`{raw}` is not a name of a key")

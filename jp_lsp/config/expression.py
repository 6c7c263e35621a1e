"""What a `--cfg` argument says: a file to apply, an object, or an assignment (config-and-tools 1.6)."""

from dataclasses import dataclass
from typing import TypeAlias

from jp_lsp.config.assign import FORMS, parse_json
from jp_lsp.conversation.json_value import JsonValue

RESERVED = frozenset({"NONE", "WORKSPACE"})
"""Words that will start from nothing, or from the workspace's files; no file can be meant by them."""


class ExpressionError(Exception):
    """An argument that says nothing; the text is for the user."""


@dataclass(frozen=True, slots=True)
class FileReference:
    """A path, or the name of a file in `config_load_paths`."""

    name: str


@dataclass(frozen=True, slots=True)
class Assignment:
    """A value for a key; an object for all of the configuration has the empty key."""

    key: str
    value: JsonValue
    is_json: bool = False
    merges: bool = False


Expression: TypeAlias = FileReference | Assignment


def parse_expression(text: str) -> Expression:
    """Classify an argument, in this order: `@name`, `{json}`, `name`, `key=value`.

    Raises:
        ExpressionError: it is none of them, or a reserved word.
        AssignmentError: its JSON cannot be read.
    """
    if text.startswith("@"):
        return _reference(text[1:])
    if text.startswith("{"):
        return Assignment("", parse_json("", text), is_json=True)
    if "=" not in text:
        if text in RESERVED:
            raise ExpressionError(
                f"`{text}` is a reserved word that this version cannot follow yet; for a file of that name "
                f"write `@{text}` or `./{text}`"
            )
        return _reference(text)
    key, _, value = text.partition("=")
    key, is_json, merges = _operators(key)
    if not key:
        raise ExpressionError(f"unable to parse key-value pair `{text}`; write {FORMS}")
    return Assignment(key, parse_json(key, value) if is_json else value, is_json, merges)


def _reference(name: str) -> FileReference:
    if not name or "\0" in name:
        raise ExpressionError("a file needs a name; write `@name`, or an assignment as " + FORMS)
    return FileReference(name)


def _operators(key: str) -> tuple[str, bool, bool]:
    """Take `:` and `+` off the end of a key, at most one of each, in any order."""
    is_json = merges = False
    for _ in range(2):
        if key.endswith(":") and not is_json:
            key, is_json = key[:-1], True
        elif key.endswith("+") and not merges:
            key, merges = key[:-1], True
    return key, is_json, merges

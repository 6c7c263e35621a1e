"""Values as a file of the workspace may hold them, so that the command-line tool understands the file as well.

We read more than it does: other spellings of keys, as its assignments have them, and a few short forms. What
somebody gives us in such words is put into its own before it is written (config-and-tools 1.6, 3.3).
"""

from collections.abc import Mapping

from jp_lsp.config.kind import Kind, ListOf, MapOf, Table, Variant, entry_kind, find_key
from jp_lsp.config.model_id import REASONING
from jp_lsp.config.shapes import TOOL_CHOICE
from jp_lsp.config.write import write
from jp_lsp.conversation.json_value import JsonObject, JsonValue


def file_form(kind: Kind, value: JsonValue) -> JsonValue:
    """Give a value that is known to fit its key in words of the command-line tool; all else in it stays."""
    match value:
        case Mapping():
            return _table_form(kind, value)
        case list() | tuple() if isinstance(kind, ListOf):
            return [file_form(kind.item, item) for item in value]
        case str() if isinstance(kind, Table) and kind.shorthand is not None:
            return {kind.shorthand: value}
        case str() | int() if kind is REASONING:
            return write(kind, REASONING.scalar.read(value))
        case bool() if kind is TOOL_CHOICE:
            return write(kind, TOOL_CHOICE.read(value))
        case _:
            return value


def _table_form(kind: Kind, value: JsonObject) -> JsonValue:
    match kind:
        case Table():
            return dict(_member_form(kind, name, member) for name, member in value.items())
        case Variant():
            return _table_form(kind.table, value)
        case MapOf() if not (kind.annotated and {"value", "strategy"} <= value.keys()):
            return {name: file_form(entry_kind(kind, name), member) for name, member in value.items()}
        case MapOf() | ListOf() if "value" in value:
            return {**value, "value": file_form(kind, value["value"])}
        case _:
            return value


def _member_form(table: Table, name: str, member: JsonValue) -> tuple[str, JsonValue]:
    found = find_key(table, name)
    if found is None:
        return name, member
    proper, key = found
    return proper, file_form(key.kind, member)

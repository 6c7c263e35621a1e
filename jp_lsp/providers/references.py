"""Writing out what a JSON schema only refers to, for vendors that do not follow references.

A schema that refers to itself cannot be written out: there the reference stays, and the definitions with it.
"""

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.providers.schema import local_definition
from jp_lsp.providers.untrusted import as_list, as_object, as_text

_DEFINITIONS = ("$defs", "definitions")
_MAPS = frozenset({"properties", *_DEFINITIONS})
_SCHEMAS = frozenset({"items", "additionalProperties"})
_LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_MOST_REFERENCES = 2000
"""A definition may refer to another twice, and so on: what is written out must have a limit."""


def without_references(schema: JsonObject) -> dict[str, JsonValue]:
    """Give the schema with its local references written out, and without definitions that are not needed."""
    writing = _Writing(schema)
    result = writing.node(schema, frozenset())
    if not writing.keeps_some:
        for name in _DEFINITIONS:
            result.pop(name, None)
    return result


class _Writing:
    """The writing out of one schema, whose `root` references are looked up in."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._left = _MOST_REFERENCES
        self.keeps_some = False

    def node(self, schema: JsonObject, within: frozenset[str]) -> dict[str, JsonValue]:
        """Write a schema out; `within` are the references that led to it."""
        reference = as_text(schema.get("$ref"))
        target = local_definition(reference, self._root) if reference else None
        if target is not None:
            self._left -= 1
            if reference in within or self._left < 0:
                self.keeps_some = True
                return {"$ref": reference}
            beside = {name: value for name, value in schema.items() if name != "$ref"}
            return self.node({**target, **beside}, within | {reference})
        return {name: self._member(name, value, within) for name, value in schema.items()}

    def _member(self, name: str, value: JsonValue, within: frozenset[str]) -> JsonValue:
        if name in _MAPS and isinstance(value, dict):
            return {
                key: self.node(
                    as_object(child), within | {f"#/{name}/{key}"} if name in _DEFINITIONS else within
                )
                for key, child in as_object(value).items()
            }
        if name in _SCHEMAS and isinstance(value, dict):
            return self.node(as_object(value), within)
        if name in _LISTS and isinstance(value, list):
            return [self.node(as_object(child), within) for child in as_list(value)]
        return value

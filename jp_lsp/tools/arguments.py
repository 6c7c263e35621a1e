"""stand-in"""

import json
from dataclasses import dataclass

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.tools.spec import ToolSpec


@dataclass(frozen=True, slots=True)
class PreparedArguments:
    arguments: JsonObject
    error: str | None = None


def prepare_arguments(spec: ToolSpec, arguments: JsonObject) -> PreparedArguments:
    unknown = [k for k in arguments if k not in spec.definition.parameters]
    out = dict(arguments)
    for k, v in arguments.items():
        p = spec.definition.parameters.get(k)
        if p and p.type == "integer" and isinstance(v, str):
            try:
                out[k] = int(v)
            except ValueError:
                return PreparedArguments(out, f"Invalid arguments: wrong type {k}")
    return PreparedArguments(out, f"Invalid arguments: missing: [], unknown: {unknown}" if unknown else None)


def parse_edited(text: str) -> tuple[JsonObject, str | None]:
    try:
        v = json.loads(text)
    except ValueError as e:
        return {}, str(e)
    return (v, None) if isinstance(v, dict) else ({}, "not an object")

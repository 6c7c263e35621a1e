"""The settings that stand in an editor's document below a query (config-and-tools 7.5).

They are a piece of TOML that the user may change before the query is sent. What it says becomes expressions
like those of `--cfg`, one for each value, so that it lies above all else and is explained like all else.
"""

import json
import math
import tomllib
from collections.abc import Iterator, Mapping
from typing import cast

from jp_lsp.config.value import ABSENT, Partial, Value, value_at
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.refusal import Refusal

_REASONING = ("assistant", "model", "parameters", "reasoning")
_OPERATORS = frozenset(".=:+")


def write_document(model: ModelId, tree: Partial) -> str:
    """Write what most people want to change: the model, and how much it thinks."""
    reasoning = value_at(tree, _REASONING)
    line = (
        '# parameters.reasoning = "auto"'
        if reasoning is ABSENT
        else f"parameters.reasoning = {_toml(reasoning)}"
    )
    return f"[assistant.model]\nid = {_toml(str(model))}\n{line}\n"


def read_document(text: str) -> tuple[str, ...]:
    """Give the expressions that say the same.

    Raises:
        Refusal: it is no TOML, or holds a value that no setting has.
    """
    try:
        values = tomllib.loads(text)
        return tuple(_expressions(values, ()))
    except (tomllib.TOMLDecodeError, ValueError) as problem:
        raise Refusal("config_invalid", f"this is no TOML: {problem}", origin="the document") from None
    except RecursionError:
        raise Refusal("config_invalid", "the TOML is nested too deep", origin="the document") from None


def _expressions(table: Mapping[str, object], path: tuple[str, ...]) -> Iterator[str]:
    for name, value in table.items():
        here = (*path, name)
        if _has_plain_names(value):
            yield from _expressions(cast("Mapping[str, object]", value), here)
        elif not _is_plain(name):
            raise ValueError(f"the key {name!r} is no setting")
        else:
            yield f"{'.'.join(here)}:={json.dumps(_json(value, '.'.join(here)), ensure_ascii=False)}"


def _has_plain_names(value: object) -> bool:
    """Tell whether each member of a table can be named in an expression; else it is given as a whole."""
    names = list(cast("Mapping[str, object]", value)) if isinstance(value, Mapping) else []
    return bool(names) and all(map(_is_plain, names))


def _is_plain(name: str) -> bool:
    return bool(name) and _OPERATORS.isdisjoint(name)


def _json(value: object, key: str) -> JsonValue:
    match value:
        case dict():
            members = cast("Mapping[str, object]", value)
            return {name: _json(member, key) for name, member in members.items()}
        case list():
            return [_json(item, key) for item in cast("list[object]", value)]
        case bool() | int() | str():
            return value
        case float() if math.isfinite(value):
            return value
        case _:
            raise ValueError(f"`{key}` cannot be {value}")


def _toml(value: Value) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {_toml(member)}" for name, member in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)

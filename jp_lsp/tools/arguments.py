"""Makes the arguments of a call fit its tool, or says why they do not (config-and-tools 4.5).

Four steps, in this order and before anybody is asked for approval:

1. *coerce*: models write values as text, `"3"` for a number; where text is not wanted, it is read as JSON.
2. *drop nulls*: a vendor's strict mode makes a model mention every parameter; `null` is how it leaves one out.
3. *fill defaults*: local tools and built-ins only. A server of tools knows its own.
4. *find problems*: unknown and missing names, wrong types, values that are not allowed.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from jp_lsp.conversation.json_text import from_text
from jp_lsp.conversation.json_value import JsonObject, JsonValue, type_name
from jp_lsp.tools.definition import Parameter, ToolDefinition
from jp_lsp.tools.spec import LocalSource, McpSource, ToolSpec

Parameters = Mapping[str, Parameter]

_MAX_LISTED = 20
_MAX_QUOTED = 200


@dataclass(frozen=True, slots=True)
class PreparedArguments:
    """Arguments that a tool may be run with, or, with `error`, what the model is told instead."""

    arguments: JsonObject
    error: str | None = None


def prepare_arguments(tool: ToolSpec, arguments: JsonObject) -> PreparedArguments:
    """Do all four steps for a call."""
    parameters = tool.definition.parameters
    arguments = drop_nulls(parameters, coerce(parameters, arguments))
    if isinstance(tool.source, McpSource):
        problems = _find_problems_of_server(tool.definition, arguments)
    else:
        arguments = fill_defaults(parameters, arguments)
        problems = find_problems(parameters, arguments)
    if problems is None:
        return PreparedArguments(arguments)
    name = tool.source.name if isinstance(tool.source, LocalSource) else tool.name
    return PreparedArguments(arguments, problems.describe(name))


def parse_edited(text: str) -> tuple[JsonObject, str | None]:
    """Read arguments that the user wrote; with them comes what is wrong with the text, or `None`."""
    try:
        value = from_text(text)
    except ValueError as error:
        return {}, f"this is not valid JSON: {error}"
    if not isinstance(value, Mapping):
        return {}, f"an object is needed, not {_with_article(value)}"
    return value, None


@dataclass(frozen=True, slots=True)
class ArgumentProblems:
    """What is wrong with arguments: names, and a phrase for each value that does not fit.

    Names within objects and lists are paths, such as `edits[0].line`. Problems are those of the outermost
    object that has any.
    """

    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    unfit: tuple[str, ...] = ()

    def describe(self, tool: str) -> str:
        """Write the result that the model is given; `tool` is what the tool's source calls it."""
        text = f"Invalid arguments: missing: {_list(self.missing)}, unknown: {_list(self.unknown)}"
        if self.unfit:
            text += f", wrong type: {_listed([json.dumps(one, ensure_ascii=False) for one in self.unfit])}"
        return f"{text}\n\nCall `describe_tools(tools: {_list([tool])})` to see what the tool takes."


# -------------------------------------------------------------------------------------------- steps 1 to 3


def coerce(parameters: Parameters, arguments: JsonObject) -> dict[str, JsonValue]:
    """Read text as JSON where the value is of a wanted type and text is not; also within objects and lists.

    `"007"` is no JSON number and `"3.5"` no integer, so both stay text.
    """
    return {
        name: _coerce_value(parameters[name], value) if name in parameters else value
        for name, value in arguments.items()
    }


def _coerce_value(parameter: Parameter, value: JsonValue) -> JsonValue:
    types = _types(parameter)
    if isinstance(value, str) and types and "string" not in types:
        try:
            parsed = from_text(value)
        except ValueError:
            return value
        if not _is_of_type(parsed, types):
            return value
        value = parsed
    return _within(parameter, value, coerce, _coerce_value)


def drop_nulls(parameters: Parameters, arguments: JsonObject) -> dict[str, JsonValue]:
    """Leave out nulls that stand for "not given": of optional parameters that do not take null."""
    return {
        name: _within(parameters[name], value, drop_nulls) if name in parameters else value
        for name, value in arguments.items()
        if not (value is None and name in parameters and _is_left_out_by_null(parameters[name]))
    }


def _is_left_out_by_null(parameter: Parameter) -> bool:
    types = _types(parameter)
    return not parameter.required and bool(types) and "null" not in types


def fill_defaults(parameters: Parameters, arguments: JsonObject) -> dict[str, JsonValue]:
    """Add defaults of what is not there, also within objects and lists that are; null is there."""
    filled = {
        name: _within(parameters[name], value, fill_defaults) if name in parameters else value
        for name, value in arguments.items()
    }
    for name, parameter in parameters.items():
        if name not in arguments and parameter.default is not None:
            filled[name] = parameter.default
    return filled


def _within(
    parameter: Parameter,
    value: JsonValue,
    step: Callable[[Parameters, JsonObject], JsonObject],
    on_item: Callable[[Parameter, JsonValue], JsonValue] | None = None,
) -> JsonValue:
    """Do a step to the fields of an object and to the items of a list."""
    if isinstance(value, Mapping):
        return step(parameter.properties, value) if parameter.properties else value
    if _is_list(value) and (items := parameter.items) is not None:
        return [on_item(items, item) if on_item else _within(items, item, step) for item in value]
    return value


# -------------------------------------------------------------------------------------------------- step 4


def find_problems(
    parameters: Parameters, arguments: JsonObject, *, is_open: bool = False
) -> ArgumentProblems | None:
    """Compare arguments with what a tool takes; `None` if they fit.

    Objects whose fields are not described take anything; so do all others if `is_open`.
    """
    return _Finder(is_open).in_object(parameters, arguments, "")


def _find_problems_of_server(definition: ToolDefinition, arguments: JsonObject) -> ArgumentProblems | None:
    """Compare with what is understood of a server's schema; whoever calls the server knows all of it.

    Its objects may take more than it names. Only for the arguments as a whole it is known whether they do.
    """
    problems = find_problems(definition.parameters, arguments, is_open=True)
    schema = definition.schema or {}
    if schema.get("additionalProperties") is not False or "patternProperties" in schema:
        return problems
    unknown = tuple(name for name in arguments if name not in definition.parameters)
    return replace(problems or ArgumentProblems(), unknown=unknown) if unknown else problems


@dataclass(frozen=True, slots=True)
class _Finder:
    is_open: bool

    def in_object(
        self, parameters: Parameters, arguments: JsonObject, prefix: str
    ) -> ArgumentProblems | None:
        missing = tuple(
            prefix + name
            for name, parameter in parameters.items()
            if parameter.required and name not in arguments
        )
        unknown = () if self.is_open else tuple(prefix + name for name in arguments if name not in parameters)
        known = [
            (parameters[name], value, prefix + name)
            for name, value in arguments.items()
            if name in parameters
        ]
        unfit = tuple(phrase for one in known for phrase in _find_unfit(*one))
        if missing or unknown or unfit:
            return ArgumentProblems(missing, unknown, unfit)
        return self._within_first(known)

    def _within_first(self, values: Sequence[tuple[Parameter, JsonValue, str]]) -> ArgumentProblems | None:
        return next((problems for one in values if (problems := self._within(*one))), None)

    def _within(self, parameter: Parameter, value: JsonValue, path: str) -> ArgumentProblems | None:
        if isinstance(value, Mapping):
            return self.in_object(parameter.properties, value, f"{path}.") if parameter.properties else None
        if parameter.items is None or not _is_list(value):
            return None
        items = [(parameter.items, item, f"{path}[{index}]") for index, item in enumerate(value)]
        if unfit := tuple(phrase for one in items for phrase in _find_unfit(*one)):
            return ArgumentProblems(unfit=unfit)
        return self._within_first(items)


def _find_unfit(parameter: Parameter, value: JsonValue, path: str) -> list[str]:
    types = _types(parameter)
    if value is None and (_is_left_out_by_null(parameter) or "null" in types):
        return []
    if types and _TYPES.issuperset(types) and not _is_of_type(value, types):
        return [f"{path}: expected {' or '.join(types)}, not {type_name(value)}"]
    if parameter.enum and not _is_allowed(value, parameter.enum):
        return [f"{path}: {_quote(value)} is not one of {_list(parameter.enum)}"]
    return []


def _is_allowed(value: JsonValue, allowed: Sequence[JsonValue]) -> bool:
    """Tell whether a value is in an enum; a list also fits if each item does.

    The enum of a list may be written at the list itself (config-and-tools 4.2), of its items or of lists.
    """
    if any(_is_same(value, one) for one in allowed):
        return True
    members = [member for one in allowed for member in (one if _is_list(one) else [one])]
    return _is_list(value) and all(any(_is_same(item, member) for member in members) for item in value)


def _is_same(one: JsonValue, other: JsonValue) -> bool:
    """Compare as JSON does: `1` and `1.0` are the same, `1` and `true` are not."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_is_same(one[name], other[name]) for name in one)
    if _is_list(one) and _is_list(other):
        return len(one) == len(other) and all(map(_is_same, one, other))
    return one == other


# --------------------------------------------------------------------------------------------------- types

_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


def _types(parameter: Parameter) -> tuple[str, ...]:
    declared = parameter.type
    return () if declared is None else (declared,) if isinstance(declared, str) else tuple(declared)


def _is_of_type(value: JsonValue, types: Sequence[str]) -> bool:
    actual = type_name(value)
    if actual in types or (actual == "integer" and "number" in types):
        return True
    return isinstance(value, float) and value.is_integer() and "integer" in types


def _is_list(value: JsonValue) -> TypeGuard[Sequence[JsonValue]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


# --------------------------------------------------------------------------------------------------- words


def _list(values: Sequence[JsonValue]) -> str:
    """Write values as a JSON array."""
    return _listed([_quote(value) for value in values])


def _listed(texts: Sequence[str]) -> str:
    """Write JSON texts as an array of which a model gets to see the first few."""
    more = [f"and {len(texts) - _MAX_LISTED} more"] if len(texts) > _MAX_LISTED else []
    return f"[{', '.join([*texts[:_MAX_LISTED], *more])}]"


def _quote(value: JsonValue) -> str:
    if isinstance(value, Mapping) or _is_list(value):
        return _with_article(value)
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_QUOTED else f"{text[:_MAX_QUOTED]}..."


def _with_article(value: JsonValue) -> str:
    name = type_name(value)
    return name if name == "null" else f"an {name}" if name[0] in "aio" else f"a {name}"

"""JSON that a model wrote: the arguments of a call, and structured values (query pipeline 2.3)."""

import re
from collections.abc import Mapping

from jp_lsp.conversation.json_text import from_untrusted_text
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.turn.surrogates import join_surrogates_within

_FENCE = re.compile(r"\s*(`{3,}|~{3,})[^\n`]*\n(?P<body>.*?)\n?[ \t]*\1\s*\Z", re.DOTALL)


def parse_arguments(text: str) -> tuple[JsonObject, str | None]:
    """Read the arguments of a call.

    Returns:
        The object and `None`, or an empty object and what is wrong with the text, for the model to read.
    """
    if not text.strip():
        return {}, None
    try:
        value = _parse(text)
        if isinstance(value, str):
            value = _parse(value) if value.strip() else None
    except ValueError as error:
        return {}, f"not valid JSON: {error}"
    if value is None:
        return {}, None
    if not isinstance(value, Mapping):
        return {}, f"a JSON object was expected, not {_name_of(value)}"
    return value, None


def parse_structured(text: str) -> JsonValue:
    """Read a structured value; text that is no JSON, even without its code fence, stays a string."""
    for candidate in (text, _without_fence(text)):
        try:
            return _parse(candidate)
        except ValueError:
            continue
    return text


def _without_fence(text: str) -> str:
    match = _FENCE.match(text)
    return match["body"] if match else text


def _parse(text: str) -> JsonValue:
    return join_surrogates_within(from_untrusted_text(text))


def _name_of(value: object) -> str:
    match value:
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case _:
            return "a list"

"""The strings that are stored as base64, so that a text search does not drown in tool traffic.

Which strings those are is the business of `event_codec`; this module has the rule for one string
(conversation format 3.5).
"""

import base64
import binascii
from collections.abc import Mapping, Sequence

from jp_lsp.conversation.json_text import replace_surrogates
from jp_lsp.conversation.json_value import JsonValue


def encode(text: str) -> str:
    """Encode always, also what looks encoded already."""
    return base64.b64encode(replace_surrogates(text).encode()).decode("ascii")


def decode(text: str) -> str:
    """Decode canonical base64 of UTF-8 text; anything else is its own meaning."""
    try:
        data = base64.b64decode(text, validate=True)
        if base64.b64encode(data).decode("ascii") != text:
            return text
        return data.decode()
    except (binascii.Error, ValueError):
        return text


def encode_values(value: JsonValue) -> JsonValue:
    """Encode every string value at any depth; keys are never touched."""
    match value:
        case str():
            return encode(value)
        case Mapping():
            return {key: encode_values(member) for key, member in value.items()}
        case Sequence():
            return [encode_values(item) for item in value]
        case _:
            return value


def decode_values(value: JsonValue) -> JsonValue:
    """Decode every string value at any depth; keys are never touched."""
    match value:
        case str():
            return decode(value)
        case Mapping():
            return {key: decode_values(member) for key, member in value.items()}
        case Sequence():
            return [decode_values(item) for item in value]
        case _:
            return value

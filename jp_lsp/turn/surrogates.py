"""Surrogate code points in text that came through JSON escapes.

A vendor may split an escaped emoji over two parts, so each part ends in half a character. Halves are
joined once the text is whole; a half without its partner becomes U+FFFD, because no file or frame can
hold it (providers trap 14).
"""

from collections.abc import Mapping, Sequence

from jp_lsp.conversation.json_text import replace_surrogates
from jp_lsp.conversation.json_value import JsonValue


def join_surrogates_within(value: JsonValue) -> JsonValue:
    """Join halves and replace lone ones in every string of a JSON value, keys included."""
    match value:
        case str():
            return replace_surrogates(value)
        case Mapping():
            return {replace_surrogates(key): join_surrogates_within(item) for key, item in value.items()}
        case Sequence():
            return [join_surrogates_within(item) for item in value]
        case _:
            return value

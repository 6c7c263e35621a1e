"""Surrogate code points in text that came through JSON escapes.

A vendor may split an escaped emoji over two parts, so each part ends in half a character. Halves are
joined once the text is whole; a half without its partner becomes U+FFFD, because no file or frame can
hold it (providers trap 14).
"""

import re
from collections.abc import Mapping, Sequence

from jp_lsp.conversation.json_value import JsonValue

_SURROGATE = re.compile("[\ud800-\udfff]")


def join_surrogates(text: str) -> str:
    """Join halves and replace lone ones; other text comes back as it is."""
    if _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def join_surrogates_within(value: JsonValue) -> JsonValue:
    """Do the same to every string of a JSON value, keys included."""
    match value:
        case str():
            return join_surrogates(value)
        case Mapping():
            return {join_surrogates(key): join_surrogates_within(item) for key, item in value.items()}
        case Sequence():
            return [join_surrogates_within(item) for item in value]
        case _:
            return value

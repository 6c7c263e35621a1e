"""JSON for people: pretty text and compact text, safe to show.

The pretty form is made from JSON text, token by token. So numbers stay as they were written, depth costs no
stack, and the work can stop after the lines that are wanted.
"""

import json
import re
from collections.abc import Iterator
from itertools import islice

from jp_lsp.conversation.json_value import JsonValue

_INDENT = "  "
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_OPENING = frozenset("{[")
_CLOSING = frozenset("}]")
_HIDDEN = re.compile("[\x7f-\x9f\ud800-\udfff]")
_TOO_DEEP = '"(nested too deep to be shown)"'


def compact(value: JsonValue) -> str:
    """Write a value on one line, without anything that a terminal or a frame could stumble over.

    Control characters and lone surrogates stay escaped, which JSON allows in strings; they occur nowhere
    else.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        return _TOO_DEEP
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def pretty(value: JsonValue) -> str:
    """Write a value with two spaces of indent for each level."""
    return "\n".join(pretty_lines(compact(value)))


def pretty_lines(text: str) -> Iterator[str]:
    """Give the lines of valid JSON text in its pretty form, one after the other."""
    line: list[str] = []
    depth = 0
    before = ""
    for found in _TOKEN.finditer(text):
        token = found[0]
        closes = token in _CLOSING
        depth -= closes
        # An empty container stays on its line; otherwise each member and each closing bracket gets one.
        if before == "," or (before in _OPENING) != closes:
            yield "".join(line)
            line = [_INDENT * depth]
        depth += token in _OPENING
        line.append(": " if token == ":" else token)
        before = token
    yield "".join(line)


def pretty_json_text(text: str, line_count: int | None = None) -> str | None:
    """Give JSON text in its pretty form, or `None` when it is not JSON.

    With `line_count` the work stops after so many lines and one more, by which a caller can tell that the
    text was longer.
    """
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return None
    lines = pretty_lines(text)
    return "\n".join(lines if line_count is None else islice(lines, line_count + 1))

"""What an error body says, in whatever shape it comes (providers 3.2, 3.4; trap 33).

Vendors wrap errors in `{"error": {…}}`, gateways wrap them once more, some send a bare object, a list, a
string, an HTML page or nothing. A report is the flat view that classification works on; building one never
fails.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.providers.untrusted import as_list, as_object, as_text, compact_json, parse_json
from jp_lsp.render.secrets import cut

_MAX_DEPTH = 5
_MAX_TEXT = 2000
_MAX_PLAIN_TEXT = 500
# Only this much of a page is searched for its words, so that a hostile one costs nothing.
_MAX_PAGE = 4000
_INVISIBLE = re.compile(r"<(script|style|head)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")
_STATUS_MEMBERS = ("code", "status_code", "status")
_WORD_MEMBERS = ("type", "code", "status", "reason")


@dataclass(frozen=True, slots=True)
class ErrorReport:
    """`words` are types, codes and states in lower case; `status` is an HTTP status found inside.

    `details` is what a gateway adds to its own words: why it refused, or what the vendor behind it said. People
    read it; nothing is decided by it.
    """

    text: str
    words: frozenset[str] = frozenset()
    status: int | None = None
    has_error: bool = False
    details: str = ""


def report_of_body(body: bytes) -> ErrorReport:
    """Read the body of a refused request."""
    plain = body.decode("utf-8", "replace").strip()
    try:
        value = parse_json(plain)
    except ValueError:
        return ErrorReport(_readable(plain))
    if not isinstance(value, dict | list):
        return ErrorReport(_readable(as_text(value) or plain))
    return report_of_value(value)


def report_of_value(value: JsonValue) -> ErrorReport:
    """Read an error that is JSON already: the whole body, or the `error` member of a stream's chunk."""
    if isinstance(value, str):
        return _report_of_string(value)
    levels = tuple(_levels(value))
    messages = [message for level in levels if (message := _message(level))]
    return ErrorReport(
        # The innermost sentence is the vendor's own; what is around it comes from gateways.
        text=cut(messages[-1], _MAX_TEXT) if messages else cut(compact_json(value), _MAX_PLAIN_TEXT),
        words=frozenset(word.lower() for level in levels for word in _words(level)),
        status=next((status for level in reversed(levels) if (status := _status(level))), None),
        has_error=any(level.get("error") for level in levels),
        details=next((details for level in levels if (details := _details(level))), ""),
    )


def _report_of_string(text: str) -> ErrorReport:
    try:
        inner = parse_json(text)
    except ValueError:
        inner = None
    if isinstance(inner, dict) and (report := report_of_value(inner)).text:
        return report
    return ErrorReport(cut(text.strip(), _MAX_TEXT), has_error=True)


def _levels(value: JsonValue) -> Iterator[JsonObject]:
    """Give the objects from the outermost to the innermost error."""
    for _ in range(_MAX_DEPTH):
        if isinstance(value, str):
            try:
                value = parse_json(value)
            except ValueError:
                return
        if items := as_list(value):
            value = items[0]
        level = as_object(value)
        if not level:
            return
        yield level
        value = level.get("error") or level.get("message")


def _message(level: JsonObject) -> str:
    for name in ("message", "error", "detail"):
        value = level.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
    # FastAPI servers: a list of problems, each with `msg`.
    return "; ".join(
        text for item in as_list(level.get("detail")) if (text := as_text(as_object(item).get("msg")))
    )


def _words(level: JsonObject) -> Iterator[str]:
    for owner in (level, *(as_object(item) for item in as_list(level.get("details")))):
        for name in _WORD_MEMBERS:
            if word := as_text(owner.get(name)):
                yield word


def _status(level: JsonObject) -> int | None:
    for name in _STATUS_MEMBERS:
        value = level.get(name)
        if isinstance(value, str) and value.isascii() and value.isdigit():
            value = int(value[:4])
        if isinstance(value, int) and 400 <= value <= 599:
            return value
    return None


def _details(level: JsonObject) -> str:
    """Read what OpenRouter puts into `metadata`."""
    metadata = as_object(level.get("metadata"))
    said = ", ".join(text for reason in as_list(metadata.get("reasons")) if (text := as_text(reason)))
    if raw := metadata.get("raw"):
        said = f"{said}; {_raw_text(raw)}" if said else _raw_text(raw)
    vendor = as_text(metadata.get("provider_name"))
    return cut(f"{vendor}: {said}" if vendor and said else said, _MAX_PLAIN_TEXT)


def _raw_text(raw: JsonValue) -> str:
    return (_report_of_string(raw) if isinstance(raw, str) else report_of_value(raw)).text


def _readable(text: str) -> str:
    """Take the words out of a page; text that is none stays as it is."""
    if not text.startswith("<"):
        return cut(text, _MAX_PLAIN_TEXT)
    page = cut(text, _MAX_PAGE)
    title = _TITLE.search(page)
    words = " ".join(html.unescape(_TAG.sub(" ", _INVISIBLE.sub(" ", page))).split())
    heading = " ".join(html.unescape(title[1]).split()) if title else ""
    return cut(heading or words, _MAX_PLAIN_TEXT)

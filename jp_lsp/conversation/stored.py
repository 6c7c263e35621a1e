"""The text of `events.json` and `base_config.json` as a stream (conversation format 3.3, 3.4, 3.10).

Loading repairs no structure, that is `sanitize`'s work; it only gives each entry an id. What it cannot
read it refuses as a whole, because a stream that was read in part would be saved in part.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from jp_lsp.conversation import entry, json_text, shape
from jp_lsp.conversation.directive import ConfigDelta
from jp_lsp.conversation.entry import Content, Entry
from jp_lsp.conversation.identity import settle
from jp_lsp.conversation.ids import EventId
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.conversation.stream import ConversationStream, SourceTexts
from jp_lsp.conversation.timestamp import Timestamp

_BLANK = re.compile(r"[ \t\n\r]*")


class StreamFormatError(ValueError):
    """A file is not what the format says; the message names file, entry (from 0) and reason."""


@dataclass(frozen=True, slots=True)
class _Element:
    """An element of the array before its id is settled; `is_mended` says that its text is not the file's."""

    text: str
    content: Content
    declared_id: str | None
    is_mended: bool = False


def load(
    events: str,
    base_config: str | None,
    *,
    created_at: Timestamp,
    mint: Callable[[], EventId],
    newer_format: bool = False,
) -> ConversationStream:
    """Read a stream from the texts of its files; `base_config` is `None` where there is no such file.

    The newer form is written from now on if `newer_format` says so or an entry of the file has an id.

    Raises:
        StreamFormatError: a text is no JSON, or a known kind of entry has the wrong shape.
    """
    elements = [_read_element(number, text, raw) for number, (text, raw) in enumerate(_split(events))]
    base, base_text, entries_start = _read_base(base_config, elements)
    loaded = elements[entries_start:]
    writes_ids = newer_format or any(element.declared_id is not None for element in loaded)
    settled = settle((element.declared_id for element in loaded), mint)
    entries = [
        Entry(event_id, element.content, _text_with_id(element, event_id) if writes_ids else element.text)
        for event_id, element in zip(settled.ids, loaded, strict=True)
    ]
    is_verbatim = all(
        entry.text is element.text and not element.is_mended
        for entry, element in zip(entries, loaded, strict=True)
    )
    return ConversationStream(
        created_at,
        base,
        entries,
        mint=mint,
        newer_format=writes_ids,
        ambiguous_ids=settled.ambiguous,
        source=SourceTexts(
            base_text, None if entries_start or settled.ambiguous else events, is_verbatim=is_verbatim
        ),
    )


def _split(events: str) -> Iterator[tuple[str, JsonValue]]:
    """Cut the array into its elements, each with its own text."""
    if events.startswith("\ufeff"):
        raise StreamFormatError("events.json: the file starts with a byte order mark")
    position = _skip_blanks(events, 0)
    if not events.startswith("[", position):
        raise StreamFormatError("events.json: the file is not a JSON array")
    position = _skip_blanks(events, position + 1)
    if not events.startswith("]", position):
        while True:
            try:
                raw, end = json_text.DECODER.raw_decode(events, position)
            except (ValueError, RecursionError) as error:
                raise StreamFormatError(f"events.json: {error}") from error
            yield events[position:end], cast(JsonValue, raw)
            position = _skip_blanks(events, end)
            if not events.startswith(",", position):
                break
            position = _skip_blanks(events, position + 1)
    if not events.startswith("]", position):
        raise StreamFormatError(f"events.json: expected ',' or ']' at character {position}")
    if _skip_blanks(events, position + 1) != len(events):
        raise StreamFormatError(f"events.json: there is more after the array, at character {position + 1}")


def _skip_blanks(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def _read_element(number: int, text: str, raw: JsonValue) -> _Element:
    is_mended = json_text.has_surrogates(text, raw)
    try:
        if is_mended:
            text = json_text.to_text(raw, entry.LEVEL)
            raw = json_text.from_text(text)
        return _Element(text, entry.decode(raw), _declared_id(raw), is_mended)
    except ValueError as error:
        kind = raw.get("type") if isinstance(raw, Mapping) else None
        raise StreamFormatError(f"events.json: entry {number} ({kind}): {error}") from error
    except RecursionError as error:
        raise StreamFormatError(f"events.json: entry {number} is nested too deep") from error


def _declared_id(raw: JsonValue) -> str | None:
    declared = raw.get("event_id") if isinstance(raw, Mapping) else None
    if declared is None or declared == "":
        return None
    if not isinstance(declared, str):
        raise shape.ShapeError(f"'event_id' must be a string, not {shape.name_of(declared)}")
    return declared


def _read_base(text: str | None, elements: list[_Element]) -> tuple[JsonObject, str | None, int]:
    """Give the base configuration, its text if that is to stay, and where the entries begin."""
    if text is None:
        if not elements or not isinstance(elements[0].content, ConfigDelta):
            raise StreamFormatError(
                "base_config.json is missing and events.json does not begin with a config_delta"
            )
        return elements[0].content.delta, None, 1
    try:
        base = json_text.from_text(text)
        is_mended = json_text.has_surrogates(text, base)
        base = json_text.without_surrogates(base) if is_mended else base
    except ValueError as error:
        raise StreamFormatError(f"base_config.json: {error}") from error
    if not isinstance(base, Mapping):
        raise StreamFormatError(f"base_config.json: must hold an object, not {shape.name_of(base)}")
    return base, None if is_mended else text, int(_is_half_upgraded(base, elements))


def _is_half_upgraded(base: JsonObject, elements: list[_Element]) -> bool:
    """Tell whether the first save of an old layout was cut off between its files (3.10).

    The base is written by then, and what it was made of still stands in front of the events. Taken for a change of
    settings it would add all that lists hold once more.
    """
    first = elements[0].content if elements else None
    return isinstance(first, ConfigDelta) and bool(base) and first.delta == base and not first.unsets


def _text_with_id(element: _Element, event_id: EventId) -> str:
    """Give an element's text with its id; it is read once more, so that not all elements are in memory twice."""
    if element.declared_id == event_id or not element.text.startswith("{"):
        return element.text
    try:
        return entry.rewritten(entry.with_id(cast(JsonObject, json_text.from_text(element.text)), event_id))
    except ValueError as error:
        raise StreamFormatError(f"events.json: an entry gets no id: {error}") from error

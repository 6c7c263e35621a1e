"""Joins characters that a vendor cut in half (trap 14 of providers 10).

JSON writes a character beyond the basic plane as two escapes. Servers that cut text between tokens may send
each half in a delta of its own; alone, a half is no character and cannot be written as UTF-8 anywhere. The
joiner holds a first half back until its other half arrives, and turns a half that stays alone into U+FFFD.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from jp_lsp.conversation.event import NO_METADATA
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.turn.failure import StreamFailure
from jp_lsp.turn.stream_event import Finished, Flush, StreamEvent, TextPart, ToolCallArguments, ToolCallStart

_SURROGATE = re.compile("[\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


def repaired(text: str) -> str:
    """Join the pairs of a text; halves without their partner become U+FFFD."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class SurrogateJoiner:
    """A filter over the events of one answer."""

    def __init__(self) -> None:
        self._held: dict[int, TextPart | ToolCallArguments] = {}

    def join(self, events: Iterable[StreamEvent]) -> list[StreamEvent]:
        """Give the events with whole characters only; nearly always the very same ones."""
        result: list[StreamEvent] = []
        for event in events:
            match event:
                case TextPart() | ToolCallArguments():
                    result.append(self._joined(event))
                case Flush(index=index):
                    result += self._give_up([index])
                    result.append(event)
                case Finished() | StreamFailure():
                    result += self._give_up(sorted(self._held))
                    result.append(event)
                case ToolCallStart():
                    result.append(_clean_start(event))
                case _:
                    result.append(event)
        return result

    def _joined(self, event: TextPart | ToolCallArguments) -> TextPart | ToolCallArguments:
        text = event.text
        if text.isascii() and not self._held:
            return event
        if (held := self._held.pop(event.index, None)) is not None:
            text = held.text + text
        if "\ud800" <= text[-1:] <= "\udbff":
            self._held[event.index] = replace(event, text=text[-1])
            text = text[:-1]
        text = repaired(text)
        if isinstance(event, TextPart) and event.metadata:
            return replace(event, text=text, metadata=_clean_metadata(event.metadata))
        return event if text == event.text else replace(event, text=text)

    def _give_up(self, indices: Iterable[int]) -> list[StreamEvent]:
        lost = [held for index in indices if (held := self._held.pop(index, None)) is not None]
        return [
            replace(held, text=_REPLACEMENT, metadata=NO_METADATA)
            if isinstance(held, TextPart)
            else replace(held, text=_REPLACEMENT)
            for held in lost
        ]


def _clean_start(event: ToolCallStart) -> ToolCallStart:
    if event.id.isascii() and event.name.isascii():
        return event
    return replace(event, id=repaired(event.id), name=repaired(event.name))


def _clean_metadata(metadata: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    return {name: repaired(value) if isinstance(value, str) else value for name, value in metadata.items()}

"""Joins characters that a vendor cut in half (trap 14 of providers 10).

JSON writes a character beyond the basic plane as two escapes. Servers that cut text between tokens may send
each half in a delta of its own; alone, a half is no character and cannot be written as UTF-8 anywhere. The
joiner holds a first half back until its other half arrives, and turns a half that stays alone into U+FFFD.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from jp_lsp.conversation.event import NO_METADATA
from jp_lsp.conversation.json_text import replace_surrogates
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.turn.failure import StreamFailure
from jp_lsp.turn.stream_event import Finished, Flush, StreamEvent, TextPart, ToolCallArguments, ToolCallStart

_REPLACEMENT = "\ufffd"


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
                case Flush(index=index, metadata=metadata):
                    result += self._give_up([index])
                    result.append(replace(event, metadata=_clean(metadata)) if metadata else event)
                case Finished() | StreamFailure():
                    result += self._give_up(sorted(self._held))
                    result.append(event)
                case ToolCallStart():
                    result.append(_clean_start(event))
                case _:
                    result.append(event)
        return result

    def _joined(self, event: TextPart | ToolCallArguments) -> TextPart | ToolCallArguments:
        if isinstance(event, TextPart) and event.metadata:
            event = replace(event, metadata=_clean(event.metadata))
        text = event.text
        if text.isascii() and not self._held:
            return event
        if (held := self._held.pop(event.index, None)) is not None:
            text = held.text + text
        if "\ud800" <= text[-1:] <= "\udbff":
            self._held[event.index] = replace(event, text=text[-1])
            text = text[:-1]
        text = replace_surrogates(text)
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
    if event.id.isascii() and event.name.isascii() and not event.metadata:
        return event
    return ToolCallStart(
        event.index, replace_surrogates(event.id), replace_surrogates(event.name), _clean(event.metadata)
    )


def _clean(metadata: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    return {
        name: replace_surrogates(value) if isinstance(value, str) else value
        for name, value in metadata.items()
    }

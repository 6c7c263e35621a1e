"""Making one answer of several responses (providers 6.1.7, query pipeline 6.5).

A response that was cut off at the output limit is followed by a request to go on and to repeat a little of
the end. The seam is found by that overlap and closed, so that nobody sees it. Indices of the further response
are moved where they would collide: its first text continues the text that was cut, everything else gets
indices behind what was there before, so the order of the answer is the order of the indices.
"""

from dataclasses import dataclass, replace

from jp_lsp.turn.stream_event import (
    Flush,
    StreamEvent,
    TextPart,
    ToolCallArguments,
    ToolCallStart,
)

MAX_CONTINUATIONS = 5

GO_ON = (
    "Please continue from where you left off. DO NOT reason or mention being asked to continue the conversation,"
    " just do it. YOU MUST repeat between 10 and 100 characters from the end of the previous message, so that our"
    " system can find the correct merge point between the two messages."
)

_SHORTEST_OVERLAP = 5
_LONGEST_OVERLAP = 500


class Seam:
    """Removes from a continuation what it repeats of the text before it.

    The overlap is the longest end of the text so far, 5 to 500 bytes of UTF-8, that the continuation begins
    with. It may come in many small pieces, so text is held back for as long as it could still be a repetition
    that goes on.
    """

    def __init__(self, before: str) -> None:
        self._tail = _last_bytes(before, _LONGEST_OVERLAP)
        self._held = ""
        self._is_closed = False

    def feed(self, text: str) -> str | None:
        """Take a piece of the continuation; give what is new, or `None` while that is not decided."""
        if self._is_closed:
            return text
        self._held += text
        if self._could_grow():
            return None
        return self.close()

    def close(self) -> str:
        """Decide with what there is, since nothing more comes."""
        self._is_closed = True
        text, self._held = self._held, ""
        for count in range(min(len(text), len(self._tail)), 0, -1):
            repeated = text[:count]
            if self._tail.endswith(repeated):
                is_long_enough = len(repeated.encode("utf-8", "replace")) >= _SHORTEST_OVERLAP
                return text[count:] if is_long_enough else text
        return text

    @property
    def is_open(self) -> bool:
        """Whether text is held back."""
        return not self._is_closed and bool(self._held)

    def _could_grow(self) -> bool:
        """Whether the text so far stands in the tail with more behind it, which may be repeated as well."""
        position = self._tail.find(self._held)
        return 0 <= position < len(self._tail) - len(self._held)


def _last_bytes(text: str, count: int) -> str:
    """Give the end of a text, at most so many bytes of UTF-8, cut between characters."""
    data = text[-count:].encode("utf-8", "replace")[-count:]
    return data.decode("utf-8", "ignore")


class SeenIndices:
    """Which indices the answer has used so far, and which of them are open."""

    def __init__(self) -> None:
        self.highest = -1
        self.open: set[int] = set()

    def note(self, event: StreamEvent) -> None:
        """Take an event as it goes out."""
        match event:
            case TextPart(index=index) | ToolCallStart(index=index) | ToolCallArguments(index=index):
                self.highest = max(self.highest, index)
                self.open.add(index)
            case Flush(index=index):
                self.open.discard(index)
            case _:
                pass


@dataclass(frozen=True, slots=True)
class CutText:
    """The text that the limit cut off: where it is, and what it says so far."""

    index: int
    text: str


class Continuation:
    """Turns the events of a further response into events of the answer."""

    def __init__(self, seen: SeenIndices, *, cut: CutText | None, keeps_reasoning: bool) -> None:
        self._seen = seen
        self._cut = cut
        self._keeps_reasoning = keeps_reasoning
        self._indices: dict[int, int | None] = {}
        self._highest = seen.highest
        self._seam: Seam | None = None
        self._seam_part: TextPart | None = None

    def adopt(self, event: StreamEvent) -> list[StreamEvent]:
        """Take an event of the further response, give what it means for the answer."""
        match event:
            case TextPart(kind="reasoning", index=index) if not self._keeps_reasoning:
                self._indices.setdefault(index, None)
                return []
            case TextPart():
                return self._adopt_text(event)
            case ToolCallStart() | ToolCallArguments():
                moved = self._index_of(event.index)
                return [] if moved is None else [*self.finish(), replace(event, index=moved)]
            case Flush():
                return self._adopt_flush(event)
            case _:
                return [event]

    def finish(self) -> list[StreamEvent]:
        """Give up what the seam holds back."""
        if self._seam is None or self._seam_part is None or not self._seam.is_open:
            return []
        return [replace(self._seam_part, text=self._seam.close())]

    def _adopt_text(self, event: TextPart) -> list[StreamEvent]:
        if self._cut is not None and event.kind != "reasoning" and event.index not in self._indices:
            self._indices[event.index] = self._cut.index
            self._seam = Seam(self._cut.text)
            self._seam_part = replace(event, index=self._cut.index)
            self._cut = None
        index = self._index_of(event.index)
        if index is None:
            return []
        if self._seam is None or self._seam_part is None or index != self._seam_part.index:
            return [*self.finish(), replace(event, index=index)]
        text = self._seam.feed(event.text)
        return [] if text is None else [replace(event, index=index, text=text)]

    def _adopt_flush(self, event: Flush) -> list[StreamEvent]:
        index = self._indices.get(event.index)
        if index is not None:
            return [*self.finish(), replace(event, index=index)]
        # Its parts were left out. A flush of an unknown index means nothing, so it may pass, unless that index
        # is one that the answer still needs.
        return [] if event.index in self._seen.open else [event]

    def _index_of(self, wire_index: int) -> int | None:
        if wire_index not in self._indices:
            self._highest = wire_index if wire_index > self._highest else self._highest + 1
            self._indices[wire_index] = self._highest
        return self._indices[wire_index]

"""What a reader of a conversation sees: overlays applied, compacted turns shortened (conversation format 6.3).

A pure function of the entries; what is stored stays as it is. Each projected event knows which stored turns
it stands for, so that a display keeps the numbers that a person may type.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from jp_lsp.conversation.directive import (
    Compaction,
    EventOverlay,
    OmitToolCalls,
    OverlayPatch,
    StripReasoning,
    StripToolCalls,
)
from jp_lsp.conversation.entry import Entry
from jp_lsp.conversation.event import (
    ChatRequest,
    ChatResponse,
    ConversationEvent,
    EventKind,
    MessageResponse,
    ProviderVisible,
    ReasoningResponse,
    ToolCallRequest,
    ToolCallResponse,
    TurnStart,
)
from jp_lsp.conversation.ids import CallId
from jp_lsp.conversation.turns import numbered

SUMMARY_REQUEST = "[Summary of previous conversation]"


@dataclass(frozen=True, slots=True)
class Projected:
    """An event as a reader sees it.

    `first_turn` and `last_turn` are the stored turns that it stands for, from 0; they differ only where a
    summary stands for several. `position` is that of its entry, or of the first entry of the summarised run.
    """

    event: ConversationEvent
    position: int
    first_turn: int
    last_turn: int


@dataclass(frozen=True, slots=True)
class ProjectedTurn:
    """A turn as a reader sees it, with the stored turns that it stands for, from 0, both included."""

    first_turn: int
    last_turn: int
    events: tuple[ConversationEvent, ...]


@dataclass(frozen=True, slots=True)
class _Policies:
    """Which compaction rules a turn, for each of the three policies."""

    summary: Sequence[Compaction | None]
    reasoning: Sequence[Compaction | None]
    tool_calls: Sequence[Compaction | None]


def project(entries: Sequence[Entry]) -> list[Projected]:
    """Give the events that a reader sees, in order."""
    located = _overlaid(entries)
    compactions = [entry.content for entry in entries if isinstance(entry.content, Compaction)]
    if not compactions or not located:
        return located
    turn_count = located[-1].last_turn + 1
    policies = _Policies(
        _winners(turn_count, compactions, lambda each: each.summary),
        _winners(turn_count, compactions, lambda each: each.reasoning),
        _winners(turn_count, compactions, lambda each: each.tool_calls),
    )
    return list(_compacted(located, policies))


def projected_turns(entries: Sequence[Entry]) -> list[ProjectedTurn]:
    """Give the projection cut into turns, as a display shows them."""
    by_turn = groupby(project(entries), key=lambda item: (item.first_turn, item.last_turn))
    return [
        ProjectedTurn(first, last, tuple(item.event for item in items)) for (first, last), items in by_turn
    ]


def is_provider_visible(event: ConversationEvent) -> bool:
    """Tell whether a provider may see this kind; any kind that comes later is invisible until listed."""
    return isinstance(event.kind, ProviderVisible)


def _overlaid(entries: Sequence[Entry]) -> list[Projected]:
    """Give all events with the overlays' edits; an overlay holds for the whole stream."""
    patches = [
        patch
        for entry in entries
        if isinstance(entry.content, EventOverlay)
        for patch in entry.content.patches
    ]
    return [
        Projected(_patched(entry.content, patches), position, turn, turn)
        for position, (turn, entry) in enumerate(numbered(entries))
        if isinstance(entry.content, ConversationEvent)
    ]


def _patched(event: ConversationEvent, patches: Sequence[OverlayPatch]) -> ConversationEvent:
    metadata = event.metadata
    for patch in patches:
        if patch.remove in metadata and patch.key in metadata and metadata[patch.key] == patch.value:
            metadata = {key: value for key, value in metadata.items() if key != patch.remove}
    return event if metadata is event.metadata else replace(event, metadata=metadata)


def _winners(
    turn_count: int, compactions: Sequence[Compaction], policy: Callable[[Compaction], object | None]
) -> Sequence[Compaction | None]:
    """Find for each turn the latest compaction that has this policy; of equally late ones the last stored.

    The latest goes first and takes all its turns; what comes later takes what is still free. `next_free`
    lets it skip taken turns, so that many compactions of many turns stay cheap.
    """
    winners: list[Compaction | None] = [None] * turn_count
    next_free = list(range(turn_count + 1))

    def free_from(turn: int) -> int:
        while next_free[turn] != turn:
            next_free[turn] = next_free[next_free[turn]]
            turn = next_free[turn]
        return turn

    candidates = [compaction for compaction in reversed(compactions) if policy(compaction) is not None]
    for compaction in sorted(candidates, key=lambda each: each.timestamp, reverse=True):
        turn = free_from(min(compaction.from_turn, turn_count))
        while turn <= min(compaction.to_turn, turn_count - 1):
            winners[turn] = compaction
            next_free[turn] = turn + 1
            turn = free_from(turn)
    return winners


def _compacted(located: Sequence[Projected], policies: _Policies) -> Iterator[Projected]:
    calls = _Calls(located)
    runs = _summary_runs(policies.summary)
    previous_run: tuple[int, int] | None = None
    for item in located:
        turn = item.first_turn
        summary = policies.summary[turn]
        if summary is not None:
            if runs[turn] != previous_run:
                yield from _summarised(item, summary.summary or "", runs[turn])
            previous_run = runs[turn]
            continue
        reasoning, tool_calls = policies.reasoning[turn], policies.tool_calls[turn]
        kind: EventKind | None = item.event.kind
        if isinstance(kind, ReasoningResponse):
            if reasoning is not None and reasoning.reasoning is not None:
                kind = _stripped_reasoning(kind, reasoning.reasoning)
        elif isinstance(kind, ToolCallRequest | ToolCallResponse) and tool_calls is not None:
            kind = calls.reduced(item, kind, tool_calls.tool_calls)
        if kind is not None:
            yield item if kind is item.event.kind else replace(item, event=replace(item.event, kind=kind))


def _summary_runs(winners: Sequence[Compaction | None]) -> Mapping[int, tuple[int, int]]:
    """Give for each summarised turn the run of neighbours that the same compaction rules."""
    runs: dict[int, tuple[int, int]] = {}
    start = 0
    for turn in range(1, len(winners) + 1):
        if turn < len(winners) and _is_same_summary(winners[turn], winners[start]):
            continue
        if winners[start] is not None:
            runs.update(dict.fromkeys(range(start, turn), (start, turn - 1)))
        start = turn
    return runs


def _is_same_summary(one: Compaction | None, other: Compaction | None) -> bool:
    """Two compactions with the same text, range and time are one; equal texts alone are not."""
    if one is None or other is None:
        return one is other
    return replace(one, reasoning=None, tool_calls=None) == replace(other, reasoning=None, tool_calls=None)


def _summarised(first: Projected, summary: str, run: tuple[int, int]) -> Iterator[Projected]:
    for kind in (TurnStart(), ChatRequest(SUMMARY_REQUEST), MessageResponse(summary)):
        yield Projected(ConversationEvent(first.event.timestamp, kind), first.position, *run)


def _stripped_reasoning(kind: ChatResponse, policy: StripReasoning) -> ChatResponse | None:
    is_larger = isinstance(kind, ReasoningResponse) and _size(kind.text) > policy.over
    return None if is_larger else kind


def _size(text: str) -> int:
    """Count the bytes of `text`, also of one with surrogates that no file could hold."""
    return len(text.encode("utf-8", "surrogatepass"))


class _Calls:
    """Tool calls of a stream: names by id, and the sizes that thresholds are compared with."""

    def __init__(self, located: Sequence[Projected]) -> None:
        self._names: dict[CallId, str] = {}
        self._sizes: dict[int, int] = {}
        self._pair_sizes: dict[int, int] = {}
        waiting: dict[tuple[int, CallId], list[int]] = {}
        for item in located:
            kind = item.event.kind
            if isinstance(kind, ToolCallRequest):
                self._names[kind.id] = kind.name
                size = _size(json.dumps(kind.arguments, ensure_ascii=False, separators=(",", ":")))
                self._sizes[item.position] = self._pair_sizes[item.position] = size
                waiting.setdefault((item.first_turn, kind.id), []).append(item.position)
            elif isinstance(kind, ToolCallResponse):
                size = _size(kind.content)
                self._sizes[item.position] = self._pair_sizes[item.position] = size
                if requests := waiting.get((item.first_turn, kind.id)):
                    request = requests.pop(0)
                    both = size + self._sizes[request]
                    self._pair_sizes[item.position] = self._pair_sizes[request] = both

    def reduced(
        self,
        item: Projected,
        kind: ToolCallRequest | ToolCallResponse,
        policy: StripToolCalls | OmitToolCalls | None,
    ) -> ToolCallRequest | ToolCallResponse | None:
        """Give what the policy leaves of one half of a call; `None` for nothing."""
        match policy:
            case None:
                return kind
            case OmitToolCalls(over):
                return None if self._pair_sizes[item.position] > over else kind
            case StripToolCalls():
                is_request = isinstance(kind, ToolCallRequest)
                threshold = policy.request_over if is_request else policy.response_over
                if threshold is None or self._sizes[item.position] <= threshold:
                    return kind
        if isinstance(kind, ToolCallRequest):
            return replace(kind, arguments={})
        outcome = "error" if kind.is_error else "success"
        return replace(kind, content=f"[compacted] {self._names.get(kind.id, 'unknown')}: {outcome}")

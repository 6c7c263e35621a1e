"""The status line: what the turn is doing, in a few words.

It is made from the slots of ephemeral chunks. What is most worth knowing stands alone: a failed request that
will be tried again, then tools that run, then what the model does.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from jp_lsp.protocol.chunk import (
    NoticeChunk,
    PreviewChunk,
    ReasoningIndicatorChunk,
    RetryChunk,
    StatusChunk,
    ToolPreparingChunk,
    ToolProgressChunk,
)
from jp_lsp.terminal.words import plain_line, whole_seconds

SlotChunk: TypeAlias = (
    StatusChunk
    | ReasoningIndicatorChunk
    | ToolPreparingChunk
    | ToolProgressChunk
    | RetryChunk
    | PreviewChunk
    | NoticeChunk
)

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_PLAIN_FRAMES = "|/-\\"
_FRAMES_A_SECOND = 10
_HINT_AFTER = 5.0
_HINT = "Ctrl+C to interrupt"
_NAMED_TOOLS = 3
_MAX_MESSAGE_SIZE = 80


@dataclass(frozen=True, slots=True)
class Slot:
    """A state and the time at which it came, in seconds of any clock."""

    chunk: SlotChunk
    since: float


@dataclass(frozen=True, slots=True)
class StatusStyle:
    """How the line is written: with characters beyond ASCII or without, and whether Ctrl+C opens a menu."""

    is_unicode: bool = True
    has_menu: bool = True


def status_line(
    slots: Mapping[str, Slot], now: float, began: float, style: StatusStyle, *, otherwise: str = "working"
) -> str:
    """Write the line; `began` is when the query was sent, `otherwise` what to say without any state."""
    elapsed = now - began
    frames = _FRAMES if style.is_unicode else _PLAIN_FRAMES
    frame = frames[int(elapsed * _FRAMES_A_SECOND) % len(frames)]
    parts = [describe(slots, now) or otherwise, whole_seconds(elapsed)]
    if elapsed >= _HINT_AFTER and style.has_menu:
        parts.append(_HINT)
    return f"{frame} {(' · ' if style.is_unicode else ' - ').join(parts)}"


def describe(slots: Mapping[str, Slot], now: float) -> str:
    """Say what goes on; empty when the slots do not tell."""
    if (retry := _retry(slots, now)) is not None:
        return retry
    if tools := [slot for slot in slots.values() if isinstance(slot.chunk, ToolProgressChunk)]:
        return _running(tools, now)
    for slot in slots.values():
        if isinstance(slot.chunk, ToolPreparingChunk):
            return f"writing a call of {plain_line(slot.chunk.name or 'a tool')}"
    for slot in slots.values():
        if isinstance(slot.chunk, ReasoningIndicatorChunk):
            return "thinking"
    for slot in slots.values():
        if isinstance(slot.chunk, StatusChunk) and slot.chunk.detail:
            return plain_line(slot.chunk.detail)
    return ""


def _retry(slots: Mapping[str, Slot], now: float) -> str | None:
    for slot in slots.values():
        if isinstance(slot.chunk, RetryChunk):
            chunk = slot.chunk
            left = (chunk.delay_ms or 0) / 1000 - (now - slot.since)
            when = f"in {whole_seconds(left + 1)}" if left > 0 else "now"
            count = f" ({chunk.attempt} of {chunk.max})" if chunk.attempt and chunk.max else ""
            return f"{plain_line(chunk.cause or 'the request failed')}; trying again {when}{count}"
    return None


def _running(tools: list[Slot], now: float) -> str:
    chunks = [(slot, slot.chunk) for slot in tools if isinstance(slot.chunk, ToolProgressChunk)]
    names = [plain_line(chunk.name or "a tool") for _, chunk in chunks]
    shown = ", ".join(names[:_NAMED_TOOLS])
    if len(names) > _NAMED_TOOLS:
        shown += f" and {len(names) - _NAMED_TOOLS} more"
    words = [f"running {shown}"]
    if len(chunks) == 1:
        slot, chunk = chunks[0]
        words.append(f"for {whole_seconds((chunk.elapsed_ms or 0) / 1000 + now - slot.since)}")
        if chunk.percentage is not None:
            words.append(f"{chunk.percentage} %")
        if chunk.message:
            words.append(f"({plain_line(chunk.message)[:_MAX_MESSAGE_SIZE]})")
    return " ".join(words)

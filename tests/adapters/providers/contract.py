"""Checks that an adapter's events obey the grammar (providers 1.3) and the order (query pipeline 2.4)."""

from collections.abc import Iterable

from jp_lsp.turn.failure import StreamFailure
from jp_lsp.turn.stream_event import (
    Finished,
    Flush,
    KeepAlive,
    Patch,
    StreamEvent,
    TextPart,
    ToolCallArguments,
    ToolCallStart,
)


def violations(events: Iterable[StreamEvent]) -> list[str]:
    """Name every breach of the contract; none for a well-behaved adapter."""
    found: list[str] = []
    kinds: dict[int, str] = {}
    open_indices: set[int] = set()
    highest_text = -1
    highest = -1
    is_over = False
    for position, event in enumerate(events):
        where = f"event {position}"
        if is_over:
            found.append(f"{where}: something follows the end")
        match event:
            case TextPart(index=index) | ToolCallStart(index=index) | ToolCallArguments(index=index):
                kind = event.kind if isinstance(event, TextPart) else "tool_call"
                if index < 0:
                    found.append(f"{where}: negative index")
                if index in open_indices and kinds[index] != kind:
                    found.append(f"{where}: index {index} is {kinds[index]} and {kind}")
                if index not in open_indices and index in kinds:
                    found.append(f"{where}: index {index} is used again after its flush")
                # A part without text says nothing that could be out of order: it brings a signature.
                if isinstance(event, TextPart) and (event.text or index not in open_indices):
                    if index < highest_text:
                        found.append(f"{where}: text at {index} after text at {highest_text}")
                    if index not in open_indices and index < highest:
                        found.append(f"{where}: text begins at {index} after {highest}")
                    highest_text = max(highest_text, index)
                highest = max(highest, index)
                kinds[index] = kind
                open_indices.add(index)
            case Flush(index=index):
                open_indices.discard(index)
            case Finished() | StreamFailure():
                is_over = True
            case Patch() | KeepAlive():
                pass
    if not is_over:
        found.append("the stream has no end")
    return found

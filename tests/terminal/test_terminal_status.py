"""The words of the status line."""

from typing import Any

import pytest

from jp_lsp.terminal.screen import read_chunk
from jp_lsp.terminal.status import Slot, StatusStyle, describe, status_line


def slots(*chunks: dict[str, Any], since: float = 0.0) -> dict[str, Slot]:
    made: dict[str, Slot] = {}
    for value in chunks:
        chunk = read_chunk({"v": 1, "seq": 1, "turn": "t", "cycle": 1, "class": "ephemeral", **value})
        assert chunk is not None
        made[value["slot"]] = Slot(chunk, since)  # type: ignore[arg-type]  # the cases are ephemeral
    return made


STATUS = {"type": "status", "slot": "status", "phase": "waiting", "detail": "sending request"}
THINKING = {"type": "reasoning_indicator", "slot": "reasoning", "mode": "static"}
PREPARING = {"type": "tool_preparing", "slot": "tool:a", "name": "grep", "elapsedMs": 0}
LS = {"type": "tool_progress", "slot": "tool:b", "name": "ls", "elapsedMs": 3000}
BUSY_LS = {**LS, "percentage": 40, "message": "half\nway"}
RETRY = {"type": "retry", "slot": "retry", "attempt": 1, "max": 5, "cause": "Timeout", "delayMs": 2000}


@pytest.mark.parametrize(
    ("chunks", "now", "words"),
    [
        ((), 0.0, ""),
        ((STATUS,), 0.0, "sending request"),
        ((STATUS, THINKING), 0.0, "thinking"),
        ((STATUS, PREPARING), 0.0, "writing a call of grep"),
        ((STATUS, PREPARING, LS), 0.0, "running ls for 3 s"),
        ((LS,), 4.5, "running ls for 7 s"),
        ((BUSY_LS,), 0.0, "running ls for 3 s 40 % (half way)"),
        ((LS, {**LS, "slot": "tool:c", "name": "cat"}), 0.0, "running ls, cat"),
        (
            tuple({**LS, "slot": f"tool:{name}", "name": name} for name in "abcde"),
            0.0,
            "running a, b, c and 2 more",
        ),
        ((LS, RETRY), 0.5, "Timeout; trying again in 2 s (1 of 5)"),
        ((RETRY,), 1.5, "Timeout; trying again in 1 s (1 of 5)"),
        ((RETRY,), 2.5, "Timeout; trying again now (1 of 5)"),
        (({"type": "retry", "slot": "retry"},), 0.0, "the request failed; trying again now"),
        (({"type": "tool_progress", "slot": "tool:x", "name": "\x1b[31mred"},), 0.0, "running [31mred for 0 s"),
    ],
)  # fmt: skip
def test_words(chunks: tuple[dict[str, Any], ...], now: float, words: str) -> None:
    assert describe(slots(*chunks), now) == words


@pytest.mark.parametrize(
    ("style", "now", "line"),
    [
        (StatusStyle(), 0.0, "⠋ sending request · 0 s"),
        (StatusStyle(), 0.35, "⠸ sending request · 0 s"),
        (StatusStyle(is_unicode=False), 0.1, "/ sending request - 0 s"),
        (StatusStyle(), 6.0, "⠋ sending request · 6 s · Ctrl+C to interrupt"),
        (StatusStyle(has_menu=False), 6.0, "⠋ sending request · 6 s"),
        (StatusStyle(has_menu=False), 125.0, "⠋ sending request · 2 min 05 s"),
    ],
)
def test_line(style: StatusStyle, now: float, line: str) -> None:
    assert status_line(slots(STATUS), now, 0.0, style) == line

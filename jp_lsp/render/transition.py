"""What stands between two things in the transcript (the table of query pipeline 5.3)."""

from typing import Literal

from jp_lsp.render.join import LINE_BREAK, PARAGRAPH_BREAK
from jp_lsp.render.options import ReasoningSeparator

Written = Literal[
    "role",
    "request",
    "message",
    "reasoning",
    "structured",
    "tool_call",
    "custom_call",
    "tool_result",
    "notice",
]
"""What can be written. A custom call is one whose arguments were written by a formatter command."""

RULE = f"{PARAGRAPH_BREAK}---{PARAGRAPH_BREAK}"
"""The rule has an empty line above it, or it would make a heading of the text there (trap 99)."""

NEEDS_NO_HEADER = frozenset({"request", "notice"})
"""What is not the assistant's."""


def separator(before: Written | None, after: Written, answer: ReasoningSeparator | None) -> str:
    """Give what to write between `before` and `after`.

    Args:
        before: what was written last, `None` at the very beginning.
        after: what is going to be written.
        answer: how an answer is set off from thoughts; `None` when thoughts are not shown as they are.
    """
    if before is None:
        return ""
    if before == "reasoning" and after == "message" and answer is not None:
        return _before_answer(answer)
    if before == "tool_call" and after in {"tool_call", "custom_call"}:
        return LINE_BREAK
    return PARAGRAPH_BREAK


def _before_answer(answer: ReasoningSeparator) -> str:
    match answer:
        case "rule":
            return RULE
        case "blank":
            return PARAGRAPH_BREAK
        case "none":
            # The answer must not stand on the last line of a thought, which may be the end of a fence.
            return LINE_BREAK

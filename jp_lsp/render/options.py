"""How a response should read; `config` builds these from `style.*` and the server's settings."""

from dataclasses import dataclass, field
from typing import Literal

ReasoningMode = Literal["hidden", "full", "truncate", "progress", "static", "timer", "summary"]


@dataclass(frozen=True, slots=True)
class ReasoningDisplay:
    """A mode; `limit` counts code points for `truncate`."""

    mode: ReasoningMode = "full"
    limit: int = 100


@dataclass(frozen=True, slots=True)
class DisplayOptions:
    """All of them (query pipeline 5)."""

    reasoning: ReasoningDisplay = field(default_factory=ReasoningDisplay)
    reasoning_separator: Literal["rule", "blank", "none"] = "rule"
    extend_reasoning_across_tools: bool = True
    reasoning_background: str | None = None
    granularity: Literal["block", "raw"] = "block"
    show_tool_calls: bool = True
    control_sequences: Literal["strip", "keep_sgr"] = "strip"

"""Settings that the core of a turn obeys; `config` builds them, a test writes them down."""

from dataclasses import dataclass
from typing import Literal

from jp_lsp.tools.decision import Composing

StreamingAction = Literal["prompt", "continue", "stop", "abort", "reply"]
ToolAction = Literal["prompt", "continue", "restart", "respond", "stop"]
GapAction = Literal["stop", "prompt", "continue", "reply"]


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """`assistant.request` (query pipeline 6.2); times in seconds."""

    max_retries: int = 5
    base_backoff: float = 1.0
    max_backoff: float = 60.0


@dataclass(frozen=True, slots=True)
class InterruptOptions:
    """What a press does; `cooldown` is in seconds, zero switches escalation by counting off.

    `compose_reply` and `compose_response` say where the user writes to the model, while it answers and while
    its tools run.
    """

    streaming: StreamingAction = "prompt"
    tool_call: ToolAction = "prompt"
    gap: GapAction = "stop"
    on_dismiss: Literal["escalate", "continue"] = "escalate"
    cooldown: float = 2.0
    cancel_means: Literal["stop", "abort"] = "stop"
    compose_reply: Composing = "inline"
    compose_response: Composing = "inline"


@dataclass(frozen=True, slots=True)
class TurnOptions:
    """All of them. `max_cycles` and `max_tool_calls` of a turn: 0 is no limit; `can_prompt` says whether anybody can answer."""

    retry: RetryPolicy = RetryPolicy()
    interrupt: InterruptOptions = InterruptOptions()
    can_prompt: bool = True
    persist: bool = True
    max_cycles: int = 0
    max_tool_calls: int = 128

"""The port towards tools: one execution pass of one call."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from jp_lsp.conversation.ids import CallId, ConversationId
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.tools.outcome import ToolOutcome
from jp_lsp.tools.spec import ToolSpec


@dataclass(frozen=True, slots=True)
class ToolRun:
    """One pass: the call, its arguments after coercion and defaults, and all answers so far.

    `root` is the absolute path of the workspace folder, where commands run.
    """

    call: CallId
    tool: ToolSpec
    arguments: JsonObject
    answers: Mapping[str, JsonValue]
    conversation: ConversationId
    workspace_id: str
    root: str


class RunObserver(Protocol):
    """Learns how a pass is getting on."""

    def progress(self, message: str | None, percentage: int | None) -> None:
        """The tool told how far it is."""


class ToolExecutor(Protocol):
    """Runs tools of one source.

    A pass that is cancelled (its task's scope) ends everything it started, in bounded time, and re-raises.
    What goes wrong is a `Failed` outcome; an exception is a mistake of ours.
    """

    async def run(self, run: ToolRun, observer: RunObserver) -> ToolOutcome:
        """Do one pass."""
        ...

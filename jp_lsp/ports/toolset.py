"""The port towards tools: one execution pass of one call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from jp_lsp.conversation.ids import CallId, ConversationId
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.ports.mcp import McpServerConfig
from jp_lsp.tools.outcome import ToolOutcome, ToolQuestion
from jp_lsp.tools.spec import ToolSpec


@dataclass(frozen=True, slots=True)
class ToolRun:
    """One pass: the call, its arguments after coercion and defaults, and all answers so far.

    `root` is the absolute path of the workspace folder, where commands run. `output_file` is the absolute path
    of a file that a tool may make for its whole result; its outcome then names it. `is_allowed` tells whether
    the user, and not only a setting, let it run.
    """

    call: CallId
    tool: ToolSpec
    arguments: JsonObject
    answers: Mapping[str, JsonValue]
    conversation: ConversationId
    workspace_id: str
    root: str
    output_file: str | None = None
    is_allowed: bool = False


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


@dataclass(frozen=True, slots=True)
class Reply:
    """The user's answer to a question."""

    value: JsonValue


NoReply: TypeAlias = Literal["declined", "dismissed"]
"""The user said no to the question itself, or closed it; also when there is nobody to ask."""


class LiveQuestions(Protocol):
    """Puts a question of a tool while its pass goes on.

    MCP servers ask so; other tools end their pass with `NeedsInput` and are run again.
    """

    async def ask(self, run: ToolRun, question: ToolQuestion) -> Reply | NoReply:
        """Wait for the answer, of the kind that the question says. Cancelling withdraws the question."""
        ...


class FormatFailed(Exception):
    """A formatter command failed; the text says why. The tool must not run."""


class Toolset(Protocol):
    """The tools of one turn, whatever their source."""

    @property
    def tools(self) -> Mapping[str, ToolSpec]:
        """What is offered, by the name that the model uses."""
        ...

    @property
    def dropped(self) -> Mapping[str, str]:
        """Why tools that were asked for are not offered, by name."""
        ...

    async def run(self, run: ToolRun, observer: RunObserver) -> ToolOutcome:
        """Do one pass, as `ToolExecutor.run`."""
        ...

    async def format_arguments(self, run: ToolRun) -> str:
        """Let the tool's formatter write the arguments of a call.

        Raises:
            FormatFailed: it could not.
        """
        ...


class Toolbox(Protocol):
    """All sources of tools of a workspace."""

    async def offer(
        self,
        specs: Sequence[ToolSpec],
        servers: Mapping[str, McpServerConfig],
        root: str,
        questions: LiveQuestions,
    ) -> Toolset:
        """Find out which of the configured tools can be had now; starts the servers that they need.

        Args:
            specs: the tools that are wanted.
            servers: the MCP servers that the query knows, by name.
            root: the absolute path of the workspace folder.
            questions: whom tools ask while they run.

        Raises:
            Refusal: a tool server that the query cannot do without did not start.
        """
        ...

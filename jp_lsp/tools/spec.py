"""A tool as configured: where it comes from, how it is offered, and how its calls are treated."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.tools.definition import ToolDefinition

RunMode = Literal["ask", "unattended", "edit", "skip"]
ResultMode = Literal["unattended", "ask", "edit", "skip"]
DetachedPolicy = Literal["auto", "defaults", "deny", "defer"]

DEFAULT_CANCELLATION = (
    "This tool request was intentionally rejected by the user. Please evaluate and either ask the user why "
    "it was rejected, or infer the reason by looking at the historical messages in the conversation."
)
"""Told to the model when a call was cancelled; the same text as the reference's, so that files agree."""


@dataclass(frozen=True, slots=True)
class Command:
    """A program with its arguments, each a template; with `shell`, the program text is given to `sh -c`."""

    program: str
    arguments: tuple[str, ...] = ()
    shell: bool = False


@dataclass(frozen=True, slots=True)
class LocalSource:
    """A command on this machine. `name` is what the command is told it is called."""

    name: str
    command: Command


@dataclass(frozen=True, slots=True)
class McpSource:
    """A tool of an MCP server, by the server's own name for it."""

    server: str
    name: str


@dataclass(frozen=True, slots=True)
class BuiltinSource:
    """A tool that is part of this program."""

    name: str


ToolSource: TypeAlias = LocalSource | McpSource | BuiltinSource


@dataclass(frozen=True, slots=True)
class AssistantTarget:
    """A model answers the question; unset members are those of the inquiry settings."""

    overrides: JsonObject = field(default_factory=lambda: {})


@dataclass(frozen=True, slots=True)
class QuestionPolicy:
    """Who answers a question of a tool, or the answer itself. `answer` counts if `has_answer`."""

    target: Literal["user"] | AssistantTarget = "user"
    has_answer: bool = False
    answer: JsonValue = None


@dataclass(frozen=True, slots=True)
class ToolPolicy:
    """How calls of a tool are treated (query pipeline 3).

    `timeout` is in seconds, 0 is none. `size_threshold` is the most bytes of a result that the model is given.
    `formatter` writes the arguments for display; `formats_unasked` says that it may run before the approval.
    The `detached_*` policies hold where nobody can be asked.
    """

    run_mode: RunMode = "ask"
    result_mode: ResultMode = "unattended"
    formatter: Command | None = None
    formats_unasked: bool = False
    cancellation: str = DEFAULT_CANCELLATION
    timeout: float = 0.0
    size_threshold: int = 262_144
    questions: Mapping[str, QuestionPolicy] = field(default_factory=lambda: {})
    detached_run: DetachedPolicy = "deny"
    detached_deliver: DetachedPolicy = "deny"
    detached_tool: DetachedPolicy = "deny"
    runs_alone: bool = False


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """Everything about one tool that is offered in a turn.

    `options` are static values handed to the tool, `access` its compiled access policy in wire form
    (config-and-tools 4.9), or an error text that keeps it from running.
    """

    definition: ToolDefinition
    source: ToolSource
    policy: ToolPolicy = field(default_factory=ToolPolicy)
    options: JsonObject = field(default_factory=lambda: {})
    access: JsonObject | None = None
    access_error: str | None = None

    @property
    def name(self) -> str:
        """What the model calls it."""
        return self.definition.name

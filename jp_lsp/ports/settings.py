"""The port towards configuration: the few values that a query is run with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from jp_lsp.conversation.directive import ConfigDelta
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.thread import Section
from jp_lsp.ports.attachment import AttachmentEntry
from jp_lsp.ports.compaction import CompactionRule
from jp_lsp.ports.mcp import McpServerConfig
from jp_lsp.ports.provider import ModelId, ModelParameters
from jp_lsp.ports.providers import ProviderSettings
from jp_lsp.ports.trust import TrustItem, TrustPolicy
from jp_lsp.render.options import DisplayOptions
from jp_lsp.tools.definition import ToolChoice
from jp_lsp.tools.spec import Command, ToolSpec
from jp_lsp.tools.switches import ToolSwitch
from jp_lsp.turn.explanation import ValueOrigin
from jp_lsp.turn.options import InterruptOptions, RetryPolicy


@dataclass(frozen=True, slots=True)
class StreamGuards:
    """Limits of one response; zero switches one off."""

    idle_timeout: float = 60.0
    max_response_bytes: int = 1_048_576


@dataclass(frozen=True, slots=True)
class TitleSettings:
    """How a conversation comes by its title (`conversation.title`).

    `model` is asked for one, with `parameters`; `None` if no model is to be asked.
    """

    from_heading: bool = True
    model: ModelId | None = None
    parameters: ModelParameters = ModelParameters()


@dataclass(frozen=True, slots=True)
class ReasoningSummarySettings:
    """Who sums up what the model thinks, and with which parameters (`style.reasoning.summary_model`)."""

    model: ModelId
    parameters: ModelParameters


@dataclass(frozen=True, slots=True)
class LabelRule:
    """A label that conversations are given as they are made (`conversation.labels`).

    `value` is its text, or the command that prints it; `run` says whether that may run.
    """

    name: str
    value: str | Command
    on_new: bool = True
    on_fork: bool = False
    run: Literal["ask", "unattended", "deny"] = "ask"


@dataclass(frozen=True, slots=True)
class QuerySettings:
    """Settings of one query, frozen for its whole run.

    `partial` is the complete resolved configuration as the conversation's files want it (1.8 of
    config-and-tools). `warnings` are sentences for the user.

    `tools` are offered, `idle_tools` only when a query names one; those of MCP servers hold what the user
    configured of them. `untrusted` is all that the workspace's files define and the user must trust first
    (10.4): `driver.trust` asks and takes it out of the rest. `providers` are without it, `trusted_providers`
    with it.
    """

    model: ModelId
    partial: JsonObject
    parameters: ModelParameters = ModelParameters()
    retry: RetryPolicy = RetryPolicy()
    guards: StreamGuards = StreamGuards()
    interrupt: InterruptOptions = InterruptOptions()
    display: DisplayOptions = DisplayOptions()
    system_prompt: str | None = None
    sections: tuple[Section, ...] = ()
    assistant_name: str | None = None
    user_name: str | None = None
    lock_timeout: float = 10.0
    start_local: bool = False
    providers: Mapping[str, ProviderSettings] = field(default_factory=lambda: {})
    tools: tuple[ToolSpec, ...] = ()
    idle_tools: tuple[ToolSpec, ...] = ()
    tool_choice: ToolChoice = "auto"
    mcp_servers: Mapping[str, McpServerConfig] = field(default_factory=lambda: {})
    attachments: tuple[AttachmentEntry, ...] = ()
    untrusted: tuple[TrustItem, ...] = ()
    trust_hash: str = ""
    trust_policy: TrustPolicy = "ask"
    max_cycles: int = 0
    max_tool_calls: int = 128
    trusted_providers: Mapping[str, ProviderSettings] | None = None
    title: TitleSettings = TitleSettings()
    reasoning_summary: ReasoningSummarySettings | None = None
    labels: tuple[LabelRule, ...] = ()
    compaction: tuple[CompactionRule, ...] = ()
    template_values: JsonObject = field(default_factory=lambda: {})
    warnings: tuple[str, ...] = field(default=())


class SettingsSource(Protocol):
    """Where settings come from; files are read anew for each query."""

    def written_in(self, document: str) -> "SettingsSource":
        """Give the same for a query that a file asks for, by its absolute path.

        What such a file wants to run or to reach is the workspace's if it lies in the workspace, and must be trusted.
        """
        ...

    def default_conversation(self, overrides: Sequence[str]) -> str | None:
        """Read `conversation.default_id`, which no conversation can decide.

        Raises:
            Refusal: the configuration is invalid.
        """
        ...

    def lock_timeout(self, overrides: Sequence[str]) -> float:
        """Give the seconds to wait for a conversation that another program holds (`style.lock_wait`)."""
        ...

    def resolve(
        self,
        overrides: Sequence[str],
        conversation: ConversationStream | None,
        attachments: Sequence[str] = (),
    ) -> QuerySettings:
        """Merge all layers.

        Args:
            overrides: `--cfg` expressions.
            conversation: an existing one.
            attachments: entries that the query adds to those of the configuration.

        Raises:
            Refusal: the configuration is invalid; says file, key and what is allowed.
        """
        ...

    def origins(
        self,
        overrides: Sequence[str],
        conversation: ConversationStream | None,
        attachments: Sequence[str] = (),
    ) -> Sequence[ValueOrigin]:
        """Say where each setting that somebody made comes from; what is asked for is as in `resolve`."""
        ...

    def switched(
        self,
        overrides: Sequence[str],
        conversation: ConversationStream | None,
        switches: Sequence[ToolSwitch],
    ) -> Sequence[str]:
        """Give the expressions with those behind them that switch tools, on top of all layers.

        Raises:
            Refusal: the configuration is invalid, a tool is unknown, or it is locked.
        """
        ...

    def write_document(self, settings: QuerySettings) -> str:
        """Give the piece of TOML that a user may change while writing a query."""
        ...

    def read_document(self, text: str) -> Sequence[str]:
        """Give the expressions that say what a changed piece of TOML says.

        Raises:
            Refusal: it is no TOML, or holds a value that no setting has.
        """
        ...

    def delta(self, conversation: ConversationStream, settings: QuerySettings) -> ConfigDelta | None:
        """Give the change from the conversation's stored settings to these, as far as its files can keep it.

        `None` when there is none.
        """
        ...

"""What a query is prepared from, and what its preparation finds."""

from dataclasses import dataclass

from jp_lsp.conversation.thread import Attachment, Section
from jp_lsp.driver.title_request import TitleWanted
from jp_lsp.ports.attachment import Attachments
from jp_lsp.ports.clock import Clock
from jp_lsp.ports.process import ProcessRunner
from jp_lsp.ports.provider import ModelDetails, ModelParameters, Provider
from jp_lsp.ports.providers import Providers
from jp_lsp.ports.recording import Recordings
from jp_lsp.ports.results import ResultFiles
from jp_lsp.ports.settings import QuerySettings, SettingsSource, StreamGuards
from jp_lsp.ports.store import ConversationStore, OpenConversation
from jp_lsp.ports.toolset import Toolbox, Toolset
from jp_lsp.ports.trust import TrustStore
from jp_lsp.tools.definition import ToolDefinition
from jp_lsp.tools.memory import MemoryLayer
from jp_lsp.turn.inputs import PreparedTurn


class EmptyQuery(Exception):
    """There is nothing to ask; nobody did anything wrong."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a query runs: the workspace's parts, each behind its port."""

    store: ConversationStore
    settings: SettingsSource
    providers: Providers
    clock: Clock
    toolbox: Toolbox
    trust: TrustStore
    session_memory: MemoryLayer
    attachments: Attachments
    workspace_id: str = ""
    root: str = ""
    recordings: Recordings | None = None
    results: ResultFiles | None = None
    processes: ProcessRunner | None = None


@dataclass(frozen=True, slots=True)
class CycleParts:
    """What every request of the turn is made of, beside the stream."""

    provider: Provider
    model: ModelDetails
    parameters: ModelParameters
    guards: StreamGuards
    system_prompt: str | None
    sections: tuple[Section, ...]
    tools: tuple[ToolDefinition, ...] = ()
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class Preparation:
    """Everything that was found."""

    turn: PreparedTurn
    conversation: OpenConversation
    parts: CycleParts
    toolset: Toolset
    warnings: tuple[str, ...]
    around: Surroundings
    settings: QuerySettings
    title: TitleWanted | None

"""The table of methods: everything that a client can say to us, and we to it, beside standard LSP.

The server registers its handlers from this table, the exporter writes the clients' types and the protocol
page from it, and a test holds the three together. To add a method, add a row, its types and an example.

Every method that a client may call has a twin for clients that know only standard LSP: a command of
`workspace/executeCommand` whose id is the method's name with dots for slashes, whose one argument is the
params object, and whose result is the method's result.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from pydantic import BaseModel

from jp_lsp.protocol.chunk import ChunkNotification
from jp_lsp.protocol.compaction import ConversationCompactParams, ConversationCompactResult
from jp_lsp.protocol.configuration import (
    ConfigExplainParams,
    ConfigExplainResult,
    ConfigGetParams,
    ConfigGetResult,
    ConfigListParams,
    ConfigListResult,
    ConfigSetParams,
    ConfigSetResult,
)
from jp_lsp.protocol.content import (
    ConversationEditParams,
    ConversationEditResult,
    ConversationExportParams,
    ConversationExportResult,
    ConversationRestoreParams,
    ConversationRestoreResult,
    ConversationTrashParams,
    ConversationTrashResult,
)
from jp_lsp.protocol.conversation import (
    ConversationChangedNotification,
    ConversationListParams,
    ConversationListResult,
    RenderParams,
    RenderResult,
)
from jp_lsp.protocol.model import ModelListParams, ModelListResult
from jp_lsp.protocol.notice import NoticeNotification
from jp_lsp.protocol.prompt import AnswerParams, PromptParams, PromptResult
from jp_lsp.protocol.replay import ConversationReplayParams, ConversationReplayResult
from jp_lsp.protocol.search import ConversationSearchParams, ConversationSearchResult, SearchHits
from jp_lsp.protocol.turn import (
    InterruptParams,
    InterruptResult,
    QueryParams,
    QueryResult,
    TurnListParams,
    TurnListResult,
)
from jp_lsp.protocol.upkeep import (
    ConversationArchiveParams,
    ConversationArchiveResult,
    ConversationExpiryParams,
    ConversationExpiryResult,
    ConversationForkParams,
    ConversationForkResult,
    ConversationLabelsParams,
    ConversationLabelsResult,
    ConversationMoveParams,
    ConversationMoveResult,
    ConversationNewParams,
    ConversationNewResult,
    ConversationPinParams,
    ConversationPinResult,
    ConversationRemoveParams,
    ConversationRemoveResult,
    ConversationShowParams,
    ConversationShowResult,
    ConversationTitleParams,
    ConversationTitleResult,
    ConversationUnarchiveParams,
    ConversationUnarchiveResult,
    ConversationUseParams,
    ConversationUseResult,
)

PROTOCOL_VERSION = 1
"""Raised when a client that keeps the promises of the older version would go wrong."""

Form = Literal["request", "notification"]


@dataclass(frozen=True, slots=True)
class Method:
    """One row.

    `result` is `None` for a method that exists as a notification only. `may_answer_null` says that the
    result can be `null` instead. `streams_chunks` says that `partialResultToken` brings chunks, and
    `partial` what else it brings. `since` is the first release of the server that has it.
    """

    name: str
    sender: Literal["client", "server"]
    forms: tuple[Form, ...]
    params: type[BaseModel]
    summary: str
    since: str
    result: type[BaseModel] | None = None
    may_answer_null: bool = False
    streams_chunks: bool = False
    partial: type[BaseModel] | None = None

    @property
    def command(self) -> str | None:
        """The id of the `workspace/executeCommand` twin, for a method that a client may call."""
        return self.name.replace("/", ".") if self.sender == "client" else None


_TABLE = (
    Method(
        name="jp/query",
        sender="client",
        forms=("request",),
        params=QueryParams,
        result=QueryResult,
        streams_chunks=True,
        since="0.1.0",
        summary="Runs a turn and answers how it ended.",
    ),
    Method(
        name="jp/interrupt",
        sender="client",
        forms=("request", "notification"),
        params=InterruptParams,
        result=InterruptResult,
        since="0.1.0",
        summary="Steers a running turn: opens its menu, or makes the choice at once.",
    ),
    Method(
        name="jp/answer",
        sender="client",
        forms=("notification",),
        params=AnswerParams,
        since="0.1.0",
        summary="Answers an open question from anywhere in the client.",
    ),
    Method(
        name="jp/turn/list",
        sender="client",
        forms=("request",),
        params=TurnListParams,
        result=TurnListResult,
        since="0.1.0",
        summary="Lists the running queries with their open questions, and the turns that could be resumed.",
    ),
    Method(
        name="jp/conversation/list",
        sender="client",
        forms=("request",),
        params=ConversationListParams,
        result=ConversationListResult,
        since="0.1.0",
        summary="Lists the conversations of the workspace.",
    ),
    Method(
        name="jp/conversation/search",
        sender="client",
        forms=("request",),
        params=ConversationSearchParams,
        result=ConversationSearchResult,
        partial=SearchHits,
        since="0.1.0",
        summary="Looks for a text in what was said in conversations.",
    ),
    Method(
        name="jp/conversation/render",
        sender="client",
        forms=("request",),
        params=RenderParams,
        result=RenderResult,
        streams_chunks=True,
        since="0.1.0",
        summary="Shows a stored conversation again, as the same chunks that showed it while it ran.",
    ),
    Method(
        name="jp/conversation/show",
        sender="client",
        forms=("request",),
        params=ConversationShowParams,
        result=ConversationShowResult,
        since="0.1.0",
        summary="Describes one conversation, with what has to be read for it.",
    ),
    Method(
        name="jp/conversation/new",
        sender="client",
        forms=("request",),
        params=ConversationNewParams,
        result=ConversationNewResult,
        since="0.1.0",
        summary="Makes an empty conversation.",
    ),
    Method(
        name="jp/conversation/use",
        sender="client",
        forms=("request",),
        params=ConversationUseParams,
        result=ConversationUseResult,
        since="0.1.0",
        summary="Chooses the conversation of queries that name none.",
    ),
    Method(
        name="jp/conversation/fork",
        sender="client",
        forms=("request",),
        params=ConversationForkParams,
        result=ConversationForkResult,
        since="0.1.0",
        summary="Copies a conversation, or a part of it, into a new one.",
    ),
    Method(
        name="jp/conversation/title",
        sender="client",
        forms=("request",),
        params=ConversationTitleParams,
        result=ConversationTitleResult,
        since="0.1.0",
        summary="Gives a conversation another title, or none.",
    ),
    Method(
        name="jp/conversation/labels",
        sender="client",
        forms=("request",),
        params=ConversationLabelsParams,
        result=ConversationLabelsResult,
        since="0.1.0",
        summary="Adds labels to a conversation, and takes some away.",
    ),
    Method(
        name="jp/conversation/pin",
        sender="client",
        forms=("request",),
        params=ConversationPinParams,
        result=ConversationPinResult,
        since="0.1.0",
        summary="Pins a conversation, or unpins it.",
    ),
    Method(
        name="jp/conversation/expiry",
        sender="client",
        forms=("request",),
        params=ConversationExpiryParams,
        result=ConversationExpiryResult,
        since="0.1.0",
        summary="Says from when on a conversation may be removed, or that it never may.",
    ),
    Method(
        name="jp/conversation/archive",
        sender="client",
        forms=("request",),
        params=ConversationArchiveParams,
        result=ConversationArchiveResult,
        since="0.1.0",
        summary="Takes a conversation out of the lists, to be kept.",
    ),
    Method(
        name="jp/conversation/unarchive",
        sender="client",
        forms=("request",),
        params=ConversationUnarchiveParams,
        result=ConversationUnarchiveResult,
        since="0.1.0",
        summary="Puts an archived conversation back into the lists.",
    ),
    Method(
        name="jp/conversation/remove",
        sender="client",
        forms=("request",),
        params=ConversationRemoveParams,
        result=ConversationRemoveResult,
        since="0.1.0",
        summary="Moves a conversation to the trash, from where a person can take it back.",
    ),
    Method(
        name="jp/conversation/move",
        sender="client",
        forms=("request",),
        params=ConversationMoveParams,
        result=ConversationMoveResult,
        since="0.1.0",
        summary="Keeps a conversation for the user alone, or also in the workspace.",
    ),
    Method(
        name="jp/conversation/export",
        sender="client",
        forms=("request",),
        params=ConversationExportParams,
        result=ConversationExportResult,
        since="0.1.0",
        summary="Writes a conversation down as one text.",
    ),
    Method(
        name="jp/conversation/edit",
        sender="client",
        forms=("request",),
        params=ConversationEditParams,
        result=ConversationEditResult,
        since="0.1.0",
        summary="Changes what the user said in a turn, or removes the turn.",
    ),
    Method(
        name="jp/conversation/replay",
        sender="client",
        forms=("request",),
        params=ConversationReplayParams,
        result=ConversationReplayResult,
        streams_chunks=True,
        since="0.1.0",
        summary="Asks a turn of a conversation again.",
    ),
    Method(
        name="jp/conversation/compact",
        sender="client",
        forms=("request",),
        params=ConversationCompactParams,
        result=ConversationCompactResult,
        since="0.1.0",
        summary="Shortens what models are shown of a conversation, or undoes that.",
    ),
    Method(
        name="jp/conversation/trash",
        sender="client",
        forms=("request",),
        params=ConversationTrashParams,
        result=ConversationTrashResult,
        since="0.1.0",
        summary="Lists the removed conversations that can be taken back.",
    ),
    Method(
        name="jp/conversation/restore",
        sender="client",
        forms=("request",),
        params=ConversationRestoreParams,
        result=ConversationRestoreResult,
        since="0.1.0",
        summary="Takes a removed conversation back from the trash.",
    ),
    Method(
        name="jp/model/list",
        sender="client",
        forms=("request",),
        params=ModelListParams,
        result=ModelListResult,
        since="0.1.0",
        summary="Lists the models that can be asked, with their aliases.",
    ),
    Method(
        name="jp/config/get",
        sender="client",
        forms=("request",),
        params=ConfigGetParams,
        result=ConfigGetResult,
        since="0.1.0",
        summary="Gives the value of a setting, or of all.",
    ),
    Method(
        name="jp/config/explain",
        sender="client",
        forms=("request",),
        params=ConfigExplainParams,
        result=ConfigExplainResult,
        since="0.1.0",
        summary="Says of settings where their values come from, and what is overridden.",
    ),
    Method(
        name="jp/config/set",
        sender="client",
        forms=("request",),
        params=ConfigSetParams,
        result=ConfigSetResult,
        since="0.1.0",
        summary="Sets or unsets settings in a file, and leaves everything else in it as it is.",
    ),
    Method(
        name="jp/config/list",
        sender="client",
        forms=("request",),
        params=ConfigListParams,
        result=ConfigListResult,
        since="0.1.0",
        summary="Lists the files that can be applied by name, such as personas and skills.",
    ),
    Method(
        name="jp/prompt",
        sender="server",
        forms=("request",),
        params=PromptParams,
        result=PromptResult,
        may_answer_null=True,
        since="0.1.0",
        summary="Puts a question to the user, for clients that declared its kind.",
    ),
    Method(
        name="jp/chunk",
        sender="server",
        forms=("notification",),
        params=ChunkNotification,
        since="0.1.0",
        summary="Carries a chunk of a query that has no `partialResultToken`.",
    ),
    Method(
        name="jp/notice",
        sender="server",
        forms=("notification",),
        params=NoticeNotification,
        since="0.1.0",
        summary="Tells the user something beside any transcript.",
    ),
    Method(
        name="jp/conversationChanged",
        sender="server",
        forms=("notification",),
        params=ConversationChangedNotification,
        since="0.1.0",
        summary="Says that a conversation was made, changed, moved or removed.",
    ),
)

METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _TABLE})
"""Every method by its name, in the order of the protocol page."""

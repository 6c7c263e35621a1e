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
from jp_lsp.protocol.conversation import (
    ConversationChangedNotification,
    ConversationListParams,
    ConversationListResult,
    RenderParams,
    RenderResult,
)
from jp_lsp.protocol.notice import NoticeNotification
from jp_lsp.protocol.prompt import AnswerParams, PromptParams, PromptResult
from jp_lsp.protocol.turn import (
    InterruptParams,
    InterruptResult,
    QueryParams,
    QueryResult,
    TurnListParams,
    TurnListResult,
)

PROTOCOL_VERSION = 1
"""Raised when a client that keeps the promises of the older version would go wrong."""

Form = Literal["request", "notification"]


@dataclass(frozen=True, slots=True)
class Method:
    """One row.

    `result` is `None` for a method that exists as a notification only. `may_answer_null` says that the
    result can be `null` instead. `streams_chunks` says that `partialResultToken` brings chunks. `since` is
    the first release of the server that has it.
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
        summary="Says that a conversation was created, stored, renamed or removed.",
    ),
)

METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _TABLE})
"""Every method by its name, in the order of the protocol page."""

METHOD_OF_COMMAND: Mapping[str, Method] = MappingProxyType(
    {method.command: method for method in _TABLE if method.command is not None}
)
"""The method behind each `workspace/executeCommand` id."""

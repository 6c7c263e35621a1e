"""Errors: their numbers, their codes, and the data that travels with each (query pipeline 1.10).

A query that became a turn is answered with a result, even when the turn failed. An error means that no
turn was started, or that the request was cancelled. The number is for JSON-RPC; `data.code` is what a
client should look at.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType
from typing import Literal

from typing_extensions import TypeAliasType

from jp_lsp.protocol.base import Array, WireModel
from jp_lsp.protocol.turn import Outcome, TurnSummary

ErrorCode = TypeAliasType(
    "ErrorCode",
    Literal[
        "conversation_busy",
        "conversation_not_found",
        "conversation_unreadable",
        "lock_timeout",
        "config_invalid",
        "model_unknown",
        "provider_auth",
        "structured_output_unsupported",
        "mcp_failed",
        "attachment_failed",
        "persist_failed",
        "compaction_failed",
        "no_workspace",
        "invalid_params",
        "cancelled",
        "not_initialized",
        "invalid_request",
        "method_not_found",
        "parse_error",
        "internal",
    ],
)
"""What went wrong."""


class ErrorNumber(IntEnum):
    """The `code` of a JSON-RPC error object."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    NOT_INITIALIZED = -32002
    REQUEST_CANCELLED = -32800
    REQUEST_FAILED = -32803


@dataclass(frozen=True, slots=True)
class ErrorMeaning:
    """What an error code means: its number on the wire, and a sentence for the protocol page."""

    number: ErrorNumber
    meaning: str


ERRORS: Mapping[str, ErrorMeaning] = MappingProxyType(
    {
        "conversation_busy": ErrorMeaning(
            ErrorNumber.REQUEST_FAILED,
            "Another query runs in the conversation; `queue` would have waited for it.",
        ),
        "conversation_not_found": ErrorMeaning(ErrorNumber.REQUEST_FAILED, "There is no such conversation."),
        "conversation_unreadable": ErrorMeaning(
            ErrorNumber.REQUEST_FAILED, "The files of the conversation cannot be read; they were not changed."
        ),
        "lock_timeout": ErrorMeaning(
            ErrorNumber.REQUEST_FAILED, "Another program holds the conversation and did not let go in time."
        ),
        "config_invalid": ErrorMeaning(
            ErrorNumber.REQUEST_FAILED, "A setting is wrong; `origin` names its file, key or variable."
        ),
        "model_unknown": ErrorMeaning(
            ErrorNumber.REQUEST_FAILED, "The model's vendor does not offer the model."
        ),
        "provider_auth": ErrorMeaning(
            ErrorNumber.REQUEST_FAILED,
            "The key for the model's vendor is missing; `origin` names the variable.",
        ),
        "structured_output_unsupported": ErrorMeaning(
            ErrorNumber.REQUEST_FAILED, "The model cannot answer with a value that fits `schema`."
        ),
        "mcp_failed": ErrorMeaning(ErrorNumber.REQUEST_FAILED, "An MCP server that is needed did not start."),
        "attachment_failed": ErrorMeaning(ErrorNumber.REQUEST_FAILED, "An attachment could not be read."),
        "persist_failed": ErrorMeaning(
            ErrorNumber.REQUEST_FAILED,
            "The query could not be stored, so it was not sent; or a file could not be changed.",
        ),
        "compaction_failed": ErrorMeaning(
            ErrorNumber.REQUEST_FAILED,
            "No summary could be made, or it was no shorter than what it would replace; nothing was changed.",
        ),
        "no_workspace": ErrorMeaning(
            ErrorNumber.REQUEST_FAILED, "No workspace was found for the open folders."
        ),
        "invalid_params": ErrorMeaning(
            ErrorNumber.INVALID_PARAMS,
            "The params do not have the promised shape; the message names the field.",
        ),
        "cancelled": ErrorMeaning(
            ErrorNumber.REQUEST_CANCELLED, "The client cancelled the request; the data say what was kept."
        ),
        "not_initialized": ErrorMeaning(
            ErrorNumber.NOT_INITIALIZED, "The request came before `initialize` was answered."
        ),
        "invalid_request": ErrorMeaning(
            ErrorNumber.INVALID_REQUEST, "The request came after `shutdown`, or is none."
        ),
        "method_not_found": ErrorMeaning(
            ErrorNumber.METHOD_NOT_FOUND, "The server has no such method or command."
        ),
        "parse_error": ErrorMeaning(ErrorNumber.PARSE_ERROR, "What came is not JSON."),
        "internal": ErrorMeaning(
            ErrorNumber.REQUEST_FAILED, "Something in the server broke; `trace` finds the place in its log."
        ),
    }
)
"""Every code. The page and the clients' types are written from this table."""


class ErrorData(WireModel):
    """The `data` of every error."""

    code: ErrorCode
    chain: Array[str] = ()
    """From what was tried to the cause."""
    origin: str | None = None
    """The file, key or variable to look at."""
    trace: str
    """An id that stands beside the error in the server's log."""
    draft: str | None = None
    """The text of the query, so that nothing typed is lost."""


class CancelledData(ErrorData):
    """The `data` of an error that answers a cancelled query. What was kept stays valid."""

    outcome: Outcome
    turns: Array[TurnSummary] = ()
    partial_saved: bool
    """Whether what the model had said is stored."""

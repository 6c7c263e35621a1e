"""Why a provider request did not end well, as data (providers 3)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class FailureKind(StrEnum):
    """The classes of trouble, named as in the recordings.

    The last but one is ours: the turn went well but for the value that it was asked for.
    """

    TIMEOUT = "timeout"
    CONNECT = "connect"
    RATE_LIMIT = "rate_limit"
    TRANSIENT = "transient"
    QUOTA = "quota"
    OUTPUT_LIMIT = "output_limit"
    AUTH = "auth"
    PERMISSION = "permission"
    UNKNOWN_MODEL = "unknown_model"
    CONTEXT_LENGTH = "context_length"
    MALFORMED = "malformed"
    MISSING_STRUCTURED_DATA = "missing_structured_data"
    OTHER = "other"


RETRYABLE_KINDS = frozenset(
    {
        FailureKind.TIMEOUT,
        FailureKind.CONNECT,
        FailureKind.RATE_LIMIT,
        FailureKind.TRANSIENT,
    }
)

NOTICE_WORDS = {
    FailureKind.TIMEOUT: "Timeout",
    FailureKind.CONNECT: "Connection error",
    FailureKind.RATE_LIMIT: "Rate limited",
    FailureKind.TRANSIENT: "Server error",
    FailureKind.QUOTA: "Insufficient API quota",
    FailureKind.OUTPUT_LIMIT: "Output limit exceeded",
    FailureKind.AUTH: "Authentication failed",
    FailureKind.PERMISSION: "Not permitted",
    FailureKind.UNKNOWN_MODEL: "Unknown model",
    FailureKind.CONTEXT_LENGTH: "Context too long",
    FailureKind.MALFORMED: "Invalid request",
    FailureKind.MISSING_STRUCTURED_DATA: "No structured value",
    FailureKind.OTHER: "Stream error",
}


@dataclass(frozen=True, slots=True)
class StreamFailure:
    """One failed attempt. `retry_after` is in seconds and never set on a fatal kind."""

    kind: FailureKind
    message: str
    retry_after: float | None = None
    status: int | None = None
    provider: str | None = None

    @property
    def is_retryable(self) -> bool:
        """Whether trying again may help (providers 3: kind, hint, or a gateway's own error text)."""
        if self.kind in RETRYABLE_KINDS or self.retry_after is not None:
            return True
        text = self.message.lower()
        return self.kind is FailureKind.OTHER and ("unreachable" in text or "upstream" in text)


ErrorCode = Literal[
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
    "internal",
]


@dataclass(frozen=True, slots=True)
class QueryError:
    """Why a query could not begin (query pipeline 1.10).

    `chain` leads from what was tried to the cause; `origin` names the file, key or variable to look at.
    """

    code: ErrorCode
    message: str
    chain: tuple[str, ...] = ()
    origin: str | None = None

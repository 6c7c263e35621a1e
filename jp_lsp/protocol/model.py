"""Wire types about models: what a response cost, and how a vendor failed."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypeAliasType

from jp_lsp.protocol.base import Array, WireModel

FailureClass = TypeAliasType(
    "FailureClass",
    Literal[
        "timeout",
        "connect",
        "rate_limit",
        "transient",
        "quota",
        "output_limit",
        "auth",
        "permission",
        "unknown_model",
        "context_length",
        "malformed",
        "missing_structured_data",
        "other",
    ],
)
"""What kind of trouble a model's vendor, or the way to it, made.

With `missing_structured_data` there was none, but the answer came without the value that was asked for.
"""


class Usage(WireModel):
    """Tokens, as far as the vendor told."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    """Input tokens that the vendor took from its cache."""
    reasoning_tokens: int | None = None


class Failure(WireModel):
    """Why a turn ended as `failed`."""

    failure_class: Annotated[FailureClass, Field(alias="class")]
    message: str
    """One sentence for people."""
    provider: str | None = None
    """The vendor's id, such as `anthropic`."""
    status: int | None = None
    """The HTTP status, when there was one."""
    attempts: int
    """How many requests were made before the turn gave up."""
    chain: Array[str] = ()
    """From what was tried to the cause, in the vendor's own words."""

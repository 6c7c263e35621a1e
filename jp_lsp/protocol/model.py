"""Wire types about models: which there are, what a response cost, and how a vendor failed."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypeAliasType

from jp_lsp.protocol.base import Array, WireModel
from jp_lsp.protocol.conversation import ConversationId
from jp_lsp.protocol.notice import Notice

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


class ModelListParams(WireModel):
    """Which models to list."""

    vendor: str | None = None
    """Only those of this vendor, such as `anthropic`."""
    conversation: ConversationId | None = None
    """Whose model counts as the effective one; else that of a new conversation."""
    config: Array[str] = ()
    """`--cfg` expressions on top, as in `jp/query`."""
    refresh: bool = False
    """Ask the vendors once more, whatever is remembered of them."""


class ListedModel(WireModel):
    """A model, and what is known of it."""

    id: str
    """What `assistant.model.id` takes: the vendor, a slash, and the vendor's name of it."""
    vendor: str
    name: str
    display_name: str | None = None
    context_window: int | None = None
    """In tokens."""
    max_output_tokens: int | None = None
    reasoning: Literal["none", "budget", "levels", "adaptive"] | None = None
    """How it can be told how much to think."""
    structured_output: bool | None = None
    """Whether the vendor holds it to a schema."""
    knowledge_cutoff: str | None = None
    """A date."""
    deprecated: bool | None = None
    aliases: Array[str] = ()
    """Other names of it, from the configuration."""
    effective: bool = False
    """Whether a query would ask it now."""


class ModelAlias(WireModel):
    """A name that the configuration gives a model."""

    name: str
    model: str


class ModelListResult(WireModel):
    """The models of all vendors that could be asked, by id."""

    models: Array[ListedModel]
    aliases: Array[ModelAlias] = ()
    """All that the configuration has, also for models that are not listed."""
    effective: str | None = None
    """The model that a query would ask now."""
    notices: Array[Notice] = ()
    """Which vendors are missing, and why."""

"""What differs between servers that speak chat completions, as data.

A new vendor is a new `Dialect` value and, if its list of models needs reading, one function. The encoder and
the decoder never ask for a vendor's name.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.ports.provider import CycleRequest, ModelDetails
from jp_lsp.providers.failure import VendorErrors
from jp_lsp.providers.http import VendorHttp
from jp_lsp.providers.reasoning import EffortValue


@dataclass(frozen=True, slots=True)
class ReasoningFields:
    """What a request says about thinking, and whether the model will think at all.

    `takes_effort`: how much can be said as well; where it cannot, the user is told that the wish counts for nothing.
    """

    fields: JsonObject
    is_thinking: bool
    takes_effort: bool = True


@dataclass(frozen=True, slots=True)
class WrittenMessages:
    """All messages, and a sentence for each attachment that the server cannot take."""

    messages: list[dict[str, JsonValue]]
    left_out: list[str]


Setting = Literal["temperature", "top_p", "top_k", "stop"]


def without(setting: Setting) -> str:
    """Name the feature of a model that refuses a setting which its server takes from other models."""
    return f"no_{setting}"


@dataclass(frozen=True, slots=True)
class Dialect:
    """One server's way of speaking.

    What is asked:
        `reasoning_fields` gets the request and the resolved effort. `write_messages` writes the thread where the
        family's usual way will not do; it is told whether the model writes on from an assistant message.
        `writes_blocks`: texts are lists of blocks. `reasoning_member` is how an assistant message carries earlier
        thinking, and with `keeps_reasoning_slot` one with calls has it even when there was none.
        `describes_all`: a tool without a description has an empty one. `named_choice`: how one tool is demanded;
        with `asks_while_thinking` any demand is only put into words while the model thinks, and followed up.
        `enforces_schemas`: the vendor holds models to a schema, which `response_schema` rewrites for it; without,
        `json_mode` at least makes them write JSON. `samples_while_thinking`: sampling settings count for a model
        that thinks. `passes_on`: members of the user's `other` parameters that go out as they are. `prefills`:
        models of which nothing is known write on from an assistant message, as long as they do not think.

    What comes back:
        `scans_tags`: thinking may come as `<think>` in the content. `reuses_indices`: reasoning that comes back
        after content continues at index 0, as one vendor's recorded streams have it; all others open a new
        event, which keeps the order. `flushes_late`: events are complete when the answer is, and only those that
        came. `read_details` gives the metadata of structured reasoning, or nothing when there is none in it.

    `list_lifetime`: seconds for which the list of models is remembered.
    """

    provider: str
    errors: VendorErrors
    list_models: Callable[[VendorHttp], Awaitable[Sequence[ModelDetails]]]
    reasoning_fields: Callable[[CycleRequest, EffortValue | None], ReasoningFields]
    chat_path: str = "/v1/chat/completions"
    write_messages: Callable[[CycleRequest, bool], WrittenMessages] | None = None
    writes_blocks: bool = False
    reasoning_member: Literal["reasoning_content", "reasoning"] | None = "reasoning_content"
    keeps_reasoning_slot: bool = False
    scans_tags: bool = False
    reuses_indices: bool = False
    flushes_late: bool = False
    read_details: Callable[[JsonValue], Mapping[str, JsonValue] | None] | None = None
    strict_tools: bool = False
    describes_all: bool = True
    named_choice: Literal["required", "object"] = "object"
    asks_while_thinking: bool = False
    enforces_schemas: bool = True
    json_mode: bool = False
    response_schema: Callable[[JsonObject], JsonObject] | None = None
    takes_images: bool = False
    max_tokens_member: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    takes_top_k: bool = False
    samples_while_thinking: bool = True
    passes_on: tuple[str, ...] = ()
    asks_for_usage: bool = False
    prefills: bool = False
    list_lifetime: float = 0.0

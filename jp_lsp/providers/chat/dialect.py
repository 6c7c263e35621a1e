"""What differs between servers that speak chat completions, as data.

A new vendor is a new `Dialect` value and, if its list of models needs reading, one function. The encoder and
the decoder never ask for a vendor's name.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.ports.provider import CycleRequest, ModelDetails
from jp_lsp.providers.failure import VendorErrors
from jp_lsp.providers.http import VendorHttp
from jp_lsp.providers.reasoning import EffortValue


@dataclass(frozen=True, slots=True)
class ReasoningFields:
    """What a request says about thinking, and whether the model will think at all."""

    fields: JsonObject
    is_thinking: bool


@dataclass(frozen=True, slots=True)
class Dialect:
    """One server's way of speaking.

    `reasoning_fields` gets the request and the resolved effort. `reasoning_member` is how an assistant
    message carries earlier thinking. `scans_tags`: thinking may come as `<think>` in the content.
    `reuses_indices`: reasoning that comes back after content continues at index 0, as one vendor's recorded
    streams have it; all others open a new event, which keeps the order. `prefills`: models of which nothing
    is known write on from an assistant message, as long as they do not think.
    """

    provider: str
    errors: VendorErrors
    list_models: Callable[[VendorHttp], Awaitable[Sequence[ModelDetails]]]
    reasoning_fields: Callable[[CycleRequest, EffortValue | None], ReasoningFields]
    chat_path: str = "/v1/chat/completions"
    reasoning_member: Literal["reasoning_content", "reasoning"] = "reasoning_content"
    scans_tags: bool = False
    reuses_indices: bool = False
    strict_tools: bool = False
    named_choice: Literal["required", "object"] = "object"
    takes_images: bool = False
    max_tokens_member: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    takes_top_k: bool = False
    takes_stop: bool = True
    asks_for_usage: bool = False
    prefills: bool = False

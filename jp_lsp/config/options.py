"""The small option values that other parts declare, built from a complete configuration."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import cast

from jp_lsp.config import duration
from jp_lsp.config.server_settings import ServerSettings
from jp_lsp.config.tool_style import default_style, tool_styles
from jp_lsp.config.value import ABSENT, MergedList, Partial, Path, Value, entries_of, value_at
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.ports.provider import CachePolicy, Effort, EffortLevel, ModelId, ModelParameters, ReasoningWish
from jp_lsp.ports.settings import StreamGuards
from jp_lsp.render.options import DisplayOptions, ReasoningDisplay, ReasoningMode
from jp_lsp.tools.decision import Composing
from jp_lsp.turn.options import InterruptOptions, RetryPolicy, StreamingAction, ToolAction

SHORT_CACHE_SECONDS = 300
LONG_CACHE_SECONDS = 3600

_REQUEST: Path = ("assistant", "request")
_WITHOUT_THOUGHTS = frozenset({"static", "progress", "timer"})
"""Ways to show that a model thinks which do not show what."""


def template_values(tree: Partial) -> JsonObject:
    """Give the variables of query templates."""
    return cast("JsonObject", value_at(tree, ("template", "values")))


def model_id(value: object) -> ModelId:
    """Build a model id from its normal form."""
    model = cast("Mapping[str, str]", value)
    return ModelId(model["provider"], model["name"])


def parameters(model: Partial, request: Partial) -> ModelParameters:
    """Build the settings of requests from a `model` and a `request` table."""
    held = entries_of(model.get("parameters", ABSENT))
    other = cast("Mapping[str, JsonValue]", held.get("other", {}))
    return ModelParameters(
        max_tokens=cast("int | None", held.get("max_tokens")),
        reasoning=reasoning(held.get("reasoning")),
        temperature=cast("float | None", held.get("temperature")),
        top_p=cast("float | None", held.get("top_p")),
        top_k=cast("int | None", held.get("top_k")),
        stop_words=cast("tuple[str, ...]", _items(held.get("stop_words"))),
        other=MappingProxyType(dict(other)),
        cache=CachePolicy(_cache_seconds(request.get("cache", True))),
    )


def main_parameters(tree: Partial) -> ModelParameters:
    """Build the settings of the assistant's requests."""
    return parameters(
        entries_of(value_at(tree, ("assistant", "model"))), entries_of(value_at(tree, _REQUEST))
    )


def reasoning(value: Value) -> ReasoningWish:
    """Build the wish for reasoning; nothing leaves it to the provider."""
    match value:
        case "off":
            return "off"
        case "auto":
            return "auto"
        case Mapping():
            effort = value.get("effort")
            amount = effort["absolute"] if isinstance(effort, Mapping) else effort
            return Effort(cast("EffortLevel | int", amount), value.get("exclude") is True)
        case _:
            return None


def _cache_seconds(value: Value) -> int:
    match value:
        case True:
            return SHORT_CACHE_SECONDS
        case "long":
            return LONG_CACHE_SECONDS
        case str():
            return int(duration.seconds(value))
        case _:
            return 0


def retry_policy(tree: Partial) -> RetryPolicy:
    """Build when and how often failed requests are repeated."""
    request = entries_of(value_at(tree, _REQUEST))
    return RetryPolicy(
        cast("int", request["max_retries"]),
        cast("int", request["base_backoff_ms"]) / 1000,
        float(cast("int", request["max_backoff_secs"])),
    )


def stream_guards(tree: Partial) -> StreamGuards:
    """Build the limits of a response."""
    request = entries_of(value_at(tree, _REQUEST))
    return StreamGuards(
        float(cast("int", request["stream_idle_timeout_secs"])), cast("int", request["max_response_bytes"])
    )


def interrupt_options(tree: Partial, server: ServerSettings) -> InterruptOptions:
    """Build what interrupts do; half of it is in `.jp` files, half in the server's settings."""
    return InterruptOptions(
        streaming=cast("StreamingAction", value_at(tree, ("interrupt", "streaming", "action"))),
        tool_call=cast("ToolAction", value_at(tree, ("interrupt", "tool_call", "action"))),
        gap=server.interrupt.turn_action,
        on_dismiss=server.interrupt.on_dismiss,
        cooldown=float(cast("int", value_at(tree, ("interrupt", "escalation_cooldown_secs")))),
        cancel_means=server.interrupt.cancel_action,
        compose_reply=_composing(value_at(tree, ("interrupt", "streaming", "compose_in_editor"))),
        compose_response=_composing(value_at(tree, ("interrupt", "tool_call", "compose_in_editor"))),
    )


def _composing(value: object) -> Composing:
    """Read `compose_in_editor` (query pipeline 4.7)."""
    if value == "always":
        return "editor_only"
    return "editor" if value is True else "inline"


def display_options(tree: Partial, server: ServerSettings) -> DisplayOptions:
    """Build how a response reads."""
    style = entries_of(value_at(tree, ("style", "reasoning")))
    background = style.get("background")
    return DisplayOptions(
        reasoning=_reasoning_display(style["display"], is_excluded=main_parameters(tree).excludes_reasoning),
        reasoning_separator=server.render.reasoning_separator,
        extend_reasoning_across_tools=style["extend_across_tool_calls"] is True,
        reasoning_background=None if background is None else str(background),
        granularity=server.render.granularity,
        show_tool_calls=value_at(tree, ("style", "tool_call", "show")) is True,
        control_sequences=server.render.control_sequences,
        tools=tool_styles(tree),
        default_tool=default_style(tree),
        gather_seconds=server.render.coalesce_ms / 1000,
    )


def _reasoning_display(value: Value, *, is_excluded: bool) -> ReasoningDisplay:
    if is_excluded and value not in _WITHOUT_THOUGHTS:
        return ReasoningDisplay("hidden")
    if isinstance(value, int):
        return ReasoningDisplay("truncate", value)
    return ReasoningDisplay(cast("ReasoningMode", value))


def lock_timeout(tree: Partial) -> float:
    """Give how many seconds to wait for another program that has the conversation."""
    return float(cast("int", value_at(tree, ("style", "lock_wait", "timeout_secs"))))


def optional_text(tree: Partial, *path: str) -> str | None:
    """Give a text that may be unset; an empty one counts as unset."""
    value = value_at(tree, path)
    return value if isinstance(value, str) and value else None


def flag(tree: Partial, *path: str) -> bool:
    """Give a switch."""
    return value_at(tree, path) is True


def _items(value: Value) -> tuple[Value, ...]:
    return value.items if isinstance(value, MergedList) else ()

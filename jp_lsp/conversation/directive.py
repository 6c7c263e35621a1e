"""Entries that are no events: they change how the events around them are read.

`ConfigDelta` changes settings from its place on, `Compaction` makes projections shorter, `EventOverlay`
edits metadata in projections, and `Unknown` is whatever a newer version wrote (conversation format 3.8,
3.9).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from jp_lsp.conversation import shape
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.conversation.timestamp import Timestamp

DIRECTIVE_TYPES = frozenset({"config_delta", "compaction", "event_overlay"})

_ENVELOPE = frozenset({"type", "timestamp", "event_id"})
_SIZE = re.compile(r"(\d{1,15})\s*(B|KB|MB|GB|TB)?\Z", re.ASCII | re.IGNORECASE)
_UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}


@dataclass(frozen=True, slots=True)
class ConfigDelta:
    """A change of settings: start from the program's defaults if `is_reset`, clear `unsets`, merge `delta`.

    `unsets` are dotted paths, which only files of the newer form can say. `timestamp` is `None` where the file has no
    readable one, and until the change is stored.
    """

    delta: JsonObject
    unsets: tuple[str, ...] = ()
    is_reset: bool = False
    timestamp: Timestamp | None = None


@dataclass(frozen=True, slots=True)
class StripReasoning:
    """Leave reasoning out; with `over`, only text of more bytes than that."""

    over: int = -1


@dataclass(frozen=True, slots=True)
class StripToolCalls:
    """Empty arguments and replace results; a threshold of `None` leaves that half as it is."""

    request_over: int | None
    response_over: int | None


@dataclass(frozen=True, slots=True)
class OmitToolCalls:
    """Leave calls out together with their results; with `over`, only pairs of more bytes than that."""

    over: int = -1


@dataclass(frozen=True, slots=True)
class Compaction:
    """What a reader sees of the turns `from_turn` to `to_turn`, counted from 0, both included."""

    timestamp: Timestamp
    from_turn: int
    to_turn: int
    summary: str | None = None
    reasoning: StripReasoning | None = None
    tool_calls: StripToolCalls | OmitToolCalls | None = None


@dataclass(frozen=True, slots=True)
class OverlayPatch:
    """Remove the key `remove` from the metadata of each event that has `value` under `key`."""

    key: str
    value: JsonValue
    remove: str


@dataclass(frozen=True, slots=True)
class EventOverlay:
    """Edits that hold in every projection."""

    timestamp: Timestamp
    patches: tuple[OverlayPatch, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """An entry of a kind that we do not know; its text is kept and nothing else."""


Directive: TypeAlias = ConfigDelta | Compaction | EventOverlay | Unknown


def decode(raw: JsonObject) -> Directive:
    """Read a stored object whose `type` is one of `DIRECTIVE_TYPES`.

    Raises:
        ShapeError: a field is missing or of the wrong type; says which.
    """
    match raw["type"]:
        case "config_delta":
            return _decode_config_delta(raw)
        case "compaction":
            return _decode_compaction(raw)
        case "event_overlay":
            patches = tuple(_decode_patch(patch) for patch in shape.items(raw, "patches"))
            return EventOverlay(shape.timestamp(raw), patches)
        case other:
            raise shape.ShapeError(f"'type' {other!r} is not a kind of directive")


def encode_compaction(compaction: Compaction) -> JsonObject:
    """Give the stored object of a compaction, in the form that every reader knows: without thresholds."""
    stored: dict[str, JsonValue] = {
        "type": "compaction",
        "timestamp": str(compaction.timestamp),
        "from_turn": compaction.from_turn,
        "to_turn": compaction.to_turn,
    }
    if compaction.summary is not None:
        stored["summary"] = {"summary": compaction.summary}
    if compaction.reasoning is not None:
        stored["reasoning"] = "strip"
    match compaction.tool_calls:
        case None:
            pass
        case OmitToolCalls():
            stored["tool_calls"] = {"policy": "omit"}
        case StripToolCalls(request_over, response_over):
            stored["tool_calls"] = {
                "policy": "strip",
                "request": request_over is not None,
                "response": response_over is not None,
            }
    return stored


def _decode_config_delta(raw: JsonObject) -> ConfigDelta:
    try:
        at = shape.timestamp(raw)
    except shape.ShapeError:
        at = None
    operation = raw.get("op")
    if operation not in (None, "apply", "reset"):
        raise shape.ShapeError(f"'op' {operation!r} is neither apply nor reset")
    if operation == "reset":
        return ConfigDelta({}, is_reset=True, timestamp=at)
    listed = raw.get("unsets")
    unsets = tuple(path for path in listed if isinstance(path, str)) if isinstance(listed, list) else ()
    if "delta" in raw:
        return ConfigDelta(shape.mapping(raw, "delta"), unsets, timestamp=at)
    flat = {key: value for key, value in raw.items() if key not in _ENVELOPE | {"op", "unsets"}}
    return ConfigDelta(flat, unsets, timestamp=at)


def _decode_compaction(raw: JsonObject) -> Compaction:
    summary = None if raw.get("summary") is None else shape.text(shape.mapping(raw, "summary"), "summary")
    return Compaction(
        shape.timestamp(raw),
        shape.index(raw, "from_turn"),
        shape.index(raw, "to_turn"),
        summary,
        _decode_reasoning_policy(raw.get("reasoning")),
        _decode_tool_policy(raw.get("tool_calls")),
    )


def _decode_reasoning_policy(policy: JsonValue) -> StripReasoning | None:
    if policy is None:
        return None
    if policy == "strip":
        return StripReasoning()
    if isinstance(policy, Mapping) and policy.get("policy") == "strip":
        return StripReasoning(_threshold(policy))
    raise shape.ShapeError("'reasoning' must be \"strip\" or an object with the policy strip")


def _decode_tool_policy(policy: JsonValue) -> StripToolCalls | OmitToolCalls | None:
    if policy is None:
        return None
    if isinstance(policy, Mapping) and policy.get("policy") == "omit":
        return OmitToolCalls(_threshold(policy))
    if isinstance(policy, Mapping) and policy.get("policy") == "strip":
        return StripToolCalls(_strip_threshold(policy, "request"), _strip_threshold(policy, "response"))
    raise shape.ShapeError("'tool_calls' must be an object with the policy strip or omit")


def _strip_threshold(policy: JsonObject, name: str) -> int | None:
    return _threshold(policy) if shape.boolean(policy, name) else None


def _threshold(policy: JsonObject) -> int:
    """Give the size that an item must exceed; without one every item does."""
    return -1 if policy.get("over") is None else _parse_size(shape.text(policy, "over"))


def _parse_size(text: str) -> int:
    match = _SIZE.match(text)
    if match is None:
        raise shape.ShapeError(f"{text!r} is not a size such as '4KB'")
    return int(match[1]) * _UNITS[(match[2] or "B").upper()]


def _decode_patch(raw: JsonObject) -> OverlayPatch:
    matcher, action = shape.mapping(raw, "matcher"), shape.mapping(raw, "action")
    if matcher.get("matcher") != "metadata_value":
        raise shape.ShapeError(f"'matcher' {matcher.get('matcher')!r} is not metadata_value")
    if action.get("action") != "remove_metadata":
        raise shape.ShapeError(f"'action' {action.get('action')!r} is not remove_metadata")
    return OverlayPatch(
        shape.text(matcher, "key"), shape.required(matcher, "value"), shape.text(action, "key")
    )

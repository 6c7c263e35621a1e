"""Inputs of a turn as JSON values, and back: what a recording is made of (query pipeline 7.6).

Nothing is listed by hand. A dataclass becomes an object that names its class under `is` and has its fields
beside that, so that a new input, or a new field, can be recorded the day it is written:

    {"is": "turn.inputs.Saved", "point": "P1"}

The two things in an input that are no plain values are the stream and the memory of a prepared turn. They
are also the only ones that the turn changes later: `frozen` takes them as they are now.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from types import ModuleType
from typing import TypeAlias, cast, get_args

from jp_lsp.conversation import directive, event, event_codec, json_text, timestamp
from jp_lsp.conversation.entry import Entry
from jp_lsp.conversation.event import ConversationEvent
from jp_lsp.conversation.ids import counting_event_ids
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.conversation.stored import load
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.tools import definition, memory, outcome, spec
from jp_lsp.tools.memory import MemoryLayer, ToolMemory
from jp_lsp.turn import failure, inputs, options, stream_event
from jp_lsp.turn.inputs import Input, Prepared

_IS = "is"
_TUPLE, _TABLE = "tuple", "table"
_STREAM, _MEMORY = "stream", "memory"


class CodecError(ValueError):
    """A value is not what `encode` makes of an input; the message says what is wrong."""


def frozen(item: Input) -> Input:
    """Give the input with nothing in it that the turn is going to change."""
    if not isinstance(item, Prepared):
        return item
    turn = item.turn
    remembered = None if turn.memory is None else turn.memory.copy()
    return Prepared(replace(turn, stream=turn.stream.copy(), memory=remembered))


def encode(value: object) -> JsonValue:
    """Give the JSON value of an input, an action, or anything in one.

    Raises:
        TypeError: there is something in it that is no plain value; a mistake of ours.
    """
    match value:
        case Enum():
            return {_IS: _name(type(value)), "value": encode(value.value)}
        case None | bool() | int() | float() | str():
            return value
        case ConversationStream():
            return _encode_stream(value)
        case ToolMemory():
            return {
                _IS: _MEMORY,
                "session": encode(value.session),
                "conversation": encode(value.conversation),
            }
        case Mapping():
            return _encode_mapping(cast("Mapping[object, object]", value))
        case tuple():
            return {_IS: _TUPLE, "items": [encode(item) for item in cast("tuple[object, ...]", value)]}
        case Sequence():
            return [encode(item) for item in cast("Sequence[object]", value)]
        case _ if is_dataclass(value):
            members = {field.name: encode(getattr(value, field.name)) for field in fields(value)}
            return {_IS: _name(type(value)), **members}
        case _:
            raise TypeError(f"{type(value).__name__} has no place in a recording")


def decode_input(raw: JsonValue) -> Input:
    """Read an input.

    The types of fields are not looked at: an input of a recording that somebody changed may be one that the
    core cannot handle.

    Raises:
        CodecError: it is none.
    """
    item = _decode(raw)
    if not isinstance(item, get_args(Input)):
        raise CodecError(f"{type(item).__name__} is no input")
    return cast(Input, item)


def decode_layer(raw: JsonValue) -> MemoryLayer:
    """Read what is remembered in one scope.

    Raises:
        CodecError: it is something else.
    """
    layer = _decode(raw)
    if not isinstance(layer, MemoryLayer):
        raise CodecError(f"{type(layer).__name__} is not what is remembered")
    return layer


def _name(kind: type) -> str:
    return f"{kind.__module__.removeprefix('jp_lsp.')}.{kind.__qualname__}"


def _classes_of(module: ModuleType) -> Mapping[str, type]:
    own = (
        each
        for each in vars(module).values()
        if isinstance(each, type) and each.__module__ == module.__name__
    )
    return {_name(each): each for each in own if is_dataclass(each) or issubclass(each, Enum)}


_CLASSES: Mapping[str, type] = {
    name: kind
    for module in (
        definition,
        directive,
        event,
        failure,
        inputs,
        memory,
        options,
        outcome,
        spec,
        stream_event,
        timestamp,
    )
    for name, kind in _classes_of(module).items()
}
"""What may stand in an input, by the name under `is`. Reading makes nothing else."""

_Members: TypeAlias = Mapping[str, object]


def _encode_mapping(value: Mapping[object, object]) -> JsonValue:
    """Give a plain object where JSON can say it and it cannot be taken for something else."""
    if all(isinstance(key, str) for key in value) and _IS not in value:
        return {cast(str, key): encode(member) for key, member in value.items()}
    return {_IS: _TABLE, "items": [[encode(key), encode(member)] for key, member in value.items()]}


def _encode_stream(stream: ConversationStream) -> JsonValue:
    return {
        _IS: _STREAM,
        "created_at": encode(stream.created_at),
        "base_config": encode(stream.base_config),
        "newer_format": stream.newer_format,
        "entries": [_encode_entry(entry) for entry in stream.entries],
    }


def _encode_entry(entry: Entry) -> JsonValue:
    """Give an event as itself, since its stored form hides texts in base64; all else as it is stored."""
    if isinstance(entry.content, ConversationEvent):
        return encode(entry.content)
    return encode(json_text.from_text(entry.text))


def _decode(raw: JsonValue) -> object:
    match raw:
        case Mapping():
            return _decode_object(raw)
        case str():
            return raw
        case Sequence():
            return [_decode(item) for item in raw]
        case _:
            return raw


def _decode_object(raw: JsonObject) -> object:
    name = raw.get(_IS)
    try:
        if name == _TABLE:
            return _decode_table(raw["items"])
        members = {key: _decode(member) for key, member in raw.items() if key != _IS}
        match name:
            case None:
                return members
            case str() if name in _CLASSES:
                return _CLASSES[name](**members)
            case "tuple":
                return tuple(cast("list[object]", members["items"]))
            case "stream":
                return _decode_stream(members)
            case "memory":
                return ToolMemory(**members)  # type: ignore[arg-type]  # said of `decode_input`
            case _:
                raise CodecError(f"{name!r} is nothing that an input can have in it")
    except (TypeError, KeyError, ValueError, AttributeError, AssertionError) as error:
        raise error if isinstance(error, CodecError) else CodecError(f"{name}: {error}") from error


def _decode_table(items: JsonValue) -> Mapping[object, object]:
    pairs = cast("list[tuple[object, object]]", _decode(items))
    return {key: member for key, member in pairs}  # noqa: C416  # pairs are lists of two


def _decode_stream(members: _Members) -> ConversationStream:
    newer_format = members["newer_format"] is True
    stored = [
        event_codec.encode(entry, newer_format=newer_format)
        if isinstance(entry, ConversationEvent)
        else entry
        for entry in cast("list[JsonValue | ConversationEvent]", members["entries"])
    ]
    return load(
        json_text.to_text(stored),
        json_text.to_text(cast(JsonObject, members["base_config"])),
        created_at=cast(Timestamp, members["created_at"]),
        mint=counting_event_ids(),
        newer_format=newer_format,
    )

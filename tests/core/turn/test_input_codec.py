"""Inputs as JSON values and back: whatever can happen to a turn can be recorded."""

import json
from collections.abc import Callable
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.conversation import event
from jp_lsp.conversation.directive import ConfigDelta
from jp_lsp.conversation.event import ChatRequest, ConversationEvent, TurnStart
from jp_lsp.conversation.ids import counting_event_ids
from jp_lsp.conversation.stored import load
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.tools.definition import NamedTool, Parameter, ToolDefinition
from jp_lsp.tools.memory import MemoryLayer, ToolMemory
from jp_lsp.tools.outcome import Failed, NeedsInput, Succeeded, ToolQuestion
from jp_lsp.tools.spec import (
    AssistantTarget,
    BuiltinSource,
    Command,
    LocalSource,
    McpSource,
    QuestionPolicy,
    ToolPolicy,
    ToolSpec,
)
from jp_lsp.turn import inputs, stream_event
from jp_lsp.turn.failure import FailureKind, QueryError, StreamFailure
from jp_lsp.turn.input_codec import CodecError, decode_input, encode, frozen
from jp_lsp.turn.inputs import Input, Prepared, PreparedTurn
from jp_lsp.turn.options import InterruptOptions, RetryPolicy, TurnOptions

TEXT = st.text(max_size=8)
WORDS = st.text(st.characters(codec="utf-8"), max_size=8)
COUNT = st.integers(0, 10**12)
SECONDS = st.floats(0, 1e6)
JSON = st.recursive(
    st.none() | st.booleans() | COUNT | SECONDS | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.just("is"), inner, max_size=3),
    max_leaves=6,
)
OBJECT = st.dictionaries(WORDS | st.just("is"), JSON, max_size=3)
TIME = st.builds(Timestamp, st.integers(0, 2 * 10**18))


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


FAILURE = st.builds(
    StreamFailure, st.sampled_from(FailureKind), TEXT, maybe(SECONDS), maybe(COUNT), maybe(TEXT)
)
PART = (
    st.builds(
        stream_event.TextPart, COUNT, st.sampled_from(["message", "reasoning", "structured"]), TEXT, OBJECT
    )
    | st.builds(stream_event.ToolCallStart, COUNT, TEXT, TEXT, OBJECT)
    | st.builds(stream_event.ToolCallArguments, COUNT, TEXT)
)
REASON = (
    st.sampled_from([stream_event.Completed(), stream_event.MaxTokens(), stream_event.RetryRequested()])
    | st.builds(stream_event.Refused, maybe(TEXT), maybe(TEXT))
    | st.builds(stream_event.OtherReason, JSON)
)
PATCH = st.builds(stream_event.MetadataPatch, TEXT, TEXT)
STREAM_EVENT = (
    PART
    | st.builds(stream_event.Flush, COUNT, OBJECT)
    | st.builds(stream_event.Patch, st.lists(PATCH, max_size=2).map(tuple))
    | st.just(stream_event.KeepAlive())
    | st.builds(stream_event.Finished, REASON)
    | FAILURE
)
QUESTION = st.builds(
    ToolQuestion,
    id=TEXT,
    text=TEXT,
    kind=st.sampled_from(["boolean", "select", "text", "secret"]),
    context=maybe(TEXT),
    options=st.lists(TEXT, max_size=2).map(tuple),
    default=JSON,
    is_exclusive=st.booleans(),
)
OUTCOME = st.builds(Succeeded, TEXT) | st.builds(Failed, TEXT) | st.builds(NeedsInput, QUESTION)
PARAMETER = st.builds(
    Parameter,
    type=TEXT | st.tuples(TEXT, TEXT) | st.none(),
    default=JSON,
    enum=st.lists(JSON, max_size=2),
    items=maybe(st.builds(Parameter, type=TEXT)),
    properties=st.dictionaries(TEXT, st.builds(Parameter, type=TEXT), max_size=1),
    schema=maybe(OBJECT),
)
COMMAND = st.builds(Command, TEXT, st.lists(TEXT, max_size=2).map(tuple), st.booleans())
POLICY = st.builds(
    ToolPolicy,
    run_mode=st.sampled_from(["ask", "unattended", "edit", "skip"]),
    formatter=maybe(COMMAND),
    timeout=SECONDS,
    questions=st.dictionaries(
        TEXT,
        st.builds(QuestionPolicy, st.just("user") | st.builds(AssistantTarget, OBJECT), st.booleans(), JSON),
        max_size=1,
    ),
)
SPEC = st.builds(
    ToolSpec,
    definition=st.builds(
        ToolDefinition, TEXT, st.dictionaries(TEXT, PARAMETER, max_size=1), schema=maybe(OBJECT)
    ),
    source=st.builds(LocalSource, TEXT, COMMAND)
    | st.builds(McpSource, TEXT, TEXT)
    | st.builds(BuiltinSource, TEXT),
    policy=POLICY,
    options=OBJECT,
    access=maybe(OBJECT),
)
LAYER = st.builds(
    MemoryLayer,
    st.dictionaries(TEXT, st.sampled_from(["run", "skip"]), max_size=1),
    st.dictionaries(TEXT, st.sampled_from(["ask", "edit"]), max_size=1),
    st.dictionaries(TEXT, st.sampled_from(["ask", "skip"]), max_size=1),
    st.dictionaries(st.tuples(TEXT, TEXT), JSON, max_size=1),
)
KIND = (
    st.just(TurnStart())
    | st.builds(ChatRequest, WORDS, maybe(OBJECT), maybe(WORDS))
    | st.builds(event.MessageResponse, WORDS)
    | st.builds(event.StructuredResponse, JSON)
    | st.builds(event.ToolCallRequest, WORDS, WORDS, OBJECT)
    | st.builds(event.ToolCallResponse, WORDS, WORDS, st.booleans())
)


@st.composite
def streams(draw: Callable[[st.SearchStrategy[Any]], Any]) -> ConversationStream:
    """Streams with events, changes of settings, and entries that nobody knows."""
    foreign = draw(st.lists(st.builds(lambda more: {"type": "strange", "more": more}, JSON), max_size=2))
    stream = load(
        json.dumps(foreign),
        json.dumps(draw(OBJECT)),
        created_at=draw(TIME),
        mint=counting_event_ids(),
        newer_format=draw(st.booleans()),
    )
    for kind in draw(st.lists(KIND, max_size=3)):
        stream.append(ConversationEvent(draw(TIME), kind, draw(OBJECT)))
    unsets = draw(st.lists(TEXT, max_size=2)) if stream.newer_format else []
    # A change in front that says the base once more is what a half-done upgrade leaves, and no stream ever holds one.
    stream.append_config_delta({"changed": draw(JSON)}, draw(TIME), unsets)
    return stream


OPTIONS = st.builds(
    TurnOptions,
    st.builds(RetryPolicy, COUNT, SECONDS, SECONDS),
    st.builds(InterruptOptions, cooldown=SECONDS),
    st.booleans(),
)
PREPARED_TURN = st.builds(
    PreparedTurn,
    conversation=TEXT,
    stream=streams(),
    request=st.builds(ChatRequest, TEXT, maybe(OBJECT), maybe(TEXT)),
    options=OPTIONS,
    is_new=st.booleans(),
    config_delta=maybe(st.builds(ConfigDelta, OBJECT, st.lists(TEXT, max_size=2).map(tuple))),
    tool_choice=st.sampled_from(["auto", "none", "required"]) | st.builds(NamedTool, TEXT),
    tools=st.dictionaries(TEXT, SPEC, max_size=2),
    memory=maybe(st.builds(ToolMemory, LAYER, LAYER)),
    is_resumed=st.booleans(),
)
POINT = st.sampled_from(["P1", "P2", "P7"])

INPUTS: dict[type, st.SearchStrategy[Any]] = {
    inputs.Start: st.builds(inputs.Start, TEXT),
    inputs.Prepared: st.builds(inputs.Prepared, PREPARED_TURN),
    inputs.PrepareFailed: st.builds(
        inputs.PrepareFailed,
        st.builds(QueryError, st.just("internal"), TEXT, st.lists(TEXT, max_size=2).map(tuple), maybe(TEXT)),
    ),
    inputs.Saved: st.builds(inputs.Saved, POINT),
    inputs.SaveFailed: st.builds(inputs.SaveFailed, POINT, TEXT, maybe(TEXT)),
    inputs.FromProvider: st.builds(inputs.FromProvider, COUNT, STREAM_EVENT),
    inputs.StreamEnded: st.builds(inputs.StreamEnded, COUNT),
    inputs.UsageReported: st.builds(
        inputs.UsageReported, st.builds(stream_event.Usage, maybe(COUNT), maybe(COUNT), maybe(COUNT))
    ),
    inputs.Pressed: st.builds(inputs.Pressed, maybe(TEXT), maybe(TEXT)),
    inputs.CancelRequested: st.just(inputs.CancelRequested()),
    inputs.Answered: st.builds(inputs.Answered, TEXT, maybe(TEXT), maybe(TEXT)),
    inputs.Dismissed: st.builds(inputs.Dismissed, TEXT),
    inputs.AskFailed: st.builds(inputs.AskFailed, TEXT, TEXT),
    inputs.NothingToAsk: st.just(inputs.NothingToAsk()),
    inputs.Written: st.builds(inputs.Written, TEXT),
    inputs.ToolFinished: st.builds(inputs.ToolFinished, TEXT, COUNT, OUTCOME),
    inputs.ToolCrashed: st.builds(inputs.ToolCrashed, TEXT, COUNT, TEXT),
    inputs.ToolEnded: st.builds(inputs.ToolEnded, TEXT),
    inputs.ToolProgressed: st.builds(inputs.ToolProgressed, TEXT, maybe(TEXT), maybe(COUNT)),
    inputs.ArgumentsFormatted: st.builds(inputs.ArgumentsFormatted, TEXT, TEXT, maybe(TEXT)),
    inputs.InquiryAnswered: st.builds(inputs.InquiryAnswered, TEXT, COUNT, JSON, maybe(TEXT)),
    inputs.TimerElapsed: st.just(inputs.TimerElapsed()),
    inputs.ShutdownRequested: st.just(inputs.ShutdownRequested()),
    inputs.ClientGone: st.just(inputs.ClientGone()),
    inputs.Crashed: st.builds(inputs.Crashed, TEXT, TEXT),
}


@pytest.mark.requirement("S25", "R320")
@pytest.mark.parametrize("kind", get_args(Input), ids=lambda kind: kind.__name__)
def test_every_input_comes_back(kind: type) -> None:
    """Every member of the union has its case here; a new one without a case fails."""

    @given(INPUTS[kind])
    def comes_back(item: Input) -> None:
        line = json.dumps(encode(item))
        read = decode_input(json.loads(line))
        assert json.dumps(encode(read)) == line
        assert comparable(read) == comparable(item)

    comes_back()


def comparable(item: Input) -> object:
    """The input with its stream and its memory as what is in them."""
    if not isinstance(item, Prepared):
        return item
    turn, memory = item.turn, item.turn.memory
    stream = turn.stream
    rest = {name: getattr(turn, name) for name in turn.__slots__ if name not in {"stream", "memory"}}
    entries = [entry.content for entry in stream.entries]
    return (
        rest,
        (stream.created_at, stream.base_config, stream.newer_format, entries, stream.turn_count),
        memory and (memory.session, memory.conversation),
    )


def test_what_the_turn_changes_later_is_taken_as_it_is_now() -> None:
    stream, memory = ConversationStream.new(Timestamp(0), {}), ToolMemory()
    item = Prepared(PreparedTurn("c", stream, ChatRequest("hi"), TurnOptions(), memory=memory))  # type: ignore[arg-type]
    taken = frozen(item)
    before = encode(taken)
    stream.append(ConversationEvent(Timestamp(1), TurnStart()))
    memory.session.permissions["rm"] = "skip"
    memory.conversation.answers["rm", "sure"] = True
    assert encode(taken) == before != encode(item)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (None, "NoneType is no input"),
        ({"point": "P1"}, "dict is no input"),
        ({"is": "tools.outcome.Succeeded", "content": ""}, "Succeeded is no input"),
        ({"is": "turn.inputs.Saved"}, "turn.inputs.Saved: "),
        ({"is": "turn.inputs.Saved", "point": "P1", "more": 1}, "turn.inputs.Saved: "),
        ({"is": "os.system", "command": "true"}, "'os.system' is nothing that an input can have in it"),
        ({"is": "table"}, "table: 'items'"),
        ({"is": ["x"]}, "['x'] is nothing that an input can have in it"),
        ({"is": "turn.failure.FailureKind", "value": "boredom"}, "turn.failure.FailureKind: "),
        (
            {"is": "stream", "newer_format": False, "entries": [], "base_config": 3, "created_at": 0},
            "stream: ",
        ),
    ],
)
def test_what_is_no_input_is_refused(raw: Any, problem: str) -> None:
    with pytest.raises(CodecError) as refused:
        decode_input(raw)
    assert str(refused.value).startswith(problem)


def test_what_is_no_plain_value_is_a_mistake_of_ours() -> None:
    with pytest.raises(TypeError, match="object has no place in a recording"):
        encode({"a": object()})

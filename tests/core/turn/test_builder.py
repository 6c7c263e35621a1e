"""The event builder: vectors of query pipeline 2.9, and its properties."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.conversation.event import ConversationEvent, MessageResponse
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.turn.builder import EventBuilder
from jp_lsp.turn.stream_event import Flush, Part, TextPart, ToolCallArguments, ToolCallStart
from tests.support.streams import lines, summary
from tests.support.turns import message, reasoning, structured, tool_call

AT = Timestamp(5)


def build(*items: Part | Flush, builder: EventBuilder | None = None) -> list[ConversationEvent]:
    builder = builder or EventBuilder()
    events: list[ConversationEvent] = []
    for item in items:
        if isinstance(item, Flush):
            events += builder.flush(item.index, item.metadata, AT)
        else:
            builder.accept(item)
    return events + builder.finish(AT)


VECTORS = {
    "parts of an index become one event": (
        [
            reasoning("Let "),
            reasoning("me think"),
            Flush(0),
            message("The ", 1),
            message("answer", 1),
            Flush(1),
        ],
        ["reasoning: Let me think", "message: The answer"],
    ),
    "a higher index waits for a lower one": (
        [message("A"), message("B", 1), Flush(1), Flush(0)],
        ["message: A", "message: B"],
    ),
    "another kind on an index is rejected": ([reasoning("x"), message("y"), Flush(0)], ["reasoning: x"]),
    "an open call is dropped at the end": (
        [ToolCallStart(2, "c1", "calc"), ToolCallArguments(2, '{"a":')],
        [],
    ),
    "first id and name win; the second flush is silent": (
        [
            ToolCallStart(0, "", ""),
            ToolCallStart(0, "c1", "calc"),
            ToolCallArguments(0, "{}"),
            Flush(0),
            Flush(0),
        ],
        ["call c1: calc({})"],
    ),
    "a blank message is dropped, its metadata too": (
        [message("  \n", k="1"), Flush(0), message("hi"), Flush(0)],
        ["message: hi"],
    ),
    "structured text that is no JSON stays text": ([structured('{"a":1'), Flush(0)], ["data: '{\"a\":1'"]),
    "each structured flush is a value": (
        [structured("{}"), Flush(0), structured("[]", 1), Flush(1)],
        ["data: {}", "data: []"],
    ),
    "a fence around a structured value is taken off": (
        [structured('```json\n{"a": 1}\n```\n'), Flush(0)],
        ["data: {'a': 1}"],
    ),
    "no arguments": ([*tool_call(0, "c", "t", "")], ["call c: t({})"]),
    "null arguments": ([*tool_call(0, "c", "t", " null ")], ["call c: t({})"]),
    "a string of nothing for arguments": ([*tool_call(0, "c", "t", '" "')], ["call c: t({})"]),
    "arguments as JSON within a string": (
        [*tool_call(0, "c", "t", '"{\\"a\\": 1}"')],
        ["call c: t({'a': 1})"],
    ),
    "a missing id is made up": ([*tool_call(3, "", "run_me")], ["call run_me_3: run_me({})"]),
    "the same id twice in one response": (
        [*tool_call(0, "c", "t"), *tool_call(1, "c", "t")],
        ["call c: t({})", "call c_2: t({})"],
    ),
    "a call without a name is dropped": ([*tool_call(0, "c", "")], []),
    "reasoning with empty text is kept": ([reasoning("", sig="s"), Flush(0)], ["reasoning: "]),
    "an index may open again after its flush": (
        [message("a"), Flush(0), message("b"), Flush(0)],
        ["message: a", "message: b"],
    ),
    "what opens an index again stands behind what is there": (
        [reasoning("a"), Flush(0), message("b", 1), reasoning("c"), Flush(0), Flush(1)],
        ["reasoning: a", "message: b", "reasoning: c"],
    ),
    "open texts are completed at the end, ascending": (
        [message("b", 1), reasoning("a", 0)],
        ["reasoning: a", "message: b"],
    ),
    "a flush of an unknown index does nothing": ([Flush(9)], []),
    "an escaped emoji split over two parts": (
        [message("x\ud83d"), message("\ude00"), Flush(0)],
        ["message: x😀"],
    ),
    "half an emoji": ([message("x\ud83d"), Flush(0)], ["message: x\ufffd"]),
}


@pytest.mark.requirement(
    "R21", "R22", "R23", "R24", "R28", "R75", "R76", "R77", "R80", "R207", "S20", "F03", "F04", "R211"
)
@pytest.mark.parametrize("case", VECTORS)
def test_vectors(case: str) -> None:
    items, expected = VECTORS[case]
    assert lines(build(*items)) == expected


@pytest.mark.requirement("R29", "R79", "R243")
def test_flush_metadata_wins_and_time_is_the_flush() -> None:
    (event,) = build(reasoning("x", a="1", b="1"), reasoning("", b="2"), Flush(0, {"c": "3", "a": "0"}))
    assert dict(event.metadata) == {"a": "0", "b": "2", "c": "3"}
    assert event.timestamp == AT


def test_metadata_of_a_blank_message_does_not_leak() -> None:
    (event,) = build(message(" ", k="1"), Flush(0), message("hi"), Flush(0))
    assert dict(event.metadata) == {}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a":', "not valid JSON: "),
        ("[1]", "a JSON object was expected, not a list"),
        ('"x"', "not valid JSON: "),
        ("3", "a JSON object was expected, not a number"),
        ('{"a": NaN}', "not valid JSON: NaN is not JSON"),
        ("[" * 100_000, "not valid JSON: "),
    ],
)
@pytest.mark.requirement("T09")
def test_arguments_that_cannot_be_used_are_marked_and_not_lost(text: str, problem: str) -> None:
    (event,) = build(*tool_call(0, "c", "t", text))
    assert summary(event) == "call c: t({})"
    assert str(event.metadata["arguments_error"]).startswith(problem)
    assert event.metadata["arguments_raw"] == text


def test_violations_are_counted_and_not_accepted() -> None:
    builder = EventBuilder()
    assert builder.accept(reasoning("x"))
    assert not builder.accept(message("y"))
    assert builder.violations == 1


@pytest.mark.requirement("F05", "R6")
def test_open_texts_are_kept_and_what_else_was_open_is_not() -> None:
    builder = EventBuilder()
    for part in (
        message("b", 1),
        reasoning("a", 0),
        reasoning("", 2),
        structured("{", 3),
        ToolCallStart(4, "c", "t"),
    ):
        builder.accept(part)
    assert builder.incomplete_tool_calls() == ["t"]
    assert lines(builder.commit_partial(AT)) == ["reasoning: a", "message: b"]
    assert builder.commit_partial(AT) == []


def test_partial_commit_releases_held_events_in_order() -> None:
    builder = EventBuilder()
    builder.accept(reasoning("thinking", 0))
    for item in tool_call(1, "c", "t"):
        if isinstance(item, Flush):
            assert builder.flush(item.index, {}, AT) == []
        else:
            builder.accept(item)
    assert lines(builder.commit_partial(AT)) == [
        "reasoning: thinking",
        "call c: t({})",
    ]


def test_made_up_ids_avoid_those_of_the_conversation() -> None:
    builder = EventBuilder(lambda: {"t_0", "t_0_2"})
    assert lines(build(*tool_call(0, "", "t"), builder=builder)) == ["call t_0_3: t({})"]


def test_clear_forgets_everything() -> None:
    builder = EventBuilder()
    build_items = [message("a", 1), reasoning("b", 0)]
    for part in build_items:
        builder.accept(part)
    builder.flush(1, {}, AT)
    builder.clear()
    assert builder.finish(AT) == []


@st.composite
def interleavings(draw: st.DrawFn) -> list[Part | Flush]:
    """Parts and flushes of distinct indices, mixed in any way that keeps each index' own order."""
    queues: list[list[Part | Flush]] = []
    for index in range(draw(st.integers(1, 6))):
        texts = draw(st.lists(st.text(min_size=1), min_size=1, max_size=4))
        queues.append([*(message(f"{index}{text}", index) for text in texts), Flush(index)])
    mixed: list[Part | Flush] = []
    while queues:
        queue = draw(st.sampled_from(queues))
        mixed.append(queue.pop(0))
        queues = [queue for queue in queues if queue]
    return mixed


@pytest.mark.requirement("R10", "R23", "R210", "S20")
@given(interleavings())
def test_stored_text_is_complete_and_indices_ascend_per_opening(items: list[Part | Flush]) -> None:
    """An index that appears after a higher one was released cannot be re-ordered; all else ascends."""
    events = build(*items)
    texts = [event.kind.text for event in events if isinstance(event.kind, MessageResponse)]
    parts = [item for item in items if isinstance(item, TextPart)]
    expected = {
        index: "".join(part.text for part in parts if part.index == index)
        for index in {p.index for p in parts}
    }
    assert sorted(texts) == sorted(expected.values())
    opened: set[int] = set()
    released = [int(text[0]) for text in texts]
    first_seen = [item.index for item in items if not (item.index in opened or opened.add(item.index))]
    if first_seen == sorted(first_seen):
        assert released == sorted(released)

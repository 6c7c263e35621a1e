"""What a provider is shown: repaired, projected, calls matched with their results, nothing stored changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.conversation.event import (
    ChatRequest,
    ConversationEvent,
    MessageResponse,
    ToolCallRequest,
    ToolCallResponse,
)
from jp_lsp.conversation.interruption import NOTE
from jp_lsp.conversation.sanitize import INTERRUPTED, sanitize
from jp_lsp.conversation.section import Section, render
from jp_lsp.conversation.thread import TextAttachment, Thread, build_thread
from tests.support.streams import (
    Raw,
    answer,
    at,
    call,
    compaction,
    delta,
    lines,
    message,
    question,
    reasoning,
    result,
    stream_of,
    turn,
    user,
)
from tests.support.work import count_calls


def thread_of(*entries: Raw, base: Raw | None = None, hint: str | None = None) -> Thread:
    stream = stream_of(*entries, base=base)
    before = stream.events_text()
    thread = build_thread(stream, hint=hint)
    assert stream.events_text() == before
    return thread


def seen(*entries: Raw, hint: str | None = None) -> list[str]:
    return lines([item.event for item in thread_of(*entries, hint=hint).events])


def test_what_is_appended_stands_at_the_end_and_is_not_stored() -> None:
    stream = stream_of(
        turn(), user("hi", schema={"type": "object"}), base={"assistant": {"model": {"id": "test/big"}}}
    )
    before = stream.events_text()
    appended = [
        ConversationEvent(at(9), MessageResponse("{")),
        ConversationEvent(at(9), ChatRequest("Not that.")),
    ]
    thread = build_thread(stream, appended=appended, hint="Please.")
    assert lines([item.event for item in thread.events]) == [
        "user: hi",
        "message: {",
        "user: Not that.\n\nPlease.",
    ]
    assert [item.provider for item in thread.events] == ["test"] * 3
    assert thread.schema == {"type": "object"}
    assert stream.events_text() == before


@pytest.mark.requirement("R44", "R224")
def test_a_thread_has_all_four_parts() -> None:
    stream = stream_of(turn(), user("hi"))
    attachment = TextAttachment("a.txt", "text")
    thread = build_thread(
        stream,
        system_prompt="Be brief.",
        sections=[Section("Speak Dutch.")],
        attachments=[attachment],
    )
    assert thread.system_parts == ("Be brief.", "Speak Dutch.")
    assert thread.attachments == (attachment,)
    assert lines([item.event for item in thread.events]) == ["user: hi"]
    assert thread.created_at == at(0)


def test_only_what_providers_may_see_is_shown() -> None:
    entries = [turn(), user("u"), reasoning("r"), question("q"), answer("q"), message("m"), delta()]
    assert seen(*entries) == ["user: u", "reasoning: r", "message: m"]


@pytest.mark.requirement("R16")
def test_the_copy_is_repaired_and_projected() -> None:
    entries = [
        message("before"),
        turn(),
        user("u0"),
        call("c"),
        turn(),
        user("u1"),
        result("lost"),
        turn(),
        user("u2"),
    ]
    assert seen(*entries) == [
        "user: u0",
        "call c: read({})",
        f"error c: {INTERRUPTED}",
        f"user: {NOTE}\n\nu1",
        f"user: {NOTE}\n\nu2",
    ]
    # the numbers of a compaction are those before the repair: the message outside any turn was turn 0
    shorter = [*entries, compaction(1, 2, summary={"summary": "S"})]
    assert seen(*shorter) == ["user: [Summary of previous conversation]", "message: S", "user: u2"]


class TestPairing:
    """Responses stand behind their cycle in the order of the requests, matched within a turn and by count."""

    @pytest.mark.requirement("D8", "R16")
    @pytest.mark.parametrize(
        ("entries", "expected"),
        [
            # stored as they completed
            (
                [call("a"), call("b"), result("b", "2"), result("a", "1"), message("m")],
                ["call a", "call b", "result a: 1", "result b: 2", "message: m"],
            ),
            # two cycles stay two cycles, also when an id comes again
            (
                [call("a"), result("a", "1"), call("a"), result("a", "2")],
                ["call a", "result a: 1", "call a", "result a: 2"],
            ),
            # a call and a text of one cycle, then the results
            (
                [message("m"), call("a"), message("n"), call("b"), result("b", "2"), result("a", "1")],
                ["message: m", "call a", "message: n", "call b", "result a: 1", "result b: 2"],
            ),
            # one response for two requests of an id: repair by sets is content, providers are not
            (
                [call("a"), call("a"), result("a", "1"), message("m")],
                ["call a", "call a", "result a: 1", f"error a: {INTERRUPTED}", "message: m"],
            ),
            # two responses for one request
            (
                [call("a"), result("a", "1"), result("a", "2"), message("m")],
                ["call a", "result a: 1", "message: m"],
            ),
            # a response before its request
            (
                [result("a", "1"), call("a"), message("m"), user("v")],
                ["call a", "message: m", "result a: 1", "user: v"],
            ),
            # a response that came late is brought forward
            (
                [call("a"), call("b"), result("a", "1"), message("m"), result("b", "2")],
                ["call a", "call b", "result a: 1", "result b: 2", "message: m"],
            ),
            # a reply in the middle of a turn closes the cycle
            (
                [call("a"), user("v"), message("m")],
                ["call a", f"error a: {INTERRUPTED}", "user: v", "message: m"],
            ),
        ],
    )
    def test_within_a_turn(self, entries: list[Raw], expected: list[str]) -> None:
        found = [line.removesuffix(": read({})") for line in seen(turn(), user("u"), *entries)]
        assert found == ["user: u", *expected]

    def test_a_repaired_call_does_not_split_its_cycle(self) -> None:
        stream = stream_of(
            turn(), user("u"), reasoning("r"), call("a"), call("b"), result("b", "2"), turn(), user("v")
        )
        sanitize(stream)
        shown = lines([item.event for item in build_thread(stream).events])
        assert shown[1:-1] == [
            "reasoning: r",
            "call a: read({})",
            "call b: read({})",
            f"error a: {INTERRUPTED}",
            "result b: 2",
        ]

    def test_an_answer_in_another_turn_is_no_answer(self) -> None:
        entries = [turn(), user("u"), call("a"), turn(), user("v"), call("a"), result("a", "2"), message("m")]
        assert seen(*entries) == [
            "user: u",
            "call a: read({})",
            f"error a: {INTERRUPTED}",
            f"user: {NOTE}\n\nv",
            "call a: read({})",
            "result a: 2",
            "message: m",
        ]

    ENTRY = st.sampled_from([turn(), user("u"), message("m"), call("a"), call("b"), result("a"), result("b")])

    @given(st.lists(ENTRY, max_size=20))
    @pytest.mark.requirement("R16")
    def test_every_call_is_answered_before_anybody_else_speaks(self, entries: list[Raw]) -> None:
        waiting: list[str] = []
        for item in thread_of(turn(), user("u"), *entries).events:
            match item.event.kind:
                case ToolCallRequest(id):
                    waiting.append(id)
                case ToolCallResponse(id):
                    assert waiting.pop(0) == id
                case kind:
                    is_assistant = type(kind).__name__ == "MessageResponse"
                    assert is_assistant or not waiting
        assert not waiting


def test_reasoning_without_text_keeps_its_place_for_the_sake_of_its_metadata() -> None:
    signature = {"anthropic_redacted_thinking": "c2ln", "anthropic_thinking_signature": "4oCm"}
    (_, kept) = thread_of(turn(), user("u"), reasoning("", metadata={**signature})).events
    assert kept.event.metadata == {"anthropic_redacted_thinking": "sig", "anthropic_thinking_signature": "…"}


class TestHint:
    @pytest.mark.requirement("R62", "D16")
    def test_it_is_added_to_the_last_request_of_the_copy_only(self) -> None:
        entries = [turn(), user("u"), message("m"), turn(), user("v"), call("a"), result("a")]
        assert seen(*entries, hint="Answer.") == [
            "user: u",
            "message: m",
            "user: v\n\nAnswer.",
            "call a: read({})",
            "result a: ",
        ]

    def test_without_a_request_there_is_nothing_to_add_it_to(self) -> None:
        assert seen(turn(), message("m"), hint="Answer.") == ["message: m"]


@pytest.mark.parametrize(
    ("entries", "schema"),
    [
        ([turn(), user("u", schema={"a": 1})], {"a": 1}),
        ([turn(), user("u", schema={"a": 1}), call("c"), result("c"), user("v")], {"a": 1}),
        ([turn(), user("u", schema={"a": 1}), turn(), user("v")], None),
        ([user("u", schema={"a": 1}), message("m")], {"a": 1}),
        ([turn(), user("u"), user("v", schema={"a": 1})], None),
        ([], None),
    ],
)
def test_the_schema_is_that_of_the_first_request_of_the_last_turn(
    entries: list[Raw], schema: Raw | None
) -> None:
    assert thread_of(*entries).schema == schema


@pytest.mark.requirement("R237")
@pytest.mark.parametrize(
    ("section", "text"),
    [
        (Section(" plain \n"), "plain"),
        (Section("text\n", title="T"), "# T\n\ntext\n"),
        (Section(" text \n", tag="t"), "<t>\ntext\n</t>"),
        (
            Section("text", tag="t", title='a "b" <c> & d'),
            '<t title="a &quot;b&quot; &lt;c&gt; &amp; d">\ntext\n</t>',
        ),
        (Section("a < b", tag="t"), "<t>\n<![CDATA[a < b]]>\n</t>"),
        (Section("a ]]> b", tag="t"), "<t>\n<![CDATA[a ]]]]><![CDATA[> b]]>\n</t>"),
        (Section("a & b", title="T"), "# T\n\na & b"),
        (Section("x", tag="working with files"), "<working with files>\nx\n</working with files>"),
    ],
)
def test_sections_are_rendered_by_tag_and_title(section: Section, text: str) -> None:
    assert render(section) == text


def test_sections_are_sorted_by_position_and_stay_in_order_where_equal() -> None:
    sections = [Section("a", position=1), Section("b"), Section("c", position=-1), Section("d")]
    thread = build_thread(stream_of(), sections=sections)
    assert thread.system_parts == ("c", "b", "d", "a")


@pytest.mark.requirement("F26")
def test_the_standing_part_is_the_same_for_each_request() -> None:
    stream = stream_of(turn(), user("u"))
    first, second = (build_thread(stream, system_prompt="p") for _ in range(2))
    assert (first.system_parts, first.events) == (second.system_parts, second.events)
    later = build_thread(stream_of(turn(), user("u"), message("m", 61)), system_prompt="p")
    assert later.system_parts == first.system_parts
    assert later.events[: len(first.events)] == first.events


@pytest.mark.requirement("F34")
def test_a_long_stream_with_many_changes_of_settings_stays_cheap() -> None:
    def cost(count: int) -> int:
        base: Raw = {"assistant": {"model": {"id": "a/b"}}, "style": {str(n): n for n in range(500)}}
        settings: Raw = {"model": {"id": {"provider": "c", "name": "d"}}}
        entries = [delta(n, assistant=settings) if n % 50 == 0 else message(f"m{n}") for n in range(count)]
        stream = stream_of(turn(), user("u"), *entries, base=base)
        assert len(build_thread(stream).events) == count - count // 50 + 1
        return count_calls(lambda: build_thread(stream))

    cost(100)
    assert cost(4000) < 2.5 * cost(2000)

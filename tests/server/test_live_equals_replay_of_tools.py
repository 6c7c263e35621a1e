"""S19, with tools that run and values that are asked for again: what was shown is what the stored events show."""

import base64
from collections.abc import Callable

import pytest

from jp_lsp.conversation.ids import CallId
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.render.chunk import DurableNotice, Text, ToolCall, ToolPreparing, ToolProgress, ToolResult
from jp_lsp.render.options import DisplayOptions, ToolStyle
from jp_lsp.tools.builtin import BUILTIN_TOOLS, TELL_USER
from jp_lsp.tools.definition import Parameter, ToolDefinition
from jp_lsp.tools.outcome import Failed
from jp_lsp.tools.spec import BuiltinSource, Command, LocalSource, McpSource, ToolPolicy, ToolSpec
from jp_lsp.turn.inputs import Answered, ArgumentsFormatted
from jp_lsp.turn.stream_event import Flush
from tests.support.live_and_replay import (
    live,
    live_chunks,
    replayed,
    replayed_chunks,
    without_space_in_fences,
)
from tests.support.turns import Desk, done, message, reasoning, structured, tool_call

FORMAT = Command("format")


def tool(name: str, *, run: str = "unattended", **policy: object) -> ToolSpec:
    parameters = {"path": Parameter("string"), "depth": Parameter("integer", default=2)}
    source = McpSource("files", name) if name == "remote" else LocalSource(name, Command(name))
    return ToolSpec(ToolDefinition(name, parameters), source, ToolPolicy(run_mode=run, **policy))  # type: ignore[arg-type]


TOOLS = {
    each.name: each
    for each in (
        tool("look"),
        tool("remote"),
        tool("ask", run="ask"),
        tool("pretty", formatter=FORMAT, formats_unasked=True),
        tool("pretty_ask", run="ask", formatter=FORMAT),
        tool("pretty_first", run="ask", formatter=FORMAT, formats_unasked=True),
        ToolSpec(BUILTIN_TOOLS[TELL_USER].definition, BuiltinSource(TELL_USER), ToolPolicy("unattended")),
    )
}
OPTIONS = DisplayOptions(tools={TELL_USER: ToolStyle(spoken="message")})
TOLD = '{"message": "**Half** done.\\n\\n- more to come"}'
SCHEMA: JsonObject = {"type": "object"}


def begun(schema: JsonObject | None = None) -> Desk:
    return Desk().start("Go", schema, tools=TOOLS)


def formatted(call: str, text: str) -> ArgumentsFormatted:
    return ArgumentsFormatted(CallId(call), text)


def ended(desk: Desk) -> Desk:
    return desk.says(message("Done."), Flush(0), done())


def told() -> Desk:
    desk = begun().says(message("I begin."), Flush(0), *tool_call(1, "c", TELL_USER, TOLD), done())
    return ended(desk.tool_returns("c", "Message shown to user."))


def told_beside_another_call() -> Desk:
    desk = begun().says(reasoning("hm"), Flush(0))
    desk.says(
        *tool_call(1, "a", "look"), *tool_call(2, "c", TELL_USER, TOLD), *tool_call(3, "b", "look"), done()
    )
    desk.tool_returns("c", "Message shown to user.").tool_returns("b", "2").tool_returns("a", "1")
    return ended(desk)


def told_nothing() -> Desk:
    desk = begun().says(*tool_call(0, "c", TELL_USER, '{"message": " "}'), done())
    return ended(desk.tool_returns("c", Failed("The `message` must not be empty.")))


def told_while_text_still_streams() -> Desk:
    desk = begun().says(*tool_call(0, "c", TELL_USER, TOLD), message("And ", 1), message("more", 1), done())
    return ended(desk.tool_returns("c", "Message shown to user."))


def defaults_and_coercions() -> Desk:
    desk = begun().says(
        *tool_call(0, "a", "look"), *tool_call(1, "b", "look", '{"depth": "3", "path": null}'), done()
    )
    return ended(desk.tool_returns("a", "1").tool_returns("b", "2"))


def edited() -> Desk:
    desk = begun().says(*tool_call(0, "c", "ask", '{"path": "a"}'), done())
    desk.choose("edit").choose(None, '{"path": "b"}').tool_returns("c", "1")
    return ended(desk)


def first_of_two_edited() -> Desk:
    """Both are shown before the user is asked about the first."""
    desk = begun().says(*tool_call(0, "a", "ask", '{"path": "a"}'), *tool_call(1, "b", "ask"), done())
    first, second = (decision.id for decision in desk.asked)
    desk.feed(Answered(first, "edit")).choose(None, '{"path": "b"}').feed(Answered(second, "run"))
    return ended(desk.tool_returns("a", "1").tool_returns("b", "2"))


def edited_behind_another_result() -> Desk:
    desk = begun().says(*tool_call(0, "a", "ask", '{"path": "a"}'), *tool_call(1, "b", "look"), done())
    desk.tool_returns("b", "2").choose("edit").choose(None, '{"path": "b"}').tool_returns("a", "1")
    return ended(desk)


def edited_while_an_answer_is_held() -> Desk:
    desk = begun().says(*tool_call(0, "a", "gone"), *tool_call(1, "b", "ask", '{"path": "a"}'))
    desk.choose("edit").choose(None, '{"path": "b"}').says(done())
    return ended(desk.tool_returns("b", "1"))


def stopped_before_it_was_formatted() -> Desk:
    desk = begun().says(*tool_call(0, "c", "pretty", '{"path": "a"}'), done()).press("stop")
    return desk.feed(formatted("c", "*a*"))


def formatted_unasked() -> Desk:
    desk = begun().says(*tool_call(0, "c", "pretty", '{"path": "a"}'), done())
    desk.feed(formatted("c", "*a*")).tool_returns("c", "1")
    return ended(desk)


def formatted_when_approved() -> Desk:
    desk = begun().says(*tool_call(0, "c", "pretty_ask", '{"path": "a"}'), done())
    desk.choose("run").feed(formatted("c", "*a*")).tool_returns("c", "1")
    return ended(desk)


def formatted_when_edited() -> Desk:
    desk = begun().says(*tool_call(0, "c", "pretty_ask", '{"path": "a"}'), done())
    desk.choose("edit").choose(None, '{"path": "b"}').feed(formatted("c", "*b*")).tool_returns("c", "1")
    return ended(desk)


def formatted_before_and_after_the_edit() -> Desk:
    desk = begun().says(*tool_call(0, "c", "pretty_first", '{"path": "a"}'), done())
    desk.feed(formatted("c", "*a*")).choose("edit").choose(None, '{"path": "b"}')
    return ended(desk.feed(formatted("c", "*b*")).tool_returns("c", "1"))


def skipped_before_it_was_formatted() -> Desk:
    return ended(begun().says(*tool_call(0, "c", "pretty_ask", '{"path": "a"}'), done()).choose("skip"))


def arguments_printed() -> Desk:
    desk = begun().says(*tool_call(0, "c", "ask", '{"path": "```"}'), done())
    return ended(desk.choose("print_args").choose("run").tool_returns("c", "1"))


def answered_while_text_still_streams() -> Desk:
    """The first call is answered before the words behind it have come."""
    desk = begun().says(*tool_call(0, "a", "gone"), *tool_call(1, "b", "ask"))
    desk.choose("skip").says(
        message("I ", 2), message("wait.", 2), Flush(2), *tool_call(3, "c", "look"), done()
    )
    return ended(desk.tool_returns("c", "1"))


def value_asked_for_again() -> Desk:
    desk = begun(SCHEMA).says(reasoning("hm"), Flush(0), structured("[1]", 1), Flush(1), done())
    return desk.says(
        reasoning("oh"), Flush(0), structured('{"a": ', 1), structured("1}", 1), Flush(1), done()
    )


def value_that_never_fits() -> Desk:
    desk = begun(SCHEMA)
    for text in ("[1]", "no", "[3]"):
        desk.says(structured(text), Flush(0), done())
    return desk


def value_behind_a_tool() -> Desk:
    desk = (
        begun(SCHEMA)
        .says(structured(""), Flush(0), *tool_call(1, "c", "look"), done())
        .tool_returns("c", "1")
    )
    return desk.says(structured("[1]"), Flush(0), done()).says(structured("{}"), Flush(0), done())


TURNS: list[Callable[[], Desk]] = [
    told,
    told_beside_another_call,
    told_nothing,
    told_while_text_still_streams,
    defaults_and_coercions,
    edited,
    first_of_two_edited,
    edited_behind_another_result,
    edited_while_an_answer_is_held,
    stopped_before_it_was_formatted,
    formatted_unasked,
    formatted_when_approved,
    formatted_when_edited,
    formatted_before_and_after_the_edit,
    skipped_before_it_was_formatted,
    arguments_printed,
    answered_while_text_still_streams,
    value_asked_for_again,
    value_that_never_fits,
    value_behind_a_tool,
]


@pytest.mark.requirement("S19", "F25", "R288", "R191", "R258", "R276")
@pytest.mark.parametrize("granularity", ["block", "raw"])
@pytest.mark.parametrize("turn", TURNS, ids=lambda turn: turn.__name__)
def test_a_turn_is_shown_again_as_it_was(turn: Callable[[], Desk], granularity: str) -> None:
    options = DisplayOptions(granularity=granularity, tools=OPTIONS.tools)  # type: ignore[arg-type]
    desk = turn()
    assert desk.phase.is_terminal
    shown = without_space_in_fences(live(desk, options))
    again = without_space_in_fences(replayed(list(desk.stream.events()), options))
    if turn is arguments_printed:  # the separator of the notice that only the live turn has
        shown, again = shown.replace("\n", ""), again.replace("\n", "")
    assert shown == again


def test_a_message_for_the_user_reads_like_an_answer() -> None:
    desk = told()
    assert live(desk, OPTIONS).partition("## Assistant\n\n")[2] == (
        "I begin.\n\n**Half** done.\n\n- more to come\n\nDone."
    )
    assert "call c: tell_user" in desk.stored[3]
    assert desk.stored[4] == "result c: Message shown to user."
    chunks = live_chunks(desk, OPTIONS)
    assert not [
        chunk for chunk in chunks if isinstance(chunk, ToolCall | ToolResult | ToolPreparing | ToolProgress)
    ]
    assert {chunk.region for chunk in chunks if isinstance(chunk, Text)} == {"message"}


def test_a_message_is_shown_even_where_tools_are_not() -> None:
    options = DisplayOptions(show_tool_calls=False, tools=OPTIONS.tools)
    text = live(told_beside_another_call(), options)
    assert "**Half** done." in text
    assert "Calling tool" not in text


def test_a_call_without_a_message_is_shown_as_the_failed_call_that_it_is() -> None:
    text = live(told_nothing(), OPTIONS)
    assert "Calling tool tell_user" in text
    assert "must not be empty" in text


def test_only_the_value_that_stands_is_in_the_transcript() -> None:
    text = live(value_asked_for_again(), OPTIONS)
    assert "[1]" not in text
    assert text.count("json\n") == 1


def test_what_a_formatter_wrote_is_noted_at_the_call() -> None:
    (call,) = [
        event for event in formatted_unasked().stream.events() if "rendered_arguments" in event.metadata
    ]
    assert call.metadata["rendered_arguments"] == base64.b64encode(b"*a*").decode()


@pytest.mark.requirement("R107")
def test_printed_arguments_are_a_notice_with_all_of_them() -> None:
    (notice,) = [c for c in live_chunks(arguments_printed(), OPTIONS) if isinstance(c, DurableNotice)]
    assert (notice.level, notice.code) == ("info", "raw_arguments")
    assert notice.md.strip() == 'Arguments of ask:\n\n````json\n{\n  "path": "```",\n  "depth": 2\n}\n````'


def test_chunks_say_where_a_tool_comes_from_and_how_a_call_was_decided() -> None:
    desk = begun().says(
        *tool_call(0, "a", "remote"), *tool_call(1, "b", "ask"), *tool_call(2, "c", "gone"),
        *tool_call(3, "d", TELL_USER, TOLD), *tool_call(4, "e", "ask"), done(),
    )  # fmt: skip
    first, second = (decision.id for decision in desk.asked)
    desk.feed(Answered(first, "skip")).feed(Answered(second, "run"))
    ended(desk.tool_returns("a", "1").tool_returns("d", "2").tool_returns("e", "3"))
    shown = live_chunks(desk, DisplayOptions()), replayed_chunks(desk.stream.events(), DisplayOptions())
    for chunks in shown:
        assert [(c.call_id, c.source, c.server) for c in chunks if isinstance(c, ToolCall)] == [
            ("a", "mcp", "files"), ("b", "local", None), ("c", "local", None), ("d", "builtin", None),
            ("e", "local", None),
        ]  # fmt: skip
        assert [(c.call_id, c.decision) for c in chunks if isinstance(c, ToolResult)] == [
            ("c", "unavailable"), ("b", "skip"), ("a", "policy"), ("d", "policy"), ("e", None),
        ]  # fmt: skip

"""What stands between the things that a turn shows (query pipeline 5.3), and who has a header."""

from typing import get_type_hints

import pytest

from jp_lsp.render.chat import TurnView
from jp_lsp.render.chunk import Role, Text, ToolCall, ToolResult, TurnBegin, TurnEnd
from jp_lsp.render.flow import TextKind
from jp_lsp.render.options import DisplayOptions, Labels, ReasoningDisplay, ToolStyle
from jp_lsp.render.transcript import transcript
from tests.support.view import Watcher

Step = tuple[str, str]


def play(steps: list[Step], options: DisplayOptions | None = None) -> Watcher:
    """Play steps: `m`, `r`, `s` are text, `flush` ends a value, `call` and `hidden` name a tool, `result` answers."""
    watcher = Watcher(options)
    watcher.begin()
    for kind, text in steps:
        match kind:
            case "m":
                watcher.message(text)
            case "r":
                watcher.reasoning(text)
            case "s":
                watcher.value(text)
            case "flush":
                watcher.see(watcher.view.structured_flushed())
            case "call":
                watcher.see(watcher.view.tool_call(text, text, {}))
            case "custom":
                watcher.see(watcher.view.tool_call(text, text, {}, rendered="drawn"))
            case "result":
                watcher.see(watcher.view.tool_result(text, "done"))
            case _:
                raise AssertionError(kind)
    watcher.end()
    return watcher


RESULT = "Tool result:\n\n```\ndone\n```"
TABLE: list[tuple[str, list[Step], str]] = [
    ("same kind", [("m", "a "), ("m", "b")], "a b"),
    ("thought, answer", [("r", "a"), ("m", "b")], "a\n\n---\n\nb"),
    ("thought with line ends, answer", [("r", "a\n\n\n"), ("m", "\n\nb")], "a\n\n---\n\nb"),
    ("answer, thought", [("m", "a"), ("r", "b")], "a\n\nb"),
    ("answer, thought, answer", [("m", "a"), ("r", "b"), ("m", "c")], "a\n\nb\n\n---\n\nc"),
    ("blank thought", [("r", " \n"), ("m", "b")], "b"),
    ("blank thought between", [("m", "a"), ("r", "\n"), ("m", "b")], "a\n\nb"),
    ("empty thought between", [("m", "a"), ("r", ""), ("m", "b")], "ab"),
    ("open fence, answer", [("r", "```\na"), ("m", "b")], "`````\na\n`````\n\n---\n\nb"),
    ("answer, value", [("m", "a"), ("s", "{}"), ("flush", "")], "a\n\n`````json\n{}\n`````"),
    ("value, answer", [("s", "{}"), ("flush", ""), ("m", "a")], "`````json\n{}\n`````\n\na"),
    ("thought, value", [("r", "a"), ("s", "{}"), ("flush", "")], "a\n\n`````json\n{}\n`````"),
    ("text, call", [("m", "a"), ("call", "t")], "a\n\nCalling tool t"),
    ("call, call", [("call", "t"), ("call", "u")], "Calling tool t\nCalling tool u"),
    ("custom call, call", [("custom", "t"), ("call", "u")], "Calling tool t\n\ndrawn\n\nCalling tool u"),
    ("call, result", [("call", "t"), ("result", "t")], f"Calling tool t\n\n{RESULT}"),
    (
        "result, call",
        [("call", "t"), ("result", "t"), ("call", "u")],
        f"Calling tool t\n\n{RESULT}\n\nCalling tool u",
    ),
    ("call, text", [("call", "t"), ("m", "a")], "Calling tool t\n\na"),
    ("call, blank text", [("call", "t"), ("m", " \n")], "Calling tool t"),
    ("call, blank text, call", [("call", "t"), ("m", "\n"), ("call", "u")], "Calling tool t\nCalling tool u"),
    ("thought, call, answer", [("r", "a"), ("call", "t"), ("m", "b")], "a\n\nCalling tool t\n\nb"),
    ("nothing", [], "## User\n\ngo"),
]


@pytest.mark.requirement("R88", "R89", "R188", "R190", "S1", "S3")
@pytest.mark.parametrize(("steps", "expected"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_separators(steps: list[Step], expected: str) -> None:
    watcher = play(steps)
    assert watcher.text == expected


@pytest.mark.requirement("R88")
def test_the_rule_has_empty_lines_around_it() -> None:
    """A rule right under text would make a heading of it (trap 99)."""
    text = play([("r", "a\n- b"), ("m", "c")]).text
    assert text == "a\n- b\n\n---\n\nc"
    assert text.count("\n---\n") == 1


@pytest.mark.parametrize(
    ("style", "expected"), [("rule", "a\n\n---\n\nb"), ("blank", "a\n\nb"), ("none", "a\nb")]
)
def test_how_an_answer_is_set_off_can_be_chosen(style: str, expected: str) -> None:
    options = DisplayOptions(reasoning_separator=style)  # type: ignore[arg-type]
    assert play([("r", "a"), ("m", "b")], options).text == expected


@pytest.mark.requirement("R187", "R196")
def test_a_hidden_thought_separates_paragraphs_without_a_rule() -> None:
    """Trap 104."""
    options = DisplayOptions(reasoning=ReasoningDisplay("hidden"))
    assert play([("m", "a"), ("r", "x"), ("m", "b")], options).text == "a\n\nb"


HIDDEN = DisplayOptions(tools={"h": ToolStyle(is_hidden=True)})


@pytest.mark.parametrize("options", [HIDDEN, DisplayOptions(show_tool_calls=False)])
def test_a_hidden_call_leaves_nothing_but_a_border(options: DisplayOptions) -> None:
    watcher = play([("m", "a"), ("call", "h"), ("result", "h"), ("m", "b")], options)
    assert watcher.text == "a\n\nb"
    assert not any(isinstance(chunk, (ToolCall, ToolResult)) for chunk in watcher.chunks)


def test_text_before_a_hidden_call_does_not_stay_behind() -> None:
    watcher = Watcher(HIDDEN)
    watcher.begin()
    watcher.message("held")
    assert watcher.text == "## User\n\ngo"
    watcher.see(watcher.view.tool_call("1", "h", {}))
    assert watcher.text == "held"


@pytest.mark.requirement("R27", "S3")
def test_text_of_one_region_is_not_broken_by_borders_of_events() -> None:
    watcher = play([("r", "mid"), ("r", ""), ("r", "dle"), ("m", "one "), ("m", "word")])
    assert watcher.text == "middle\n\n---\n\none word"


@pytest.mark.requirement("R194", "F10")
def test_a_thought_split_by_an_opaque_item_reads_as_one_word() -> None:
    """Trap 7: the middle item has no text, only a signature."""
    assert play([("r", "unbe"), ("r", ""), ("r", "lievable")]).text == "unbelievable"


@pytest.mark.requirement("R192", "R193", "F10")
def test_breaks_between_thoughts_are_those_of_the_text() -> None:
    assert play([("r", "I read it."), ("r", "\n\n"), ("r", "**Next**\n\nCompare.")]).text == (
        "I read it.\n\n**Next**\n\nCompare."
    )
    assert play([("r", "I read it."), ("r", "**Next**")]).text == "I read it.**Next**"


def test_headers_come_once_and_only_before_something() -> None:
    watcher = Watcher(labels=Labels("Ann", "Jean-Pierre", "test/big"))
    watcher.begin("hi")
    watcher.reasoning("\n")
    watcher.message("  ")
    assert [chunk.label for chunk in watcher.durable if isinstance(chunk, Role)] == ["Ann"]
    watcher.message("a\n\n")
    watcher.see(watcher.view.tool_call("1", "t", {}))
    watcher.end()
    roles = [chunk for chunk in watcher.durable if isinstance(chunk, Role)]
    assert roles == [
        Role("## Ann", "user", "Ann"),
        Role("\n\n## Jean-Pierre (test/big)", "assistant", "Jean-Pierre", "test/big"),
    ]
    assert transcript(watcher.chunks) == (
        "## Ann\n\nhi\n\n## Jean-Pierre (test/big)\n\n  a\n\nCalling tool t"
    )


def test_a_call_may_be_the_first_that_the_assistant_shows() -> None:
    assert transcript(play([("call", "t")]).chunks) == "## User\n\ngo\n\n## Assistant\n\nCalling tool t"


def test_a_second_request_in_a_turn_gets_headers_again() -> None:
    watcher = Watcher()
    watcher.begin("one")
    watcher.message("a")
    watcher.see(watcher.view.request("two"))
    watcher.message("b")
    watcher.end()
    assert (
        transcript(watcher.chunks)
        == "## User\n\none\n\n## Assistant\n\na\n\n## User\n\ntwo\n\n## Assistant\n\nb"
    )


def test_a_chain_of_turns_is_one_transcript() -> None:
    watcher = Watcher(DisplayOptions(reasoning_background="#222222"))
    watcher.begin("one")
    watcher.message("a")
    watcher.end()
    watcher.see(watcher.view.turn_begin(2, "two\n```", reply_to=1))
    watcher.message("b")
    watcher.end()
    assert transcript(watcher.chunks) == (
        "## User\n\none\n\n## Assistant\n\na\n\n## User\n\ntwo\n\n`````\n`````\n\n## Assistant\n\nb"
    )
    assert [chunk for chunk in watcher.chunks if isinstance(chunk, (TurnBegin, TurnEnd))] == [
        TurnBegin(1, None, "#222222"),
        TurnEnd("completed", is_persisted=True),
        TurnBegin(2, 1, "#222222"),
        TurnEnd("completed", is_persisted=True),
    ]


def test_what_is_held_when_the_next_turn_begins_is_not_lost() -> None:
    watcher = Watcher()
    watcher.begin("one")
    watcher.message("a")
    watcher.begin("two", 2)
    assert transcript(watcher.chunks) == "## User\n\none\n\n## Assistant\n\na\n\n## User\n\ntwo"


@pytest.mark.requirement("R91")
def test_calls_after_a_thought_belong_to_its_region() -> None:
    def regions(options: DisplayOptions) -> list[str | None]:
        watcher = play(
            [("r", "a"), ("call", "t"), ("result", "t"), ("call", "u"), ("m", "b"), ("call", "v")], options
        )
        return [c.region for c in watcher.durable if isinstance(c, (Text, ToolCall, ToolResult))][1:]

    full = ["reasoning", "reasoning", "reasoning", "reasoning", "message", None]
    assert regions(DisplayOptions()) == full
    assert regions(DisplayOptions(reasoning=ReasoningDisplay("truncate"))) == full
    apart = ["reasoning", None, None, None, "message", None]
    assert regions(DisplayOptions(extend_reasoning_across_tools=False)) == apart
    assert regions(DisplayOptions(reasoning=ReasoningDisplay("hidden"))) == apart[1:]


@pytest.mark.requirement("R81", "R82")
def test_the_view_takes_typed_text_and_nothing_else_as_text() -> None:
    assert get_type_hints(TurnView.part)["kind"] == TextKind
    with pytest.raises(AssertionError):
        Watcher().view.part("tool_call", "{}")  # type: ignore[arg-type]

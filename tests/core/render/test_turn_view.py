"""States beside the text, menus, retries, and the way back from a retracted attempt."""

import dataclasses
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.render import chunk as chunk_types
from jp_lsp.render.chunk import (
    DURABLE,
    EPHEMERAL,
    Chunk,
    Code,
    DurableNotice,
    Notice,
    Preview,
    Retract,
    Retry,
    Status,
    Text,
    ToolPreparing,
    ToolProgress,
)
from jp_lsp.render.options import DisplayOptions, ReasoningDisplay, ToolStyle
from jp_lsp.render.split import CHUNK_SIZE_MAX
from jp_lsp.render.transcript import transcript
from tests.support.code_blocks import CodeBlock, code_blocks
from tests.support.markdown import documents, pieces
from tests.support.view import Watcher


def started(options: DisplayOptions | None = None) -> Watcher:
    watcher = Watcher(options)
    watcher.begin()
    return watcher


# What is shown, and when.


@pytest.mark.requirement("R186", "R83", "R84", "R85", "R86")
def test_text_is_shown_as_soon_as_it_can_be() -> None:
    watcher = started()
    watcher.message("# Hello")
    assert watcher.text == "## User\n\ngo"
    watcher.message(" World\n```py\nx = 1\n")
    assert watcher.text == "# Hello World\n\n`````py\nx = 1"
    watcher.message("```\n- a\n- b\n")
    assert watcher.text.endswith("\n`````\n\n- a")
    watcher.message("\n" + "x" * 130)
    assert watcher.text.endswith("\n\n" + "x" * 130)


@pytest.mark.requirement("R90", "R267", "R269")
def test_code_can_be_taken_out_exactly() -> None:
    watcher = started()
    code = "def f():\n\n    return '```'\n"
    indented = "".join(f"  {line}\n" if line else "\n" for line in code.split("\n")[:-1])
    watcher.message(f"See:\n\n```py\n{code}```\n\n- item\n  ```sh\n{indented}  ```\n\n```\n```\n")
    watcher.end()
    assert code_blocks(watcher.chunks) == [CodeBlock("py", code), CodeBlock("sh", code), CodeBlock(None, "")]
    assert {chunk.part for chunk in watcher.durable if isinstance(chunk, Code)} == {"open", "line", "close"}


@pytest.mark.requirement("R268")
def test_raw_text_comes_part_by_part() -> None:
    watcher = started(DisplayOptions(granularity="raw"))
    watcher.reasoning("th", "ink\n")
    watcher.message("1. a\n", "1. b\n```", "py\nx")
    assert [chunk.md for chunk in watcher.durable if isinstance(chunk, Text)][1:] == [
        "\n\nth",
        "ink",
        "\n\n---\n\n1. a",
        "\n1. b\n```",
        "py\nx",
    ]
    watcher.end()
    assert watcher.text == "think\n\n---\n\n1. a\n1. b\n```py\nx\n```"


@pytest.mark.requirement("R87")
@given(pieces(documents), st.sampled_from(["block", "raw"]))
def test_however_an_answer_is_cut_it_reads_the_same(parts: list[str], granularity: str) -> None:
    options = DisplayOptions(granularity=granularity)  # type: ignore[arg-type]
    cut, whole = started(options), started(options)
    cut.message(*parts)
    whole.message("".join(parts))
    for watcher in (cut, whole):
        watcher.end()
    assert cut.text == whole.text


def test_a_large_piece_is_split_at_characters() -> None:
    """Trap 65."""
    watcher = started()
    line = "é" * 100_000
    watcher.message(f"```py\n{line}\n```\n\n# {line}\n")
    watcher.end()
    assert watcher.text == f"`````py\n{line}\n`````\n\n# {line}"
    lines = [chunk for chunk in watcher.durable if isinstance(chunk, Code) and chunk.part == "line"]
    assert [len(chunk.md.encode()) for chunk in lines] == [
        CHUNK_SIZE_MAX - 1,
        CHUNK_SIZE_MAX,
        CHUNK_SIZE_MAX,
        3394,
    ]
    assert {(chunk.region, chunk.language, chunk.indent) for chunk in lines} == {("message", "py", 0)}
    heading = [chunk for chunk in watcher.durable if isinstance(chunk, Text) and chunk.block == "heading"]
    assert [chunk.part for chunk in heading] == ["first", "more", "more", "last"]
    assert code_blocks(watcher.chunks) == [CodeBlock("py", f"{line}\n")]


# Text from outside.


@pytest.mark.requirement("R342")
def test_no_control_sequence_reaches_a_client_from_anywhere() -> None:
    """Traps 6, 102 and 106."""
    evil = "\x1b[31mA\x1b]0;t\x07\r\n\r\nB\x9b2J\x00"
    watcher = started()
    view = watcher.view
    watcher.see(view.turn_begin(1, evil, detail=None))
    for kind in ("message", "reasoning", "structured"):
        for character in evil:
            watcher.see(view.part(kind, character))
    watcher.see(view.tool_preparing("1", evil))
    watcher.see(view.tool_progress("1", evil, message=evil))
    watcher.see(view.tool_call("1", evil, {evil: evil}))
    watcher.see(view.tool_call("2", "x", {"a": 1}, rendered=evil))
    watcher.see(view.tool_result("1", evil, decision=evil))
    watcher.see(view.tool_result("2", evil, is_error=True))
    watcher.see(view.notice("warning", "code", evil, is_durable=True))
    watcher.see(view.notice("warning", "code", evil, is_durable=False))
    watcher.see(view.status("waiting", evil))
    watcher.see(view.retry(1, 2, evil, 3))
    watcher.see(view.reasoning_summary(1, evil))
    watcher.end()
    for chunk in watcher.chunks:
        for name, value in dataclasses.asdict(chunk).items():
            if isinstance(value, str) and name not in {"slot", "call_id"}:
                assert not any((c < " " and c != "\n") or "\x7f" <= c <= "\x9f" for c in value), (chunk, name)


@pytest.mark.requirement("R342")
def test_direction_overrides_are_reported_once_in_a_turn() -> None:
    watcher = started(DisplayOptions(reasoning=ReasoningDisplay("hidden")))
    codes = [chunk.code for chunk in watcher.chunks if isinstance(chunk, Notice)]
    assert codes == []
    watcher.reasoning("a\u202eb")
    assert not any(isinstance(chunk, Notice) for chunk in watcher.chunks)
    watcher.message("a\u202eb", "c\u202ed\n\n")
    watcher.see(watcher.view.tool_call("1", "t", {"a": "\u2066"}))
    watcher.see(watcher.view.tool_result("1", "\u2066"))
    watcher.end()
    assert [chunk.code for chunk in watcher.chunks if isinstance(chunk, Notice)] == ["bidi_override"]
    assert "a\u202ebc\u202ed" in watcher.text
    watcher.begin("\u202e", 2)
    assert [chunk.code for chunk in watcher.chunks if isinstance(chunk, Notice)] == ["bidi_override"] * 2


def test_half_a_character_at_the_end_is_replaced() -> None:
    watcher = started()
    watcher.message("a\ud83d", "\ude00b\ud83d")
    watcher.end()
    assert watcher.text == "a😀b\ufffd"


# Menus.


@pytest.mark.requirement("S4")
def test_a_menu_shows_what_is_held_and_breaks_nothing() -> None:
    """Trap 98."""
    watcher = started()
    watcher.message("One sen")
    watcher.see(watcher.view.pause())
    assert watcher.slots["preview"] == Preview("\n\n## Assistant\n\nOne sen")
    watcher.see(watcher.view.resume())
    assert "preview" not in watcher.slots
    watcher.message("tence.\n\n")
    watcher.see(watcher.view.pause())
    assert "preview" not in watcher.slots
    watcher.message("```py\nx")
    watcher.see(watcher.view.pause())
    assert watcher.slots["preview"] == Preview("\nx\n`````")
    watcher.message("y\n")
    assert "preview" not in watcher.slots
    watcher.end()
    assert watcher.text == "One sentence.\n\n`````py\nxy\n`````"


def test_a_preview_of_a_value_closes_its_fence_only_there() -> None:
    watcher = started()
    watcher.value('{"a":')
    watcher.see(watcher.view.pause())
    assert watcher.slots["preview"] == Preview("\n`````")
    watcher.value("1}")
    watcher.see(watcher.view.structured_flushed())
    assert watcher.text == '`````json\n{"a":1}\n`````'


# Retries.


@pytest.mark.requirement("S5")
def test_a_continuation_goes_on_in_the_same_region() -> None:
    """Row 32 of section 10, trap 100: also within a fence."""
    watcher = started()
    watcher.message("The total is")
    watcher.see(watcher.view.retry(1, 5, "Connection \x1b[1merror", 1000))
    assert watcher.slots["retry"] == Retry(1, 5, "Connection error", 1000)
    watcher.see(watcher.view.attempt_begin())
    assert "retry" in watcher.slots
    watcher.message(" 12")
    assert "retry" not in watcher.slots
    watcher.message(".\n\n```\nx")
    watcher.see(watcher.view.attempt_begin())
    watcher.message("y\n```\n")
    watcher.end()
    assert watcher.text == "The total is 12.\n\n`````\nxy\n`````"


def test_what_was_being_prepared_in_a_dead_attempt_is_gone() -> None:
    watcher = started()
    watcher.see(watcher.view.tool_preparing("7", "read", elapsed_ms=5))
    assert watcher.slots["tool:7"] == ToolPreparing("tool:7", "read", 5)
    watcher.see(watcher.view.attempt_begin())
    assert watcher.slots == {}


def test_a_retracted_attempt_leaves_no_trace() -> None:
    watcher = started()
    watcher.message("Kept, and held ba")
    place = watcher.mark()
    watcher.message("d\n\n- x\n- y")
    watcher.reasoning("thought")
    watcher.see(watcher.view.tool_call("1", "t", {}))
    watcher.see(watcher.view.tool_preparing("2", "t"))
    watcher.retract(place, "refused")
    assert watcher.slots == {}
    assert watcher.text == "## User\n\ngo"
    watcher.message("ck.")
    watcher.end()
    assert watcher.text == "Kept, and held back."
    assert [chunk for chunk in watcher.chunks if isinstance(chunk, Retract)] == [Retract(place[1], "refused")]


def test_a_mark_can_be_gone_back_to_more_than_once() -> None:
    watcher = started(DisplayOptions(reasoning=ReasoningDisplay("truncate", 5)))
    place = watcher.mark()
    for text in ("1234567", "abcdefg", "vwxyz"):
        watcher.retract(place)
        watcher.reasoning(text)
    watcher.end()
    assert watcher.text == "vwxyz"


def test_an_aborted_turn_takes_its_request_back() -> None:
    watcher = Watcher()
    place = watcher.mark()
    watcher.begin("oops")
    watcher.message("a\n\n")
    watcher.retract(place, "abort")
    assert transcript(watcher.chunks) == ""
    watcher.begin("again")
    watcher.end()
    assert transcript(watcher.chunks) == "## User\n\nagain"


_KINDS = st.sampled_from(["message", "reasoning", "structured", "call", "hidden"])
_STEPS = st.lists(st.tuples(_KINDS, documents), max_size=4)


@given(_STEPS, _STEPS, _STEPS)
def test_after_a_retraction_all_goes_on_as_if_nothing_had_been(
    before: list[tuple[str, str]], lost: list[tuple[str, str]], after: list[tuple[str, str]]
) -> None:
    options = DisplayOptions(
        reasoning=ReasoningDisplay("truncate", 40), tools={"hidden": ToolStyle(is_hidden=True)}
    )

    def play(watcher: Watcher, steps: list[tuple[str, str]]) -> None:
        for kind, text in steps:
            match kind:
                case "message" | "reasoning" | "structured":
                    watcher.see(watcher.view.part(kind, text))
                case _:
                    watcher.see(watcher.view.tool_call(text, kind, {"a": text}))
                    watcher.see(watcher.view.tool_result(text, text))

    plain, retracted = started(options), started(options)
    play(plain, before)
    play(retracted, before)
    place = retracted.mark()
    play(retracted, lost)
    retracted.retract(place)
    for watcher in (plain, retracted):
        play(watcher, after)
        watcher.end()
    assert transcript(retracted.chunks) == transcript(plain.chunks)


# States.


def test_text_removes_the_status_and_an_empty_detail_does_too() -> None:
    watcher = started()
    watcher.see(watcher.view.status("waiting", "waiting for first tokens", elapsed_ms=3000))
    assert watcher.slots["status"] == Status("waiting", "waiting for first tokens", 3000)
    watcher.message("held")
    assert "status" in watcher.slots
    watcher.message("\n\n")
    assert "status" not in watcher.slots
    watcher.see(watcher.view.status("waiting", "x"))
    watcher.see(watcher.view.status("waiting", ""))
    assert "status" not in watcher.slots
    assert watcher.see(watcher.view.status("waiting", "")) == []


def test_a_slot_is_cleared_just_before_the_text_that_replaces_it() -> None:
    watcher = started()
    watcher.see(watcher.view.status("waiting", "x"))
    sent = watcher.see(watcher.view.part("message", "a\n\n"))
    assert [(chunk.type, getattr(chunk, "is_clear", None)) for chunk in sent] == [
        ("status", True),
        ("role", None),
        ("text", None),
    ]


def test_a_tool_has_one_slot_from_preparing_to_its_result() -> None:
    watcher = started()
    watcher.see(watcher.view.tool_preparing("1", "t"))
    watcher.see(watcher.view.tool_call("1", "t", {}))
    assert watcher.slots == {}
    watcher.see(watcher.view.tool_progress("1", "t", elapsed_ms=9, message="half\nway", percentage=50))
    assert watcher.slots == {"tool:1": ToolProgress("tool:1", "t", 9, "half way", 50)}
    watcher.see(watcher.view.tool_result("1", "x"))
    assert watcher.slots == {}


def test_a_hidden_tool_shows_no_states() -> None:
    watcher = started(DisplayOptions(show_tool_calls=False))
    assert watcher.view.tool_preparing("1", "t") == []
    assert watcher.view.tool_progress("1", "t") == []


def test_the_end_of_a_turn_forgets_all_states() -> None:
    watcher = started()
    watcher.see(watcher.view.status("waiting", "x"))
    watcher.end()
    assert watcher.slots == {}
    assert not any(isinstance(chunk, EPHEMERAL) for chunk in watcher.view.turn_begin(2, "b"))


# Notices.


def test_a_durable_notice_is_part_of_the_transcript() -> None:
    watcher = started()
    watcher.message("half an ans")
    watcher.see(
        watcher.view.notice(
            "warning", "truncated", "The model stopped.\n\nSee `max_tokens`.", is_durable=True
        )
    )
    watcher.message("more")
    watcher.end()
    notice = "> **Warning:** The model stopped.\n>\n> See `max_tokens`."
    assert watcher.text == f"half an ans\n\n{notice}\n\nmore"
    assert [chunk.text for chunk in watcher.durable if isinstance(chunk, DurableNotice)] == [
        "The model stopped.\n\nSee `max_tokens`."
    ]


def test_a_notice_without_an_answer_needs_no_header() -> None:
    watcher = started()
    watcher.see(watcher.view.notice("error", "failed", "No key.", is_durable=True))
    watcher.end()
    assert transcript(watcher.chunks) == "## User\n\ngo\n\n> **Error:** No key."


def test_another_notice_breaks_nothing() -> None:
    watcher = started()
    watcher.message("one ")
    watcher.see(watcher.view.notice("info", "hint", " x ", is_durable=False))
    watcher.message("line")
    watcher.end()
    assert watcher.text == "one line"
    assert Notice("notice:hint", "info", "hint", "x") in watcher.chunks


def test_notices_of_one_code_are_shown_beside_each_other_and_none_twice() -> None:
    watcher = started()
    for text in ("one", "two", "one", "three", "two"):
        watcher.see(watcher.view.notice("warning", "settings", text, is_durable=False))
    watcher.see(watcher.view.notice("warning", "models", "four", is_durable=False))
    shown = {chunk.slot: chunk.text for chunk in watcher.chunks if isinstance(chunk, Notice)}
    assert shown == {
        "notice:settings": "one",
        "notice:settings:2": "two",
        "notice:settings:3": "three",
        "notice:models": "four",
    }


# The chunks themselves.


@pytest.mark.requirement("R91", "R322")
def test_every_row_of_the_table_has_a_class_and_every_durable_one_has_markdown() -> None:
    classes: tuple[type[Chunk], ...] = get_args(chunk_types.Chunk)
    flat = [one for each in classes for one in (get_args(each) or (each,))]
    assert {one.type for one in flat} == {
        *("turn_begin", "role", "text", "code", "structured", "tool_call", "tool_result", "notice", "status"),
        *("reasoning_indicator", "tool_preparing", "tool_progress", "retry", "preview", "retract"),
        *("prompt_open", "prompt_closed", "turn_end"),
    }
    for one in flat:
        names = {field.name for field in dataclasses.fields(one)}
        assert ("md" in names) == (one.chunk_class == "durable" or one is Preview), one
        assert hasattr(one, "slot") == (one.chunk_class == "ephemeral"), one
        assert (one in DURABLE) == (one.chunk_class == "durable")
        assert (one in EPHEMERAL) == (one.chunk_class == "ephemeral")
        assert "kind" not in names
        assert one.type not in {"begin", "report", "end"}

"""Characters that were cut in half are joined; halves never get out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.providers.surrogates import SurrogateJoiner
from jp_lsp.turn.stream_event import (
    Completed,
    Finished,
    Flush,
    KeepAlive,
    StreamEvent,
    TextPart,
    ToolCallArguments,
    ToolCallStart,
)

HIGH, LOW = "\ud83d", "\ude00"


def check(given: list[StreamEvent], expected: list[StreamEvent]) -> None:
    joiner = SurrogateJoiner()
    assert [out for event in given for out in joiner.join([event])] == expected
    assert SurrogateJoiner().join(given) == expected


def part(text: str, index: int = 0) -> TextPart:
    return TextPart(index, "message", text)


def test_halves_in_two_parts_become_one_character() -> None:
    check([part("a" + HIGH), part(LOW + "b")], [part("a"), part("😀b")])


def test_halves_of_different_indices_do_not_meet() -> None:
    check(
        [part(HIGH, 0), part(LOW, 1), Flush(0)],
        [part("", 0), part("\ufffd", 1), part("\ufffd", 0), Flush(0)],
    )


def test_a_lonely_half_becomes_a_replacement_character_at_the_end() -> None:
    end = Finished(Completed())
    check([part(HIGH, 3), end], [part("", 3), part("\ufffd", 3), end])
    check([part(LOW), part("a" + HIGH + "b")], [part("\ufffd"), part("a\ufffdb")])


def test_arguments_and_names_are_mended_too() -> None:
    check(
        [ToolCallArguments(2, HIGH), ToolCallArguments(2, LOW)],
        [ToolCallArguments(2, ""), ToolCallArguments(2, "😀")],
    )
    check([ToolCallStart(2, "é" + HIGH, "n")], [ToolCallStart(2, "é\ufffd", "n")])


def test_metadata_stays_with_its_part() -> None:
    signed = TextPart(0, "reasoning", HIGH, {"signature": "s"})
    check(
        [signed, TextPart(0, "reasoning", LOW)],
        [TextPart(0, "reasoning", "", {"signature": "s"}), TextPart(0, "reasoning", "😀")],
    )


@pytest.mark.parametrize("key", ["anthropic_thinking_signature", "google_thought_signature"])
def test_metadata_holds_whole_characters_only(key: str) -> None:
    given, kept = {key: "s" + LOW, "n": 1}, {key: "s\ufffd", "n": 1}
    check(
        [TextPart(0, "reasoning", "a", given), Flush(0, given), ToolCallStart(1, "id", "name", given)],
        [TextPart(0, "reasoning", "a", kept), Flush(0, kept), ToolCallStart(1, "id", "name", kept)],
    )


def test_other_events_pass() -> None:
    check([KeepAlive(), part("Zoë"), Flush(0)], [KeepAlive(), part("Zoë"), Flush(0)])


@pytest.mark.parametrize("index", [0, 1])
@given(texts=st.lists(st.text(st.characters(categories=["Cs", "L"]), max_size=3), max_size=6))
def test_what_comes_out_can_be_written(texts: list[str], index: int) -> None:
    joiner = SurrogateJoiner()
    events: list[StreamEvent] = [*(part(text, index) for text in texts), Flush(index)]
    text = "".join(event.text for event in joiner.join(events) if isinstance(event, TextPart))
    text.encode("utf-8")  # raises for half a character
    whole = "".join(texts).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert text == whole

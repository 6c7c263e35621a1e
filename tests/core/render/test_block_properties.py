"""However a text is cut, the same blocks come of it, and nothing is lost."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.render.block_event import Block, BlockEvent, Slice, Tail
from jp_lsp.render.blocks import BlockBuffer
from jp_lsp.render.region import BlockRegion, settle
from tests.support.markdown import documents, pieces, words


def events_of(parts: list[str]) -> list[BlockEvent]:
    """Give the events of a text, slices of one paragraph put together."""
    buffer = BlockBuffer()
    events: list[BlockEvent] = []
    for part in parts:
        buffer.push(part)
        events += buffer.pop_events()
    joined: list[BlockEvent] = []
    for event in events + buffer.flush():
        last = joined[-1] if joined else None
        if isinstance(event, Slice) and isinstance(last, Slice) and not last.is_last:
            joined[-1] = replace(event, text=last.text + event.text, is_first=last.is_first)
        else:
            joined.append(event)
    return joined


def written(parts: list[str]) -> str:
    """Write a text as one region."""
    region = BlockRegion()
    out = [piece for part in parts for piece in region.write(part)] + region.finish()
    return "".join((piece.separator or "") + piece.body for piece in out)


@pytest.mark.requirement("R83", "R87", "F40")
@given(pieces(documents))
def test_any_cut_gives_the_same_events(parts: list[str]) -> None:
    assert events_of(parts) == events_of(["".join(parts)])


@pytest.mark.requirement("R83", "R87", "F40")
@given(documents)
def test_one_character_at_a_time_gives_the_same_events(text: str) -> None:
    assert events_of(list(text)) == events_of([text])


@pytest.mark.requirement("R83", "R87")
@given(pieces(documents))
def test_any_cut_gives_the_same_transcript(parts: list[str]) -> None:
    assert written(parts) == settle("".join(parts))


paragraphs = st.lists(words.filter(str.strip), min_size=1, max_size=30).map(
    lambda lines: "\n".join("w" + line for line in lines)
)


@pytest.mark.requirement("R86", "R87")
@given(pieces(paragraphs.filter(lambda text: "\n```" not in text)))
def test_a_streamed_paragraph_is_byte_identical(parts: list[str]) -> None:
    text = "".join(parts)
    events = events_of(parts)
    assert len(events) == 1
    assert isinstance(events[0], (Slice, Tail))
    assert events[0].text == text
    assert written([*parts, "\n\n"]) == written([text])


@pytest.mark.requirement("R86")
@given(pieces(paragraphs))
def test_slices_follow_one_another(parts: list[str]) -> None:
    buffer = BlockBuffer()
    for part in parts:
        buffer.push(part)
        slices = [event for event in buffer.pop_events() if isinstance(event, Slice)]
        assert len(slices) <= 1
        assert all(event.text for event in slices)


_REPAIRED = re.compile(r"-->|</pre>|[\s`~\\0-9]")


@pytest.mark.requirement("R89")
@given(documents)
def test_nothing_is_lost_but_space_and_what_is_repaired(text: str) -> None:
    assert _REPAIRED.sub("", settle(text)) == _REPAIRED.sub("", text)


@pytest.mark.requirement("R89")
@given(documents)
def test_without_lists_and_fences_only_blank_lines_and_blanks_change(text: str) -> None:
    text = re.sub(r"`{3,}|~{3,}|[0-9`]", "", text)
    text = re.sub(r"(?m)^[ \t]*([-*+]|[.)])[ \t]|<!--|<pre>", "", text)
    source = [line.split() for line in text.split("\n") if line.strip()]
    assert [line.split() for line in settle(text).split("\n") if line.strip()] == source


@given(st.text(st.sampled_from("ab `*_[](){}<>!\\~^|#-+=.1\n\t"), max_size=120))
def test_noise_does_no_harm(text: str) -> None:
    events = events_of([text])
    assert events == events_of(list(text))
    assert all(event.text.strip() for event in events if isinstance(event, (Block, Tail)))
    settle(text).encode()

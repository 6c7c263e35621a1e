"""The decoder of server-sent events gives the same events however the bytes are cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.providers.sse import EventTooLargeError, SseDecoder, SseEvent


def decode(body: bytes, *positions: int) -> list[SseEvent]:
    decoder = SseDecoder()
    events: list[SseEvent] = []
    for begin, end in zip((0, *positions), (*positions, len(body)), strict=True):
        events += decoder.feed(body[begin:end])
    return events + decoder.end()


def check(body: str | bytes, *expected: str | tuple[str, str]) -> None:
    """Compare the events, whole, at every cut in two, and byte by byte."""
    data = body.encode() if isinstance(body, str) else body
    wanted = [SseEvent("", item) if isinstance(item, str) else SseEvent(*item) for item in expected]
    assert decode(data) == wanted
    for position in range(len(data)):
        assert decode(data, position) == wanted, position
    assert decode(data, *range(1, len(data))) == wanted


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_three_ways(end: str) -> None:
    check(f"data: a{end}{end}data: b{end}{end}", "a", "b")


@pytest.mark.parametrize(
    ("line", "value"),
    [("data:{}", "{}"), ("data: {}", "{}"), ("data:  x", " x"), ("data", ""), ("data:", "")],
)
def test_one_space_behind_the_colon_is_dropped(line: str, value: str) -> None:
    check(f"{line}\n\n", value)


def test_a_byte_order_mark_is_dropped_once() -> None:
    check("\ufeffdata: a\n\ndata: \ufeffb\n\n", "a", "\ufeffb")


def test_unicode_line_separators_do_not_end_a_line() -> None:
    text = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg"
    check(f"data: {text}\n\n", text)


def test_comments_say_nothing() -> None:
    check(": OPENROUTER PROCESSING\n\n:\ndata: a\n: keep-alive\n\n", "a")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_data_lines_join(end: str) -> None:
    check(end.join(["data: a", "data: b", "data", "", ""]), "a\nb\n")


def test_names_belong_to_one_event() -> None:
    check("event: error\ndata: a\n\ndata: b\n\nevent:x\n\ndata: c\n\n", ("error", "a"), "b", "c")


def test_unknown_fields_are_ignored() -> None:
    check("id: 1\nretry: 5\ndatax: no\nevent: e\nfoo\ndata: a\n\n", ("e", "a"))


@pytest.mark.parametrize("tail", ["data: last", "data: last\n", "data: last\r", "data: last\r\n"])
def test_the_last_event_needs_no_blank_line(tail: str) -> None:
    check(f"data: a\n\n{tail}", "a", "last")


def test_characters_are_cut_anywhere() -> None:
    check("data: Zoë ✓ 😀\n\n", "Zoë ✓ 😀")


def test_invalid_bytes_become_replacement_characters() -> None:
    check(b"data: a\xffb\n\n", "a\ufffdb")
    check(b"data: \xe2\x9c\n\ndata: c\n\n", "\ufffd", "c")


def test_an_event_over_the_limit_is_refused() -> None:
    decoder = SseDecoder(max_event_size=100)
    decoder.feed(b"data: " + b"x" * 90)
    with pytest.raises(EventTooLargeError, match="100"):
        decoder.feed(b"y" * 10)


def test_many_short_lines_count_against_the_limit() -> None:
    decoder = SseDecoder(max_event_size=100)
    decoder.feed(b"data\n" * 100)
    with pytest.raises(EventTooLargeError):
        decoder.feed(b"data\n")


def test_the_limit_is_for_one_event_only() -> None:
    decoder = SseDecoder(max_event_size=100)
    events = [event for _ in range(50) for event in decoder.feed(b"data: " + b"x" * 80 + b"\n\n")]
    assert len(events) == 50


def test_a_long_event_in_many_chunks_costs_linear_time() -> None:
    decoder = SseDecoder()
    for _ in range(20_000):
        assert decoder.feed(b"x" * 100) == []
    # Two million characters in pieces of a hundred: joined once, when their line ends.
    assert len(decoder._pieces) == 20_000
    decoder.feed(b"\n")
    assert decoder._pieces == []


_LINES = st.lists(
    st.sampled_from(["data: a", "data:b", "data", "event: e", ": c", "id: 1", "", "data: é\u2028", "x"]),
    max_size=12,
)
_ENDS = st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=12, max_size=12)


@given(lines=_LINES, ends=_ENDS, data=st.data())
def test_cuts_never_matter(lines: list[str], ends: list[str], data: st.DataObject) -> None:
    body = "".join(line + end for line, end in zip(lines, ends, strict=False)).encode()
    positions = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=8)))
    assert decode(body, *positions) == decode(body)


@given(body=st.binary(max_size=300), size=st.integers(1, 9))
def test_any_bytes_are_taken(body: bytes, size: int) -> None:
    assert decode(body, *range(size, len(body), size)) == decode(body)

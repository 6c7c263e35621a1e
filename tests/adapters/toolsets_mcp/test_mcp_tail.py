"""The last lines of a server."""

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.render.secrets import Secrets
from jp_lsp.toolsets.mcp.tail import KEPT_LINES, Tail


def test_lines_are_put_together_from_pieces() -> None:
    tail = Tail("notes")
    for piece in (b"on", b"e\n\n", b"  \r\ntwo\r", b"\nth\xff", b"ree"):
        tail.take(piece)
    assert tail.quote() == "\nstderr:\n  one\n  two"
    tail.finish()
    assert tail.quote() == "\nstderr:\n  one\n  two\n  th\ufffdree"
    assert tail.count == 3


def test_terminal_codes_and_control_characters_are_taken_out() -> None:
    tail = Tail("notes", "it answered")
    tail.take(b"\x1b[1;31merror\x1b[0m:\tbell\x07and\x00nul\n")
    assert tail.quote() == "\nit answered:\n  error: bell and nul"


@pytest.mark.parametrize("filler", [b"", b"x" * 490, "\u00e4".encode() * 490, "\U0001d11e".encode() * 495])
def test_keys_are_left_out_also_where_a_line_is_cut(filler: bytes) -> None:
    tail = Tail("notes", secrets=Secrets(["t0ken-of-the-user"]))
    tail.take(filler + b" t0ken-of-the-user" * 100 + b"\n")
    assert "***" in tail.quote()
    assert "t0k" not in tail.quote()


def test_as_many_lines_are_quoted_as_are_wanted() -> None:
    tail = Tail("notes")
    for number in range(300):
        tail.add(f"line {number}")
    assert tail.quote(2) == "\nstderr:\n  line 298\n  line 299"
    assert tail.quote(0) == ""
    assert tail.quote().count("\n") == 1 + KEPT_LINES
    tail.clear()
    assert tail.quote() == ""
    assert tail.count == 300


def test_lines_go_to_the_log_under_the_servers_name(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "jp_lsp.toolsets.mcp.tail")
    Tail("notes").take(b"hello\nrest")
    assert caplog.messages == ["notes: hello"]


@given(st.lists(st.binary(max_size=2000), max_size=20))
def test_memory_is_bounded_whatever_is_written(pieces: list[bytes]) -> None:
    tail = Tail("notes")
    for piece in pieces:
        tail.take(piece * 50)
    tail.finish()
    assert len(tail.quote()) < KEPT_LINES * 520

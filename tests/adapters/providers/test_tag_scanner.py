"""Thinking between tags is split from content while it streams."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.providers.chat.scanner import Scanned, TagScanner


def scan(*pieces: str) -> tuple[str, str]:
    """Give all reasoning and all content."""
    scanner = TagScanner()
    found = [scanner.feed(piece) for piece in pieces]
    found.append(scanner.release())
    return "".join(item.reasoning for item in found), "".join(item.content for item in found)


@pytest.mark.requirement("R257", "F11")
@pytest.mark.parametrize(
    ("text", "reasoning", "content"),
    [
        ("just text", "", "just text"),
        ("<think>\nhm\n</think>\n\nanswer", "hm\n", "\nanswer"),
        ("before <think>\nhm</think>\nafter", "hm", "before after"),
        ("a <th", "", "a <th"),
        ("<think>\nhm, so", "hm, so", ""),
        ("<think>\nhm</think>", "hm", ""),
        ("<think>", "", ""),
        ("<think>\nhm</thi", "hm</thi", ""),
        ("<think>\na</think>\nb<think>\nc", "a", "b<think>\nc"),
        ("x</think>\ny", "", "x</think>\ny"),
        ("<think>\nZoë ✓ 😀</think>\nZoë ✓ 😀", "Zoë ✓ 😀", "Zoë ✓ 😀"),
        ("", "", ""),
    ],
)
def test_where_text_belongs(text: str, reasoning: str, content: str) -> None:
    assert scan(text) == (reasoning, content)
    assert scan(*text) == (reasoning, content)
    for position in range(len(text)):
        assert scan(text[:position], text[position:]) == (reasoning, content)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1234567890", "123"),
        ("abcdefg", ""),
        ("aéééé", "aé"),
        ("a😀😀", "a😀"),
        ("ab😀😀", "ab😀"),
        ("✓✓✓", "✓"),
    ],
)
def test_seven_bytes_are_held_back(text: str, shown: str) -> None:
    assert TagScanner().feed(text) == Scanned("", shown)


@given(
    pieces=st.lists(
        st.sampled_from(["<think>", "</think>", "\n", "<", "/think", "a", "é", "😀", "hm"]), max_size=15
    )
)
def test_nothing_is_lost_and_nothing_is_made_up(pieces: list[str]) -> None:
    reasoning, content = scan(*pieces)
    text = "".join(pieces)
    left = text.replace("<think>", "").replace("</think>", "").replace("\n", "")
    kept = (reasoning + content).replace("<think>", "").replace("</think>", "").replace("\n", "")
    assert sorted(left) == sorted(kept)

"""Rendering touches nothing outside, knows no vendor, and takes time in proportion to the text."""

import builtins
import io
import os
import socket
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import jp_lsp.render
from jp_lsp.conversation.event import (
    ChatRequest,
    ConversationEvent,
    MessageResponse,
    ToolCallRequest,
    ToolCallResponse,
)
from jp_lsp.conversation.ids import CallId
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.render.chat import TurnView
from jp_lsp.render.options import DisplayOptions, Labels, ToolStyle
from jp_lsp.render.region import BlockRegion, RawRegion, Region
from jp_lsp.render.replay import StoredTurn, render_turns
from jp_lsp.render.text import TextCleaner
from jp_lsp.render.transcript import transcript
from tests.bench.bench_render import answer, parts_of, render
from tests.support.work import count_calls

SOURCES = sorted(Path(jp_lsp.render.__file__).parent.glob("*.py"))


@pytest.mark.requirement("R264")
def test_rendering_works_without_files_processes_and_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object, **_keywords: object) -> None:
        raise AssertionError("rendering touched the outside")

    for owner, name in (
        (builtins, "open"),
        (io, "open"),
        (os, "open"),
        (os, "stat"),
        (socket, "socket"),
        (subprocess, "Popen"),
    ):
        monkeypatch.setattr(owner, name, refuse)
    call = ToolCallRequest(CallId("1"), "t", {"a": 1})
    kinds = (
        ChatRequest("q"),
        call,
        ToolCallResponse(CallId("1"), "x\n" * 50, is_error=False),
        MessageResponse("a\n\nb"),
    )
    options = DisplayOptions(default_tool=ToolStyle(parameters="custom"))
    turn = StoredTurn(1, [ConversationEvent(Timestamp(0), kind) for kind in kinds], options=options, age=9.0)
    assert transcript(render_turns([turn])).endswith("a\n\nb")
    view = TurnView(options, Labels())
    chunks = (
        view.turn_begin(1, "q")
        + view.part("message", "a")
        + view.pause()
        + view.turn_end("x", is_persisted=True)
    )
    assert transcript(chunks) == "## User\n\nq\n\n## Assistant\n\na"


@pytest.mark.requirement("R193")
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_vendor_is_mentioned(path: Path) -> None:
    text = path.read_text(encoding="utf-8").lower()
    vendors = (
        "anthropic",
        "openai",
        "ollama",
        "gemini",
        "google",
        "llama",
        "cerebras",
        "deepseek",
        "openrouter",
    )
    assert [vendor for vendor in vendors if vendor in text] == []


SIZE = 10_000
"""Characters of the small case; the large one has four times as many."""

LINEAR: list[tuple[str, Callable[[int], str]]] = [
    ("one paragraph", lambda size: "word " * (size // 5)),
    ("lines of prose", lambda size: "some prose\n" * (size // 11)),
    ("emphasis that never closes", lambda size: "*a _b " * (size // 6)),
    ("brackets that never close", lambda size: "[a ![b " * (size // 7)),
    ("code spans that never close", lambda size: "`a ``b " * (size // 7)),
    ("tags that never close", lambda size: "<a b='c' " * (size // 9)),
    ("links", lambda size: "[a](b_c) " * (size // 9)),
    ("one run", lambda size: "*" * size),
    ("a fence of many lines", lambda size: "```\n" + "x\n" * (size // 2)),
    ("an empty fence", lambda size: "```\n" + "\n" * size),
    ("one line of code", lambda size: "```\n" + "x" * size),
    ("a list", lambda size: "1. a\n" * (size // 5)),
    ("one item", lambda size: "- a\n" + "  b\n" * (size // 4)),
    ("a deep list", lambda size: "".join("  " * depth + "- a\n" for depth in range(int(size**0.5)))),
    ("a table", lambda size: "| a | b |\n" * (size // 10)),
    ("blank lines", lambda size: "a" + "\n" * size),
    ("indented emphasis that never closes", lambda size: "  *a" + "b" * size),
    ("spaces", lambda size: "a" + " " * size),
    ("a comment", lambda size: "<!-- " + "x\n" * (size // 2)),
    ("a stray fence", lambda size: "a ```x\n```\n" + "b *c*\n" * (size // 6)),
]


def _write_all(region: Region, text: str) -> None:
    for character in text:
        region.write(character)
    region.finish()


@pytest.mark.requirement("R86", "R215")
@pytest.mark.parametrize("text_of", [case[1] for case in LINEAR], ids=[case[0] for case in LINEAR])
@pytest.mark.parametrize("region", [BlockRegion, RawRegion])
def test_work_is_linear_one_character_at_a_time(
    region: Callable[[], Region], text_of: Callable[[int], str]
) -> None:
    """Four times the text is about four times the work; quadratic work would be sixteen times as much."""
    once, four_times = (
        count_calls(partial(_write_all, region(), text_of(size))) for size in (SIZE, 4 * SIZE)
    )
    assert four_times < 6 * once


@pytest.mark.requirement("R342")
def test_cleaning_is_linear() -> None:
    for text in (
        "\x1b[3" * SIZE,
        "\x1b]0;" + "x" * 4 * SIZE,
        "\r" * SIZE,
        "\x1b[31mx" * SIZE,
        "\ud83d" * SIZE,
    ):
        half, whole = (
            count_calls(partial(_feed_all, TextCleaner(), part)) for part in (text[: len(text) // 2], text)
        )
        assert whole < 3 * half


def _feed_all(cleaner: TextCleaner, text: str) -> None:
    for character in text:
        cleaner.feed(character)


@pytest.mark.requirement("R215")
def test_a_response_of_a_megabyte_comes_through() -> None:
    chunks = render(parts_of(answer(1_000_000), 10_000), DisplayOptions())
    assert len(transcript(chunks)) > 1_000_000

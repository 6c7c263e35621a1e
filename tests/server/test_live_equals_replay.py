"""S19: what a turn showed while it ran is what its stored events show again.

Every recorded event list, of every vendor, goes through the core with its texts cut at random; the chunks of
the live turn and those of the replay must make the same transcript (query pipeline 5.9).
"""

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jp_lsp.conversation.event import ChatRequest
from jp_lsp.render.options import DisplayOptions, ReasoningDisplay
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.turn.inputs import TimerElapsed
from jp_lsp.turn.phase import Phase
from jp_lsp.turn.stream_event import (
    Completed,
    Finished,
    Flush,
    KeepAlive,
    MaxTokens,
    MetadataPatch,
    OtherReason,
    Patch,
    Refused,
    RetryRequested,
    StreamEvent,
    TextPart,
    ToolCallArguments,
    ToolCallStart,
)
from tests.support.live_and_replay import live, replayed, without_space_in_fences
from tests.support.shared import shared_files, shared_path
from tests.support.turns import Desk, done, failure, message, reasoning, structured, tool_call

BREAKS_THE_CONTRACT = {"cerebras/tool_call_stream"}
"""Recordings that come back to an index; excluded from the guarantee (query pipeline 2.4)."""

OPTIONS = [
    DisplayOptions(),
    DisplayOptions(granularity="raw"),
    DisplayOptions(reasoning=ReasoningDisplay("hidden")),
    DisplayOptions(reasoning=ReasoningDisplay("truncate", 40)),
    DisplayOptions(reasoning=ReasoningDisplay("progress")),
]


def recordings() -> list[str]:
    root = (
        Path(str(shared_files("recordings/README.md")[0])).parent
        if shared_files("recordings/README.md")
        else None
    )
    if root is None:
        return []
    files = sorted([*root.glob("*/*.json"), *root.glob("*/constructed/*.json")])
    return [
        str(file.relative_to(root))
        for file in files
        if "expected_events" in json.loads(file.read_text("utf-8"))
    ]


def event_of(item: dict[str, Any]) -> StreamEvent:
    match item:
        case {"type": "part", "kind": "tool_call", "stage": "start"}:
            return ToolCallStart(item["index"], item["id"], item["name"], item.get("metadata", {}))
        case {"type": "part", "kind": "tool_call"}:
            return ToolCallArguments(item["index"], item["text"])
        case {"type": "part"}:
            return TextPart(item["index"], item["kind"], item["text"], item.get("metadata", {}))
        case {"type": "flush"}:
            return Flush(item["index"], item.get("metadata", {}))
        case {"type": "keep_alive"}:
            return KeepAlive()
        case {"type": "patch"}:
            return Patch(
                tuple(MetadataPatch(p["match"]["metadata"], p["match"]["equals"]) for p in item["patches"])
            )
        case {"type": "error"}:
            return StreamFailure(FailureKind(item["kind"]), "as recorded", item.get("retry_after"))
        case {"type": "finished", "reason": reason}:
            reasons = {
                "completed": Completed(),
                "max_tokens": MaxTokens(),
                "retry": RetryRequested(),
                "refused": Refused(item.get("category"), item.get("explanation")),
                "other": OtherReason(item.get("value")),
            }
            return Finished(reasons[reason])
        case _:
            raise AssertionError(item)


def cut(events: list[StreamEvent], chance: random.Random) -> Iterator[StreamEvent]:
    """Cut texts into smaller parts."""
    for event in events:
        if not isinstance(event, TextPart) or len(event.text) < 2:
            yield event
            continue
        text, rest = event.text, replace(event, metadata={})
        while len(text) > 1:
            size = chance.randint(1, max(1, len(text) // 2))
            yield replace(event if text is event.text else rest, text=text[:size])
            text = text[size:]
        yield replace(rest, text=text)


def play(events: list[StreamEvent], options: DisplayOptions, seed: int) -> Desk:
    desk = Desk().start("What is it?")
    for event in cut(events, random.Random(seed)):
        if desk.requests and desk.phase not in {Phase.WAITING, Phase.STREAMING}:
            break
        desk.says(event)
    if desk.phase is Phase.BACKOFF:
        desk.feed(TimerElapsed())
    if desk.phase in {Phase.WAITING, Phase.STREAMING}:
        desk.says(message("And so on.", 50), Flush(50), done())
    return desk


def check(events: list[StreamEvent], options: DisplayOptions, seed: int) -> None:
    desk = play(events, options, seed)
    shown_live = without_space_in_fences(live(desk, options))
    stored = list(desk.stream.events())
    expected = without_space_in_fences(replayed(stored, options)) if stored else ""
    assert shown_live == expected


@pytest.mark.shared
@pytest.mark.requirement("S19", "R10", "R66", "R188", "R265", "R288", "R194", "R27")
@pytest.mark.parametrize("name", recordings() or ["missing"])
def test_recorded_events(name: str) -> None:
    recording = json.loads(shared_path("recordings", name).read_text("utf-8"))
    if f"{recording['provider']}/{recording['case']}" in BREAKS_THE_CONTRACT:
        return
    for step in recording["expected_events"]:
        events = [event_of(item) for item in step or []]
        for seed, options in enumerate(OPTIONS):
            check(events, options, seed)


@pytest.mark.requirement("S19", "R184", "R187", "R190")
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize(
    "events",
    [
        [reasoning("think"), Flush(0), message("a ", 1), Flush(1), message("b", 2), Flush(2), done()],
        [message("one", 0), Flush(0), reasoning("two", 1), Flush(1), message("three", 2), Flush(2), done()],
        [message("```py\nx = 1"), failure()],
        [message("a par"), failure("rate_limit", "x", 1.0)],
        [reasoning("pla"), failure()],
        [structured('{"a": 1}'), Flush(0), structured("[2]", 1), Flush(1), message("x", 2), done()],
        [structured('{"a'), failure()],
        [message("I look."), Flush(0), *tool_call(1, "c", "look", '{"path": "a.txt"}'), done()],
        [reasoning("hm"), Flush(0), *tool_call(1, "c", "look"), done()],
        [message("- a\n- b\n\nend\n"), Flush(0), done()],
        [reasoning("x"), done()],
        [message("gone"), done(Refused())],
    ],
    ids=str,
)
def test_small_turns(events: list[StreamEvent], options: DisplayOptions) -> None:
    for seed in range(5):
        check(events, options, seed)


def test_the_request_is_echoed() -> None:
    desk = Desk().start("hello")
    assert isinstance(desk.stream.events()[1].kind, ChatRequest)
    assert "hello" in live(desk, DisplayOptions())

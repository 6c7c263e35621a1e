"""Every chunk as JSON: exactly as promised, with nothing lost."""

import dataclasses
from collections import defaultdict
from typing import Any, cast, get_args

import pytest

from jp_lsp.protocol.chunk import CHUNK_VERSION, Chunk, ChunkNotification, Envelope
from jp_lsp.protocol.reading import read
from jp_lsp.render import chunk as render
from jp_lsp.server import chunk_to_wire as converter
from jp_lsp.server.chunk_to_wire import Origin, chunk_to_wire
from jp_lsp.tools.decision import Choice, Decision, DecisionId

ORIGIN = Origin(turn="t1", conversation="jp-c17912345678", cycle=2)
HEAD = {"v": 1, "seq": 5, "turn": "t1", "conversation": "jp-c17912345678", "cycle": 2}

USAGE = render.TokenUsage(1, 2, 3, 4)
ACTION = render.PromptAction("run", "Run")

CASES: list[tuple[render.Chunk, dict[str, Any]]] = [
    (render.TurnBegin(3), {"type": "turn_begin", "class": "control", "turnIndex": 3}),
    (
        render.TurnBegin(3, reply_to=2, reasoning_background="#222"),
        {
            "type": "turn_begin",
            "class": "control",
            "turnIndex": 3,
            "replyTo": 2,
            "reasoningBackground": "#222",
        },
    ),
    (
        render.Role("## You\n\n", "user", "You"),
        {"type": "role", "class": "durable", "md": "## You\n\n", "role": "user", "label": "You"},
    ),
    (
        render.Role("## AI\n\n", "assistant", "AI", "openai/gpt", "turn 3, now"),
        {
            "type": "role",
            "class": "durable",
            "md": "## AI\n\n",
            "role": "assistant",
            "label": "AI",
            "model": "openai/gpt",
            "detail": "turn 3, now",
        },
    ),
    (
        render.Text("Hello", "message", "paragraph", "whole", 2),
        {
            "type": "text",
            "class": "durable",
            "md": "Hello",
            "region": "message",
            "block": "paragraph",
            "part": "whole",
            "indent": 2,
        },
    ),
    (
        render.Code("x = 1\n", "reasoning", "line"),
        {
            "type": "code",
            "class": "durable",
            "md": "x = 1\n",
            "region": "reasoning",
            "part": "line",
            "indent": 0,
        },
    ),
    (
        render.Code("```py\n", "message", "open", "py", 4),
        {
            "type": "code",
            "class": "durable",
            "md": "```py\n",
            "region": "message",
            "part": "open",
            "language": "py",
            "indent": 4,
        },
    ),
    (
        render.Structured("{}", "more"),
        {"type": "structured", "class": "durable", "md": "{}", "part": "more"},
    ),
    (
        render.ToolCall("Calling tool make", "c1", "make", "{}"),
        {
            "type": "tool_call",
            "class": "durable",
            "md": "Calling tool make",
            "callId": "c1",
            "name": "make",
            "source": "local",
            "arguments": "{}",
        },
    ),
    (
        render.ToolCall("Calling", "c1", "make", '{"a": 1}', "mcp", "builder", True, "reasoning"),
        {
            "type": "tool_call",
            "class": "durable",
            "md": "Calling",
            "callId": "c1",
            "name": "make",
            "source": "mcp",
            "server": "builder",
            "arguments": '{"a": 1}',
            "edited": True,
            "region": "reasoning",
        },
    ),
    (
        render.ToolResult("Tool result:", "c1", "make", False, True, 7, 99),
        {
            "type": "tool_result",
            "class": "durable",
            "md": "Tool result:",
            "callId": "c1",
            "name": "make",
            "ok": False,
            "truncated": True,
            "lines": 7,
            "bytes": 99,
        },
    ),
    (
        render.ToolResult("Tool result:", "c1", "make", True, False, 1, 2, "run", "file:///r", "message"),
        {
            "type": "tool_result",
            "class": "durable",
            "md": "Tool result:",
            "callId": "c1",
            "name": "make",
            "ok": True,
            "decision": "run",
            "truncated": False,
            "lines": 1,
            "bytes": 2,
            "uri": "file:///r",
            "region": "message",
        },
    ),
    (
        render.DurableNotice("> Cut.\n", "warning", "truncated", "Cut."),
        {
            "type": "notice",
            "class": "durable",
            "md": "> Cut.\n",
            "level": "warning",
            "code": "truncated",
            "text": "Cut.",
        },
    ),
    (
        render.Notice("notice:1", "error", "reasoning_summary", "It thought.", 1),
        {
            "type": "notice",
            "class": "ephemeral",
            "slot": "notice:1",
            "level": "error",
            "code": "reasoning_summary",
            "text": "It thought.",
            "regionIndex": 1,
        },
    ),
    (
        render.Notice("notice:1", "shout", "x", "Hm."),
        {
            "type": "notice",
            "class": "ephemeral",
            "slot": "notice:1",
            "level": "info",
            "code": "x",
            "text": "Hm.",
        },
    ),
    (
        render.Status("waiting", "waiting for first tokens", 1500),
        {
            "type": "status",
            "class": "ephemeral",
            "slot": "status",
            "phase": "waiting",
            "detail": "waiting for first tokens",
            "elapsedMs": 1500,
        },
    ),
    (
        render.ReasoningIndicator("timer", 3, 900),
        {
            "type": "reasoning_indicator",
            "class": "ephemeral",
            "slot": "reasoning",
            "mode": "timer",
            "ticks": 3,
            "elapsedMs": 900,
        },
    ),
    (
        render.ToolPreparing("tool:c1", "make", 3000),
        {
            "type": "tool_preparing",
            "class": "ephemeral",
            "slot": "tool:c1",
            "name": "make",
            "elapsedMs": 3000,
        },
    ),
    (
        render.ToolProgress("tool:c1", "make", 3000),
        {"type": "tool_progress", "class": "ephemeral", "slot": "tool:c1", "name": "make", "elapsedMs": 3000},
    ),
    (
        render.ToolProgress("tool:c1", "make", 3000, "linking", 80),
        {
            "type": "tool_progress",
            "class": "ephemeral",
            "slot": "tool:c1",
            "name": "make",
            "elapsedMs": 3000,
            "message": "linking",
            "percentage": 80,
        },
    ),
    (
        render.Retry(2, 5, "Rate limited", 3000),
        {
            "type": "retry",
            "class": "ephemeral",
            "slot": "retry",
            "attempt": 2,
            "max": 5,
            "cause": "Rate limited",
            "delayMs": 3000,
        },
    ),
    (
        render.Preview("Half a sen"),
        {"type": "preview", "class": "ephemeral", "slot": "preview", "md": "Half a sen"},
    ),
    *(
        (cleared, {"type": cleared.type, "class": "ephemeral", "slot": slot, "clear": True})
        for cleared, slot in (
            (render.Notice("notice:1", is_clear=True), "notice:1"),
            (render.Status(is_clear=True), "status"),
            (render.ReasoningIndicator(is_clear=True), "reasoning"),
            (render.ToolPreparing("tool:c1", is_clear=True), "tool:c1"),
            (render.ToolProgress("tool:c1", is_clear=True), "tool:c1"),
            (render.Retry(is_clear=True), "retry"),
            (render.Preview(is_clear=True), "preview"),
        )
    ),
    (
        render.Retract(4, "abort"),
        {"type": "retract", "class": "control", "fromSeq": 4, "reason": "abort"},
    ),
    (
        render.PromptOpen("d1", "menu"),
        {"type": "prompt_open", "class": "control", "decisionId": "d1", "promptKind": "menu", "actions": []},
    ),
    (
        render.PromptOpen("d1", "approval", "c1", (ACTION,)),
        {
            "type": "prompt_open",
            "class": "control",
            "decisionId": "d1",
            "promptKind": "approval",
            "callId": "c1",
            "actions": [{"id": "run", "title": "Run"}],
        },
    ),
    (
        render.PromptClosed("d1", "superseded"),
        {"type": "prompt_closed", "class": "control", "decisionId": "d1", "how": "superseded"},
    ),
    (
        render.TurnEnd("completed", True),
        {"type": "turn_end", "class": "control", "outcome": "completed", "persisted": True},
    ),
    (
        render.TurnEnd("failed", False, USAGE),
        {
            "type": "turn_end",
            "class": "control",
            "outcome": "failed",
            "persisted": False,
            "usage": {"inputTokens": 1, "outputTokens": 2, "cachedTokens": 3, "reasoningTokens": 4},
        },
    ),
]


@pytest.mark.requirement("R116", "R118", "R327")
@pytest.mark.parametrize(("chunk", "expected"), CASES)
def test_each_chunk_is_exactly_as_promised(chunk: render.Chunk, expected: dict[str, Any]) -> None:
    wire = chunk_to_wire(chunk, 5, ORIGIN)
    assert wire == HEAD | expected
    kept = read(ChunkNotification, wire, "jp/chunk")
    assert kept.model_dump(mode="json", by_alias=True, exclude_unset=True) == wire


def test_each_class_of_chunk_has_a_case() -> None:
    assert {type(chunk) for chunk, _ in CASES} == set(get_args(render.Chunk))


def test_each_promised_field_is_sent_by_some_chunk() -> None:
    sent: dict[str, set[str]] = defaultdict(set)
    for chunk, _ in CASES:
        sent[chunk.type] |= chunk_to_wire(chunk, 5, ORIGIN).keys()
    promised = {
        model.model_fields["type"].default: {field.alias for field in model.model_fields.values()}
        for model in cast("tuple[type[Envelope], ...]", get_args(get_args(Chunk.__value__)[0]))
    }
    promised["tool_preparing"] -= {"message", "percentage"}  # no vendor tells how far a model is
    assert promised == dict(sent)


@pytest.mark.parametrize(("chunk", "_expected"), CASES)
def test_each_field_of_a_chunk_reaches_the_wire(chunk: render.Chunk, _expected: dict[str, Any]) -> None:
    if getattr(chunk, "is_clear", False):
        return
    for field in dataclasses.fields(chunk):
        if field.name in {"is_clear", "is_edited", "level", "actions", "usage"}:
            continue  # flags, a fixed word and nested values: see the cases
        marked = dataclasses.replace(chunk, **{field.name: "@marker"})
        assert "@marker" in chunk_to_wire(marked, 5, ORIGIN).values(), field.name


@pytest.mark.requirement("R327")
def test_the_envelope_says_where_a_chunk_comes_from() -> None:
    early = chunk_to_wire(render.Status("preparing", "waiting for the lock", 0), 1, Origin(7, None, 0))
    assert early == {
        "v": CHUNK_VERSION,
        "seq": 1,
        "turn": 7,
        "cycle": 0,
        "type": "status",
        "class": "ephemeral",
        "slot": "status",
        "phase": "preparing",
        "detail": "waiting for the lock",
        "elapsedMs": 0,
    }
    read(ChunkNotification, early, "jp/chunk")
    assert converter.CHUNK_VERSION == CHUNK_VERSION


def test_a_question_is_told_with_the_titles_that_its_buttons_have() -> None:
    choices = (Choice("run", "Run\x1b[0m"), Choice("edit", "Run"), Choice("skip", "Skip"))
    decision = Decision(DecisionId("d1"), "approval", "Run make?", choices)
    assert converter.prompt_open(decision) == render.PromptOpen(
        "d1",
        "approval",
        None,
        (
            render.PromptAction("skip", "Skip"),
            render.PromptAction("run", "Run"),
            render.PromptAction("edit", "Run (2)"),
        ),
    )

"""The reducer: which chunks are shown where, and what of them."""

from collections.abc import Sequence
from typing import Any

import pytest

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.render.chat import TurnView
from jp_lsp.render.options import DisplayOptions, Labels
from jp_lsp.server.chunk_to_wire import Origin, chunk_to_wire
from jp_lsp.terminal.operations import EndLine, HideStatus, Link, Operation, Say, ShowStatus, Write
from jp_lsp.terminal.query_options import Thoughts
from jp_lsp.terminal.screen import Screen, Show, read_chunk
from jp_lsp.terminal.status import StatusStyle

STYLE = StatusStyle(is_unicode=False, has_menu=True)
TERMINAL = Show(is_terminal=True, thoughts="in_place", status=STYLE)
PIPE = Show(is_terminal=False, thoughts="hidden", status=STYLE)


def chunk(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


def role(who: str, label: str = "x") -> dict[str, Any]:
    return chunk("role", **{"class": "durable"}, md=f"## {label}", role=who, label=label)


def text(md: str, region: str = "message", block: str = "paragraph") -> dict[str, Any]:
    return chunk("text", **{"class": "durable"}, md=md, region=region, block=block, part="whole", indent=0)


def thought(md: str) -> dict[str, Any]:
    return text(md, "reasoning")


def structured(part: str, md: str) -> dict[str, Any]:
    return chunk("structured", **{"class": "durable"}, md=md, part=part)


def call(md: str) -> dict[str, Any]:
    return chunk(
        "tool_call", **{"class": "durable"}, md=md, callId="c1", name="ls", source="local", arguments="{}"
    )


def answer_of_tool(md: str, **more: str) -> dict[str, Any]:
    fields = {**more, "ok": True, "truncated": False, "lines": 1, "bytes": 2}
    return chunk("tool_result", **{"class": "durable"}, md=md, callId="c1", name="ls", **fields)


def notice(level: str, words: str, *, is_durable: bool) -> dict[str, Any]:
    fields: dict[str, Any] = {"level": level, "code": "c", "text": words}
    if is_durable:
        return chunk("notice", **{"class": "durable"}, md=f"> {words}", **fields)
    return chunk("notice", **{"class": "ephemeral"}, slot="notice:c", **fields)


def retract(from_seq: int, reason: str) -> dict[str, Any]:
    return chunk("retract", **{"class": "control"}, fromSeq=from_seq, reason=reason)


def slot(kind: str, name: str, **fields: Any) -> dict[str, Any]:
    return chunk(kind, **{"class": "ephemeral"}, slot=name, **fields)


def handle(screen: Screen, values: Sequence[JsonObject], now: float = 1.0) -> list[Operation]:
    operations: list[Operation] = []
    for seq, value in enumerate(values, 1):
        read = read_chunk({"v": 1, "seq": seq, "turn": "t", "cycle": 1, **value})
        assert read is not None, value
        operations += screen.handle(read, now)
    return operations


QUESTION = [chunk("turn_begin", **{"class": "control"}, turnIndex=1), role("user"), text("\n\nWhy?")]
ANSWER = [role("assistant"), text("\n\nBecause."), text("\n\nReally.")]
ENDED = chunk("turn_end", **{"class": "control"}, outcome="completed", persisted=True)

CASES: dict[str, tuple[Show, list[JsonObject], list[Operation]]] = {
    "the user's own words are not repeated": (
        TERMINAL,
        [*QUESTION, *ANSWER],
        [HideStatus(), Write("Because."), Write("\n\nReally.")],
    ),
    "thoughts are shown in place on a terminal, with what separates them": (
        TERMINAL,
        [*QUESTION, role("assistant"), thought("\n\nHm."), text("\n\n---\n\nYes.")],
        [HideStatus(), Write("Hm.", "thought"), Write("\n\n---\n\nYes.")],
    ),
    "in a pipe neither thoughts nor their separator are": (
        PIPE,
        [*QUESTION, role("assistant"), thought("\n\nHm."), text("\n\n---\n\nYes."), text("\n\n---")],
        [HideStatus(), Write("Yes."), Write("\n\n---")],
    ),
    "a rule that the model wrote after its thoughts stays": (
        PIPE,
        [role("assistant"), thought("\n\nHm."), text("\n\n---\n\n---")],
        [Write("---")],
    ),
    "thoughts beside the answer have breaks of their own": (
        Show(is_terminal=False, thoughts="aside", status=STYLE),
        [role("assistant"), thought("\n\nHm."), thought(" So."), text("\n\n---\n\nYes."), thought("\n\nAh.")],
        [Write("Hm.", "thought"), Write(" So.", "thought"), Write("Yes."), Write("\n\nAh.", "thought")],
    ),
    "tools are shown on a terminal": (
        TERMINAL,
        [role("assistant"), text("\n\nLook:"), call("\n\nCalling tool ls"), answer_of_tool("\n\na"), text("\n\nOK")],
        [
            Write("Look:"),
            Write("\n\nCalling tool ls", "tool"),
            Write("\n\na", "tool"),
            Write("\n\nOK"),
        ],
    ),
    "and not in a pipe": (
        PIPE,
        [role("assistant"), text("\n\nLook:"), call("\n\nCalling tool ls"), answer_of_tool("\n\na"), text("\n\nOK")],
        [Write("Look:"), Write("\n\nOK")],
    ),
    "a value is shown in its fence on a terminal": (
        TERMINAL,
        [role("assistant"), structured("open", "\n\n```json"), structured("more", '\n{"a":'), structured("close", "\n```")],
        [Write("```json"), Write('\n{"a":'), Write("\n```")],
    ),
    "in a pipe it is the bare value, and whole": (
        PIPE,
        [
            role("assistant"),
            structured("open", "\n\n```json"),
            structured("more", '\n{"a":'),
            structured("more", "1}"),
            structured("close", "\n```"),
            ENDED,
        ],
        [Write('{"a":1}'), HideStatus()],
    ),
    "half a value that begins anew was never written to a pipe": (
        PIPE,
        [
            role("assistant"),
            structured("open", "\n\n```json"),
            structured("more", '\n{"a":'),
            retract(2, "restart"),
            structured("open", "\n\n```json"),
            structured("more", '\n{"b":2}'),
            structured("close", "\n```"),
            ENDED,
        ],
        [Write('{"b":2}'), HideStatus()],
    ),
    "nor is a whole one that does not fit, and is asked for again": (
        PIPE,
        [
            role("assistant"),
            structured("open", "\n\n```json"),
            structured("more", "\n[]"),
            structured("close", "\n```"),
            retract(1, "restart"),
            role("assistant"),
            structured("open", "\n\n```json"),
            structured("more", "\n{}"),
            structured("close", "\n```"),
            ENDED,
        ],
        [Write("{}"), HideStatus()],
    ),
    "what stood before another attempt stays": (
        PIPE,
        [
            structured("open", "```json"),
            structured("more", "\n[]"),
            structured("close", "\n```"),
            call("\n\nCalling tool ls"),
            retract(4, "empty"),
            text("\n\nOK"),
        ],
        [Write("[]"), Write("\n\nOK")],
    ),
    "what cannot be taken back is marked": (
        TERMINAL,
        [role("assistant"), text("\n\nYes and"), retract(2, "refused"), role("assistant"), text("\n\nNo.")],
        [
            Write("Yes and"),
            EndLine(),
            Say("[The text above does not count: the model refused to go on.]", "warning"),
            Write("\nNo."),
        ],
    ),
    "also in a pipe, on standard error": (
        PIPE,
        [role("assistant"), text("\n\nYes and"), retract(1, "abort")],
        [Write("Yes and"), EndLine(), Say("[The text above was discarded.]", "warning")],
    ),
    "what was not shown needs no mark": (
        PIPE,
        [role("assistant"), thought("\n\nHm."), retract(1, "empty"), retract(1, "empty")],
        [],
    ),
    "nor does a second retraction of the same text": (
        TERMINAL,
        [text("Yes"), retract(1, "empty"), retract(1, "empty")],
        [
            Write("Yes"),
            EndLine(),
            Say("[The text above does not count: the answer begins anew.]", "warning"),
        ],
    ),
    "a notice that belongs to the transcript has its place": (
        TERMINAL,
        [text("Yes"), notice("warning", "Stopped early.", is_durable=True), text("\n\nNo.")],
        [Write("Yes"), EndLine(), Say("warning: Stopped early.", "warning"), Write("\nNo.")],
    ),
    "others are said once": (
        TERMINAL,
        [notice("info", "A small model.", is_durable=False), notice("info", "A small model.", is_durable=False)],
        [Say("A small model.")],
    ),
    "a reply is a turn of its own": (
        TERMINAL,
        [*ANSWER[:2], chunk("turn_begin", **{"class": "control"}, turnIndex=2, replyTo=1), role("user"), text("\n\nShorter"), role("assistant"), text("\n\nYes.")],
        [Write("Because."), HideStatus(), Write("\n\nYes.")],
    ),
    "the end of a turn removes the status": (
        TERMINAL,
        [slot("status", "status", phase="streaming", detail="thinking"), ENDED],
        [HideStatus()],
    ),
}  # fmt: skip


@pytest.mark.requirement("R340")
@pytest.mark.parametrize(("show", "values", "expected"), CASES.values(), ids=CASES)
def test_operations(show: Show, values: list[JsonObject], expected: list[Operation]) -> None:
    assert handle(Screen(show), values) == expected


@pytest.mark.parametrize(
    "value",
    [
        {"type": "hologram", "class": "durable"},
        {"type": "text", "class": "durable", "md": 3},
        {},
        [],
        None,
        "x",
    ],
)
def test_what_is_not_known_is_ignored(value: Any) -> None:
    assert read_chunk(value) is None


def test_the_result_is_shown_when_no_chunk_was() -> None:
    """The result is the truth; chunks are its preview."""
    assert Screen(PIPE).finish("Because.") == [HideStatus(), Write("Because."), EndLine()]

    screen = Screen(PIPE)
    handle(screen, ANSWER)
    assert screen.finish("Because.\n\nReally.") == [HideStatus(), EndLine()]


def test_the_status_waits_until_text_has_stopped() -> None:
    screen = Screen(TERMINAL, began=0.0)
    assert screen.tick(0.1) == [ShowStatus("/ working - 0 s")]

    handle(screen, [slot("status", "status", phase="waiting", detail="waiting for first tokens")], 1.0)
    assert screen.tick(1.0) == [ShowStatus("- waiting for first tokens - 1 s")]

    handle(screen, [slot("status", "status", clear=True), text("Yes")], 2.0)
    assert screen.tick(2.3) == []
    assert screen.tick(3.9) == []
    assert screen.tick(4.1) == [ShowStatus("/ working - 4 s")]

    handle(screen, [slot("retry", "retry", attempt=2, max=5, cause="Rate limited", delayMs=4000)], 5.0)
    assert screen.tick(6.0) == [
        ShowStatus("| Rate limited; trying again in 4 s (2 of 5) - 6 s - Ctrl+C to interrupt")
    ]


def test_what_the_server_holds_back_is_there_for_the_menu() -> None:
    screen = Screen(TERMINAL)
    handle(screen, [slot("preview", "preview", md="\n\nand the\x1b[2J last")])
    assert screen.held_back == "and the[2J last"
    handle(screen, [slot("preview", "preview", clear=True)])
    assert screen.held_back == ""


@pytest.mark.requirement("R120")
@pytest.mark.parametrize(
    ("md", "uri", "expected"),
    [
        ("[full result](file:///r)", "file:///r", [Link("full result", "file:///r", "tool")]),
        (
            "a\n\n[full result](file:///r)",
            "file:///r",
            [Write("a\n\n", "tool"), Link("full result", "file:///r", "tool")],
        ),
        ("[full result](file:///other)", "file:///r", [Write("[full result](file:///other)", "tool")]),
        ("see: <file:///r>", "file:///r", [Write("see: <file:///r>", "tool")]),
        ("[full result](file:///r)", None, [Write("[full result](file:///r)", "tool")]),
    ],
)
def test_a_titled_link_to_a_result_is_one(md: str, uri: str | None, expected: list[Operation]) -> None:
    chunk = answer_of_tool(md) if uri is None else answer_of_tool(md, uri=uri)
    assert handle(Screen(TERMINAL), [chunk]) == expected


def shown(show: Show, *, reasoning: Thoughts = "hidden") -> str:
    """Run a whole turn through the server's own renderer and give what is written."""
    view = TurnView(DisplayOptions(), Labels("me", "it", "test/model"))
    chunks = [
        *view.turn_begin(1, "What is there?"),
        *view.part("reasoning", "I should look.\n"),
        *view.part("message", "Let me see.\n\n"),
        *view.tool_call("c1", "ls", {"path": "."}),
        *view.tool_result("c1", "a.txt\n"),
        *view.part("reasoning", "One file."),
        *view.part("message", "There is\none file:\n\n- a.txt\n"),
        *view.turn_end("completed", is_persisted=True),
    ]
    screen = Screen(show)
    values = [dict(chunk_to_wire(chunk, seq, Origin("t", None, 1))) for seq, chunk in enumerate(chunks, 1)]
    operations = [*handle(screen, values), *screen.finish("")]
    return "".join(operation.text for operation in operations if isinstance(operation, Write))


@pytest.mark.requirement("R340")
def test_a_turn_as_the_server_sends_it() -> None:
    assert shown(PIPE) == "Let me see.\n\nThere is\none file:\n\n- a.txt"
    assert shown(TERMINAL) == (
        "I should look.\n\n---\n\nLet me see.\n\nCalling tool ls\n\n"
        '```json\n{\n  "path": "."\n}\n```\n\n'
        "Tool result:\n\n```\na.txt\n```\n\nOne file.\n\n---\n\nThere is\none file:\n\n- a.txt"
    )

"""Stored turns shown again (query pipeline 5.9)."""

import base64

import pytest

from jp_lsp.conversation.event import (
    Answered,
    AnswerType,
    ChatRequest,
    ConversationEvent,
    EventKind,
    InquiryRequest,
    InquiryResponse,
    InquirySource,
    MessageResponse,
    Question,
    ReasoningResponse,
    StructuredResponse,
    ToolCallRequest,
    ToolCallResponse,
    TurnStart,
)
from jp_lsp.conversation.ids import CallId, InquiryId
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.render.chunk import EPHEMERAL, DurableNotice, Role, Text, TurnBegin, TurnEnd
from jp_lsp.render.options import DisplayOptions, Labels, ReasoningDisplay, ToolStyle
from jp_lsp.render.replay import StoredTurn, age_text, export_markdown, render_turns, turn_detail
from jp_lsp.render.transcript import transcript
from tests.support.code_blocks import code_blocks


def events(*kinds: EventKind) -> list[ConversationEvent]:
    return [ConversationEvent(Timestamp(0), kind) for kind in kinds]


CALL = ToolCallRequest(CallId("1"), "read", {"path": "a"})
ANSWER = ToolCallResponse(CallId("1"), "text", is_error=False)
TURN = events(
    TurnStart(),
    ChatRequest("Do *it*"),
    ReasoningResponse("Think"),
    ReasoningResponse("ing"),
    CALL,
    InquiryRequest(InquiryId("i"), InquirySource("tool", "read"), Question("Sure?", AnswerType("boolean"))),
    InquiryResponse(InquiryId("i"), Answered(True)),
    ANSWER,
    MessageResponse("The "),
    MessageResponse("end."),
)
TEXT = """## User

Do *it*

## Assistant (test/big)

Thinking

Calling tool read

```json
{
  "path": "a"
}
```

Tool result:

```
text
```

The end."""


@pytest.mark.requirement("R265", "R321", "R190", "R322")
def test_a_stored_turn_reads_as_it_did_live() -> None:
    turn = StoredTurn(3, TURN, labels=Labels(model="test/big"))
    chunks = render_turns([turn], has_detail=False)
    assert transcript(chunks) == TEXT
    assert export_markdown([turn], has_detail=False) == TEXT + "\n"
    assert not any(isinstance(chunk, (*EPHEMERAL, DurableNotice)) for chunk in chunks)
    assert chunks[0] == TurnBegin(3)
    assert chunks[-1] == TurnEnd("completed", is_persisted=True)
    assert [block.text for block in code_blocks(chunks)] == []


@pytest.mark.requirement("F35")
def test_headers_say_which_turn_and_how_old() -> None:
    turns = [
        StoredTurn(number, events(ChatRequest(f"q{number}"), MessageResponse("a")), age=720, last_number=last)
        for number, last in ((1, None), (2, 5), (6, 6), (7, None))
    ]
    chunks = render_turns(turns)
    users = [chunk for chunk in chunks if isinstance(chunk, Role) and chunk.role == "user"]
    assert [chunk.detail for chunk in users] == [
        "turn 1, 12 minutes ago",
        "turns 2-5, 12 minutes ago",
        "turn 6, 12 minutes ago",
        "turn 7, 12 minutes ago",
    ]
    assert [chunk.index for chunk in chunks if isinstance(chunk, TurnBegin)] == [1, 2, 6, 7]
    assert transcript(chunks).startswith(
        "## User (turn 1, 12 minutes ago)\n\nq1\n\n## Assistant\n\na\n\n## User (turns 2-5"
    )


@pytest.mark.requirement("R265", "C34")
def test_each_request_stands_under_the_name_of_who_wrote_it() -> None:
    """Several people may have written a conversation that a repository holds; the others are the user of today."""
    requests = [ChatRequest("one", author="Ann\nB."), ChatRequest("two", author=" "), ChatRequest("three")]
    chunks = render_turns([StoredTurn(1, events(*requests), labels=Labels(user="Me"))])
    assert transcript(chunks) == "## Ann B. (turn 1)\n\none\n\n## Me\n\ntwo\n\n## Me\n\nthree"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "now"),
        (0, "now"),
        (59.9, "now"),
        (60, "1 minute ago"),
        (119, "1 minute ago"),
        (120, "2 minutes ago"),
        (3600, "1 hour ago"),
        (86400 * 2, "2 days ago"),
        (86400 * 8, "1 week ago"),
        (86400 * 65, "2 months ago"),
        (86400 * 800, "2 years ago"),
    ],
)
def test_ages(seconds: float, text: str) -> None:
    assert age_text(seconds) == text


def test_without_an_age_the_header_has_the_number_alone() -> None:
    assert turn_detail(StoredTurn(4, [])) == "turn 4"


@pytest.mark.requirement("R198")
def test_each_turn_has_its_own_settings_and_its_own_limit() -> None:
    """Trap 103: the limit starts anew in each turn, also when one object of settings serves all of them."""
    thought = [ChatRequest("q"), ReasoningResponse("abcdef"), MessageResponse("m")]
    short = DisplayOptions(reasoning=ReasoningDisplay("truncate", 3))
    turns = [
        StoredTurn(1, events(*thought), options=short),
        StoredTurn(2, events(*thought), options=short, labels=Labels("Ann", "Bo", "x/y")),
        StoredTurn(3, events(*thought), options=DisplayOptions(reasoning=ReasoningDisplay("hidden"))),
    ]
    assert transcript(render_turns(turns, has_detail=False)) == (
        "## User\n\nq\n\n## Assistant\n\nabc\n\n...\n\n---\n\nm"
        "\n\n## Ann\n\nq\n\n## Bo (x/y)\n\nabc\n\n...\n\n---\n\nm"
        "\n\n## User\n\nq\n\n## Assistant\n\nm"
    )


@pytest.mark.requirement("F25", "R191")
def test_values_are_closed_and_pretty() -> None:
    turns = [
        StoredTurn(1, events(ChatRequest("q"), StructuredResponse({"ok": True}))),
        StoredTurn(
            2,
            events(
                ChatRequest("q"), StructuredResponse([1]), StructuredResponse('{"a'), MessageResponse("m")
            ),
        ),
    ]
    assert transcript(render_turns(turns, has_detail=False)) == (
        '## User\n\nq\n\n## Assistant\n\n`````json\n{\n  "ok": true\n}\n`````'
        '\n\n## User\n\nq\n\n## Assistant\n\n`````json\n[\n  1\n]\n`````\n\n`````json\n{"a\n`````\n\nm'
    )


def stored_call(rendered: JsonValue, style: ToolStyle | None = None) -> str:
    call = ConversationEvent(Timestamp(0), CALL, {"rendered_arguments": rendered})
    options = DisplayOptions(tools={"read": style} if style else {})
    text = transcript(
        render_turns([StoredTurn(1, [*events(ChatRequest("q")), call], options=options)], has_detail=False)
    )
    return text.partition("Calling tool read")[2]


def test_what_a_formatter_wrote_is_shown_again_and_the_formatter_is_not_run() -> None:
    """Trap 109: also when the tool is no longer configured."""
    encoded = base64.b64encode(b"**path** a").decode()
    assert stored_call(encoded) == "\n\n**path** a"
    assert stored_call(encoded, ToolStyle(parameters="custom")) == "\n\n**path** a"
    assert stored_call(encoded, ToolStyle(parameters="off")) == ""
    assert stored_call("not base64!") == "\n\nnot base64!"
    assert stored_call(7) == '\n\n```json\n{\n  "path": "a"\n}\n```'


def test_only_what_the_user_said() -> None:
    second = events(TurnStart(), ChatRequest("b"), MessageResponse("x"), ChatRequest("c"))
    chunks = render_turns([StoredTurn(1, TURN), StoredTurn(2, second)], is_user_only=True, has_detail=False)
    assert transcript(chunks) == "## User\n\nDo *it*\n\n## User\n\nb\n\n## User\n\nc"


def test_the_file_of_a_result_is_looked_up() -> None:
    chunks = render_turns(
        [StoredTurn(1, events(ChatRequest("q"), CALL, ANSWER))],
        result_uri=lambda event: f"file:///{event.timestamp.nanoseconds}",
    )
    assert transcript(chunks).endswith("```\ntext\n```\n\nsee: <file:///0>")


def test_odd_turns_are_shown_as_far_as_they_go() -> None:
    orphan = StoredTurn(1, events(MessageResponse("a"), ToolCallResponse(CallId("9"), "r", is_error=True)))
    assert transcript(render_turns([orphan])) == "## Assistant\n\na\n\nTool result:\n\n```\nr\n```"
    assert render_turns([StoredTurn(1, events(TurnStart()))]) == []
    assert render_turns([StoredTurn(1, [])]) == []
    assert export_markdown([]) == ""


@pytest.mark.requirement("R195")
def test_a_word_over_two_events_is_one_in_the_transcript_only() -> None:
    stored = events(ChatRequest("q"), MessageResponse("hay"), MessageResponse("stack"))
    assert not any("haystack" in getattr(event.kind, "text", "") for event in stored)
    chunks = render_turns([StoredTurn(1, stored)])
    assert any("haystack" in chunk.md for chunk in chunks if isinstance(chunk, Text))

"""Which query wants a title, how a model is asked for one, and which answer is one (query pipeline 7.1)."""

import pytest

from jp_lsp.conversation.event import ChatRequest, ConversationEvent, MessageResponse, TurnStart
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.driver.title_request import TitleFound, TitleWanted, decide_title, read_title, title_thread
from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.settings import TitleSettings
from jp_lsp.turn.query import Fork, Query

SMALL = ModelId("test", "small")
BOTH = TitleSettings(model=SMALL)


@pytest.mark.requirement("F24", "R242")
@pytest.mark.parametrize(
    ("query", "present", "settings", "expected"),
    [
        (Query("hi"), None, BOTH, TitleWanted(SMALL, None)),
        (Query("# Plan"), None, BOTH, TitleFound("Plan")),
        (Query("# Plan"), None, TitleSettings(), TitleFound("Plan")),
        (Query("# Plan"), None, TitleSettings(False, SMALL), TitleWanted(SMALL, None)),
        (Query("hi"), None, TitleSettings(), None),
        (Query("hi"), "Old", BOTH, None),
        (Query("hi"), "", BOTH, None),
        (Query("# Plan"), "Old", BOTH, None),
        (Query("hi", title="Mine"), "Mine", BOTH, None),
        (Query("# Plan", title=""), None, BOTH, None),
        (Query("# Plan", persist=False), None, BOTH, None),
        (Query("hi", fork=Fork("last")), "Old", BOTH, TitleWanted(SMALL, "Old")),
        (Query("# New", fork=Fork("last")), "Old", BOTH, TitleFound("New")),
        (Query("hi", resume=True), None, BOTH, TitleWanted(SMALL, None)),
        (Query("# " + "x" * 300), None, BOTH, TitleFound("x" * 200)),
    ],
)
def test_the_decision(
    query: Query, present: str | None, settings: TitleSettings, expected: TitleFound | TitleWanted | None
) -> None:
    assert decide_title(query, present, settings) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"titles": ["One", "Two"]}, "One"),
        ({"titles": [1, None, " ", "Two\nlines \x1b[31mred\x1b[0m"]}, "Two lines red"),
        ({"titles": ["x" * 300]}, "x" * 200),
        ({"titles": []}, None),
        ({"titles": "One"}, None),
        ({"title": "One"}, None),
        (["One"], None),
        ("One", None),
        (None, None),
    ],
)
def test_the_first_usable_title_counts(value: JsonValue, expected: str | None) -> None:
    assert read_title(value) == expected


@pytest.mark.requirement("R242")
def test_the_request_stands_behind_the_conversation_and_changes_nothing_of_it() -> None:
    stream = ConversationStream.new(Timestamp(0), {})
    for kind in (TurnStart(), ChatRequest("a", {"type": "string"}), MessageResponse("b"), TurnStart()):
        stream.append(ConversationEvent(Timestamp(1), kind))
    stream.append(ConversationEvent(Timestamp(2), ChatRequest("c")))
    before = stream.events_text()
    thread = title_thread(stream, Timestamp(3))
    assert [event.event.kind for event in thread.events][:-1] == [
        ChatRequest("a", {"type": "string"}),
        MessageResponse("b"),
        ChatRequest("c"),
    ]
    request = thread.events[-1].event.kind
    assert isinstance(request, ChatRequest)
    assert request.content == "Generate a title for this conversation."
    assert (
        thread.schema
        == request.schema
        == {
            "type": "object",
            "properties": {
                "titles": {
                    "type": "array",
                    "items": {
                        "type": "string",
                        "description": "A concise title that describes the conversation",
                    },
                    "minItems": 1,
                    "maxItems": 1,
                }
            },
            "required": ["titles"],
            "additionalProperties": False,
        }
    )
    assert thread.attachments == ()
    (section,) = thread.system_parts
    assert section.startswith('<instruction title="Title Generation">\n')
    assert stream.events_text() == before

"""`jp` attachments: which conversation, what of it, in which form."""

import json
from typing import Any

import pytest

from jp_lsp.attachments.selection import BadSelection, read_selection
from jp_lsp.conversation.event import (
    ChatRequest,
    ConversationEvent,
    MessageResponse,
    ReasoningResponse,
    StructuredResponse,
    ToolCallRequest,
    ToolCallResponse,
    TurnStart,
)
from jp_lsp.conversation.ids import CallId, ConversationId
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.attachment import AttachmentError
from tests.adapters.attachments.fetching import Folder, texts

pytestmark = pytest.mark.anyio

EVENTS: list[Any] = [
    TurnStart(),
    ChatRequest("One?"),
    ReasoningResponse("Hm."),
    MessageResponse("First."),
    TurnStart(),
    ChatRequest("Two?"),
    ReasoningResponse(""),
    ToolCallRequest(CallId("c"), "look", {"at": "x"}),
    ToolCallResponse(CallId("c"), "seen ``` it\n", is_error=False),
    MessageResponse("Second."),
    TurnStart(),
    ChatRequest("Three?"),
    StructuredResponse({"n": 3}),
]

SHOWN: dict[str, tuple[str, str]] = {
    "": ("a:-1", '## Turn 3\n\n### Assistant\n\n```json\n{\n  "n": 3\n}\n```'),
    "?select=u": ("u", "## Turn 3\n\n### User\n\nThree?"),
    "?select=ua:1": ("ua:1", "## Turn 1\n\n### User\n\nOne?\n\n### Assistant\n\nFirst."),
    "?select=u:..2": ("u:..2", "## Turn 1\n\n### User\n\nOne?\n\n## Turn 2\n\n### User\n\nTwo?"),
    "?select=u:2..": ("u:2..", "## Turn 2\n\n### User\n\nTwo?\n\n## Turn 3\n\n### User\n\nThree?"),
    "?select=r:..": ("r:..", "## Turn 1\n\n### Reasoning\n\nHm."),
    "?select=a:9": ("a:9", ""),
    "?select=t:2..2": (
        "t:2..2",
        '## Turn 2\n\n### Tool: look\n\n```json\n{\n  "at": "x"\n}\n```\n\n### Tool: look\n\n'
        "````\nseen ``` it\n````",
    ),
}


async def conversation(folder: Folder) -> ConversationId:
    opened = await folder.store.create({"a": 1}, local=False, persist=True)
    for event in EVENTS:
        opened.stream.append(
            ConversationEvent(Timestamp(0), event, {"secret": "m"} if event == EVENTS[3] else {})
        )
    await opened.save()
    await opened.release()
    return opened.id


@pytest.mark.parametrize("query", SHOWN)
async def test_what_is_selected_is_shown(folder: Folder, query: str) -> None:
    wanted = await conversation(folder)
    selection, text = SHOWN[query]
    assert texts(await folder.fetch(f"jp://{wanted}{query}")) == {f"jp:{wanted} ({selection})": text}


async def test_raw_events_are_readable(folder: Folder) -> None:
    wanted = await conversation(folder)
    fetched = texts(await folder.fetch(f"jp://{wanted}?raw&select=t:2"))
    (text,) = fetched.values()
    assert list(fetched) == [f"jp:{wanted} (json, t:2)"]
    assert [event.get("arguments", event.get("content")) for event in json.loads(text)] == [
        {"at": "x"},
        "seen ``` it\n",
    ]


async def test_all_of_it_has_metadata_and_configuration(folder: Folder) -> None:
    wanted = await conversation(folder)
    (text,) = texts(await folder.fetch(f"jp://{wanted}?raw=all&select=a:1")).values()
    everything = json.loads(text)
    assert everything["base_config"] == {"a": 1}
    assert [event["metadata"] for event in everything["events"]] == [{"secret": "m"}]


async def test_a_conversation_that_is_gone_is_left_out(folder: Folder) -> None:
    fetched = await folder.fetch("jp://jp-c17912345678")
    assert fetched.items == ()
    assert fetched.warnings == (
        "Attachment 'jp://jp-c17912345678' was left out: there is no conversation jp-c17912345678 any more.",
    )


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("jp://nothing", "is no conversation id"),
        ("jp://jp-c1?slect=u", "has the unknown parameter `slect`; known are `raw`, `select`"),
        ("jp://jp-c1?raw=none", "`raw` is `events` or `all`, not 'none'"),
        ("jp://jp-c1?select=", "must begin with letters"),
    ],
)
async def test_what_makes_no_sense_is_refused(folder: Folder, entry: str, text: str) -> None:
    with pytest.raises(AttachmentError, match=text):
        await folder.fetch(entry)


@pytest.mark.parametrize(
    "text", ["x", "au2", "a:", "a:0", "a:-0", "a:0..2", "a:1..0", "a:1-2", "a:x", "*u", "a:١"]
)
def test_selections_that_say_nothing(text: str) -> None:
    with pytest.raises(BadSelection):
        read_selection(text)


@pytest.mark.parametrize(
    ("text", "turns"),
    [("*", [4]), ("*:-2", [3, 4]), ("*:-9", [0, 1, 2, 3, 4]), ("*:2", [1]), ("*:2..3", [1, 2]), ("*:..", [0, 1, 2, 3, 4]),
     ("*:3..9", [2, 3, 4]), ("*:3..2", [])],
)  # fmt: skip
def test_ranges_count_from_one(text: str, turns: list[int]) -> None:
    selection = read_selection(text)
    assert list(selection.turns(5)) == turns
    assert selection.content == frozenset("uart")

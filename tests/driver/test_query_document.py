"""The document in which a query is written: what it looks like, and what is read of it (config-and-tools 7.5)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.conversation.event import (
    ChatRequest,
    ConversationEvent,
    MessageResponse,
    ReasoningResponse,
    StructuredResponse,
    ToolCallRequest,
    TurnStart,
)
from jp_lsp.conversation.ids import CallId
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.driver.query_document import QueryDocument, read_document, write_document

SETTINGS = '[assistant.model]\nid = "test/big"\n'
RULE = "-" * 72
DOCUMENT = f"""\
What is this?

---8<---{"-" * 64}
Nothing below this line is part of the query. The settings may be changed.
{RULE}

# Active Configuration

```toml
[assistant.model]
id = "test/big"
```
"""


def events(*kinds: object) -> list[ConversationEvent]:
    return [ConversationEvent(Timestamp(0), kind) for kind in kinds]  # type: ignore[arg-type]


@pytest.mark.requirement("R221", "R235")
def test_a_new_document() -> None:
    assert write_document("What is this?\n", SETTINGS, ()) == DOCUMENT


def test_what_was_said_last_stands_below() -> None:
    said = events(
        TurnStart(),
        ChatRequest("one"),
        ReasoningResponse("hm"),
        ToolCallRequest(CallId("c"), "look", {}),
        MessageResponse("x" * 3000),
        StructuredResponse({"a": 1}),
    )
    below = write_document("What is this?\n", SETTINGS, said).removeprefix(DOCUMENT)
    assert below == (
        "\n# What was said last, to look at\n\n**You:** one\n\n(Tool `look` was called.)\n\n"
        f'{"x" * 2000} ...\n\n{{"a": 1}}\n'
    )
    many = write_document("", SETTINGS, events(*(ChatRequest(str(number)) for number in range(12))))
    assert "**You:** 1\n" not in many
    assert many.endswith("**You:** 11\n")


@pytest.mark.parametrize(
    ("text", "query", "settings"),
    [
        ("", "", None),
        ("only a query\n", "only a query", None),
        (DOCUMENT, "What is this?", SETTINGS),
        (DOCUMENT.replace("\n", "\r\n"), "What is this?", SETTINGS),
        (DOCUMENT.replace("What is this?", ""), "", SETTINGS),
        (DOCUMENT.replace("# Active Configuration", ""), "What is this?", None),
        (DOCUMENT.replace("```toml", "```"), "What is this?", None),
        (f"a\n----8<----\nb\n{RULE}\n", "a", None),
        (f"one\n\ntwo ---8<---\n\n{DOCUMENT}", "one\n\ntwo ---8<---\n\nWhat is this?", SETTINGS),
        ("```toml\na = 1\n```\n", "```toml\na = 1\n```", None),
    ],
)
def test_what_is_read(text: str, query: str, settings: str | None) -> None:
    assert read_document(text) == QueryDocument(query, settings)


def test_a_note_says_what_is_wrong_and_is_not_read() -> None:
    text = write_document("hi", "a = [", (), "line 1 --> not\nTOML")
    assert text.startswith("<!-- The settings below cannot be used: line 1 -- > not\nTOML -->\n\nhi\n")
    assert read_document(text) == QueryDocument("hi", "a = [\n")


TEXTS = st.text(alphabet="ab`#-8<> \n").map(lambda text: text.strip("\n"))


@given(TEXTS.filter(lambda text: "8<" not in text and text == text.rstrip()), TEXTS, TEXTS)
def test_what_was_written_is_read_again(query: str, settings: str, said: str) -> None:
    document = read_document(write_document(query, settings, events(ChatRequest(said))))
    assert document == QueryDocument(query, settings.rstrip() + "\n")


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    assert len(read_document(text).query) <= len(text)

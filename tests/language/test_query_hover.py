"""What a hover in a query document says; `|` is the cursor."""

import pytest

from jp_lsp.language.query_document import read_query
from jp_lsp.language.query_hover import conversation_named, describe_subject, query_subject_at
from tests.language.cursor import cursor
from tests.language.query_workspace import workspace


def hover(marked: str) -> list[str] | None:
    """The lines of the hover."""
    text, offset = cursor(marked)
    document = read_query(text)
    subject = query_subject_at(document, offset)
    if subject is None:
        return None
    said = describe_subject(subject, document, workspace(), 3)
    return None if said is None else [line for line in said.split("\n") if line]


CHESS = ["**𝄞 Chess** `jp-c17912345678`", "- 3 turns", "- last active 2026-10-05 21:09 UTC", "- made 2026-10-05 21:09 UTC"]  # fmt: skip


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("---\nmo|del: x\n---\n", ["**`model`**", "The model to ask, now and later in the conversation.", "- takes `provider/name` or an alias"]),
        ("---\nmodel: fa|st\n---\n", ["**`fast`** is an alias of `anthropic/tiny`", "- Tiny", "- reads 200,000 tokens", "- writes 8,000 tokens at most"]),
        ("---\nmodel: x|/y\n---\n", ["**`x/y`**", "- nothing more is known of it by now"]),
        ("---\npersona: [𝄞, d|ev]\n---\n", ["**`dev`** Dev", "Writes code.", '- sets `assistant.name = "Dev"`']),
        ("---\npersona: bad|\n---\n", ["**`bad`**", "- cannot be applied: unknown key", '- sets `assistant.name = "Dev"`']),
        ("---\npersona: no|\n---\n", None),
        ("---\ntools: [-gr|ep]\n---\n", ["**`grep`**", "Finds text.", "- on unless it is switched", "- run: `unattended`"]),
        ("---\ntools: web|_fetch\n---\n", ["**`web_fetch`**", "Reads a page.", "- off unless it is switched", "- run: `ask`"]),
        ("---\nconversation: jp-c|17912345678\n---\n", CHESS),
        ("---\nconversation: la|st\n---\n", CHESS),
        ("---\nconversation: ne|w\n---\n", ["A new conversation."]),
        ("---\nconversation: jp-c|1\n---\n", None),
        ("𝄞 @src/|main.py", ["**`file:src/main.py`**", "- file, text, 120 bytes", "- its text is sent, with what is unsaved in the editor"]),
        ("@tool|.bin", ["**`file:tool.bin`**", "- file, neither text nor a known kind of file, 5 bytes", "- is left out"]),
        ("@*|.py", ["**`file:*.py`**", "- pattern: 20 files, 20 KiB", "- `src/main.py`", "- and 19 more"]),
        ("@do|cs", ["**`file:docs`**", "- folder: 2 files, 30 bytes", "- `docs/a b.md`", "- `docs/guide.md`"]),
        ("@untitled:|One", ["**`untitled:One`**", "- open in the editor, 1,234 characters; is sent with this query only"]),
        ("@https:|//example.com/a", ["**`https://example.com/a`**", "- is fetched when the query is sent"]),
        ("@jp-c|17912345678", ["**`jp://jp-c17912345678`**", "- is fetched when the query is sent", *CHESS]),
        ("@no|/where", None),
        ("@mcp+git+memo:|//log", ["**`mcp+git+memo://log`**", "- is fetched when the query is sent"]),
        ("---\ncfg: no|body\n---\n", None),
        ("---\ncfg: assistant.nmae|=x\n---\n", None),
        (
            "---\ncfg: style.code.|color:=true\n---\n",
            ["**`style.code.color`**", "Colour code.", "- takes true or false", "- default: `true`"],
        ),
        ("just te|xt", None),
    ],
)  # fmt: skip
def test_hover(marked: str, expected: list[str] | None) -> None:
    assert hover(marked) == expected


def test_which_conversation_must_be_read_for_a_hover() -> None:
    text, offset = cursor("---\nconversation: jp-c1|7\n---\n")
    subject = query_subject_at(read_query(text), offset)
    assert subject is not None
    assert conversation_named(subject) == "jp-c17"

"""What a query document asks for, what is wrong in it, and what its lens says."""

from typing import Any

import pytest

from jp_lsp.language.mentions import MOST_MENTIONS
from jp_lsp.language.query_document import flaws, read_query, to_params
from jp_lsp.language.query_findings import find_query_marks
from jp_lsp.language.query_lens import lens_of
from jp_lsp.language.query_name import is_query
from tests.language.query_workspace import workspace


def document(front: str = "", body: str = "Hello") -> str:
    return f"---\n{front}\n---\n\n{body}\n" if front else body


@pytest.mark.parametrize(
    ("front", "members"),
    [
        ("", {}),
        ("model: a/b", {"config": ["assistant.model.id=a/b"]}),
        ("model:", {}),
        ("persona: dev\ncfg: x=1", {"config": ["@dev", "x=1"]}),
        ("cfg: [x=1, y]\npersona: [dev, '@a']", {"config": ["@dev", "@a", "x=1", "y"]}),
        ("reasoning: 'off'", {"config": ["assistant.model.parameters.reasoning=off"]}),
        ("reasoning: 2000", {"config": ["assistant.model.parameters.reasoning=2000"]}),
        (
            'tools: [a, -b, "*", "-*"]',
            {
                "tools": [
                    {"enable": True, "name": "a"},
                    {"enable": False, "name": "b"},
                    {"enable": True},
                    {"enable": False},
                ]
            },
        ),
        ("tools: false", {"tools": [{"enable": False}]}),
        ("tools: grep", {"tools": [{"enable": True, "name": "grep"}]}),
        ("conversation: new\ntitle: T", {"conversation": "new", "title": "T"}),
        ("fork: last", {"fork": {"from": "last"}}),
        ("attachments: a.md", {"attachments": ["a.md"]}),
        ("tool_choice: required", {"toolChoice": "required"}),
        ("tool_choice: grep", {"toolChoice": {"name": "grep"}}),
        (
            "template: true\npersist: False\nexplain: true",
            {"template": True, "persist": False, "explain": True},
        ),
        ("expires: 2 hours", {"expires": "2h"}),
        ("schema: 'a, ?b [str]'", {"schema": "a, ?b [str]"}),
    ],
)
def test_what_is_asked(front: str, members: dict[str, Any]) -> None:
    read = read_query(document(front))
    assert list(flaws(read)) == []
    assert to_params(read, lambda name: False) == {"text": "Hello", **members}


def test_attachments_of_text_and_front_matter_are_each_asked_for_once() -> None:
    text = document("attachments: [b.md, a.md]", "See @a.md, @c/d, @ada and @Makefile.")
    params = to_params(read_query(text), lambda name: name == "Makefile")
    assert params["attachments"] == ["b.md", "a.md", "c/d", "Makefile"]
    assert params["text"] == "See @a.md, @c/d, @ada and @Makefile."


PARSERS = {"SCHEMA": "the schema cannot be read: ", "YAML": "not valid YAML: "}
"""What others say about a text is theirs to test."""


def marks(text: str) -> list[tuple[str, str, str]]:
    """The findings: severity, what is underlined, and the text of it after mending, or the message."""
    found = find_query_marks(read_query(text), workspace())
    return [
        (mark.severity, text[mark.span.start : mark.span.end], mark.remedy.text if mark.remedy else mark.text)
        for mark in found
    ]


@pytest.mark.parametrize(
    ("front", "expected"),
    [
        ("model: fast", []),
        ("modle: fast", [("error", "modle", "model")]),
        ("tool-choice: auto", [("error", "tool-choice", "tool_choice")]),
        ("nothing_like_it: 1", [("error", "nothing_like_it", "unknown key")]),
        ("title: a\ntitle: b", [("error", "title", "`title` is here for the second time")]),
        ("title: [a, b]", [("error", "a, b", "expected text, got a list")]),
        ("cfg: [{a: 1}]", [("error", "{a: 1}", "expected an expression, or a list of them, got a list or table within it")]),
        ("template: ture", [("error", "ture", "true")]),
        ("template: 1", [("error", "1", "expected true or false, got `1`")]),
        ("conversation: nwe", [("error", "nwe", "new")]),
        (
            "conversation: chess",
            [("error", "chess", "expected the id of a conversation such as `jp-c17912345678`, or `new` or `last`, got `chess`")],
        ),
        ("conversation: jp-c17912345678", []),
        ("conversation: jp-c1", [("error", "jp-c1", "there is no conversation jp-c1")]),
        ("conversation: jp-c17912345679", [("error", "jp-c17912345679", "conversation jp-c17912345679 is archived: unarchive it, or name it as `fork` to ask in a copy")]),
        ("fork: jp-c17912345679", []),
        ("fork: jp-c17912345678\nconversation: last", [("error", "fork", "`fork` makes a new conversation, so `conversation` must be left out")]),
        ("schema: 'a !'", [("error", "'a !'", "SCHEMA")]),
        ("expires: soon", [("error", "soon", "expected a duration such as `2h 30m`, got `soon`")]),
        ("model: fsat", [("error", "fsat", "fast")]),
        ("model: zzz", [("error", "zzz", "`zzz`: is not known")]),
        ("model: anthropic/bgi", [("warning", "anthropic/bgi", "anthropic/big")]),
        ("model: other/any", []),
        ("persona: [dev, dve]", [("error", "dve", "dev")]),
        ("cfg: assistant.name=𝄞", []),
        ("cfg: ['𝄞', wrong]", [("error", "'𝄞'", "`𝄞`: is not known"), ("error", "wrong", "`wrong`: is not known")]),
        ("conversation: new\ntools: [grep, -web_fetsh]", [("error", "-web_fetsh", "-web_fetch")]),
        ("tools: [grepp]", [("warning", "grepp", "grep")]),  # a conversation may know more tools than the files
        ("conversation: new\ntools: [-describe_tools]", [("error", "-describe_tools", "cannot disable describe_tools")]),
        ("tools: ['-']", [("error", "'-'", "the name of a tool is missing behind the `-`")]),
        ("tool_choice: gerp\nconversation: new", [("error", "gerp", "grep")]),
        ("attachments: [src/mian.py, docs]", [("error", "src/mian.py", "src/main.py")]),
        ("attachments: ['*.rs']", [("warning", "'*.rs'", "nothing is attached: no file in the workspace fits `*.rs`")]),
        ("model: ]", [("error", "]", "YAML")]),
    ],
)  # fmt: skip
def test_findings_in_the_front_matter(front: str, expected: list[tuple[str, str, str]]) -> None:
    found = [
        (severity, place, next((word for word, said in PARSERS.items() if text.startswith(said)), text))
        for severity, place, text in marks(document(front))
    ]
    assert found == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("@src/main.py @docs @*.py @!docs @https://example.com/a @jp-c17912345678 @mcp+git+memo://log", []),
        ("𝄞 @src/mian.py", [("error", "@src/mian.py", "@src/main.py")]),
        ("@main.py", [("error", "@main.py", "@src/main.py")]),  # the only file of that name
        ('@"docs/a  b.md"', [("error", '@"docs/a  b.md"', '@"docs/a b.md"')]),
        (
            "@zzz/yyy",
            [("error", "@zzz/yyy", "Attachment 'zzz/yyy': there is no such file; write `\\@` for a plain at sign")],
        ),
        ("@ada", [("hint", "@ada", "`@ada` is text: there is no file or folder of that name")]),
        ("@*.rs", [("warning", "@*.rs", "nothing is attached: no file in the workspace fits `*.rs`")]),
        ("@tool.bin", [("warning", "@tool.bin", "`tool.bin` is left out: it is neither text in UTF-8 nor a known kind of file")]),
        ("@huge.md", [("error", "@huge.md", "`huge.md` cannot be attached: it is too large")]),
        ("@jp-c17912345679", []),
        ("@jp-c1", [("warning", "@jp-c1", "nothing is attached: there is no conversation jp-c1")]),
        (
            "@ftp://example.com",
            [("error", "@ftp://example.com", "nothing here fetches `ftp:`; there are `cmd:`, `gh:`, `http:`, `https:`, `jp:`, `mcp:`")],
        ),
        ("@mcp+got+memo://log", [("error", "@mcp+got+memo://log", "there is no MCP server `got`")]),
    ],
)  # fmt: skip
def test_findings_in_the_text(body: str, expected: list[tuple[str, str, str]]) -> None:
    assert marks(body) == expected


@pytest.mark.parametrize(("count", "is_told"), [(499, False), (500, False), (501, True)])
def test_more_mentions_than_are_looked_at_are_told(count: int, is_told: bool) -> None:
    read = read_query("@a/b " * count)
    assert len(read.mentions) == min(count, MOST_MENTIONS)
    told = [mark.text for mark in flaws(read)]
    assert told == (["what follows this is text: only 500 `@` are looked at"] if is_told else [])


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Hello", "Send to JP (𝄞 Chess)"),
        (document("conversation: new"), "Send to JP (new conversation)"),
        (document("conversation: new\nmodel: a/b"), "Send to JP (new conversation, a/b)"),
        (document("fork: last"), "Send to JP (copy of 𝄞 Chess)"),
        (document("model: a/b", "  \n"), None),
        ("", None),
    ],
)
def test_the_lens(text: str, title: str | None) -> None:
    lens = lens_of(read_query(text), "𝄞 Chess", is_running=False)
    assert (None if lens is None else lens.title) == title


def test_the_lens_while_a_turn_runs() -> None:
    lens = lens_of(read_query(""), None, is_running=True)
    assert lens is not None
    assert (lens.title, lens.does) == ("JP is answering … (interrupt)", "interrupt")


def test_which_documents_are_queries() -> None:
    assert is_query("file:///a/b.jp.md", "markdown")
    assert is_query("untitled:Untitled-1", "jp-query")
    assert not is_query("file:///a/b.md", "markdown")

"""What is offered in a query document; `|` is the cursor."""

import pytest

from jp_lsp.language.query_completion import complete_query, may_name_conversation
from tests.language.cursor import cursor
from tests.language.query_workspace import workspace


def offered(marked: str, *, runs_commands: bool = False) -> dict[str, str]:
    """What becomes of the text with each proposal, by label."""
    text, offset = cursor(marked)
    proposals = complete_query(text, offset, workspace(runs_commands=runs_commands))
    return {
        each.label: text[: each.edit.span.start] + each.edit.text + text[each.edit.span.end :]
        for each in proposals
    }


@pytest.mark.parametrize(
    ("marked", "label", "expected"),
    [
        ("---\n|", "model", "---\nmodel: "),
        ("---\nmo|\n---\n", "model", "---\nmodel: \n---\n"),
        ("---\nmo|: x\n---\n", "model", "---\nmodel: x\n---\n"),
        ("---\nmodel: |\n---\n", "fast", "---\nmodel: fast\n---\n"),
        ("---\nmodel:|\n---\n", "fast", "---\nmodel: fast\n---\n"),
        ("---\nmodel: anth|ropic/x\n---\n", "anthropic/tiny", "---\nmodel: anthropic/tiny\n---\n"),
        ("---\npersona: d|\n---\n", "dev", "---\npersona: dev\n---\n"),
        ("---\npersona: [dev, |]\n---\n", "dev", "---\npersona: [dev, dev]\n---\n"),
        ("---\npersona:\n  - |\n---\n", "dev", "---\npersona:\n  - dev\n---\n"),
        (
            "---\npersona:\n  - dev\n- d|\nmodel: x\n---\n",
            "dev",
            "---\npersona:\n  - dev\n- dev\nmodel: x\n---\n",
        ),
        ("---\ntools: [g|, b]\n---\n", "grep", "---\ntools: [grep, b]\n---\n"),
        ("---\ntools: [-|]\n---\n", "-grep", "---\ntools: [-grep]\n---\n"),
        ("---\ntools: |\n---\n", "ask_user", "---\ntools: ask_user\n---\n"),
        ("---\ntool_choice: |\n---\n", "required", "---\ntool_choice: required\n---\n"),
        ("---\nconversation: |\n---\n", "new", "---\nconversation: new\n---\n"),
        ("---\nconversation: che|\n---\n", "𝄞 Chess", "---\nconversation: jp-c17912345678\n---\n"),
        ("---\ntemplate: |\n---\n", "true", "---\ntemplate: true\n---\n"),
        ("---\nreasoning: h|\n---\n", "high", "---\nreasoning: high\n---\n"),
        ("---\ncfg: |\n---\n", "dev", "---\ncfg: dev\n---\n"),
        ("---\ncfg: ass|\n---\n", "assistant.", "---\ncfg: assistant.\n---\n"),
        ("---\ncfg: [assistant.na|, x]\n---\n", "assistant.name=", "---\ncfg: [assistant.name=, x]\n---\n"),
        (
            "---\ncfg:\n  - style.reasoning.display=s|\n---\n",
            "style.reasoning.display=summary",
            "---\ncfg:\n  - style.reasoning.display=summary\n---\n",
        ),
        (
            "---\ncfg: conversation.tools.g|\n---\n",
            "conversation.tools.grep.",
            "---\ncfg: conversation.tools.grep.\n---\n",
        ),
        ("---\npersona:\n  |\n---\n", "dev", "---\npersona:\n  - dev\n---\n"),
        ("---\npersona:\n  - dev\n  d|\n---\n", "dev", "---\npersona:\n  - dev\n  - dev\n---\n"),
        ("---\npersona:\n  -|\n---\n", "dev", "---\npersona:\n  - dev\n---\n"),
        ("@mcp+g|", "mcp+git+", "@mcp+git+"),
        ("---\nattachments: [src/|]\n---\n", "src/main.py", "---\nattachments: [src/main.py]\n---\n"),
        ("---\nattachments:\n  - |\n---\n", "https://", "---\nattachments:\n  - https://\n---\n"),
        ("---\nmodel: [\n|", "persona", "---\nmodel: [\npersona: "),  # broken YAML
        ("𝄞 @|", "src/main.py", "𝄞 @src/main.py"),
        ("𝄞 @ma| x", "src/main.py", "𝄞 @src/main.py x"),
        ("@src/|", "src/deep/", "@src/deep/"),
        ("@guide|", "docs/guide.md", "@docs/guide.md"),
        ("@a b|", None, None),
        ("@a|", "docs/a b.md", '@"docs/a b.md"'),
        ('@"a b|"', "docs/a b.md", '@"docs/a b.md"'),
        ('@"do|', "docs/", '@"docs/'),
        ("@chess|", "𝄞 Chess", "@jp-c17912345678"),
        ("@unt|", "untitled:One", "@untitled:One"),
        ("@!do|", "!docs/", "@!docs/"),
        ("@|", "mcp+git+", "@mcp+git+"),
        ("---\nmodel: x\n---\n@rea|", "README.md", "---\nmodel: x\n---\n@README.md"),
    ],
)
def test_is_offered(marked: str, label: str | None, expected: str | None) -> None:
    assert offered(marked).get(str(label)) == expected


@pytest.mark.parametrize(
    "marked",
    [
        "---\n|",
        "---\nmodel: |\n---\n",
        "---\nconversation: |\n---\n",
        "---\nconversation:|",
        "---\nfork: j|\n---\n",
        "---\nattachments: [x, |]\n---\n",
        "---\nattachments:\n  - x\n  - |\n---\n",
        "---\nattachments:\n  |\n---\n",
        "---\nmodel: x\n---\n@|",
        "@che|",
        "just text|",
    ],
)
def test_conversations_are_listed_where_they_can_be_offered(marked: str) -> None:
    text, offset = cursor(marked)
    found = complete_query(text, offset, workspace())
    assert any(each.label == "𝄞 Chess" for each in found) == may_name_conversation(text, offset)


@pytest.mark.parametrize(
    ("marked", "label"),
    [
        ("---\nmodel: x\n|\n---\n", "model"),  # it is there already
        ("---\npersona: |\n---\n", "bad"),  # it cannot be applied
        ("---\ntools: |\n---\n", "-web_fetch"),  # it is off
        ("---\nconversation:\n  |\n---\n", "- new"),  # takes no list
        ("---\nmodel: x\n  |\n---\n", "- fast"),
        ("---\ncfg: nowhere.|\n---\n", "nowhere.name="),
        ("---\ncfg: a b|\n---\n", "assistant."),
        ("@https://|", "https://"),  # would take away what is written
        ("@https://exa|", "https://"),
        ("@mcp+git+x|", "mcp+git+"),
        ("model: |", "fast"),  # no front matter
        ("---\n---\nmodel: |", "fast"),
        ("---\n|---\n", "model"),  # the line that ends it
        ("`@ma|`", "src/main.py"),
        ("a@ma|", "src/main.py"),
        ("---\n# @ma|\n---\n", "src/main.py"),
        ("@!che|", "𝄞 Chess"),
        ("@|", "cmd:"),
    ],
)
def test_is_not_offered(marked: str, label: str) -> None:
    assert label not in offered(marked)


def test_commands_are_offered_where_the_workspace_is_trusted() -> None:
    assert offered("@|", runs_commands=True)["cmd:"] == '@"cmd:'


def test_a_conversation_is_found_by_its_title() -> None:
    (found,) = (each for each in complete_query("@", 1, workspace()) if each.label == "𝄞 Chess")
    assert found.search == "jp-c17912345678 𝄞 Chess"
    assert found.detail == "jp-c17912345678, 2026-10-05"


def test_a_model_says_what_it_is() -> None:
    (found,) = (
        each
        for each in complete_query("---\nmodel: ", 11, workspace())
        if each.kind == "model" and "tiny" in each.label
    )
    assert found.detail == "Tiny, 200,000 tokens"

"""The outline of a configuration file: symbols, folds and names of other files."""

import pytest

from jp_lsp.language.formats import read_document
from jp_lsp.language.outline import Symbol, extended_names, folds_of, symbols_of
from jp_lsp.language.positions import Lines

TOML = """\
extends = ["a", { path = "b" }]
inherit = true

# about tools
[conversation.tools.read]
source = "builtin"
command = [
  "cat",
  "x",
]

[[assistant.instructions]]
title = "One"
[[assistant.instructions]]
title = "Two"
items = ["x"]
"""
YAML = """\
extends:
- a
- path: b
inherit: true
conversation:
  tools:
    read:
      source: builtin
assistant:
  instructions:
  - title: One
  - title: Two
    items: [x]
  system_prompt: |
    long
    text

style: {}
"""
JSON = """\
{
  "extends": ["a", {"path": "b"}],
  "assistant": {
    "instructions": [
      {
        "title": "One",
        "position": 3
      }
    ]
  }
}
"""


def listed(symbols: list[Symbol]) -> list[object]:
    """Each symbol: what is shown of it, and what is in it."""
    return [
        (f"{each.name} {each.detail}".strip(), each.kind, *([listed(each.children)] if each.children else ()))
        for each in symbols
    ]


@pytest.mark.parametrize(
    ("suffix", "text", "expected"),
    [
        (
            ".toml",
            TOML,
            [
                ("extends", "list", [("1 b", "table", [("path b", "text")])]),
                ("inherit true", "boolean"),
                (
                    "conversation.tools.read",
                    "table",
                    [("source builtin", "text"), ('command ["cat", "x"]', "list")],
                ),
                ("assistant.instructions.0", "table", [("title One", "text")]),
                ("assistant.instructions.1", "table", [("title Two", "text"), ('items ["x"]', "list")]),
            ],
        ),
        (
            ".yaml",
            YAML,
            [
                ("extends", "list", [("1 b", "table", [("path b", "text")])]),
                ("inherit true", "boolean"),
                (
                    "conversation",
                    "table",
                    [("tools", "table", [("read", "table", [("source builtin", "text")])])],
                ),
                (
                    "assistant",
                    "table",
                    [
                        (
                            "instructions",
                            "list",
                            [
                                ("0 One", "table", [("title One", "text")]),
                                ("1 Two", "table", [("title Two", "text"), ('items ["x"]', "list")]),
                            ],
                        ),
                        ("system_prompt long text", "text"),
                    ],
                ),
                ("style", "table"),
            ],
        ),
        (
            ".json",
            JSON,
            [
                ("extends", "list", [("1 b", "table", [("path b", "text")])]),
                (
                    "assistant",
                    "table",
                    [
                        (
                            "instructions",
                            "list",
                            [("0 One", "table", [("title One", "text"), ("position 3", "number")])],
                        )
                    ],
                ),
            ],
        ),
    ],
)
def test_symbols(suffix: str, text: str, expected: list[object]) -> None:
    assert listed(symbols_of(read_document(text, suffix))) == expected


@pytest.mark.parametrize(
    ("suffix", "text", "expected"),
    [
        (
            ".toml",
            TOML,
            [
                ("[conversation.tools.read]", "]"),
                ("command = [", '  "x",'),
                ("[[assistant.instructions]]", 'title = "One"'),
                ("[[assistant.instructions]]", 'items = ["x"]'),
            ],
        ),
        (
            ".yaml",
            YAML,
            [
                ("extends:", "- path: b"),
                ("conversation:", "      source: builtin"),
                ("  tools:", "      source: builtin"),
                ("    read:", "      source: builtin"),
                ("assistant:", "    text"),
                ("  instructions:", "    items: [x]"),
                ("  - title: Two", "    items: [x]"),
                ("  system_prompt: |", "    text"),
            ],
        ),
        (
            ".json",
            JSON,
            [
                ('  "assistant": {', "    ]"),
                ('    "instructions": [', "      }"),
                ("      {", '        "position": 3'),
            ],
        ),
    ],
)
def test_folds(suffix: str, text: str, expected: list[tuple[str, str]]) -> None:
    lines = text.split("\n")
    folds = folds_of(read_document(text, suffix), Lines(text, "utf-32"))
    assert [(lines[fold.first], lines[fold.last]) for fold in folds] == expected


@pytest.mark.parametrize(("suffix", "text"), [(".toml", TOML), (".yaml", YAML), (".json", JSON)])
def test_names_of_other_files(suffix: str, text: str) -> None:
    names = list(extended_names(read_document(text, suffix)))
    assert [text[name.span.start : name.span.end] for name in names] == ["a", "b"]
    assert [name.target for name in names] == ["a", "b"]


def test_a_large_file_lists_only_so_much() -> None:
    text = "".join(f"k{number} = 1\n" for number in range(20_000))
    assert len(symbols_of(read_document(text, ".toml"))) == 5000

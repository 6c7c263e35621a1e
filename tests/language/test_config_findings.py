"""What is found in a configuration file, where, and what it is mended to."""

from pathlib import Path

import pytest

from jp_lsp.config.about_file import FileFacts, Shadowed
from jp_lsp.config.layer import Origin
from jp_lsp.config.problem import Problem
from jp_lsp.language.findings import find_marks
from jp_lsp.language.formats import read_document


def found(text: str, facts: FileFacts | None = None, suffix: str = ".toml") -> list[tuple[str, str, str]]:
    """The findings: code, what is underlined, and the text of it after mending, or the message."""
    marks = find_marks(read_document(text, suffix), facts or FileFacts())
    return [
        (mark.code, text[mark.span.start : mark.span.end], mark.remedy.text if mark.remedy else mark.text)
        for mark in marks
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[assistant]\nname = 'x'\n", []),
        ("[assistant]\nnmae = 'x'\n", [("unknown-key", "nmae", "name")]),
        ("asistant.name = 'x'\n", [("unknown-key", "asistant", "assistant")]),
        ("[assistant.modle]\nid = 'a/b'\n", [("unknown-key", "modle", "model")]),
        ("assistant = { nmae = 'x' }\n", [("unknown-key", "nmae", "name")]),
        ("[[assistant.instructions]]\ntitel = 'x'\n", [("unknown-key", "titel", "title")]),
        ("[style]\nreasoning.display = 'sumary'\n", [("wrong-value", "'sumary'", "'summary'")]),
        ("inherit = 'false'\n", [("wrong-value", "'false'", "false")]),
        ("config_load_paths = ['a', 3]\n", [("wrong-value", "3", "expected text, got 3")]),
        (
            "inherit = \n[assistant]\nnmae = 1\n",
            [("not-toml", "inherit =", "not valid TOML: Invalid value"), ("unknown-key", "nmae", "name")],
        ),
        ("[assistant]\nmodel.parameters.temprature = 1\n", [("unknown-key", "temprature", "temperature")]),
        (
            "assistant.instructions = { value = [{ title = 'x' }, { titel = 'x', items = 3 }] }\n",
            [("unknown-key", "titel", "title"), ("wrong-value", "3", "expected a list, got 3")],
        ),
        (
            "[assistant]\nsystem_prompt = { value = 3 }\n",
            [("wrong-value", "3", "expected text as `value`, got 3")],
        ),
        (
            "conversation.labels = { value = { a = [] }, strategy = 'keep' }\n",
            [("wrong-value", "[]", "expected text, or a table with `value`, got a list")],
        ),
    ],
)
def test_what_the_text_tells(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert found(text) == expected


def test_what_stands_behind_a_broken_line_is_still_looked_at() -> None:
    text = "config_load_paths = [\n[assistant]\nnmae = 'x'\n"
    assert [(code, place) for code, place, _ in found(text)] == [
        ("not-toml", "[assistant]"),
        ("unknown-key", "nmae"),
    ]


@pytest.mark.parametrize("suffix", [".json", ".json5"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"user": {"name": "b"}\n "assistant": {"name": "x"}}', [22]),
        ('{"user": {"name": "b"} // so\n "assistant": {"name": "x"}}', [22]),
        ('{"assistant": {"name": "x" "system_prompt": "y"}}', [26]),
        ('{"extends": ["a" "b"\n"c"]}', [16, 20]),
        ('{"extends": [{"path": "x"} {"path": "y"}]}', [26]),
        ('{"inherit": true "extends": []}', [16]),
        ('{"inherit": true, "extends": ["a", "b",],}', []),
        ('{"extends": ["a",\n "assistant": {"name": "x"}}', []),  # a bracket is missing
        ('{"user": {"name": "open\n "assistant": {"name": "x"}}', []),  # a quote is
        ('{"assistant": {"na" "name": "x"}}', []),  # a colon is
    ],
)
def test_a_missing_comma_is_found_at_its_place(text: str, expected: list[int], suffix: str) -> None:
    marks = find_marks(read_document(text, suffix), FileFacts())
    missing = [mark.remedy.span for mark in marks if mark.remedy is not None and mark.remedy.text == ","]
    assert [(span.start, span.end) for span in missing] == [(place, place) for place in expected]
    if expected:
        assert len(marks) == len(expected)
        assert {mark.code for mark in marks} == {"not-json"}
        for place in reversed(expected):
            text = f"{text[:place]},{text[place:]}"
        without_comments = text.replace(" // so", "") if suffix == ".json" else text
        assert found(without_comments, suffix=suffix) == []


def test_what_else_is_wrong_shows_beside_a_missing_comma() -> None:
    text = '{"user": {"name": "b"}\n "assistant": {"nmae": "x"},\n "inherit": }'
    assert [(code, place) for code, place, _ in found(text, suffix=".json5")] == [
        ("not-json", "}"),
        ("unknown-key", '"nmae"'),
        ("not-json", '"inherit": }'),
    ]


def test_what_other_files_tell() -> None:
    winner = Origin("cwd", ".jp.toml", Path("/w/.jp.toml"), 3)
    own = Origin("workspace", ".jp/config.toml", Path("/w/.jp/config.toml"), 1)
    facts = FileFacts(
        problems=(
            Problem("extends.1", "`b` does not exist and is left out", own, "warning"),
            Problem("conversation.tools.x", "has no `source` and is left out", own, "warning"),
            Problem("user.name", "is elsewhere", own, "hint"),
        ),
        shadowed=(Shadowed("assistant.name", winner), Shadowed("editor.cmd", winner)),
    )
    text = "extends = ['a', 'b']\n[assistant]\nname = 'x'\n[conversation.tools.x]\nrun = 'ask'\n"
    assert found(text, facts) == [
        ("problem", "extends = ['a', 'b']", "is elsewhere"),
        ("problem", "'b'", "`b` does not exist and is left out"),
        ("shadowed", "name = 'x'", "has no effect: .jp.toml:3 decides"),
        ("problem", "[conversation.tools.x]", "has no `source` and is left out"),
    ]


def test_a_file_that_nothing_reads() -> None:
    facts = FileFacts(unreachable="nothing reads this file")
    assert found("[assistant]\nname = 'x'\n", facts) == [
        ("unreachable", "[assistant]", "nothing reads this file")
    ]

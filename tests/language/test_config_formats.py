"""What differs between the formats of a configuration file; `|` is the cursor."""

from pathlib import Path

import pytest

from jp_lsp.config.about_file import FileFacts, Shadowed
from jp_lsp.config.layer import Origin
from jp_lsp.config.parse import EXTENSIONS
from jp_lsp.config.problem import Problem
from jp_lsp.language.completion import Known, Offer
from jp_lsp.language.definition import ExtendedFiles, Setting, Target, target_at
from jp_lsp.language.document import MAX_SIZE
from jp_lsp.language.findings import TOO_LARGE, find_marks
from jp_lsp.language.formats import SUFFIXES, read_document
from jp_lsp.language.hover import subject_at
from jp_lsp.server.language_features import CHECKED_SUFFIXES
from tests.language.documents import at_cursor, completed

KNOWN = Known(
    values=lambda: {"conversation": {"tools": {"*": {}, "read": {}, "odd name": {}}}},
    models=lambda: (Offer("anthropic/tiny"),),
    files=lambda: (Offer("../personas/dev.yaml"),),
)


def test_every_format_that_is_read_has_features() -> None:
    assert {suffix[1:] for suffix in SUFFIXES} == set(EXTENSIONS)
    assert CHECKED_SUFFIXES == SUFFIXES


@pytest.mark.parametrize(
    ("suffix", "marked", "label", "expected"),
    [
        (".yaml", "|", "inherit", "inherit: "),
        (".yaml", "assi|", "assistant", "assistant:"),
        (".yml", "assistant:\n  |", "name", "assistant:\n  name: "),
        (".yaml", "assistant:\n  name: x\n  mo|", "model", "assistant:\n  name: x\n  model:"),
        (".yaml", "assistant:\n  na|\n  model:\n", "name", "assistant:\n  name: \n  model:\n"),
        (".yaml", "assistant:\n  na|: x\n", "name", "assistant:\n  name: x\n"),
        (
            ".yaml",
            "assistant:\n  instructions:\n    - |",
            "title",
            "assistant:\n  instructions:\n    - title: ",
        ),
        (
            ".yaml",
            "assistant:\n  instructions:\n  - title: x\n    it|",
            "items",
            "assistant:\n  instructions:\n  - title: x\n    items: ",
        ),
        (".yaml", "extends:\n  - |", "../personas/dev.yaml", 'extends:\n  - "../personas/dev.yaml"'),
        (
            ".yaml",
            "assistant:\n  model:\n    id: |",
            "anthropic/tiny",
            "assistant:\n  model:\n    id: anthropic/tiny",
        ),
        (".yaml", "assistant:\n  tool_choice: '|'", "read", "assistant:\n  tool_choice: 'read'"),
        (".yaml", "inherit: |", "false", "inherit: false"),
        (".yaml", "conversation:\n  tools:\n    |", "odd name", 'conversation:\n  tools:\n    "odd name":'),
        (".yaml", "a: [\nassistant:\n  na|", "name", "a: [\nassistant:\n  name: "),
        (".json", "{|}", "inherit", '{"inherit": }'),
        (".json", '{"assi|"}', "assistant", '{"assistant": }'),
        (".json", '{"assistant": {"na|": "x"}}', "name", '{"assistant": {"name": "x"}}'),
        (".json", '{"assistant": {"name": "x", |', "model", '{"assistant": {"name": "x", "model": '),
        (".json", '{"inherit": |}', "false", '{"inherit": false}'),
        (
            ".json",
            '{"assistant": {"model": {"id": "|"}}}',
            "anthropic/tiny",
            '{"assistant": {"model": {"id": "anthropic/tiny"}}}',
        ),
        (
            ".json",
            '{"assistant": {"model": {"id": \'|\'}}}',
            "anthropic/tiny",
            '{"assistant": {"model": {"id": "anthropic/tiny"}}}',
        ),
        (".json5", "{assi|}", "assistant", "{assistant: }"),
        (".json5", "{'assi|'}", "assistant", "{'assistant': }"),
        (
            ".json5",
            "{conversation: {tools: {|}}}",
            "odd name",
            '{conversation: {tools: {"odd name": }}}',
        ),
        (".json5", "{assistant: {tool_choice: '|'}}", "read", "{assistant: {tool_choice: 'read'}}"),
        (".yaml", "assistant:\n  'na|'", "name", "assistant:\n  'name': "),
        (".toml", "assistant.'na|'", "name", "assistant.'name' = "),
        (".toml", "assistant.tool_choice = '|'", "read", "assistant.tool_choice = 'read'"),
    ],
)
def test_is_offered(suffix: str, marked: str, label: str, expected: str) -> None:
    assert completed(marked, label, KNOWN, suffix) == expected


@pytest.mark.parametrize(
    ("suffix", "marked", "label"),
    [
        (".yaml", "assistant:\n  name: x\n  |", "name"),  # it is there already
        (".yaml", "assistant:\n  name: x\n|", "name"),  # another table
        (".yaml", "# |", "inherit"),
        (".yaml", "assistant:\n  tool_choice: |", "*"),
        (".json", '{"inherit": true, |}', "inherit"),
        (".json", "{} |", "inherit"),
        (".json5", "{ // |\n}", "inherit"),
    ],
)
def test_is_not_offered(suffix: str, marked: str, label: str) -> None:
    assert completed(marked, label, KNOWN, suffix) is None


def test_what_the_text_itself_names_is_offered_before_it_is_saved() -> None:
    marked = "conversation:\n  tools:\n    mine:\n      run: ask\nassistant:\n  tool_choice: |\n"
    assert completed(marked, "mine", KNOWN, ".yaml") == marked.replace("|", "mine")


def found(text: str, suffix: str, facts: FileFacts | None = None) -> list[tuple[str, str, str]]:
    """The findings: code, what is underlined, and the text of it after mending, or the message."""
    return [
        (mark.code, text[mark.span.start : mark.span.end], mark.remedy.text if mark.remedy else mark.text)
        for mark in find_marks(read_document(text, suffix), facts or FileFacts())
    ]


@pytest.mark.parametrize(
    ("suffix", "text", "expected"),
    [
        (".yaml", "assistant:\n  name: x\n", []),
        (".yaml", "assistant:\n  nmae: x\n", [("unknown-key", "nmae", "name")]),
        (".yaml", "style:\n  reasoning:\n    display: sumary\n", [("wrong-value", "sumary", "summary")]),
        (".yaml", "inherit: 'false'\n", [("wrong-value", "'false'", "false")]),
        (".yaml", "config_load_paths:\n- a\n- 3\n", [("wrong-value", "3", "expected text, got 3")]),
        (
            ".yaml",
            "assistant:\n  instructions:\n  - titel: x\n",
            [("unknown-key", "titel", "title")],
        ),
        (".json", '{"assistant": {"nmae": "x"}}', [("unknown-key", '"nmae"', '"name"')]),
        (".json5", "{assistant: {nmae: 'x'}}", [("unknown-key", "nmae", "name")]),
        (".json5", "{inherit: 'flase'}", [("wrong-value", "'flase'", "false")]),
        (
            ".json",
            '{\n  "inherit": \n}\n',
            [("not-json", "}", "not valid JSON: Expecting value")],
        ),
        (
            ".json5",
            "{\n  inherit: \n}\n",
            [("not-json", "}", "not valid JSON5: Expected `value`, found `}`")],
        ),
    ],
)
def test_what_the_text_tells(suffix: str, text: str, expected: list[tuple[str, str, str]]) -> None:
    assert found(text, suffix) == expected


@pytest.mark.parametrize(
    ("suffix", "text", "code"),
    [
        (".yaml", "extends: [\nassistant:\n  nmae: x\n", "not-yaml"),
        (".json", '{"extends": [\n"assistant": {"nmae": "x"}}', "not-json"),
        (".json5", "{extends: [\nassistant: {nmae: 'x'}}", "not-json"),
    ],
)
def test_what_stands_behind_a_broken_line_is_still_looked_at(suffix: str, text: str, code: str) -> None:
    here = [(code, place.strip('"')) for code, place, _ in found(text, suffix)]
    assert [each for each in here if each[0] != code] == [("unknown-key", "nmae")]
    assert len(here) == 2


@pytest.mark.parametrize(
    ("suffix", "text", "underlined"),
    [
        (
            ".yaml",
            "extends: [a, b]\nassistant:\n  name: x\n",
            ["b", "name: x"],
        ),
        (".yaml", "extends:\n- a\n- b\nassistant:\n  name: x\n", ["b", "name: x"]),
        (".json", '{"extends": ["a", "b"], "assistant": {"name": "x"}}', ['"b"', '"name": "x"']),
    ],
)
def test_what_other_files_tell(suffix: str, text: str, underlined: list[str]) -> None:
    winner = Origin("cwd", ".jp.toml", Path("/w/.jp.toml"), 3)
    facts = FileFacts(
        problems=(Problem("extends.1", "`b` does not exist and is left out", winner, "warning"),),
        shadowed=(Shadowed("assistant.name", winner),),
    )
    assert [(code, place) for code, place, _ in found(text, suffix, facts)] == [
        ("problem", underlined[0]),
        ("shadowed", underlined[1]),
    ]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_too_large_a_text_is_said_to_be(suffix: str) -> None:
    text = "a\n" + " " * MAX_SIZE
    assert found(text, suffix) == [("problem", "a", TOO_LARGE)]


@pytest.mark.parametrize(
    ("suffix", "marked", "path", "piece"),
    [
        (".yaml", "assistant:\n  na|me: x\n", ("assistant", "name"), "name"),
        (".yaml", "assistant:\n  name: x|\n", ("assistant", "name"), "x"),
        (".yaml", "extends:\n  - a\n  - b|\n", ("extends", 1), "b"),
        (".yaml", "assistant:\n  half| a word\n", ("assistant",), "half a word"),
        (".yaml", "# assistant|:\n", None, ""),
        (".json", '{"assistant": {"na|me": "x"}}', ("assistant", "name"), '"name"'),
        (".json5", "{assistant: {name: 'x|'}}", ("assistant", "name"), "'x'"),
        (".json5", "{assistant: {}|}", ("assistant",), "{}"),
        (".json5", "{ nowhere: |1 }", None, ""),
    ],
)
def test_what_a_hover_is_about(
    suffix: str, marked: str, path: tuple[str | int, ...] | None, piece: str
) -> None:
    document, offset = at_cursor(marked, suffix)
    subject = subject_at(document, offset)
    if subject is None:
        assert path is None
    else:
        assert (subject.path, document.text[subject.span.start : subject.span.end]) == (path, piece)


@pytest.mark.parametrize(
    ("suffix", "marked", "target"),
    [
        (".yaml", "extends:\n- par|ts/*.toml\n", ExtendedFiles("parts/*.toml")),
        (".yaml", "extends:\n- path: a|\n  strategy: after\n", ExtendedFiles("a")),
        (".yaml", "extends:\n- path: a\n  strategy: aft|er\n", None),
        (".json", '{"assistant": {"model": {"id": "fa|st"}}}', Setting("providers.llm.aliases.fast")),
        (".json5", "{extends: [{path: 'a|'}]}", ExtendedFiles("a")),
        (".yaml", "assistant:\n  na|me: x\n", Setting("assistant.name")),
    ],
)
def test_what_a_place_points_at(suffix: str, marked: str, target: Target | None) -> None:
    assert target_at(*at_cursor(marked, suffix)) == target

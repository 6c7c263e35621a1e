"""Command lines as users write them, and commands as users read them (config-and-tools 4.4)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.tools.command_line import command_line, describe_cut_word, split_command
from jp_lsp.tools.spec import Command


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("a", Command("a")),
        ("a 'b c' d\\ e \"f'g\"", Command("a", ("b c", "d e", "f'g"))),
        ("a # b", Command("a", ("#", "b"))),
        ("", Command("")),
        ("  ", Command("")),
    ],
)
def test_a_line_is_split_as_a_shell_would(line: str, command: Command):
    assert split_command(line) == command


@pytest.mark.parametrize("line", ["a 'b", 'a "b', "a \\"])
def test_a_quotation_without_end_is_an_error(line: str):
    with pytest.raises(ValueError, match="No "):
        split_command(line)


words = st.text(st.characters(blacklist_categories=["Cs"]), max_size=12)


@given(words.filter(bool), st.lists(words, max_size=4))
def test_a_written_line_means_the_command_that_it_is_of(program: str, arguments: list[str]):
    command = Command(program, tuple(arguments))
    assert split_command(command_line(command)) == command


def test_the_program_of_a_shell_stands_as_it_is():
    assert command_line(Command("a | b", ("c d",), shell=True)) == "sh -c: a | b 'c d'"


@pytest.mark.parametrize(
    ("words", "word"),
    [
        (("run", "{{tool}}", "{% if a %}b{% endif %}"), None),
        (("just", "serve-tools", "{{context}}", "{{tool}}"), None),
        (("tool", "{{ tool.name }} in one word"), None),
        (("run", "{{", "tool", "}}"), "{{"),
        (("just", "{{tool.arguments.m", "|", "default()}}"), "{{tool.arguments.m"),
        (("run", "a{%"), "a{%"),
        (("run", "a}}"), "a}}"),
        (("{{tool", "}}"), "{{tool"),
    ],
)
@pytest.mark.requirement("G23")
def test_a_cut_expression_is_found(words: tuple[str, ...], word: str | None):
    problem = describe_cut_word(Command(words[0], words[1:]))
    assert (problem is None) == (word is None)
    assert problem is None or problem.startswith(f"the word `{word}` is half an expression")

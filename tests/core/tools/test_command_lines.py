"""Command lines as users write them, and commands as users read them (config-and-tools 4.4)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.tools.command_line import command_line, find_cut_word, split_command
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
    ("arguments", "word"),
    [
        (("{{tool}}", "{% if a %}b{% endif %}"), None),
        (("{{", "tool", "}}"), "{{"),
        (("a{%",), "a{%"),
        (("a}}",), "a}}"),
    ],
)
def test_a_cut_expression_is_found(arguments: tuple[str, ...], word: str | None):
    assert find_cut_word(Command("run", arguments)) == word

"""Command lines as users write them, and commands as users read them (config-and-tools 4.4)."""

import shlex

from jp_lsp.tools.spec import Command

_CUT_MARKS = (("{{", "}}"), ("{%", "%}"))


def split_command(text: str) -> Command:
    """Split a command line into its words as a shell would, but run nothing of it: `a 'b c'` has two.

    Raises:
        ValueError: a quotation does not end; the text says so.
    """
    words = shlex.split(text)
    return Command(words[0], tuple(words[1:])) if words else Command("")


def command_line(command: Command) -> str:
    """Write a command on one line, for people; the program of a shell command stands as it is."""
    words = shlex.join(command.arguments)
    program = command.program if command.shell else shlex.quote(command.program)
    line = f"{program} {words}" if words else program
    return f"sh -c: {line}" if command.shell else line


def describe_cut_word(command: Command) -> str | None:
    """Find a word with half an expression, and say what to do: lines are split before templates are filled in.

    So `tool {{ tool.name }}` is four words, of which none is an expression (trap 23).
    """
    for word in (command.program, *command.arguments):
        if any(word.count(start) != word.count(end) for start, end in _CUT_MARKS):
            return (
                f"the word `{word}` is half an expression, because command lines are split at blanks first; "
                "write it without blanks, such as `{{tool.name}}`, or put it in quotes"
            )
    return None

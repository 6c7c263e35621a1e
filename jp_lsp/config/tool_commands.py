"""Commands as a configuration holds them: a line that is split like a shell would, or a table (4.4)."""

from collections.abc import Mapping
from typing import cast

from jp_lsp.config.value import ABSENT, MaybeValue, MergedList, Value
from jp_lsp.tools.command_line import split_command
from jp_lsp.tools.spec import Command

_PARAMETER_STYLES = frozenset({"json", "function_call", "off"})


class NoCommand(Exception):
    """There is no command, or none that could be run; the text completes "`command` ..."."""


def read_command(value: MaybeValue) -> Command:
    """Read a command in its normal form.

    Raises:
        NoCommand: there is none.
    """
    match value:
        case str():
            try:
                command = split_command(value)
            except ValueError as error:
                raise NoCommand(f"cannot be split into words: {str(error).lower()}") from error
        case Mapping():
            arguments = value.get("args", ABSENT)
            items = arguments.items if isinstance(arguments, MergedList) else ()
            program = value.get("program", "")
            command = Command(str(program), cast("tuple[str, ...]", items), value.get("shell") is True)
        case _:
            raise NoCommand("is missing")
    if not command.program.strip():
        raise NoCommand("names no program")
    return command


def formatter_of(parameters: MaybeValue) -> "Value | None":
    """Give the command of `style.parameters`; nothing when it is one of the built-in styles."""
    if parameters is ABSENT or parameters is None:
        return None
    if isinstance(parameters, str) and parameters in _PARAMETER_STYLES:
        return None
    return parameters

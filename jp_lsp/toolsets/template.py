"""Fills in the templates of a configured command (config-and-tools 4.4).

A command is split into words before it comes here, and each word is a template of its own: a value with
spaces stays one argument. Values are written as a command wants them: text as it is, `true`, `false`, numbers
as JSON, `null` for what is missing, lists and objects as compact JSON.

With `shell` the words become text that `sh` reads, and there a value must not turn into code: a model could
write `; rm -rf .` into an argument. Arguments are quoted. In the program text, which the user wrote and which
stays as it is, a value travels in an environment variable, and the text gets a reference to it. The shell
never reads what a reference expands to, so `grep {{tool.arguments.pattern}} notes` behaves like a template
for every harmless pattern and stays one `grep` for every other.
"""

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from jp_lsp.conversation.json_text import replace_surrogates
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.tools.spec import Command

_FUEL = 4_000_000
"""Bounds what a template may do, loops and text together; a tenth of a second on a small machine."""

_VARIABLE = "JP_VALUE_"
_MARK = re.compile("\0([0-9]{1,6})\0")
_COMMENT = re.compile(r"(?:^|(?<=[\s;&|(]))#[^\n]*")
_EXPRESSION = re.compile(r"\{[{%#]")


class TemplateFailed(Exception):
    """A command's template cannot be filled in; the text says which one and why."""


@dataclass(frozen=True, slots=True)
class RenderedCommand:
    """A command ready to run: program and arguments, and variables to add to its environment."""

    arguments: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=lambda: {})


def render_command(command: Command, context: JsonObject) -> RenderedCommand:
    """Fill in a command.

    Raises:
        TemplateFailed: a template is wrong, or a value cannot be handed to a program.
    """
    values = _plain(context)
    words = [_render(word, values, _written) for word in command.arguments]
    if command.shell:
        return _render_shell(command.program, words, values)
    return RenderedCommand(_checked((_render(command.program, values, _written), *words)))


def _render_shell(program: str, words: Sequence[str], context: JsonObject) -> RenderedCommand:
    _checked((program,))
    values: list[str] = []

    def look_up(mark: re.Match[str]) -> str:
        index = int(mark[1])
        return values[index] if index < len(values) else mark[0]

    def keep(value: JsonValue) -> str:
        # A value may hold an earlier one, where a template has put it into a variable of its own.
        values.extend(_checked((_MARK.sub(look_up, _written(value)),)))
        return f"\0{len(values) - 1}\0"

    text = _with_references(_render(program, context, keep))
    variables = {f"{_VARIABLE}{index}": value for index, value in enumerate(values)}
    return RenderedCommand(("sh", "-c", " ".join([text, *map(shlex.quote, _checked(words))])), variables)


def _with_references(text: str) -> str:
    """Replace the marks in shell text by references to variables.

    A reference means nothing between single quotes, so those are left for it. That is all for which the text
    is looked at: where this look errs, in a here-document perhaps, a value is not filled in, but never run.
    """
    result: list[str] = []
    quote = ""
    outer: list[str] = []
    position = 0
    while position < len(text):
        piece = text[position]
        end = position + 1
        if mark := _MARK.match(text, position):
            reference = f"${{{_VARIABLE}{mark[1]}}}"
            piece, end = f"'\"{reference}\"'" if quote == "'" else reference, mark.end()
        elif quote == "'":
            quote = "" if piece == "'" else quote
        elif piece == "\\" and text[end : end + 1] != "\0":
            piece, end = text[position : end + 1], end + 1
        elif piece == "(" and (not quote or text[position - 1 : position] == "$"):
            outer.append(quote)
            quote = ""
        elif piece == ")" and not quote:
            quote = outer.pop() if outer else ""
        elif piece == '"' or (piece == "'" and not quote):
            quote = "" if quote else piece
        elif not quote and (comment := _COMMENT.match(text, position)):
            piece, end = "", comment.end()
        result.append(piece)
        position = end
    return "".join(result)


def _render(template: str, context: JsonObject, write: Callable[[JsonValue], str]) -> str:
    if not _EXPRESSION.search(template):
        return template
    import minijinja  # here, so that a start and commands without templates do not pay for it

    def finalise(value: JsonValue) -> object:
        # A number is left to the engine, which alone knows whether it was 1 or 1.0.
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return NotImplemented if is_number else write(value)

    environment = minijinja.Environment(finalizer=finalise, fuel=_FUEL, pycompat=False)
    try:
        return environment.render_str(template, **context)
    except TemplateFailed:
        raise
    except Exception as error:  # a template may call methods of the values, which raise what they like
        reason = str(error).partition("\n")[0].replace(" (in <string>:1)", "")
        raise TemplateFailed(f"{reason}, in `{template}`") from error


def _written(value: JsonValue) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case _:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _plain(value: JsonObject) -> dict[str, JsonValue]:
    """Copy values into what the engine knows, without the half characters that no program can be given."""
    try:
        return {replace_surrogates(key): _plain_value(member) for key, member in value.items()}
    except RecursionError:
        raise TemplateFailed("the arguments are nested too deep") from None


def _plain_value(value: JsonValue) -> JsonValue:
    match value:
        case str():
            return replace_surrogates(value)
        case Mapping():
            return {replace_surrogates(key): _plain_value(member) for key, member in value.items()}
        case Sequence():
            return [_plain_value(item) for item in value]
        case _:
            return value


def _checked(words: Sequence[str]) -> tuple[str, ...]:
    for word in words:
        if "\0" in word:
            raise TemplateFailed("a value holds a NUL character, which no program can be given")
    return tuple(words)

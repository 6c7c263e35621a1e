"""A query that is a template: `Review {{ file }}` (config-and-tools 7.4).

It is filled in with what the settings have under `template.values`, and with nothing else. A name that they
do not have is an error before anything is filled in, so that no model is asked about a gap. Below a name it
is as in Jinja2: what is not there can be tested, and cannot be printed.
"""

from collections.abc import Mapping
from typing import cast

from jp_lsp.conversation.json_text import replace_surrogates
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.ports.refusal import Refusal

_FUEL = 4_000_000
"""Bounds what a template may do, loops and text together; a tenth of a second on a small machine."""

_WIDEST_INDENT = 64

_IMPLICIT = frozenset({"loop", "self", "super", "caller"})
"""Names that the language itself gives where they mean something."""


def render_query(text: str, values: JsonObject) -> str:
    """Fill in a query.

    Args:
        text: the template.
        values: what there is to fill in, by name.

    Raises:
        Refusal: a name is not there, or the text is no template.
    """
    import minijinja  # here, so that a start and queries that are no templates do not pay for it

    # Without the methods of Python's texts: `'{:>999999999}'.format(1)` is made before its fuel is counted.
    environment = minijinja.Environment(
        keep_trailing_newline=True, fuel=_FUEL, pycompat=False, finalizer=_written
    )
    environment.add_filter("indent", _indented)  # likewise
    inner = minijinja.Environment(fuel=_FUEL)

    def write_json(value: object, indent: object = None) -> object:
        if isinstance(indent, int) and indent > _WIDEST_INDENT:  # likewise
            raise ValueError(f"tojson indents by at most {_WIDEST_INDENT}")
        return cast("object", inner.eval_expr("value | tojson(indent)", value=value, indent=indent))

    environment.add_filter("tojson", write_json)
    # The engine has this one, and its stubs do not know it.
    environment.undefined_behavior = "semi_strict"  # type: ignore[assignment]
    known = cast("Mapping[str, object]", _plain(values))  # a copy: a template may change what it is given
    template = replace_surrogates(text)
    try:
        wanted = environment.undeclared_variables_in_str(template)
        missing = sorted(wanted - known.keys() - environment.globals.keys() - _IMPLICIT)
        rendered = None if missing else environment.render_str(template, **known)
    except Exception as error:  # a template may call methods of the values, which raise what they like
        raise _refusal(_described(error)) from error
    if rendered is None:
        raise _refusal(_undefined(missing))
    return replace_surrogates(rendered)


def _written(value: object) -> object:
    """Write what Python names differently than JP, and leave all else to the engine."""
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case _:
            return NotImplemented


def _indented(text: str, width: int, first: bool = False, blank: bool = False) -> str:
    """Do what the engine's filter of that name does, as far as fuel allows.

    Raises:
        ValueError: the text would become too long.
    """
    lines = str(text).removesuffix("\n").split("\n")
    if not 0 <= width * len(lines) <= _FUEL:
        raise ValueError("indent makes the text too long")
    margin = " " * width
    return "\n".join(
        f"{margin}{line}" if (number or first) and (line or blank) else line
        for number, line in enumerate(lines)
    )


def _undefined(names: list[str]) -> str:
    word = "variable" if len(names) == 1 else "variables"
    return f"Undefined template {word}: {', '.join(names)}. Set `template.values.{names[0]}`."


def _described(error: Exception) -> str:
    reason, _, _ = str(error).partition("\n")
    text, found, line = reason.rpartition(" (in <string>:")
    return f"The template cannot be filled in: {f'line {line[:-1]}: {text}' if found else reason}"


def _refusal(text: str) -> Refusal:
    return Refusal("invalid_params", text, origin="template")


def _plain(value: object) -> object:
    """Copy values into what the engine knows."""
    match value:
        case str():
            return replace_surrogates(value)
        case Mapping():
            members = cast("Mapping[str, object]", value)
            return {replace_surrogates(name): _plain(member) for name, member in members.items()}
        case list() | tuple():
            return [_plain(item) for item in cast("list[object]", value)]
        case _:
            return value

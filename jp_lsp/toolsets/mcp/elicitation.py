"""A server's form as questions to the user, one after the other (MCP's "elicitation").

A server may ask for a few simple values while it works: texts, numbers, yes or no, a choice. Each becomes a
`ToolQuestion`; the answers, converted to what the form wants, go back together. What the form demands beyond
a type is checked here, and an answer that does not fit is asked for again with the reason.
"""

import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.ports.toolset import NoReply, Reply
from jp_lsp.tools.outcome import ToolQuestion
from jp_lsp.toolsets.mcp.shape import as_list, as_names, as_object, as_text

MAX_ATTEMPTS = 10
"""How often one question is put before the form is given up."""

MAX_FIELDS = 50
"""A form with more fields is refused."""

_MAX_TEXT_SIZE = 500
_MAX_CONTEXT_SIZE = 4000
_LEAVE_OUT = "(leave out)"
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATE_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})")
_FORMATS = {
    "email": (_EMAIL, "an e-mail address is needed"),
    "uri": (_URI, "an address such as https://example.com is needed"),
    "date": (_DATE, "a date such as 2030-12-31 is needed"),
    "date-time": (_DATE_TIME, "a time such as 2030-12-31T12:00:00Z is needed"),
}

Ask: TypeAlias = Callable[[ToolQuestion], Awaitable[Reply | NoReply]]
"""Puts one question and waits for the answer."""


@dataclass(frozen=True, slots=True)
class Filled:
    """The user answered; `content` is the filled form."""

    content: JsonObject = field(default_factory=lambda: {})


FormResult: TypeAlias = Filled | Literal["decline", "cancel"]

_NO_REPLIES: Mapping[NoReply, Literal["decline", "cancel"]] = {"declined": "decline", "dismissed": "cancel"}


class _Misfit(Exception):
    """An answer does not fit; the text says what is needed."""


async def fill_form(server: str, message: str, schema: JsonObject, ask: Ask) -> FormResult:
    """Ask for every field of a form.

    Args:
        server: the server's name, which the user is told.
        message: what the server says about the form.
        schema: the form: a JSON schema of an object with simple properties.
        ask: puts a question.
    """
    fields = as_object(schema.get("properties"))
    if len(fields) > MAX_FIELDS:
        return "decline"
    heading = f"{server} asks: {message}"[:_MAX_CONTEXT_SIZE]
    if not fields:
        return await _confirm(ToolQuestion("confirm", _line(heading), "boolean", is_remembered=False), ask)
    required = as_names(schema.get("required"))
    content: dict[str, JsonValue] = {}
    for name, node in fields.items():
        value = await _fill(_Field(name, as_object(node), is_required=name in required), heading, ask)
        if isinstance(value, str):
            return "decline" if value == "declined" else "cancel"
        content.update(value)
    return Filled(content)


async def visit_address(server: str, message: str, url: str, ask: Ask) -> FormResult:
    """Ask the user to open an address, where the server wants to be told something that is not for us."""
    text = _line(f"{server} asks you to open {url} - go on?")
    context = f"{message}\n\n{url}"[:_MAX_CONTEXT_SIZE]
    return await _confirm(ToolQuestion("open", text, "boolean", context, is_remembered=False), ask)


async def _confirm(question: ToolQuestion, ask: Ask) -> FormResult:
    reply = await ask(question)
    if not isinstance(reply, Reply):
        return _NO_REPLIES[reply]
    return Filled() if reply.value is True else "decline"


async def _fill(form_field: "_Field", heading: str, ask: Ask) -> Mapping[str, JsonValue] | NoReply:
    """Ask for one field until the answer fits; a field that is left out gives nothing."""
    context = heading
    for _ in range(MAX_ATTEMPTS):
        reply = await ask(form_field.question(context))
        if not isinstance(reply, Reply):
            return reply
        try:
            return form_field.read(reply.value)
        except _Misfit as misfit:
            context = f"{heading}\n\n{misfit}"
    return "dismissed"


class _Field:
    """One field: the question it makes, and how an answer is read."""

    def __init__(self, name: str, node: JsonObject, *, is_required: bool) -> None:
        self._name = name
        self._node = node
        self._is_required = is_required
        self._kind = node.get("type")
        self._choices = _choices(node if self._kind != "array" else {})
        self._several = _choices(as_object(node.get("items")) if self._kind == "array" else {})

    def question(self, context: str) -> ToolQuestion:
        """Build the question."""
        if self._choices:
            options = (*self._choices, *(() if self._is_required else (_LEAVE_OUT,)))
            chosen = [title for title, value in self._choices.items() if value == self._node.get("default")]
            return self._make("select", context, options, chosen[0] if chosen else None)
        if self._kind == "boolean":
            default = self._node.get("default")
            return self._make("boolean", context, (), default if isinstance(default, bool) else None)
        kind: Literal["secret", "text"] = "secret" if self._node.get("format") == "password" else "text"
        return self._make(kind, context, (), self._default_text())

    def read(self, answer: JsonValue) -> Mapping[str, JsonValue]:
        """Read an answer as the form wants it.

        Raises:
            _Misfit: it does not fit.
        """
        if self._choices:
            if answer == _LEAVE_OUT and not self._is_required:
                return {}
            if not isinstance(answer, str) or answer not in self._choices:
                raise _Misfit("one of the choices is needed")
            return {self._name: self._choices[answer]}
        if self._kind == "boolean":
            if not isinstance(answer, bool):
                raise _Misfit("yes or no is needed")
            return {self._name: answer}
        if not isinstance(answer, str):
            raise _Misfit("a text is needed")
        if not answer.strip() and not self._is_required:
            return {}
        if self._kind == "array":
            return {self._name: self._read_several(answer)}
        if self._kind in {"integer", "number"}:
            return {self._name: self._read_number(answer)}
        self._check_text(answer)
        return {self._name: answer}

    def _make(
        self,
        kind: Literal["boolean", "select", "text", "secret"],
        context: str,
        options: tuple[str, ...],
        default: JsonValue,
    ) -> ToolQuestion:
        text = as_text(self._node.get("title")) or self._name
        if description := as_text(self._node.get("description")):
            text = f"{text}: {description}"
        if self._several:
            text = f"{text} (any of {', '.join(self._several)}, with commas between)"
        if not self._is_required and kind in {"text", "secret"}:
            text = f"{text} (may be empty)"
        return ToolQuestion(
            self._name, _line(text), kind, context, options, default, is_exclusive=True, is_remembered=False
        )

    def _default_text(self) -> str | None:
        match self._node.get("default"):
            case str() as text:
                return text
            case bool() | None:
                return None
            case int() | float() as number:
                return str(number)
            case [*several]:
                titles = {value: title for title, value in self._several.items()}
                return ", ".join(titles.get(str(value), str(value)) for value in several)
            case _:
                return None

    def _read_several(self, answer: str) -> Sequence[str]:
        given = list(dict.fromkeys(part.strip() for part in answer.split(",") if part.strip()))
        unknown = [part for part in given if self._several and part not in self._several]
        if unknown:
            raise _Misfit(f"{', '.join(unknown)} is none of the choices")
        self._check_count(len(given), "Items", "choices")
        return [self._several.get(part, part) for part in given]

    def _read_number(self, answer: str) -> int | float:
        needed = "a whole number is needed" if self._kind == "integer" else "a number is needed"
        try:
            number = int(answer) if self._kind == "integer" else float(answer)
        except ValueError:
            raise _Misfit(needed) from None
        if not math.isfinite(number):
            raise _Misfit(needed)
        least, most = self._node.get("minimum"), self._node.get("maximum")
        if isinstance(least, int | float) and number < least:
            raise _Misfit(f"it must be at least {least}")
        if isinstance(most, int | float) and number > most:
            raise _Misfit(f"it must be at most {most}")
        return number

    def _check_text(self, answer: str) -> None:
        self._check_count(len(answer), "Length", "characters")
        known = _FORMATS.get(str(self._node.get("format")))
        if known is not None and known[0].fullmatch(answer.strip()) is None:
            raise _Misfit(known[1])

    def _check_count(self, count: int, what: str, unit: str) -> None:
        least, most = self._node.get(f"min{what}"), self._node.get(f"max{what}")
        if isinstance(least, int) and count < least:
            raise _Misfit(f"at least {least} {unit} are needed")
        if isinstance(most, int) and count > most:
            raise _Misfit(f"at most {most} {unit} are allowed")


def _choices(node: JsonObject) -> Mapping[str, str]:
    """Give the titles of a choice with their values; a title that occurs twice is replaced by its value."""
    values: list[tuple[str, str]] = []
    for key in ("oneOf", "anyOf"):
        choices = [as_object(choice) for choice in as_list(node.get(key))]
        values.extend(
            (as_text(choice.get("title")) or const, const)
            for choice in choices
            if (const := as_text(choice.get("const")))
        )
    names = as_list(node.get("enumNames"))
    for index, member in enumerate(as_list(node.get("enum"))):
        name = names[index] if index < len(names) else member
        values.append((str(name), str(member)))
    titles = [title for title, _ in values]
    return {title if titles.count(title) == 1 else value: value for title, value in values}


def _line(text: str) -> str:
    """Put a text on one line of bounded size."""
    return " ".join(text.split())[:_MAX_TEXT_SIZE]

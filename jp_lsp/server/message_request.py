"""A question as `window/showMessageRequest`, and the answer to it (query pipeline 3.3, 4.5).

Every client knows this request, but no two show it alike: long messages are cut, line breaks vanish, the first
button may be the one that Enter presses, and some answer with the title alone. So the message is one short
line, titles are unique, the harmless button stands first, and an answer is understood by its id or its title.

A client that can show only a few buttons gets them in levels: the last button of a full level, *More...*,
leads to the next one, and *Back* leads to the first.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.render.text import clean_line
from jp_lsp.tools.decision import Choice, Decision
from jp_lsp.turn.inputs import Answered, Dismissed

WARNING: Final = 2
INFO: Final = 3
"""Numbers of LSP's `MessageType`."""

HARMLESS: Final = frozenset({"continue", "skip", "withhold", "deny", "cancel", "no"})
"""Ids of choices that change nothing; one of them stands first in menus and approvals."""

MESSAGE_LIMIT: Final = 200
TITLE_LIMIT: Final = 60
"""In code points; what is longer is cut."""

_LOOKED_AT: Final = 4096
"""How much of a text is cleaned at all, in code points; a tool may ask with megabytes."""

LEAST_BUTTONS: Final = 3
"""The fewest with which every choice can be reached: *Back*, a choice, *More...*."""

_MORE: Final = Choice(":more", "More...")
_BACK: Final = Choice(":back", "Back")


class UnknownAnswer(Exception):
    """The client answered with something that was not offered; the text says what."""


@dataclass(frozen=True, slots=True)
class OtherLevel:
    """The user wants to see other buttons of the same question."""

    level: int


@dataclass(frozen=True, slots=True)
class MessageRequest:
    """One level of a question, ready to be sent and to understand its answer."""

    decision: Decision
    message: str
    buttons: tuple[Choice, ...]
    level: int

    def params(self) -> JsonObject:
        """Give the params of `window/showMessageRequest`."""
        return {
            "type": WARNING if self.decision.kind == "menu" else INFO,
            "message": self.message,
            "actions": [{"title": button.title, "id": button.id} for button in self.buttons],
        }

    def read(self, result: JsonValue) -> Answered | Dismissed | OtherLevel:
        """Understand the result that a client gave.

        Raises:
            UnknownAnswer: it is neither null nor one of the buttons.
        """
        if result is None:
            return Dismissed(self.decision.id)
        members: JsonObject = result if isinstance(result, Mapping) else {}
        button = self._find(members.get("id"), members.get("title"))
        if button is None:
            raise UnknownAnswer("the client chose a button that was not offered")
        if button is _MORE:
            return OtherLevel(self.level + 1)
        if button is _BACK:
            return OtherLevel(0)
        return Answered(self.decision.id, choice=button.id)

    def _find(self, wanted: JsonValue, title: JsonValue) -> Choice | None:
        by_id = next((button for button in self.buttons if button.id == wanted), None)
        return by_id or next((button for button in self.buttons if button.title == title), None)


def message_requests(decision: Decision, max_actions: int | None = None) -> tuple[MessageRequest, ...]:
    """Put a question with choices into levels, the first of which is shown first.

    Args:
        decision: A question that is answered by a button.
        max_actions: How many buttons the client shows at once, or `None` for all.

    Raises:
        ValueError: the question has no choices.
    """
    if not decision.choices:
        raise ValueError(f"a message request needs buttons, and decision {decision.id!r} has none")
    message = one_line(decision.message, MESSAGE_LIMIT)
    room = len(decision.choices) if max_actions is None else max(max_actions, LEAST_BUTTONS)
    reserved = (_MORE.title, _BACK.title) if len(decision.choices) > room else ()
    choices = unique_titles(harmless_first(decision), reserved)
    return tuple(
        MessageRequest(decision, message, tuple(buttons), level)
        for level, buttons in enumerate(_levels(choices, room))
    )


def unique_titles(choices: Sequence[Choice], reserved: Sequence[str] = ()) -> tuple[Choice, ...]:
    """Make titles short, plain and different from each other, because an answer may name only the title."""
    taken = set(reserved)
    named: list[Choice] = []
    for choice in choices:
        title = first = one_line(choice.title, TITLE_LIMIT) or choice.id
        copies = 1
        while title in taken:
            copies += 1
            title = f"{first} ({copies})"
        taken.add(title)
        named.append(Choice(choice.id, title))
    return tuple(named)


def one_line(text: str, limit: int) -> str:
    """Put a text on one line without control sequences, cut at a word if it is too long."""
    line = clean_line(text[:_LOOKED_AT])
    if len(line) <= limit:
        return line
    word_end = line.rfind(" ", 0, limit)
    return f"{line[: word_end if word_end > limit // 2 else limit - 1]}…"


def harmless_first(decision: Decision) -> Sequence[Choice]:
    """Move a harmless choice to the front of a menu or approval; a pick keeps its default in front."""
    choices = decision.choices
    if decision.kind not in {"menu", "approval"}:
        return choices
    harmless = next((choice for choice in choices if choice.id in HARMLESS), None)
    if harmless is None:
        return choices
    return (harmless, *(choice for choice in choices if choice is not harmless))


def _levels(choices: Sequence[Choice], room: int) -> Iterator[Sequence[Choice]]:
    if len(choices) <= room:
        yield choices
        return
    yield (*choices[: room - 1], _MORE)
    rest = choices[room - 1 :]
    while len(rest) > room - 1:
        yield (_BACK, *rest[: room - 2], _MORE)
        rest = rest[room - 2 :]
    yield (_BACK, *rest)

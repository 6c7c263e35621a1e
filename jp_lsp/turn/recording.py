"""Recordings: what happened to a query, a line each, to be handled once more (query pipeline 7.6).

The first line says which query it is. Each further one holds an input with its time and what came of it:
the names of the actions, to be read, and a digest of all that is in them, to be compared. What else the
core was told is there too: the jitter it drew, and what another turn of the session remembered meanwhile.

    {"recording": 1, "token": "t"}
    {"at": 7.25, "wall": 1700000000250000000, "input": {"is": "turn.inputs.Saved", "point": "P1"},
     "actions": ["ClearDraft", "Publish", "RequestCycle"], "digest": "0123456789abcdef"}

Secrets are replaced before a line is made, in the actions as in the inputs. Therefore the same actions come
of what was recorded, although it is not quite what happened.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.tools.decision import DecisionId
from jp_lsp.tools.memory import MemoryLayer
from jp_lsp.turn.actions import Action, Ask
from jp_lsp.turn.input_codec import encode
from jp_lsp.turn.inputs import Answered, Input, Instant

VERSION = 1
MASK = "***"

_SHORTEST_PART = 4
"""Characters of a secret answer from which on it is replaced within longer texts too."""

_SECRET_KEY = re.compile(r"(?i)(api_?key|token|secret|password|authorization|cookie)\Z")
_HEADERS = re.compile(r"(?i)headers\Z")
_DIGEST_SIZE = 16


@dataclass(frozen=True, slots=True)
class Handled:
    """An input that a core handled, and what came of it.

    Attributes:
        item: the input, `input_codec.frozen` before it was handled.
        now: when it arrived.
        actions: what the core asked for.
        jitter: what it drew for retry delays, in seconds.
        session: what the session remembers, where that has changed from outside.
        raised: the class of the exception that came instead of actions.
    """

    item: Input
    now: Instant
    actions: Sequence[Action] = ()
    jitter: tuple[float, ...] = ()
    session: MemoryLayer | None = None
    raised: str | None = None


class LineWriter:
    """Writes the lines of one recording, without their line ends.

    Args:
        hide: replaces known secrets, and what looks like one, in a text.
    """

    def __init__(self, hide: Callable[[str], str]) -> None:
        self._hide = hide
        self._secret_decisions: set[DecisionId] = set()
        self._secret_answers: set[str] = set()

    def header(self, token: str) -> str:
        """Write the first line."""
        return _to_text({"recording": VERSION, "token": token})

    def stopped(self, reason: str) -> str:
        """Write a last line, where the recording ends before the query."""
        return _to_text({"stopped": reason})

    def line(self, handled: Handled) -> str:
        """Write what was handled.

        Raises:
            TypeError: there is something in it that cannot be recorded; a mistake of ours.
        """
        written: dict[str, JsonValue] = {"at": handled.now.monotonic, "wall": handled.now.nanoseconds}
        if handled.session is not None:
            written["session"] = self._masked(encode(handled.session))
        outcome = self.outcome(handled)
        written["input"] = self._masked(encode(handled.item))
        if handled.jitter:
            written["jitter"] = list(handled.jitter)
        return _to_text({**written, **outcome})

    def outcome(self, handled: Handled) -> JsonObject:
        """Give the part of a line that says what came of the input; must see all inputs in order."""
        self._learn_secrets(handled)
        if handled.raised is not None:
            return {"raised": handled.raised}
        actions = self._masked([encode(action) for action in handled.actions])
        digest = hashlib.sha256(_to_text(actions).encode()).hexdigest()[:_DIGEST_SIZE]
        return {"actions": [type(action).__name__ for action in handled.actions], "digest": digest}

    def _learn_secrets(self, handled: Handled) -> None:
        item = handled.item
        if isinstance(item, Answered) and item.decision in self._secret_decisions:
            self._secret_answers |= {text for text in (item.choice, item.text) if text and text.strip()}
        for action in handled.actions:
            if isinstance(action, Ask) and action.decision.kind == "secret":
                self._secret_decisions.add(action.decision.id)

    def _masked(self, value: JsonValue, *, is_secret: bool = False) -> JsonValue:
        match value:
            case str():
                return MASK if is_secret or value in self._secret_answers else self._masked_text(value)
            case Mapping():
                return {
                    key: member
                    if key == "is"
                    else self._masked(member, is_secret=is_secret or _is_secret(key, member))
                    for key, member in value.items()
                }
            case Sequence():
                return [self._masked(item, is_secret=is_secret) for item in value]
            case _:
                return value

    def _masked_text(self, text: str) -> str:
        for secret in sorted(self._secret_answers, key=len, reverse=True):
            if len(secret) >= _SHORTEST_PART:
                text = text.replace(secret, MASK)
        return self._hide(text)


def _is_secret(key: str, member: JsonValue) -> bool:
    """Tell by its name whether a member is secret: a text with the name of a key, or whole headers."""
    if isinstance(member, str):
        return _SECRET_KEY.search(key) is not None
    return _HEADERS.search(key) is not None


def _to_text(value: JsonValue) -> str:
    """Write on one line, and in ASCII: whatever was said, the file can hold it."""
    return json.dumps(value, separators=(",", ":"))

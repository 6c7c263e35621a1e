"""What is known of the value of a key: every layer's say, what won, and what is hidden (config-and-tools 1.12)."""

from dataclasses import dataclass
from typing import Literal

from jp_lsp.config.fold import Order
from jp_lsp.config.layer import Origin
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.turn.explanation import Place, ValueOrigin

State = Literal["wins", "adds", "shadowed", "not set", "not found", "skipped"]

HEARD = frozenset({"wins", "adds"})
"""The states of those whose word counts."""

DEFAULTS = Origin("defaults", "the program's defaults")


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one source says about the key; `value` is in the form of stored files, `None` where it is silent.

    `wins` decides the value alone, `adds` has a part in it, `shadowed` has none.
    """

    origin: Origin
    state: State
    value: JsonValue = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a list and where it is from; a duplicate is there once more before it (trap 3)."""

    value: JsonValue
    origin: Origin
    is_duplicate: bool = False


@dataclass(frozen=True, slots=True)
class Explanation:
    """The value of a key and how it came to be.

    Contributions are in order, lowest first; `order` names the layers. `without_conversation` is what the
    other layers would give, where a conversation has the last word (trap 10).
    """

    key: str
    value: JsonValue
    origin: Origin
    contributions: tuple[Contribution, ...]
    order: Order
    items: tuple[Item, ...] = ()
    notes: tuple[str, ...] = ()
    without_conversation: JsonValue = None

    @property
    def shadowed(self) -> tuple[Contribution, ...]:
        """What sources say in vain."""
        return tuple(each for each in self.contributions if each.state == "shadowed")


def value_origin(explanation: Explanation) -> ValueOrigin:
    """Give the short form: the value, and every place that has a part in it."""
    heard = [each.origin for each in explanation.contributions if each.state in HEARD]
    places = tuple(Place(origin.kind, origin.name, origin.line) for origin in heard)
    return ValueOrigin(explanation.key, explanation.value, places)

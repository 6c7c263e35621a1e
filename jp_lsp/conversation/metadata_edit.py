"""What a user can change about a conversation beside what is said in it (conversation format 7.5, 7.6, 7.9).

An edit is a wish, not a value of the file: it is applied to the metadata as they are once the conversation is
locked, so that two programs that change different things both get their way.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from jp_lsp.conversation.timestamp import Timestamp


@dataclass(frozen=True, slots=True)
class SetTitle:
    """Give a title, or none. An empty one is a title: it says that none is to be made."""

    title: str | None


@dataclass(frozen=True, slots=True)
class SetPin:
    """Pin at this time, or unpin; with `None` whichever it is not."""

    at: Timestamp
    is_pinned: bool | None = None


@dataclass(frozen=True, slots=True)
class SetExpiry:
    """Say from when on the conversation may be removed; `None` is never."""

    at: Timestamp | None


@dataclass(frozen=True, slots=True)
class ChangeLabels:
    """Take labels away, all of them if `clears`, and then add some; a bare label has an empty value."""

    added: Mapping[str, str] = field(default_factory=lambda: {})
    removed: tuple[str, ...] = ()
    clears: bool = False


@dataclass(frozen=True, slots=True)
class Activate:
    """Say that the conversation is used now."""

    at: Timestamp


@dataclass(frozen=True, slots=True)
class SetArchived:
    """Note since when it is archived, or that it is not. The folder decides, this is information (7.6)."""

    at: Timestamp | None


MetadataEdit: TypeAlias = SetTitle | SetPin | SetExpiry | ChangeLabels | Activate | SetArchived
"""One change."""

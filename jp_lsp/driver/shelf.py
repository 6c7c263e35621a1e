"""Which conversations a client wants to see, and in which order (conversation format 7.8)."""

from collections.abc import Iterable
from dataclasses import dataclass

from jp_lsp.conversation.ids import created_at, deciseconds_of
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.upkeep import ConversationFacts


@dataclass(frozen=True, slots=True)
class Wanted:
    """What all that is listed has in common; `None` does not matter.

    Each of `labels` is a key, and the value that it must have, if that matters. `title` is a part of the
    title, in any case.
    """

    is_archived: bool = False
    is_pinned: bool | None = None
    is_local: bool | None = None
    labels: tuple[tuple[str, str | None], ...] = ()
    title: str | None = None
    limit: int | None = None


def choose(conversations: Iterable[ConversationFacts], wanted: Wanted) -> list[ConversationFacts]:
    """Give those that are wanted, the most recently activated first, or the most recently archived."""
    chosen = [each for each in conversations if _is_wanted(each, wanted)]
    chosen.sort(key=lambda each: (_time_of(each), deciseconds_of(each.id)), reverse=True)
    return chosen if wanted.limit is None else chosen[: wanted.limit]


def activity_of(conversation: ConversationFacts) -> Timestamp:
    """Give when it was last worked with; when it was made, where no more is known."""
    return conversation.last_activated_at or created_at(conversation.id)


def _time_of(conversation: ConversationFacts) -> Timestamp:
    activity = activity_of(conversation)
    return conversation.archived_at or activity if conversation.is_archived else activity


def _is_wanted(conversation: ConversationFacts, wanted: Wanted) -> bool:
    return (
        wanted.is_pinned in {None, conversation.pinned_at is not None}
        and wanted.is_local in {None, conversation.presence == "user_local"}
        and (wanted.title is None or wanted.title.casefold() in (conversation.title or "").casefold())
        and all(_has_label(conversation, key, value) for key, value in wanted.labels)
    )


def _has_label(conversation: ConversationFacts, key: str, value: str | None) -> bool:
    values = conversation.labels.get(key)
    return values is not None and (value is None or value in values)

"""The port towards the client for what is not part of any query's transcript."""

from dataclasses import dataclass
from typing import Literal, Protocol, Self

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.store import OpenConversation
from jp_lsp.ports.upkeep import ConversationFacts
from jp_lsp.turn.outcome import Notice

Change = Literal["created", "updated", "removed", "archived", "unarchived"]


@dataclass(frozen=True, slots=True)
class ConversationChange:
    """Something was done to a stored conversation; title and time are what is stored now, if anything is."""

    conversation: ConversationId
    change: Change
    title: str | None = None
    last_activated_at: Timestamp | None = None

    @classmethod
    def of(cls, conversation: OpenConversation | ConversationFacts, change: Change) -> Self:
        """Tell of a conversation that is stored."""
        return cls(conversation.id, change, conversation.title, conversation.last_activated_at)


class News(Protocol):
    """Tells whoever is connected. Returns at once, and never fails."""

    def conversation_changed(self, change: ConversationChange) -> None:
        """Say that lists and views of this conversation are out of date."""

    def notice(self, notice: Notice, conversation: ConversationId | None = None) -> None:
        """Tell the user something about work that runs beside the queries."""

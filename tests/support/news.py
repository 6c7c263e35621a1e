"""News that a test can read."""

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.ports.news import ConversationChange
from jp_lsp.turn.outcome import Notice


class RecordingNews:
    """Keeps everything."""

    def __init__(self) -> None:
        self.changes: list[ConversationChange] = []
        self.notices: list[Notice] = []

    def conversation_changed(self, change: ConversationChange) -> None:
        self.changes.append(change)

    def notice(self, notice: Notice, conversation: ConversationId | None = None) -> None:
        self.notices.append(notice)

    @property
    def told(self) -> list[tuple[str, str | None]]:
        """The changes as short pairs: what happened, and the title then."""
        return [(change.change, change.title) for change in self.changes]

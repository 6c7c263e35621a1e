"""The way to a client for what is no answer and belongs to no transcript: notices, and changed conversations."""

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.ports.news import ConversationChange
from jp_lsp.server import to_wire
from jp_lsp.server.wire import JpProtocol
from jp_lsp.turn.outcome import Notice

MESSAGE_TYPES = {"error": 1, "warning": 2, "info": 3}
"""LSP's numbers for the levels of a notice."""


class ClientNews:
    """Implements `ports.news.News` for one client.

    Args:
        protocol: the way to it.
        is_plain: whether it knows only standard LSP, which has messages, and no word for conversations.
    """

    def __init__(self, protocol: JpProtocol, *, is_plain: bool) -> None:
        self._protocol = protocol
        self._is_plain = is_plain

    def conversation_changed(self, change: ConversationChange) -> None:
        """Say that lists and views of this conversation are out of date."""
        if not self._is_plain:
            self._protocol.notify_raw("jp/conversationChanged", to_wire.conversation_changed(change))

    def notice(self, notice: Notice, conversation: ConversationId | None = None) -> None:
        """Tell the user something."""
        if self._is_plain:
            kind = MESSAGE_TYPES.get(notice.level, MESSAGE_TYPES["info"])
            self._protocol.notify_raw("window/showMessage", {"type": kind, "message": notice.text})
        else:
            params = to_wire.notice_notification(notice, conversation=conversation)
            self._protocol.notify_raw("jp/notice", params)

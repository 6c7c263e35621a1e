"""What this program wrote last into the files of conversations, to tell its own changes from those of others.

A file is known by its stamp: when it was written, how large it is, and which file of the disk it is. Ours is what
has the very stamp that our write left; how soon after it somebody looks does not matter.
"""

from collections.abc import Mapping

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.workspace.atomic import Stamp


class OwnWrites:
    """The stamps of one root's files, by conversation and name of the file. Any thread may note one."""

    def __init__(self) -> None:
        self._stamps: dict[ConversationId, dict[str, Stamp]] = {}

    def note(self, conversation: ConversationId, name: str, stamp: Stamp) -> None:
        """Note the stamp that a write left."""
        self._stamps.setdefault(conversation, {})[name] = stamp

    def forget(self, conversation: ConversationId) -> None:
        """Forget a conversation, whose files now come from elsewhere."""
        self._stamps.pop(conversation, None)

    def of(self, conversation: ConversationId) -> Mapping[str, Stamp]:
        """Give the stamps of a conversation's files, as far as we wrote them."""
        return self._stamps.get(conversation, {})

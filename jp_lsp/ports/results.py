"""The port towards the files that hold whole results of tools (query pipeline 5.8)."""

from collections.abc import Sequence
from typing import Protocol

from jp_lsp.conversation.ids import CallId, ConversationId


class ResultFiles(Protocol):
    """Files in the user's own data, which only the user can read."""

    def new_path(self, conversation: ConversationId, call: CallId) -> str:
        """Give the absolute path for a result of a call. Whoever has something to write there makes the file."""
        ...

    async def write(self, path: str, text: str) -> None:
        """Make the file at such a path, or write it anew.

        Raises:
            OSError: it could not be written.
        """

    async def remove(self, paths: Sequence[str]) -> None:
        """Remove files; those that were never made, or cannot be removed, are passed over."""

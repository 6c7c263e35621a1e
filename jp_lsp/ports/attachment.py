"""The port towards attachments: what the model is shown beside the conversation (config-and-tools 6).

An entry of `conversation.attachments` says what to fetch. All entries are fetched anew for every query, side
by side, and come back in the order of the configuration, so that an unchanged world gives unchanged bytes
(F26): vendors keep what they have seen before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from jp_lsp.conversation.thread import Attachment
from jp_lsp.ports.mcp import McpServerConfig


@dataclass(frozen=True, slots=True)
class AttachmentEntry:
    """An entry of `conversation.attachments`.

    `text` is the entry as it was written: messages and trust call it so. `type` and `path` are what stands
    before and behind the first colon of a URL, as written, or those of a table. Only a table has `params`.
    """

    text: str
    type: str
    path: str
    params: Mapping[str, tuple[str, ...]] | None = None

    @property
    def handler(self) -> str:
        """The name of who fetches it: the type up to the first `+`."""
        return self.type.partition("+")[0].strip().lower()

    @property
    def server(self) -> str | None:
        """The MCP server that has it, for `mcp+SERVER+SCHEME`; `mcp+SCHEME` is of a server called `mcp`."""
        if self.handler != "mcp":
            return None
        parts = self.type.strip().split("+", 2)
        return parts[1] if len(parts) == 3 else "mcp"


@dataclass(frozen=True, slots=True)
class Fetched:
    """What entries came to. `warnings` tell what was left out, each in a sentence for the user."""

    items: tuple[Attachment, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NamedAttachments:
    """What a query names itself.

    `entries` join the conversation's configuration. `passing` are documents that exist in the editor alone:
    no later query could find them, so they are for this one.
    """

    entries: tuple[str, ...] = ()
    passing: tuple[Attachment, ...] = ()


class AttachmentError(Exception):
    """An attachment cannot be had, and the query must not go on without; the text says which, why, what to do."""

    def __init__(self, message: str, entry: str) -> None:
        super().__init__(message)
        self.entry = entry


class Attachments(Protocol):
    """What can be attached in a workspace."""

    async def read_names(self, names: Sequence[str]) -> NamedAttachments:
        """Make entries of what a query names: URLs, paths, `!path` to exclude, conversation ids.

        Raises:
            AttachmentError: a path does not exist, or lies outside of the workspace.
        """
        ...

    async def fetch(
        self, entries: Sequence[AttachmentEntry], servers: Mapping[str, McpServerConfig]
    ) -> Fetched:
        """Fetch entries, side by side; what they give stands in their order.

        Args:
            entries: what to fetch.
            servers: the MCP servers that the query knows, by name.

        Raises:
            AttachmentError: one of them cannot be had; what was under way for the others was ended.
        """
        ...

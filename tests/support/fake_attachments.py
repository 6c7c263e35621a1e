"""Attachments that are what a test says; a name is its own entry."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from jp_lsp.conversation.thread import TextAttachment
from jp_lsp.ports.attachment import AttachmentEntry, Fetched, NamedAttachments
from jp_lsp.ports.mcp import McpServerConfig

Fetch = Callable[[Sequence[AttachmentEntry]], Awaitable[Fetched]]


async def as_texts(entries: Sequence[AttachmentEntry]) -> Fetched:
    """Make a text of each entry."""
    return Fetched(tuple(TextAttachment(entry.path, f"text of {entry.path}") for entry in entries))


@dataclass(slots=True)
class FakeAttachments:
    """Fetches as a test says, and keeps what it was asked for."""

    fetching: Fetch = as_texts
    fetched: list[Sequence[AttachmentEntry]] = field(default_factory=lambda: [])
    servers: Mapping[str, McpServerConfig] = field(default_factory=lambda: {})

    async def read_names(self, names: Sequence[str]) -> NamedAttachments:
        return NamedAttachments(tuple(names))

    async def fetch(
        self, entries: Sequence[AttachmentEntry], servers: Mapping[str, McpServerConfig]
    ) -> Fetched:
        self.fetched.append(entries)
        self.servers = servers
        return await self.fetching(entries)

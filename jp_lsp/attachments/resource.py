"""Documents of MCP servers: `mcp+SERVER+SCHEME://REST` (config-and-tools 6.6).

Naming one is a reason to start its server (trap 35). A server that the workspace defines is known here only
once the workspace is trusted.
"""

from collections.abc import Callable, Mapping
from xml.sax.saxutils import escape, quoteattr

from jp_lsp.attachments.media import media_type_of
from jp_lsp.conversation.thread import BinaryAttachment, TextAttachment
from jp_lsp.ports.attachment import AttachmentEntry, AttachmentError, Fetched
from jp_lsp.ports.mcp import McpContent, McpError, McpResources, McpServerConfig

ResourcesOf = Callable[[Mapping[str, McpServerConfig]], McpResources]
"""Gives the documents of the servers that a query knows."""


class ResourceHandler:
    """Reads documents of servers."""

    def __init__(self, resources: McpResources) -> None:
        self._resources = resources

    async def fetch(self, entry: AttachmentEntry) -> Fetched:
        """Read the document of an entry; a folder may give several.

        Raises:
            AttachmentError: there is no such server or document, or the server could not be asked.
        """
        server = entry.server or ""
        try:
            contents = await self._resources.read_resource(server, resource_uri(entry))
        except McpError as error:
            text = f"Attachment {entry.text!r}: {error}. Correct or remove the attachment."
            raise AttachmentError(text, entry.text) from error
        items: list[TextAttachment | BinaryAttachment] = []
        warnings: list[str] = []
        for content in contents:
            item = _to_attachment(content)
            if item is None:
                warnings.append(
                    f"Attachment {entry.text!r}: left out {content.uri!r}, which is bytes of no known kind."
                )
            else:
                items.append(item)
        if not contents:
            warnings.append(f"Attachment {entry.text!r} was left out: the server says that it is empty.")
        return Fetched(tuple(items), tuple(warnings))


def resource_uri(entry: AttachmentEntry) -> str:
    """Give the URI by which the server knows the document."""
    scheme = entry.type.strip().split("+", 2)[-1]
    is_table = entry.params is not None
    return f"{scheme}://{entry.path.removeprefix('//')}" if is_table else f"{scheme}:{entry.path}"


def _to_attachment(content: McpContent) -> TextAttachment | BinaryAttachment | None:
    """Turn a part into an attachment; text stands in an element that says what it is."""
    if isinstance(content.content, bytes):
        media_type = media_type_of(content.content) or content.media_type
        return None if media_type is None else BinaryAttachment(content.uri, content.content, media_type)
    kind = f" mimeType={quoteattr(content.media_type)}" if content.media_type else ""
    text = f"<resource uri={quoteattr(content.uri)}{kind}>\n{escape(content.content)}\n</resource>"
    return TextAttachment(content.uri, text)

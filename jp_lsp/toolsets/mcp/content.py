"""What a server sends back, as text for the model and as documents (config-and-tools 5.5, query pipeline 3.10).

Text is kept to the letter. What a model cannot be given as text - a picture, a sound, other bytes, a link -
leaves a line that says what was there, because a result that seems empty makes a model try again.
"""

import binascii
import json
from collections.abc import Sequence

import mcp_types

from jp_lsp.ports.mcp import McpContent, McpResource
from jp_lsp.tools.outcome import Failed, Succeeded

NO_REASON = "The tool reported an error and did not say what went wrong."


def to_outcome(result: mcp_types.CallToolResult) -> Succeeded | Failed:
    """Turn the result of a call into an outcome."""
    text = _join(result)
    if result.is_error:
        return Failed(text or NO_REASON)
    return Succeeded(text)


def _join(result: mcp_types.CallToolResult) -> str:
    parts = [_to_text(block) for block in result.content]
    has_text = any(is_text for _, is_text in parts)
    texts = [text for text, _ in parts]
    if not has_text and result.structured_content is not None:
        texts.append(json.dumps(result.structured_content, ensure_ascii=False))
    return "\n\n".join(texts)


def _to_text(block: mcp_types.ContentBlock) -> tuple[str, bool]:
    """Give the text of a part, and whether it is the part's own text."""
    match block:
        case mcp_types.TextContent(text=text):
            return text, True
        case mcp_types.ImageContent(mime_type=media_type, data=data):
            return _placeholder("image", media_type, data), False
        case mcp_types.AudioContent(mime_type=media_type, data=data):
            return _placeholder("audio", media_type, data), False
        case mcp_types.ResourceLink(uri=uri, name=name, mime_type=media_type):
            kind = f", {media_type}" if media_type else ""
            return f"[link to {_line(name)}: {_line(uri)}{_line(kind)}]", False
        case mcp_types.EmbeddedResource(resource=mcp_types.TextResourceContents(text=text)):
            return text, True
        case mcp_types.EmbeddedResource(resource=resource):
            assert isinstance(resource, mcp_types.BlobResourceContents)
            return _placeholder(f"resource {resource.uri}", resource.mime_type, resource.blob), False


def _placeholder(what: str, media_type: str | None, data: str) -> str:
    size = len(data) * 3 // 4 - data[-2:].count("=")
    return f"[{_line(what)}, {_line(media_type or 'unknown type')}, {max(size, 0)} bytes, not shown]"


def _line(text: str) -> str:
    """Keep a text of the server on one line of sensible size: a placeholder must not pass for content."""
    return " ".join(text.split())[:500]


def to_resources(listed: Sequence[mcp_types.Resource]) -> tuple[McpResource, ...]:
    """Turn a list of documents into our own values."""
    return tuple(
        McpResource(item.uri, item.name, item.title, item.description, item.mime_type, item.size)
        for item in listed
    )


def to_contents(result: mcp_types.ReadResourceResult) -> tuple[McpContent, ...]:
    """Turn a document that was read into our own values.

    Raises:
        ValueError: bytes are not encoded as base64.
    """
    return tuple(_to_content(item) for item in result.contents)


def _to_content(item: mcp_types.TextResourceContents | mcp_types.BlobResourceContents) -> McpContent:
    if isinstance(item, mcp_types.TextResourceContents):
        return McpContent(item.uri, item.mime_type, item.text)
    return McpContent(item.uri, item.mime_type, binascii.a2b_base64(item.blob))

"""Attachments as text that every model can read, and as base64 for those that take files (providers 1.2)."""

import base64
from collections.abc import Sequence
from xml.sax.saxutils import escape

from jp_lsp.conversation.thread import Attachment, BinaryAttachment, TextAttachment

IMAGE_TYPES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})


def text_documents(attachments: Sequence[Attachment]) -> str | None:
    """Put all text attachments into one XML block; nothing when there are none.

    `index` counts binary attachments too, so that a number always means the same attachment. As soon as one
    document holds markup, all texts become CDATA: code stays readable for the model.
    """
    documents = [(i, item) for i, item in enumerate(attachments) if isinstance(item, TextAttachment)]
    if not documents:
        return None
    write = _cdata if any("<" in item.text or ">" in item.text for _, item in documents) else escape
    lines = ["<documents>"]
    for index, item in documents:
        lines += (
            "  <document>",
            f"    <index>{index}</index>",
            f"    <source>{write(item.source)}</source>",
            f"    <content>{write(item.text)}</content>",
            "  </document>",
        )
    lines.append("</documents>")
    return "\n".join(lines)


def _cdata(text: str) -> str:
    # The end mark cannot stand inside a section, so it is split over two.
    return "<![CDATA[" + text.replace("]]>", "]]]]><![CDATA[>") + "]]>"


def base64_text(attachment: BinaryAttachment) -> str:
    """Encode the bytes with the standard alphabet, padded."""
    return base64.b64encode(attachment.data).decode("ascii")


def data_url(attachment: BinaryAttachment) -> str:
    """Give a `data:` URL."""
    return f"data:{attachment.media_type};base64,{base64_text(attachment)}"


def label(attachment: Attachment) -> str:
    """Name a file that stands behind these words in the request."""
    return f"[Attached file: {attachment.source}]"


def skipped(attachment: BinaryAttachment, provider: str) -> str:
    """Say that an attachment does not go to the model."""
    return f"{provider} takes no {attachment.media_type}: attachment {attachment.source!r} was left out"

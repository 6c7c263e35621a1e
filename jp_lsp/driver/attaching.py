"""Attachments in preparation: named by the query, fetched anew, and a refusal when one cannot be had."""

from collections.abc import Sequence

from jp_lsp.ports.attachment import AttachmentError, Attachments, Fetched, NamedAttachments
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.settings import QuerySettings


async def read_names(names: Sequence[str], attachments: Attachments) -> NamedAttachments:
    """Read what a query names; its entries go into the settings, before these are resolved.

    Raises:
        Refusal: a path does not exist, or lies outside of the workspace.
    """
    try:
        return await attachments.read_names(names)
    except AttachmentError as error:
        raise _refusal(error) from error


async def attach(settings: QuerySettings, named: NamedAttachments, attachments: Attachments) -> Fetched:
    """Fetch everything that the model is shown beside the conversation.

    Args:
        settings: what remains of the settings after trust was decided.
        named: what the query names; documents that only the editor has come last.
        attachments: fetches.

    Raises:
        Refusal: one of them cannot be had; the query must not go on as if it were there.
    """
    try:
        fetched = await attachments.fetch(settings.attachments, settings.mcp_servers)
    except AttachmentError as error:
        raise _refusal(error) from error
    return Fetched((*fetched.items, *named.passing), fetched.warnings)


def _refusal(error: AttachmentError) -> Refusal:
    causes: list[str] = []
    cause = error.__cause__
    while cause is not None and len(causes) < 5:
        causes.append(str(cause) or type(cause).__name__)
        cause = cause.__cause__
    return Refusal("attachment_failed", str(error), chain=tuple(causes), origin=error.entry)

"""What editors ask about the document of a conversation: its outline, folds, links, and the calls in it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from anyio import to_thread
from lsprotocol import types
from pygls.uris import to_fs_path

from jp_lsp.conversation.event import ToolCallRequest, ToolCallResponse
from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.turns import Turn, split
from jp_lsp.language.conversation_document import (
    Call,
    ConversationDocument,
    Link,
    conversation_of,
    read_conversation,
)
from jp_lsp.language.positions import Lines, Span
from jp_lsp.ports.refusal import Refusal
from jp_lsp.render.json_display import pretty
from jp_lsp.render.tool import fenced, name_text
from jp_lsp.server.handlers.query_document import links_in
from jp_lsp.server.language_to_wire import markup, range_of
from jp_lsp.server.session import Session

_SHOWN = 4000
"""Characters of arguments, and as many of the result, that a hover shows."""

_OPENED = frozenset({"file", "http", "https"})


async def document_symbol(
    session: Session, params: types.DocumentSymbolParams
) -> Sequence[types.DocumentSymbol]:
    """List the turns, with their calls."""
    read = await _read(session, params.text_document.uri)
    if read is None:
        return []
    document, lines = read
    return [
        types.DocumentSymbol(
            turn.name,
            types.SymbolKind.Event,
            range_of(Span(turn.start, turn.end), lines),
            range_of(Span(turn.start, turn.header_end), lines),
            detail=f"turn {turn.number}",
            children=[
                types.DocumentSymbol(
                    call.name or "?",
                    types.SymbolKind.Function,
                    range_of(call.span, lines),
                    range_of(call.span, lines),
                )
                for call in turn.calls
            ],
        )
        for turn in document.turns
    ]


async def folding_range(session: Session, params: types.FoldingRangeParams) -> Sequence[types.FoldingRange]:
    """Give the turns, what the model thought, calls and results."""
    read = await _read(session, params.text_document.uri)
    if read is None:
        return []
    return [
        types.FoldingRange(fold.first, fold.last, kind=types.FoldingRangeKind.Region)
        for fold in read[0].folds
    ]


async def document_link(session: Session, params: types.DocumentLinkParams) -> Sequence[types.DocumentLink]:
    """Give links that lead somewhere: web pages, and files that exist, those of the workspace by their path."""
    if (query := await session.query_documents.edited(params.text_document.uri)) is not None:
        return await links_in(session, query)
    read = await _read(session, params.text_document.uri)
    if read is None:
        return []
    document, lines = read
    root = session.protocol.workspace.root_path
    folders = [
        path for folder in session.protocol.workspace.folders.values() if (path := to_fs_path(folder.uri))
    ]
    places = [Path(folder) for folder in (*folders, *([root] if root else []))]

    def find() -> Sequence[types.DocumentLink]:
        return list(_links(document.links, places, lines))

    return await to_thread.run_sync(find)


async def call_hover(session: Session, params: types.HoverParams) -> types.Hover | None:
    """Show what a call was given and what came of it, whole where the document has only a part."""
    uri = params.text_document.uri
    read, name = await _read(session, uri), conversation_of(uri)
    if read is None or name is None:
        return None
    document, lines = read
    found = document.call_at(lines.offset(params.position.line, params.position.character))
    if found is None:
        return None
    shown, call = found
    try:
        stored = await session.workplace.read(ConversationId(name))
    except Refusal:
        return None  # the document may be older than the removal of its conversation
    turns = split(stored.stream.entries)
    if not 0 < shown.number <= len(turns):
        return None
    text = _describe(turns[shown.number - 1], call)
    if text is None:
        return None
    formats = session.protocol.capability("textDocument", "hover", "contentFormat")
    return types.Hover(markup(text, formats), range_of(call.span, lines))


async def _read(session: Session, uri: str) -> tuple[ConversationDocument, Lines] | None:
    """Read an open document of a conversation; `None` for another document."""
    document = session.configuration_files.document(uri)
    if document is None or conversation_of(uri) is None:
        return None
    text, encoding = document.source, session.configuration_files.encoding
    return await to_thread.run_sync(lambda: (read_conversation(text), Lines(text, encoding)))


def _links(links: Sequence[Link], places: Sequence[Path], lines: Lines) -> Iterator[types.DocumentLink]:
    for link in links:
        if urlsplit(link.target).scheme in _OPENED:
            yield types.DocumentLink(range_of(link.span, lines), link.target)
            continue
        for place in places:
            path = place / link.target.partition("#")[0]
            if path.is_file():
                yield types.DocumentLink(range_of(link.span, lines), path.as_uri())
                break


def _describe(turn: Turn, call: Call) -> str | None:
    kinds = [event.kind for event in turn.events]
    requests = [kind for kind in kinds if isinstance(kind, ToolCallRequest) and kind.name == call.name]
    if call.number >= len(requests):
        return None
    request = requests[call.number]
    parts = [f"**{name_text(request.name)}**", fenced(pretty(request.arguments)[:_SHOWN], "json")]
    for kind in kinds:
        if isinstance(kind, ToolCallResponse) and kind.id == request.id:
            parts += ["Result:", fenced(kind.content[:_SHOWN])]
    return "\n\n".join(parts)

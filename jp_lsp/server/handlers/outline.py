"""What editors ask about the whole of a document: its outline, folds and links.

Those of configuration files are given here; for the document of a conversation its own handlers are asked.
"""

from collections.abc import Mapping, Sequence

from anyio import to_thread
from lsprotocol import types

from jp_lsp.config.about_file import extended_files
from jp_lsp.language.outline import Symbol, extended_names, folds_of, symbols_of
from jp_lsp.language.positions import Lines
from jp_lsp.server.configuration_files import EditedFile
from jp_lsp.server.handlers import conversation_document
from jp_lsp.server.language_to_wire import range_of
from jp_lsp.server.session import Session

_KINDS: Mapping[str, types.SymbolKind] = {
    "table": types.SymbolKind.Module,
    "list": types.SymbolKind.Array,
    "text": types.SymbolKind.String,
    "number": types.SymbolKind.Number,
    "boolean": types.SymbolKind.Boolean,
    "null": types.SymbolKind.Null,
}


async def document_symbol(
    session: Session, params: types.DocumentSymbolParams
) -> Sequence[types.DocumentSymbol]:
    """List the tables and keys of a configuration file, or the turns of a conversation."""
    file = await session.configuration_files.edited(params.text_document.uri)
    if file is None:
        return await conversation_document.document_symbol(session, params)

    def find() -> Sequence[types.DocumentSymbol]:
        return [_to_wire(symbol, file.lines) for symbol in symbols_of(file.document)]

    return await to_thread.run_sync(find)


async def folding_range(session: Session, params: types.FoldingRangeParams) -> Sequence[types.FoldingRange]:
    """Give the tables, lists and long texts of a configuration file, or what a conversation can fold."""
    file = await session.configuration_files.edited(params.text_document.uri)
    if file is None:
        return await conversation_document.folding_range(session, params)

    def find() -> Sequence[types.FoldingRange]:
        return [types.FoldingRange(fold.first, fold.last) for fold in folds_of(file.document, file.lines)]

    return await to_thread.run_sync(find)


async def document_link(session: Session, params: types.DocumentLinkParams) -> Sequence[types.DocumentLink]:
    """Give the files that a configuration file extends, or what a conversation or a query points at."""
    file = await session.configuration_files.edited(params.text_document.uri)
    if file is None:
        return await conversation_document.document_link(session, params)
    return await to_thread.run_sync(_links, file)


def _links(file: EditedFile) -> Sequence[types.DocumentLink]:
    """Give a link for each name that stands for one file; several can be gone to as definitions."""
    links: list[types.DocumentLink] = []
    for name in extended_names(file.document):
        paths = extended_files(file.path.parent, name.target)
        if len(paths) == 1:
            links.append(types.DocumentLink(range_of(name.span, file.lines), paths[0].resolve().as_uri()))
    return links


def _to_wire(symbol: Symbol, lines: Lines) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        symbol.name or "?",
        _KINDS[symbol.kind],
        range_of(symbol.span, lines),
        range_of(symbol.name_span, lines),
        detail=symbol.detail or None,
        children=[_to_wire(child, lines) for child in symbol.children],
    )

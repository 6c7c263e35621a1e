"""What editors ask about the whole of a document: its outline, folds and links.

Those of configuration files are given here; for the document of a conversation its own handlers are asked.
"""

from collections.abc import Iterator, Mapping, Sequence

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
) -> Sequence[types.DocumentSymbol] | Sequence[types.SymbolInformation]:
    """List the tables and keys of a configuration file, or the turns of a conversation.

    A client that does not say that it knows symbols within symbols gets one list of all of them.
    """
    symbols = await _symbols(session, params)
    support = session.protocol.capability(
        "textDocument", "documentSymbol", "hierarchicalDocumentSymbolSupport"
    )
    return symbols if support is True else list(_flat(params.text_document.uri, symbols))


async def _symbols(session: Session, params: types.DocumentSymbolParams) -> Sequence[types.DocumentSymbol]:
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


def _flat(
    uri: str, symbols: Sequence[types.DocumentSymbol], above: str | None = None
) -> Iterator[types.SymbolInformation]:
    for symbol in symbols:
        yield types.SymbolInformation(
            types.Location(uri, symbol.range), symbol.name, symbol.kind, container_name=above
        )
        yield from _flat(uri, symbol.children or (), symbol.name)


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

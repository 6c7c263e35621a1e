"""Tells a client what is wrong in a document, in the diagnostics that it understands."""

from collections.abc import Sequence

from lsprotocol import types

from jp_lsp.language.findings import Mark
from jp_lsp.language.positions import Lines
from jp_lsp.server.language_to_wire import diagnostic
from jp_lsp.server.wire import JpProtocol


def write_diagnostics(protocol: JpProtocol, marks: Sequence[Mark], lines: Lines) -> list[types.Diagnostic]:
    """Write findings for this client, with tags where it knows them."""
    support = protocol.capability("textDocument", "publishDiagnostics", "tagSupport")
    has_tags = support is not None and support is not False
    return [diagnostic(mark, lines, has_tags=has_tags) for mark in marks]


def publish_diagnostics(
    protocol: JpProtocol, uri: str, version: int | None, diagnostics: Sequence[types.Diagnostic]
) -> None:
    """Show these in place of those that are shown for the document; none take them away."""
    params = types.PublishDiagnosticsParams(uri, list(diagnostics), version=version)
    protocol.notify(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params)

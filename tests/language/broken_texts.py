"""What must hold in any text, however broken."""

from jp_lsp.config.about_file import FileFacts
from jp_lsp.language.completion import Known, complete_at
from jp_lsp.language.definition import target_at
from jp_lsp.language.document import Document
from jp_lsp.language.findings import find_marks
from jp_lsp.language.hover import describe, subject_at
from jp_lsp.language.outline import Symbol, extended_names, folds_of, symbols_of
from jp_lsp.language.positions import Lines


def check_everything(document: Document) -> None:
    """No feature fails at any place, and all that they give lies within the text."""
    text = document.text
    for entry in document.walk():
        assert 0 <= entry.start <= entry.end <= len(text)
        assert entry.path[: len(entry.base)] == entry.base
        for name in entry.names:
            assert entry.start <= name.start <= name.end <= entry.end
    for mark in find_marks(document, FileFacts(is_shared=True)):
        assert 0 <= mark.span.start <= mark.span.end <= len(text)
    lines = Lines(text, "utf-16")
    for fold in folds_of(document, lines):
        assert 0 <= fold.first < fold.last < lines.count
    for symbol in symbols_of(document):
        check_symbol(symbol)
    for named in extended_names(document):
        assert 0 <= named.span.start <= named.span.end <= len(text)
    for offset in range(len(text) + 1):
        for proposal in complete_at(document, offset, Known()):
            assert proposal.edit.span.start <= offset
            assert proposal.edit.span.end <= len(text)
        target_at(document, offset)
        if (subject := subject_at(document, offset)) is not None:
            assert describe(subject, None)


def check_symbol(symbol: Symbol) -> None:
    """Editors refuse a name that lies outside of what it names."""
    assert symbol.span.start <= symbol.name_span.start <= symbol.name_span.end <= symbol.span.end
    for child in symbol.children:
        check_symbol(child)

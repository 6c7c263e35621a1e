"""What `language` found, as the protocol's own types."""

from collections.abc import Mapping, Sequence
from textwrap import shorten

from lsprotocol import types

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.language.completion import Proposal
from jp_lsp.language.findings import Mark, Replacement
from jp_lsp.language.positions import Lines, Span

SOURCE = "jp"

_MENU_DETAIL = 30
_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "hint": types.DiagnosticSeverity.Hint,
}
_KINDS: Mapping[str, types.CompletionItemKind] = {
    "key": types.CompletionItemKind.Property,
    "table": types.CompletionItemKind.Module,
    "word": types.CompletionItemKind.EnumMember,
    "model": types.CompletionItemKind.Class,
    "name": types.CompletionItemKind.Reference,
    "file": types.CompletionItemKind.File,
}


def range_of(span: Span, lines: Lines) -> types.Range:
    """Give a piece of a text in the client's units."""
    start, end = lines.position(span.start), lines.position(span.end)
    return types.Range(types.Position(start.line, start.character), types.Position(end.line, end.character))


def span_of(wanted: types.Range, lines: Lines) -> Span:
    """Give a range of the client as a piece of the text; one that is the wrong way round is turned."""
    start = lines.offset(wanted.start.line, wanted.start.character)
    end = lines.offset(wanted.end.line, wanted.end.character)
    return Span(min(start, end), max(start, end))


def diagnostic(mark: Mark, lines: Lines, *, has_tags: bool) -> types.Diagnostic:
    """Write a finding, for a client that knows tags or does not."""
    return types.Diagnostic(
        range_of(mark.span, lines),
        mark.text,
        severity=_SEVERITIES[mark.severity],
        code=mark.code,
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if mark.is_faded and has_tags else None,
    )


def markup(text: str, formats: JsonValue) -> types.MarkupContent | str:
    """Write Markdown in one of the client's formats; it is readable as plain text too."""
    if not isinstance(formats, Sequence) or not formats:
        return text
    knows = types.MarkupKind.Markdown.value in formats
    return types.MarkupContent(types.MarkupKind.Markdown if knows else types.MarkupKind.PlainText, text)


def completion_item(proposal: Proposal, index: int, lines: Lines, formats: JsonValue) -> types.CompletionItem:
    """Write a proposal; `index` keeps the order, `formats` are those that the client shows.

    Menus are narrow, so a detail that is too long for them is cut there, and stands whole in the documentation.
    """
    detail = shorten(proposal.detail, _MENU_DETAIL, placeholder=" …")
    whole = proposal.detail if detail != proposal.detail else ""
    documentation = "\n\n".join(part for part in (proposal.documentation, whole) if part)
    return types.CompletionItem(
        proposal.label,
        kind=_KINDS[proposal.kind],
        detail=detail or None,
        documentation=markup(documentation, formats) if documentation else None,
        sort_text=f"{index:05}",
        filter_text=proposal.search or proposal.edit.text,
        text_edit=text_edit(proposal.edit, lines),
    )


def text_edit(replacement: Replacement, lines: Lines) -> types.TextEdit:
    """Write an edit."""
    return types.TextEdit(range_of(replacement.span, lines), replacement.text)

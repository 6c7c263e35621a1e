"""What editors ask about the text at hand: completion, hover, definition, code actions, and checks of files."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from anyio import to_thread
from lsprotocol import types
from pygls.uris import to_fs_path

from jp_lsp.config.about_file import extended_files, is_same_file
from jp_lsp.config.explanation import Explanation
from jp_lsp.config.layer import Origin
from jp_lsp.config.problem import dotted
from jp_lsp.language.asking import Ask, Complaint, Excerpt, asks_about
from jp_lsp.language.completion import Proposal, complete_at
from jp_lsp.language.definition import ExtendedFiles, target_at
from jp_lsp.language.findings import Mark
from jp_lsp.language.hover import describe, subject_at
from jp_lsp.language.positions import Lines
from jp_lsp.ports.refusal import Refusal
from jp_lsp.server.configuration_files import EditedFile
from jp_lsp.server.handlers.conversation_document import call_hover
from jp_lsp.server.handlers.query_document import completion_in, hover_in
from jp_lsp.server.language_to_wire import (
    SOURCE,
    completion_item,
    markup,
    range_of,
    span_of,
    text_edit,
)
from jp_lsp.server.query_documents import OpenQuery
from jp_lsp.server.session import Session

_MARGIN = 3
"""Lines around a diagnostic that are shown with it, so that the model sees what it is about."""


async def check(session: Session, uri: str, *, is_saved: bool) -> None:
    """Say what is wrong in a configuration file or a query that was opened, changed, saved or closed."""
    await session.configuration_files.check(uri)
    await session.query_documents.check(uri)
    if is_saved:
        await session.configuration_files.check_others(uri)
        await session.query_documents.check_others(uri)


async def completion(session: Session, params: types.CompletionParams) -> types.CompletionList:
    """Offer what can be written at a place of a configuration file or a query."""
    if (query := await session.query_documents.edited(params.text_document.uri)) is not None:
        return await completion_in(session, query, params.position)
    file = await session.configuration_files.edited(params.text_document.uri)
    if file is None:
        return types.CompletionList(is_incomplete=False, items=[])
    known = session.configuration_files.known(file)

    def complete() -> Sequence[Proposal]:
        return complete_at(file.document, _offset(file, params.position), known)

    formats = session.protocol.capability(
        "textDocument", "completion", "completionItem", "documentationFormat"
    )
    items = [
        completion_item(proposal, index, file.lines, formats)
        for index, proposal in enumerate(await to_thread.run_sync(complete))
    ]
    session.configuration_files.list_wanted_models()
    return types.CompletionList(is_incomplete=True, items=items)


async def hover(session: Session, params: types.HoverParams) -> types.Hover | None:
    """Describe what stands at a place of a configuration file, a query, or the document of a conversation."""
    if (query := await session.query_documents.edited(params.text_document.uri)) is not None:
        return await hover_in(session, query, params.position)
    file = await session.configuration_files.edited(params.text_document.uri)
    if file is None:
        return await call_hover(session, params)

    def find() -> types.Hover | None:
        subject = subject_at(file.document, _offset(file, params.position))
        if subject is None:
            return None
        explanation = _explained(file, dotted(subject.path))
        text = describe(subject, explanation, session.configuration_files.models)
        formats = session.protocol.capability("textDocument", "hover", "contentFormat")
        return types.Hover(markup(text, formats), range_of(subject.span, file.lines))

    return await to_thread.run_sync(find)


async def definition(session: Session, params: types.DefinitionParams) -> Sequence[types.Location]:
    """Find the files that an entry of `extends` names, what an alias is, or where else a setting is set."""
    file = await session.configuration_files.edited(params.text_document.uri)
    if file is None:
        return []

    def find() -> Sequence[types.Location]:
        target = target_at(file.document, _offset(file, params.position))
        if target is None:
            return []
        if isinstance(target, ExtendedFiles):
            paths = extended_files(file.path.parent, target.target)
            return [_location(path, None) for path in paths]
        explanation = _explained(file, target.key)
        return [] if explanation is None else list(_places(explanation, file, _line(file, params.position)))

    return await to_thread.run_sync(find)


async def code_action(
    session: Session, params: types.CodeActionParams
) -> Sequence[types.CodeAction | types.Command]:
    """Offer to mend what is misspelt in a configuration file or a query, and to ask about any code or diagnostic."""
    uri = params.text_document.uri
    actions: list[types.CodeAction] = []
    file = await session.configuration_files.edited(uri)
    if file is not None:
        marks: Sequence[Mark] = await session.configuration_files.marks(file)
        actions += _remedies(session, file, marks, params)
    elif (query := await session.query_documents.edited(uri)) is not None:
        marks = await session.query_documents.marks(query)
        actions += _remedies(session, query, marks, params)
    if (document := session.configuration_files.document(uri)) is not None:
        name, language = _name_of(session, uri), document.language_id or ""
        lines = await to_thread.run_sync(Lines, document.source, session.configuration_files.encoding)
        excerpt = _excerpt(document.source, lines, name, language, params)
        if excerpt is not None:
            actions += _asks(excerpt, params.context.diagnostics)
    wanted = [action for action in actions if _is_wanted(action, params.context.only)]
    if session.protocol.capability("textDocument", "codeAction", "codeActionLiteralSupport") is not None:
        return wanted
    return [action.command for action in wanted if action.command is not None]


def _offset(file: EditedFile, position: types.Position) -> int:
    return file.lines.offset(position.line, position.character)


def _line(file: EditedFile, position: types.Position) -> int:
    return file.lines.line_of(_offset(file, position)) + 1


def _explained(file: EditedFile, key: str) -> Explanation | None:
    """Explain a setting in the configuration in which the file counts; `None` where nobody has it."""
    try:
        return file.settings.explain(key, file.settings.expressions_for(file.path) or ())
    except Refusal:
        return None


def _places(explanation: Explanation, file: EditedFile, line: int) -> Iterator[types.Location]:
    """Give the places that set a setting, the one that decides first, without the one that is asked from."""
    said = [each.origin for each in explanation.contributions if each.value is not None]
    for origin in dict.fromkeys(reversed(said)):
        if origin.path is not None and not _is_here(origin, file, line):
            yield _location(origin.path, origin.line)


def _is_here(origin: Origin, file: EditedFile, line: int) -> bool:
    return origin.line == line and is_same_file(origin.path, file.path)


def _location(path: Path, line: int | None) -> types.Location:
    start = types.Position(0 if line is None else line - 1, 0)
    plain = Path(os.path.normpath(path))  # editors take `a/../b` for another document than `b`
    uri = (plain if is_same_file(plain, path) else path).as_uri()
    return types.Location(uri, types.Range(start, start))


def _remedies(
    session: Session, file: EditedFile | OpenQuery, marks: Sequence[Mark], params: types.CodeActionParams
) -> Iterator[types.CodeAction]:
    """Give an edit for each finding in the range whose remedy is known."""
    wanted = span_of(params.range, file.lines)
    for mark in marks:
        if mark.remedy is None or not mark.span.touches(wanted):
            continue
        place = range_of(mark.span, file.lines)
        is_added = mark.remedy.span.start == mark.remedy.span.end
        yield types.CodeAction(
            f"{'Insert' if is_added else 'Change to'} `{mark.remedy.text}`",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[
                each for each in params.context.diagnostics if each.source == SOURCE and each.range == place
            ],
            is_preferred=True,
            edit=_edit(session, file, text_edit(mark.remedy, file.lines)),
        )


def _edit(session: Session, file: EditedFile | OpenQuery, edit: types.TextEdit) -> types.WorkspaceEdit:
    """Write an edit, with the version where the client can refuse one that comes too late (T22)."""
    if session.protocol.capability("workspace", "workspaceEdit", "documentChanges") is not True:
        return types.WorkspaceEdit(changes={file.uri: [edit]})
    document = types.OptionalVersionedTextDocumentIdentifier(file.uri, file.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, [edit])])


def _excerpt(
    text: str, lines: Lines, name: str, language: str, params: types.CodeActionParams
) -> Excerpt | None:
    """Cut out the selected lines, or those around the diagnostics; `None` where neither is."""
    first, last = params.range.start, params.range.end
    begins, ends = first.line, last.line
    if first == last:
        diagnostics = params.context.diagnostics
        if not diagnostics:
            return None
        begins = min(each.range.start.line for each in diagnostics) - _MARGIN
        ends = max(each.range.end.line for each in diagnostics) + _MARGIN
    elif last.character == 0:
        ends -= 1  # whole lines were selected
    begins = min(max(begins, 0), lines.count - 1)
    ends = min(max(ends, begins), lines.count - 1)
    code = text[lines.span_of_line(begins).start : lines.span_of_line(ends).end]
    return Excerpt(name, language, begins + 1, ends + 1, code) if code.strip() else None


def _asks(excerpt: Excerpt, diagnostics: Sequence[types.Diagnostic]) -> Iterator[types.CodeAction]:
    complaints = [
        Complaint(each.range.start.line + 1, each.message, each.source or "") for each in diagnostics
    ]
    for ask in asks_about(excerpt, complaints):
        kind = types.CodeActionKind.QuickFix if complaints else f"jp.{ask.purpose}"
        yield types.CodeAction(
            ask.title, kind=kind, diagnostics=list(diagnostics) or None, command=_command(ask)
        )


def _command(ask: Ask) -> types.Command:
    asked = {"quote": ask.quote} if ask.text is None else {"text": ask.text, "quote": ask.quote}
    return types.Command(ask.title, command="jp.query", arguments=[asked])


def _name_of(session: Session, uri: str) -> str:
    """Name a document as the model will know it: by its path in the workspace, where it has one."""
    path = to_fs_path(uri)
    if path is None:
        return uri
    folders = [to_fs_path(folder.uri) for folder in session.protocol.workspace.folders.values()]
    for folder in (*folders, session.protocol.workspace.root_path):
        if folder and Path(path).is_relative_to(folder):
            return Path(path).relative_to(folder).as_posix()
    return path


def _is_wanted(action: types.CodeAction, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """Tell whether the client asked for a kind: for the kind itself or one that it is part of."""
    if not only:
        return True
    kind = _kind_name(action.kind or "")
    return any(kind == wanted or kind.startswith(f"{wanted}.") for wanted in map(_kind_name, only))


def _kind_name(kind: types.CodeActionKind | str) -> str:
    return kind.value if isinstance(kind, types.CodeActionKind) else kind

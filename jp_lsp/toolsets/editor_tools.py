"""The editor tools: list what is open, read as the editor has it, edit through the editor (pipeline 7.4)."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

import anyio.to_thread

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.ports.editor import EditorDocuments, OpenDocument, Replacement
from jp_lsp.tools.outcome import Failed, Succeeded
from jp_lsp.toolsets.editor_files import FileProblem, FileState, find_file, locate_file, read_disk

_QUOTED = 80
_UNCHANGED = "Nothing was changed."
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
"""Lines as editors count them; Python would also end one at a form feed."""

_STATES = {"clean": "saved", "dirty": "unsaved changes", "unknown": "state unknown"}


async def list_documents(editor: EditorDocuments, root: str) -> Succeeded:
    """List the open documents that lie in the workspace folders."""
    documents, folders = editor.open_documents(), editor.folders()
    lines = await anyio.to_thread.run_sync(_list, documents, folders, root)
    return Succeeded("\n".join(lines) or "No document of the workspace is open in the editor.")


def _list(documents: Sequence[OpenDocument], folders: Sequence[str], root: str) -> list[str]:
    lines: list[str] = []
    for document in documents:
        try:
            _, shown = locate_file(document.path or "", root, folders)
        except FileProblem:
            continue  # what is outside of the workspace is none of the model's business
        facts = [document.language or "plain text", f"version {document.version}", _STATES[document.state]]
        lines.append(f"{shown} ({', '.join(facts)}): {document.uri}")
    return lines


async def read_file(editor: EditorDocuments, root: str, arguments: JsonObject) -> Succeeded | Failed:
    """Give the text of a file, headed by where it is from and its version."""
    try:
        state = await find_file(editor, root, _text(arguments, "path"))
        text, lines = _excerpt(state.text, arguments)
    except FileProblem as problem:
        return Failed(str(problem))
    return Succeeded(f"{state.shown}{lines} (version {state.version}; {state.note})\n\n{text}")


async def edit_file(
    editor: EditorDocuments, root: str, arguments: JsonObject, *, is_proposal: bool
) -> Succeeded | Failed:
    """Change a file through the editor; nothing happens unless all edits fit the text of this version (T22).

    `is_proposal` lets the editor ask the user, who has not allowed the call: to be asked twice is once too often.
    """
    try:
        state = await find_file(editor, root, _text(arguments, "path"))
        _require_current(state, _text(arguments, "version"))
        replacements = find_replacements(state.text, _edits(arguments.get("edits")))
    except FileProblem as problem:
        return Failed(str(problem))
    document = state.document
    outcome = await editor.apply_edit(
        state.path.as_uri() if document is None else document.uri,
        None if document is None else document.version,
        state.text,
        replacements,
        f"Edit {state.shown}",
        is_proposal=is_proposal,
    )
    match outcome.result:
        case "applied":
            doubts = [outcome.reason] if outcome.reason else []
            if document is None and await anyio.to_thread.run_sync(_was_overtaken, state, replacements):
                doubts.append(
                    "The file was changed on disk meanwhile, so the edit may stand in a wrong place."
                )
            count = "1 edit" if len(replacements) == 1 else f"{len(replacements)} edits"
            done = f"{count} made to {state.shown} in the editor, which has not saved the file."
            return Succeeded(" ".join([done, *doubts, "Read it again before you edit it further."]))
        case "refused":
            reason = f": {outcome.reason}" if outcome.reason else ""
            return Failed(f"The edit of {state.shown} was refused{reason}. {_UNCHANGED}")
        case "stale":
            return Failed(_stale(state.shown, outcome.reason))


def _was_overtaken(state: FileState, replacements: Sequence[Replacement]) -> bool:
    """Tell whether a file that was not open is now neither what was read nor what became of it."""
    try:
        text = read_disk(state.path, state.shown)
    except FileProblem:
        return True
    return text not in {state.text, apply_replacements(state.text, replacements)}


def find_replacements(text: str, edits: Sequence[tuple[str, str]]) -> tuple[Replacement, ...]:
    """Find where edits go, in the order of the text. Models write plain line ends, whatever the file has.

    Raises:
        FileProblem: an old text is not there exactly once, or two edits overlap.
    """
    found: list[Replacement] = []
    for index, (old, new) in enumerate(edits):
        if not old:
            raise FileProblem(f"edits[{index}]: `old` is empty; give the text that is to be replaced.")
        wanted = old if old in text else _with_line_ends_of(text, old)
        start = text.find(wanted)
        if start < 0:
            raise FileProblem(f"edits[{index}]: the file does not hold {_quote(old)}. {_UNCHANGED}")
        if text.find(wanted, start + 1) >= 0:
            raise FileProblem(
                f"edits[{index}]: {_quote(old)} is in the file more than once; give more of the text around it. "
                f"{_UNCHANGED}"
            )
        found.append(Replacement(start, start + len(wanted), _with_line_ends_of(text, new)))
    found.sort(key=lambda replacement: replacement.start)
    for one, other in pairwise(found):
        if other.start < one.end:
            raise FileProblem(f"Two of the edits overlap; make one of them. {_UNCHANGED}")
    return tuple(found)


def apply_replacements(text: str, replacements: Sequence[Replacement]) -> str:
    """Give the text with replacements made, which are in order and do not overlap."""
    parts: list[str] = []
    position = 0
    for replacement in replacements:
        parts += [text[position : replacement.start], replacement.text]
        position = replacement.end
    return "".join([*parts, text[position:]])


def _with_line_ends_of(text: str, piece: str) -> str:
    if "\r\n" not in text or "\r" in piece:
        return piece
    return piece.replace("\n", "\r\n")


def _require_current(state: FileState, version: str) -> None:
    """Refuse an edit for another text than the one that counts now, or that the editor does not have."""
    if version != state.version:
        reason = f"its version is {state.version} now, and the edit was made for {version}"
        raise FileProblem(_stale(state.shown, reason))
    if state.is_open and state.document is None:
        raise FileProblem(
            f"{state.shown} is open in the editor with another text than on disk. Ask the user to reload it there "
            f"first; an edit would be made to the old text. {_UNCHANGED}"
        )


def _stale(shown: str, reason: str) -> str:
    why = f" ({reason})" if reason else ""
    return f"{shown} has changed since it was read{why}. {_UNCHANGED} Read it again."


def _edits(value: JsonValue) -> list[tuple[str, str]]:
    items = value if isinstance(value, Sequence) and not isinstance(value, str) else ()
    edits: list[tuple[str, str]] = []
    for index, item in enumerate(items):
        old, new = (item.get("old"), item.get("new")) if isinstance(item, Mapping) else (None, None)
        if not isinstance(old, str) or not isinstance(new, str):
            raise FileProblem(f"edits[{index}]: needs `old` and `new`, both texts.")
        edits.append((old, new))
    if not edits:
        raise FileProblem("The `edits` must not be empty.")
    return edits


def _excerpt(text: str, arguments: JsonObject) -> tuple[str, str]:
    """Cut the wanted lines out; gives them, and which they are."""
    first, last = _line(arguments, "start_line"), _line(arguments, "end_line")
    if first is None and last is None:
        return text, ""
    lines = _LINE.findall(text)
    begin, end = first or 1, min(last or len(lines), len(lines))
    if begin > end:
        raise FileProblem(
            f"There are no lines {begin} to {last or len(lines)}; the file has {len(lines)} lines."
        )
    return "".join(lines[begin - 1 : end]), f", lines {begin} to {end} of {len(lines)}"


def _line(arguments: JsonObject, name: str) -> int | None:
    value = arguments.get(name)
    if value is None:
        return None
    if not isinstance(value, (int, float)) or value < 1:
        raise FileProblem(f"`{name}` must be a line number, counted from 1.")
    return int(value)


def _text(arguments: JsonObject, name: str) -> str:
    value = arguments.get(name)
    if not isinstance(value, str):
        raise FileProblem(f"The `{name}` is missing.")
    return value


def _quote(text: str) -> str:
    return repr(text if len(text) <= _QUOTED else f"{text[:_QUOTED]}...")

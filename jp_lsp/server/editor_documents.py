"""The documents that a client has open, and edits that it is asked to make: `ports.editor.EditorDocuments`.

The protocol keeps the text of each open document. What it does not say is whether a buffer has unsaved
changes, so that is found out here: buffer and file are compared when a document is opened or saved, and when
the file turns out to have been written. Between those moments the text that both had decides.

An edit goes out as `workspace/applyEdit` with the document's version, so that the editor itself refuses one
that comes too late (T22), and marked as in need of confirmation where the editor can ask for that.
"""

import asyncio
import bisect
import os
import re
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from lsprotocol import types
from pygls.uris import to_fs_path
from pygls.workspace import TextDocument

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.ports.editor import BufferState, EditOutcome, OpenDocument, Replacement, same_text
from jp_lsp.server.wire import JpLanguageServer
from jp_lsp.server.wire_error import ClientAnswerError

CHANGE_SECONDS = 2.0
"""How long to wait for the change that follows an edit; some editors say "applied" and drop the edit."""

_ANNOTATION = "jp-edit"
_MOST_BYTES = 4 * 1024 * 1024
_ODD_LINE_ENDS = re.compile("[\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
"""Where the protocol library would see the end of a line, and editors do not."""

_LINE_END = re.compile(r"\r\n|\n|\r")
_Stamp = tuple[int, int]


@dataclass(slots=True)
class _Followed:
    """What is known of a document beside its text.

    `loaded` is the text when buffer and file last agreed, `stamp` the file's at the last look.
    `is_reliable` is false while our copy of the text may differ from the editor's.
    """

    loaded: str | None = None
    stamp: _Stamp | None = None
    is_odd: bool = False
    is_reliable: bool = True
    changed: asyncio.Event = field(default_factory=asyncio.Event)


class ClientDocuments:
    """The documents of one client. To be made before the client is initialised.

    Args:
        server: keeps the documents' texts.
        change_seconds: how long to wait for the change that follows an edit.
    """

    def __init__(self, server: JpLanguageServer, *, change_seconds: float = CHANGE_SECONDS) -> None:
        self._server = server
        self._change_seconds = change_seconds
        self._followed: dict[str, _Followed] = {}
        self.on_news: Callable[[str, bool], None] | None = None
        """Told of each document that was opened, changed, saved or closed, and whether it was saved."""

        @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
        def opened(params: types.DidOpenTextDocumentParams) -> None:
            self._opened(params.text_document.uri)
            self._tell(params.text_document.uri)

        @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
        def changed(params: types.DidChangeTextDocumentParams) -> None:
            self._changed(params.text_document.uri, params.content_changes)
            self._tell(params.text_document.uri)

        @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
        def saved(params: types.DidSaveTextDocumentParams) -> None:
            self._saved(params.text_document.uri)
            self._tell(params.text_document.uri, is_saved=True)

        @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
        def closed(params: types.DidCloseTextDocumentParams) -> None:
            self._followed.pop(unquote(params.text_document.uri), None)
            self._tell(params.text_document.uri)

        del opened, changed, saved, closed  # the server has them

    # The port.

    def folders(self) -> Sequence[str]:
        """Give the absolute paths of the client's workspace folders."""
        workspace = self._server.workspace
        uris = [folder.uri for folder in workspace.folders.values()]
        paths = [path for uri in uris if (path := to_fs_path(uri))]
        if not paths and workspace.root_path:
            return (workspace.root_path,)
        return paths

    def open_documents(self) -> Sequence[OpenDocument]:
        """Give every open document, in the order of their opening."""
        return [self._describe(document) for document in self._documents.values()]

    async def apply_edit(
        self,
        uri: str,
        version: int | None,
        text: str,
        edits: Sequence[Replacement],
        label: str,
        *,
        is_proposal: bool = True,
    ) -> EditOutcome:
        """Ask the editor to change a document, unless it is not the one that the edits were made for."""
        capabilities = _members(self._server.protocol.raw_initialize.get("capabilities"))
        workspace = _members(capabilities.get("workspace"))
        if workspace.get("applyEdit") is not True:
            return EditOutcome("refused", "this editor cannot be asked to change documents")
        if (problem := self._staleness(uri, version, text)) is not None:
            return EditOutcome("stale", problem)
        support = _members(workspace.get("workspaceEdit"))
        edit = self._workspace_edit(uri, version, text, edits, label if is_proposal else None, support)
        followed = self._followed.get(unquote(uri))
        if followed is not None:
            followed.changed.clear()
        pending = self._server.protocol.send_request_raw(
            "workspace/applyEdit", {"label": label, "edit": edit}
        )
        try:
            answer = _members(await pending)
        except ClientAnswerError as refusal:
            return EditOutcome("refused", refusal.message)
        except asyncio.CancelledError:
            pending.withdraw()
            raise
        if answer.get("applied") is not True:
            reason = answer.get("failureReason")
            return EditOutcome("refused", reason if isinstance(reason, str) else "")
        if followed is not None and not await self._has_changed(followed):
            return EditOutcome("applied", "The editor said so, but the change has not been seen yet.")
        return EditOutcome("applied")

    # Following the documents.

    def _tell(self, uri: str, *, is_saved: bool = False) -> None:
        if self.on_news is not None:
            self.on_news(uri, is_saved)

    @property
    def _documents(self) -> Mapping[str, TextDocument]:
        documents: Mapping[str, TextDocument] = self._server.workspace.text_documents
        return documents

    def _describe(self, document: TextDocument) -> OpenDocument:
        followed = self._followed.get(unquote(document.uri)) or _Followed()
        text = document.source
        return OpenDocument(
            document.uri,
            to_fs_path(document.uri),
            document.language_id or "",
            document.version or 0,
            _state(followed, text),
            text,
            followed.loaded,
        )

    def _opened(self, uri: str) -> None:
        followed = self._followed[unquote(uri)] = _Followed()
        if (document := self._documents.get(unquote(uri))) is not None:
            followed.is_odd = _ODD_LINE_ENDS.search(document.source) is not None
            self._compare(followed, document)

    def _changed(self, uri: str, changes: Sequence[types.TextDocumentContentChangeEvent]) -> None:
        followed, document = self._followed.get(unquote(uri)), self._documents.get(unquote(uri))
        if followed is None or document is None:
            return
        was_reliable = followed.is_reliable
        is_odd = _ODD_LINE_ENDS.search(document.source) is not None
        if not isinstance(changes[-1] if changes else None, types.TextDocumentContentChangePartial):
            followed.is_reliable = True  # the whole text was sent
        elif is_odd or followed.is_odd:
            followed.is_reliable = False
        followed.is_odd = is_odd
        followed.changed.set()
        if not was_reliable or _stamp(document) != followed.stamp:
            self._compare(followed, document)  # perhaps the editor has just reloaded the file

    def _saved(self, uri: str) -> None:
        followed, document = self._followed.get(unquote(uri)), self._documents.get(unquote(uri))
        if followed is None or document is None:
            return
        followed.loaded = document.source
        if self._compare(followed, document) is False:
            # The file is not what was saved: we misunderstood a change, or somebody was quick.
            followed.is_reliable = False

    def _compare(self, followed: _Followed, document: TextDocument) -> bool | None:
        """Look whether buffer and file agree, and note it if they do; `None` if the file cannot be read."""
        followed.stamp = _stamp(document)
        on_disk = _read(document)
        if on_disk is None:
            return None
        is_same = same_text(on_disk, document.source)
        if is_same:
            followed.loaded = document.source
            followed.is_reliable = True
        return is_same

    async def _has_changed(self, followed: _Followed) -> bool:
        try:
            async with asyncio.timeout(self._change_seconds):
                await followed.changed.wait()
        except TimeoutError:
            return False
        return True

    # Edits.

    def _staleness(self, uri: str, version: int | None, text: str) -> str | None:
        """Say why an edit is not for the document as it is now."""
        document = self._documents.get(unquote(uri))
        if version is None:
            return None if document is None else "it was opened in the editor meanwhile"
        if document is None:
            return "it was closed in the editor meanwhile"
        if document.version != version:
            return f"its version is {document.version} now, and the edit was made for {version}"
        followed = self._followed.get(unquote(uri))
        if document.source != text or followed is None or not followed.is_reliable:
            return "its text in the editor is not the one that was read"
        return None

    def _workspace_edit(
        self,
        uri: str,
        version: int | None,
        text: str,
        edits: Sequence[Replacement],
        proposal: str | None,
        support: JsonObject,
    ) -> JsonObject:
        """Write the edit with as much of version and confirmation as the client understands.

        `proposal` is what the user is asked to confirm, if anything.
        """
        has_annotations = proposal is not None and isinstance(support.get("changeAnnotationSupport"), Mapping)
        has_versions = support.get("documentChanges") is True
        to_position = position_finder(text, str(self._server.workspace.position_encoding))
        written: list[JsonValue] = []
        for edit in edits:
            change: dict[str, JsonValue] = {
                "range": {"start": to_position(edit.start), "end": to_position(edit.end)},
                "newText": edit.text,
            }
            if has_versions and has_annotations:
                change["annotationId"] = _ANNOTATION
            written.append(change)
        if not has_versions:
            return {"changes": {uri: written}}
        document: JsonObject = {"textDocument": {"uri": uri, "version": version}, "edits": written}
        if not has_annotations:
            return {"documentChanges": [document]}
        annotation: JsonObject = {
            "label": proposal,
            "needsConfirmation": True,
            "description": "Proposed by the assistant",
        }
        return {"documentChanges": [document], "changeAnnotations": {_ANNOTATION: annotation}}


def position_finder(text: str, encoding: str) -> Callable[[int], JsonObject]:
    """Give a function from offsets, in code points, to positions in the client's units."""
    starts = [0, *(end.end() for end in _LINE_END.finditer(text))]

    def find(offset: int) -> JsonObject:
        line = bisect.bisect_right(starts, offset) - 1
        return {"line": line, "character": _units(text[starts[line] : offset], encoding)}

    return find


def _units(text: str, encoding: str) -> int:
    match encoding:
        case "utf-8":
            return len(text.encode("utf-8", "surrogatepass"))
        case "utf-32":
            return len(text)
        case _:
            return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _state(followed: _Followed, text: str) -> BufferState:
    if not followed.is_reliable:
        return "unknown"
    return "clean" if followed.loaded is not None and followed.loaded == text else "dirty"


def _stamp(document: TextDocument) -> _Stamp | None:
    path = to_fs_path(document.uri)
    try:
        status = None if path is None else os.stat(path)
    except (OSError, ValueError):
        return None
    return (
        None if status is None or not stat.S_ISREG(status.st_mode) else (status.st_mtime_ns, status.st_size)
    )


def _read(document: TextDocument) -> str | None:
    """Read a document's file; `None` if there is none, or none that could be compared."""
    stamp, path = _stamp(document), to_fs_path(document.uri)
    if stamp is None or path is None or stamp[1] > _MOST_BYTES:
        return None
    try:
        return Path(path).read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _members(value: JsonValue) -> JsonObject:
    return value if isinstance(value, Mapping) else {}

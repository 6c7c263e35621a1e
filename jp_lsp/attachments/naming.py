"""What a query names itself, made into entries of the configuration (config-and-tools 6.1).

A name is, in this order: a document that is open in the editor, a file of exactly that name, a URL, a
conversation's id, a path or pattern in the workspace. `!` in front of a path excludes it.

Editors name files by absolute URIs. The configuration names them from the workspace folder on, because the
conversation keeps the entry, and is read on other machines too.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote, unquote

import anyio.to_thread

from jp_lsp.attachments.document import as_attachment, canonical
from jp_lsp.attachments.globs import is_glob
from jp_lsp.conversation.ids import parse_conversation_id
from jp_lsp.conversation.thread import Attachment
from jp_lsp.ports.attachment import AttachmentError, NamedAttachments
from jp_lsp.ports.editor import EditorDocuments, OpenDocument

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:", re.ASCII)
_CONVERSATION = "jp-c"
_AS_THEY_ARE = "/*[]!,;:@$&'()+= "
"""What stands for itself in the path of a `file:` URL; all but `%`, `?` and `#` could."""


class Namer:
    """Reads names.

    Args:
        root: the absolute path of the workspace folder.
        editor: the documents of the client, where there is an editor.
    """

    def __init__(self, root: str, editor: EditorDocuments | None) -> None:
        self._root = Path(root)
        self._editor = editor

    async def read(self, names: Sequence[str]) -> NamedAttachments:
        """Make entries of names.

        Raises:
            AttachmentError: a path does not exist, or lies outside of the workspace.
        """
        if not names:
            return NamedAttachments()
        documents = () if self._editor is None else self._editor.open_documents()
        return await anyio.to_thread.run_sync(self.read_now, names, documents)

    def read_now(self, names: Sequence[str], documents: Sequence[OpenDocument]) -> NamedAttachments:
        """Do the same at once; looks at the disk.

        Raises:
            AttachmentError: as in `read`.
        """
        root = self._root.resolve()
        reading = _Reading(root, documents)
        entries: list[str] = []
        passing: list[Attachment] = []
        for name in dict.fromkeys(names):
            found = reading.read(name)
            if isinstance(found, str):
                entries.append(found)
            else:
                passing.append(as_attachment(found))
        return NamedAttachments(tuple(dict.fromkeys(entries)), tuple(passing))


class _Reading:
    """The names of one query."""

    def __init__(self, root: Path, documents: Sequence[OpenDocument]) -> None:
        self._root = root
        self._documents = documents
        self._open = {
            path: document for document in documents if document.path and (path := canonical(document.path))
        }

    def read(self, name: str) -> str | OpenDocument:
        """Give the entry, or the document that only the editor has.

        Raises:
            AttachmentError: there is nothing of that name.
        """
        document = next((each for each in self._documents if each.uri == name), None)
        if document is not None:
            return self._read_document(name, document)
        if name.startswith("!") and name[1:].strip() and not self._is_there(name):
            return f"{self._read_loosely(name[1:])}?exclude"
        if name.startswith("file:"):
            return self._read_file_url(name)
        if self._is_there(name):
            return self._read_path(name, name)
        if _URL.match(name):
            return name
        if name.startswith(_CONVERSATION):
            return _read_conversation(name)
        return self._read_path(name, name)

    def _read_document(self, name: str, document: OpenDocument) -> str | OpenDocument:
        place = canonical(document.path) if document.path else None
        if place is None or not place.is_relative_to(self._root):
            return document
        return _entry(place.relative_to(self._root).as_posix())

    def _read_loosely(self, path: str) -> str:
        """Make an entry of a path that need not be there, such as one that is excluded."""
        if path.startswith("file:"):
            path = _path_of_url(path)
        place = canonical(path) if self._is_inside(path) else None
        return _entry(path if place is None else place.relative_to(self._root).as_posix())

    def _is_inside(self, path: str) -> bool:
        """Tell whether an absolute path lies in the workspace."""
        place = canonical(path) if path.startswith("/") else None
        return place is not None and place.is_relative_to(self._root)

    def _is_there(self, path: str) -> bool:
        place = canonical(str(self._root / path)) if path.strip() else None
        return place is not None and (place.exists() or place in self._open)

    def _read_file_url(self, name: str) -> str:
        """Take the URI of an editor for what it is; any other one is from the workspace folder on already."""
        url, question, query = name.partition("?")
        if question:
            return f"{self._read_loosely(url)}?{query}"
        path = _path_of_url(url)
        from_root = path.strip("/")
        if not self._is_inside(path) and (self._is_there(from_root) or is_glob(path)):
            path = from_root
        return self._read_path(name, path)

    def _read_path(self, name: str, path: str) -> str:
        place = canonical(str(self._root / path)) if path.strip() else None
        if place is None:
            raise AttachmentError(f"Attachment {name!r} is no path that can be followed.", name)
        if not place.is_relative_to(self._root) and place.exists():
            text = (
                f"Attachment {name!r} is outside of the workspace; only files in {str(self._root)!r} can be "
                "attached. Copy it there, or open it in the editor."
            )
            raise AttachmentError(text, name)
        is_inside = place.is_relative_to(self._root)
        if is_inside and (place.exists() or place in self._open or is_glob(path)):
            return _entry(place.relative_to(self._root).as_posix())
        text = (
            f"Attachment {name!r}: there is no such file or folder in the workspace. Check the path; it counts "
            f"from {str(self._root)!r}."
        )
        raise AttachmentError(text, name)


def _path_of_url(url: str) -> str:
    """Give the path of a `file:` URL, absolute if it is an editor's."""
    path = unquote(url.removeprefix("file:"), errors="surrogateescape")
    if not path.startswith("///"):
        return path.lstrip("/")
    is_drive = len(path) > 4 and path[4] == ":"
    return path[3:] if is_drive else path[2:]


def _entry(path: str) -> str:
    return "file:" + quote(path, safe=_AS_THEY_ARE, errors="surrogateescape")


def _read_conversation(name: str) -> str:
    """Read `jp-cID[?SELECTION]`."""
    id_text, question, rest = name.partition("?")
    try:
        conversation = parse_conversation_id(id_text)
    except ValueError as error:
        raise AttachmentError(f"Attachment {name!r}: {error}.", name) from error
    if not question:
        return f"jp://{conversation}"
    is_query = rest.startswith(("select=", "raw"))
    return f"jp://{conversation}?{rest if is_query else f'select={rest}'}"

"""A file as the editor has it, or else the disk: which of the two counts, and what to say about it.

The open buffer is ahead of the disk while it has unsaved changes; the disk is ahead of a clean buffer when a
command has just changed the file and the editor has not looked yet (T21). So a model that reads is told the
text that counts, where it is from, and whether the two disagree.
"""

import hashlib
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import anyio.to_thread

from jp_lsp.ports.editor import EditorDocuments, OpenDocument, same_text

MOST_BYTES = 4 * 1024 * 1024
"""Larger files are none to read at once."""

_ON_DISK = "disk"


class FileProblem(Exception):
    """A file cannot be read or changed; the text is for the model."""


class MissingFile(FileProblem):
    """There is no such file."""


@dataclass(frozen=True, slots=True)
class FileState:
    """A file at one moment.

    `version` names the text: the number that the editor gave it, or `disk`, with a digest behind. A number
    alone would do for an open document, but begins anew when it is closed and opened again.
    `document` is set where the editor's text counts. `note` says what the model should know about it.
    """

    path: Path
    shown: str
    text: str
    version: str
    note: str
    document: OpenDocument | None
    is_open: bool


async def find_file(editor: EditorDocuments, root: str, name: str) -> FileState:
    """Read a file that a model names.

    Raises:
        FileProblem: it is outside of the workspace folders, or is no text that can be read.
    """
    documents = editor.open_documents()
    folders = editor.folders()
    return await anyio.to_thread.run_sync(_find_file, documents, folders, root, name)


def _find_file(documents: Sequence[OpenDocument], folders: Sequence[str], root: str, name: str) -> FileState:
    path, shown = locate_file(name, root, folders)
    document = next((each for each in documents if each.path and _canonical(each.path) == path), None)
    if document is None:
        text = read_disk(path, shown)
        return FileState(
            path, shown, text, text_version(_ON_DISK, text), "not open in the editor", None, is_open=False
        )
    return _compare(path, shown, document)


def locate_file(name: str, root: str, folders: Sequence[str]) -> tuple[Path, str]:
    """Find the canonical path of a file, and how to call it; links are followed before it is judged.

    Raises:
        FileProblem: it is not in any workspace folder.
    """
    given = _path_of(name)
    tops = [top for folder in dict.fromkeys((root, *folders)) if folder and (top := _canonical(folder))]
    path = _canonical(str(Path(root) / given))
    if path is None:
        raise FileProblem(f"{name!r} is no path that can be followed.")
    for top in tops:
        if path.is_relative_to(top):
            return path, path.relative_to(top).as_posix() if top == tops[0] else str(path)
    raise FileProblem(f"{name!r} is outside of the workspace folders; only files in them can be used.")


def _path_of(name: str) -> str:
    if "\0" in name or not name.strip():
        raise FileProblem("The `path` must name a file.")
    if not name.startswith("file:"):
        return name
    path = unquote(urlsplit(name).path)
    is_drive = len(path) > 2 and path[0] == "/" and path[2] == ":"
    return path[1:] if is_drive else path


def _canonical(path: str) -> Path | None:
    """Follow all links of a path; `None` when they go in circles."""
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def text_version(where: str, text: str) -> str:
    """Name a text."""
    return f"{where}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def _compare(path: Path, shown: str, document: OpenDocument) -> FileState:
    """Decide between buffer and disk, and say which it is."""
    text = document.text

    def buffer(note: str) -> FileState:
        version = text_version(str(document.version), text)
        return FileState(path, shown, text, version, f"open in the editor, {note}", document, is_open=True)

    try:
        on_disk = read_disk(path, shown)
    except MissingFile:
        return buffer("not on disk")
    except FileProblem:
        return buffer("not to be compared with what is on disk")
    if same_text(on_disk, text):
        return buffer("same as on disk")

    def disk(note: str) -> FileState:
        return FileState(path, shown, on_disk, text_version(_ON_DISK, on_disk), note, None, is_open=True)

    match document.state:
        case "clean":
            return disk(
                "as on disk, which is newer than the editor's copy: the file was changed outside of the editor, "
                "and the editor has not reloaded it",
            )
        case "unknown":
            return disk("as on disk; it is open in the editor too, whose text cannot be followed")
        case "dirty" if document.loaded is not None and same_text(document.loaded, on_disk):
            return buffer("with unsaved changes")
        case "dirty":
            return buffer(
                "with unsaved changes. CONFLICT: the file on disk was changed as well, "
                "and this is not in the text below"
            )


def read_disk(path: Path, shown: str) -> str:
    """Read a text file.

    Raises:
        FileProblem: it is none, or cannot be read.
    """
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise FileProblem(f"{shown} is a folder.")
        if not stat.S_ISREG(status.st_mode):
            raise FileProblem(f"{shown} is no ordinary file.")
        if status.st_size > MOST_BYTES:
            raise FileProblem(f"{shown} has {status.st_size} bytes, which is too large to read at once.")
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise MissingFile(f"There is no file {shown}.") from error
    except OSError as error:
        raise FileProblem(f"{shown} cannot be read: {error.strerror or error}.") from error
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileProblem(f"{shown} is no text in UTF-8.") from error
    if "\0" in text:
        raise FileProblem(f"{shown} is a binary file.")
    return text

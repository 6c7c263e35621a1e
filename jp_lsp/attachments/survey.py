"""What an attachment would come to, without reading it: for people who look before they send.

Everything here looks at names and sizes, and stops after a while. It is for a worker thread.
"""

import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from jp_lsp.attachments.address import address_of
from jp_lsp.attachments.document import canonical
from jp_lsp.attachments.file import MOST_FILES, path_in
from jp_lsp.attachments.globs import Glob, is_glob
from jp_lsp.attachments.media import media_type_of, to_text
from jp_lsp.attachments.naming import Namer
from jp_lsp.attachments.reading import FILE_LIMIT, printable
from jp_lsp.attachments.walk import Tree
from jp_lsp.ports.attachment import AttachmentEntry, AttachmentError
from jp_lsp.ports.editor import OpenDocument

MOST_VISITED = 5000
"""Files that are looked at, at most."""

_SHOWN = 8
_READ = 8 * 1024

Kind = Literal["file", "folder", "pattern", "exclusion", "document", "address"]


@dataclass(frozen=True, slots=True)
class Survey:
    """What there is.

    Attributes:
        kind: `document` is open in the editor alone, an `address` is fetched when the query is sent.
        name: the entry as the conversation keeps it.
        path: the file or folder.
        content: the media type of a file, or `text`; `None` where that was not looked at, or it is neither.
        files: how many files it has.
        size: their bytes; of a document, its characters.
        names: the first of their paths.
        is_cut: whether there are more than were looked at.
        problem: why it cannot be attached.
    """

    kind: Kind
    name: str
    path: Path | None = None
    content: str | None = None
    files: int = 0
    size: int = 0
    names: tuple[str, ...] = ()
    is_cut: bool = False
    problem: str | None = None


def survey(name: str, tree: Tree, documents: Sequence[OpenDocument]) -> Survey:
    """Look at what a name that a query uses would attach.

    Args:
        name: such as `src/main.py`, as `naming` reads it.
        tree: the files of the workspace folder; shared by all names that are looked at together.
        documents: what is open in the editor.

    Raises:
        AttachmentError: there is nothing of that name; the query would be refused.
    """
    root = tree.root
    named = Namer(str(root), None).read_now([name], documents)
    if not named.entries:
        text = next((each.text for each in documents if each.uri == name), "")
        return Survey("document", name, content="text", files=1, size=len(text))
    text = named.entries[0]
    kind, _, path = text.partition(":")
    entry = AttachmentEntry(text, kind, path)
    if entry.handler != "file":
        return Survey("address", text)
    address = address_of(entry)
    relative = path_in(address)
    if address.values("exclude"):
        return Survey("exclusion", text)
    place = canonical(str(root / relative))
    if place is None:
        raise AttachmentError(f"Attachment {name!r} is no path that can be followed.", name)
    if place.is_dir():
        return _survey_all("folder", text, tree, relative, None)
    if place.exists():
        return _survey_file(text, relative, place)
    if is_glob(relative):
        glob = Glob(relative)
        return _survey_all("pattern", text, tree, glob.folder, glob.matches)
    opened = next((each for each in documents if each.path and canonical(each.path) == place), None)
    size = 0 if opened is None else len(opened.text)
    return Survey("document", text, place, "text", 1, size)


def find_paths(tree: Tree, folder: str, fits: Callable[[str], bool], limit: int) -> Sequence[str]:
    """Give paths of files below a folder that fit, from `root` on, at most `limit`, the shallow ones first."""
    fitting = [path for path in islice(tree.below(folder), MOST_VISITED) if fits(path)]
    fitting.sort(key=lambda path: (path.count("/"), path))
    return fitting[:limit]


def _survey_file(text: str, relative: str, place: Path) -> Survey:
    names = (printable(relative),)
    try:
        status = place.stat()
        if not stat.S_ISREG(status.st_mode):  # to open one could take for ever
            return Survey("file", text, place, files=1, names=names, problem="it is no ordinary file")
        size = status.st_size
        with place.open("rb") as file:
            head = file.read(_READ)
    except OSError as error:
        problem = f"it cannot be read: {error.strerror or error}"
        return Survey("file", text, place, files=1, names=names, problem=problem)
    if size > FILE_LIMIT:
        problem = f"it is too large ({size} bytes, limit is {FILE_LIMIT} bytes)"
        return Survey("file", text, place, files=1, size=size, names=names, problem=problem)
    content = media_type_of(head) or ("text" if _is_text(head) else None)
    return Survey("file", text, place, content, 1, size, names)


def _is_text(head: bytes) -> bool:
    """Tell whether a file begins as text; the last character of what was read may be cut."""
    cuts = (0, 1, 2, 3) if len(head) == _READ else (0,)
    return any(to_text(head[: len(head) - cut]) is not None for cut in cuts)


def _survey_all(kind: Kind, text: str, tree: Tree, folder: str, fits: Callable[[str], bool] | None) -> Survey:
    visited, size = 0, 0
    paths: list[str] = []
    for path in islice(tree.below(folder), MOST_VISITED + 1):
        visited += 1
        if fits is not None and not fits(path):
            continue
        paths.append(path)
        try:
            size += (tree.root / path).stat().st_size
        except OSError:
            continue  # it went away meanwhile
    paths.sort()
    place = tree.root / folder
    names = tuple(printable(path) for path in paths[:_SHOWN])
    is_cut = visited > MOST_VISITED or len(paths) > MOST_FILES
    return Survey(kind, text, place, None, len(paths), size, names, is_cut)

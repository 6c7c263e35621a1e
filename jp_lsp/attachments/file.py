"""Files of the workspace: `file:PATH`, a folder, or a pattern (config-and-tools 6.2).

All entries of a query are taken together, so that one with `exclude` takes out what any other one found
(trap 33). What an entry finds is sorted by path; a file that several find stands where the first one has it.

Nothing outside of the workspace is read: links in a path are followed before it is judged, and those that
a search comes upon are not followed at all.
"""

from collections.abc import Iterable, Sequence
from heapq import nsmallest
from pathlib import Path

import anyio.to_thread

from jp_lsp.attachments.address import Address, address_of, require_known
from jp_lsp.attachments.document import OpenFiles, canonical
from jp_lsp.attachments.globs import Glob, is_glob
from jp_lsp.attachments.reading import Unreadable, printable, read_file
from jp_lsp.attachments.walk import Tree
from jp_lsp.conversation.thread import Attachment, TextAttachment
from jp_lsp.ports.attachment import AttachmentEntry, AttachmentError, Fetched
from jp_lsp.ports.editor import EditorDocuments, OpenDocument

MOST_FILES = 2000
"""Files that all folders and patterns of a query may bring."""

MOST_BYTES = 32 * 1024 * 1024
"""Bytes that they may bring."""

_EXCLUDE = "exclude"
_MOST_NAMED = 5


class FileHandler:
    """Reads files.

    Args:
        root: the absolute path of the workspace folder.
        editor: the documents of the client, where there is an editor.
    """

    def __init__(self, root: str, editor: EditorDocuments | None) -> None:
        self._root = root
        self._editor = editor

    async def fetch(self, entries: Sequence[AttachmentEntry]) -> Sequence[Fetched]:
        """Give what each entry finds.

        Raises:
            AttachmentError: a path leaves the workspace, or names a file that is too large or unreadable.
        """
        documents = () if self._editor is None else self._editor.open_documents()
        return await anyio.to_thread.run_sync(self._fetch, entries, documents)

    async def as_file(self, entry: AttachmentEntry, known: Sequence[str]) -> AttachmentEntry:
        """Take an entry that no handler knows for a file of exactly that name, such as `notes:today.md`.

        Args:
            entry: what would be an unknown kind of URL.
            known: the handlers that there are.

        Raises:
            AttachmentError: there is no such file either (trap 31).
        """
        if await anyio.to_thread.run_sync(_is_file, Path(self._root, entry.text)):
            return AttachmentEntry(entry.text, "file", entry.text, {})
        listed = ", ".join(f"`{name}`" for name in sorted(known))
        text = (
            f"Attachment handler {entry.handler!r} not found, for attachment {entry.text!r}, and there is no file "
            f"of that name. The handlers are {listed}."
        )
        raise AttachmentError(text, entry.text)

    def _fetch(self, entries: Sequence[AttachmentEntry], documents: Sequence[OpenDocument]) -> list[Fetched]:
        named = [(entry, address_of(entry)) for entry in entries]
        for entry, address in named:
            require_known(entry, address, {_EXCLUDE}, " In a URL, write `%3F` for a `?` in a path.")
        excluded = [path_in(address) for _, address in named if address.values(_EXCLUDE)]
        search = _Search(Path(self._root).resolve(), OpenFiles(documents), _Excluded(excluded))
        return [
            Fetched() if address.values(_EXCLUDE) else search.find(entry, path_in(address))
            for entry, address in named
        ]


def path_in(address: Address) -> str:
    """Give the path from the workspace folder on: `file:x`, `file:/x`, `file://x` and `file:///x` are one."""
    return "/".join(part for part in address.path.split("/") if part not in {"", "."})


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except ValueError:  # a NUL character
        return False


class _Excluded:
    """What must not be attached."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)
        self._globs = [Glob(path) for path in paths]

    def __contains__(self, path: str) -> bool:
        return path in self._paths or any(glob.covers(path) for glob in self._globs)


class _Search:
    """The files of one query."""

    def __init__(self, root: Path, open_files: OpenFiles, excluded: _Excluded) -> None:
        self._root = root
        self._open_files = open_files
        self._excluded = excluded
        self._tree = Tree(root, excluded.__contains__)
        self._seen: set[Path] = set()
        self._files_left = MOST_FILES
        self._bytes_left = MOST_BYTES

    def find(self, entry: AttachmentEntry, path: str) -> Fetched:
        """Give what one entry finds."""
        place = self._locate(entry, path)
        if ".." in path.split("/"):
            path = place.relative_to(self._root).as_posix()  # so that it has one name, which may be excluded
        if place.is_dir():
            return self._find_all(entry, path, None)
        if place.exists() or self._open_files.has(place):
            return self._read_named(entry, path, place)
        if is_glob(path):
            glob = Glob(path)
            self._locate(entry, glob.folder)
            return self._find_all(entry, glob.folder, glob)
        text = (
            f"Attachment {entry.text!r} was left out: there is no file {printable(path)!r} in the workspace."
        )
        return Fetched(warnings=(text,))

    def _locate(self, entry: AttachmentEntry, path: str) -> Path:
        place = canonical(str(self._root / path))
        if place is None:
            raise AttachmentError(f"Attachment {entry.text!r} is no path that can be followed.", entry.text)
        if not place.is_relative_to(self._root):
            text = (
                f"Attachment {entry.text!r} is outside of the workspace; only files in {str(self._root)!r} can "
                "be attached. Copy it there, or remove the attachment."
            )
            raise AttachmentError(text, entry.text)
        return place

    def _read_named(self, entry: AttachmentEntry, path: str, place: Path) -> Fetched:
        """Read a file that was named: the user wants this one, so what is wrong with it ends the query."""
        if path in self._excluded or not self._is_new(place):
            return Fetched()
        try:
            item, warning = self._read(place, path)
        except Unreadable as problem:
            raise AttachmentError(str(problem), entry.text) from problem
        if item is None:
            return Fetched(warnings=(f"Attachment {entry.text!r} was left out: {warning}",))
        return Fetched((item,), () if warning is None else (warning,))

    def _find_all(self, entry: AttachmentEntry, folder: str, glob: Glob | None) -> Fetched:
        """Read what is below a folder, as far as it fits."""
        fitting = (
            path
            for path in self._tree.below(folder)
            if (glob is None or glob.matches(path)) and path not in self._excluded
        )
        paths = nsmallest(self._files_left + 1, fitting)
        items: list[Attachment] = []
        warnings: list[str] = []
        left_out: list[str] = []
        is_cut = len(paths) > self._files_left
        for path in paths[: self._files_left]:
            place = self._root / path
            if not self._is_new(place):
                continue
            try:
                item, warning = self._read(place, path)
            except Unreadable:
                item, warning = None, None
            if item is None:
                left_out.append(path)
                continue
            size = len(item.text) if isinstance(item, TextAttachment) else len(item.data)
            if size > self._bytes_left:
                is_cut = True
                break
            self._bytes_left -= size
            self._files_left -= 1
            items.append(item)
            warnings += () if warning is None else (warning,)
        if not paths:
            warnings.append(f"Attachment {entry.text!r} was left out: no file in the workspace fits it.")
        if left_out:
            warnings.append(_describe_left_out(entry, left_out))
        if is_cut:
            warnings.append(
                f"Attachment {entry.text!r} finds more than the {MOST_FILES} files or "
                f"{MOST_BYTES // 1024 // 1024} MiB that a query takes; the rest was left out. "
                "Narrow it down, or exclude something."
            )
        return Fetched(tuple(items), tuple(warnings))

    def _is_new(self, place: Path) -> bool:
        if place in self._seen:
            return False
        self._seen.add(place)
        return True

    def _read(self, place: Path, path: str) -> tuple[Attachment | None, str | None]:
        """Read a file, as the editor has it where that counts; gives it, and what there is to say about it."""
        shown = printable(path)
        if not place.exists():
            item: Attachment | None = None
            on_disk, problem = None, None
        else:
            item, problem = read_file(place, shown)
            on_disk = item.text if isinstance(item, TextAttachment) else None
        if on_disk is not None or not place.exists():
            buffer = self._open_files.unsaved(place, shown, on_disk)
            if buffer is not None:
                return TextAttachment(shown, buffer.text), buffer.warning
        return item, problem


def _describe_left_out(entry: AttachmentEntry, paths: Sequence[str]) -> str:
    named = ", ".join(printable(path) for path in paths[:_MOST_NAMED])
    more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    return (
        f"Attachment {entry.text!r}: left out {named}{more}, which cannot be read, are too large, or are neither "
        "text in UTF-8 nor a known kind of file."
    )

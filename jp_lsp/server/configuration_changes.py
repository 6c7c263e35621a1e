"""Changing configuration files for a client: in its editor where a file is open there, else on disk.

A file that is open may have changes that are not saved, so its document is what the change is made in, and the
user saves it. Any other file is written, unless somebody else changed it while the change was worked out; then
the change is worked out anew.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from anyio import to_thread

from jp_lsp.config.change_file import FileChange, Outcome, outcome_of, plan_change
from jp_lsp.config.file_edits import Wish
from jp_lsp.config.parse import MAX_FILE_SIZE, TOO_LARGE
from jp_lsp.config.target import Target, find_target
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.ports.editor import EditorDocuments, OpenDocument, Replacement
from jp_lsp.ports.refusal import Refusal
from jp_lsp.server.workplace import Workplace

_ATTEMPTS = 8

Written = Literal["file", "document", "nothing"]


@dataclass(frozen=True, slots=True)
class Changed:
    """What was changed and where, and what has come of it."""

    change: FileChange
    written: Written
    outcome: Outcome


class ConfigurationChanges:
    """Changes of one client's configuration files.

    Args:
        documents: what is open in its editor.
        workplace: its workspace.
        can_edit: whether its editor can be asked to change documents.
    """

    def __init__(self, documents: EditorDocuments, workplace: Workplace, *, can_edit: bool) -> None:
        self._documents = documents
        self._workplace = workplace
        self._can_edit = can_edit

    async def make(
        self, word: str, wishes: Sequence[Wish], conversation: ConversationStream | None
    ) -> Changed:
        """Change the file that a word stands for, and say what holds then.

        Raises:
            Refusal: no such file, key or value, or it could not be written; nothing was changed.
        """
        change, written = await self._write(word, wishes)
        after = self._workplace.configuration()
        if written == "document":
            after = after.with_text(change.target.path, change.after)
        outcome = await to_thread.run_sync(outcome_of, after, change, conversation)
        return Changed(change, written, outcome)

    async def _write(self, word: str, wishes: Sequence[Wish]) -> tuple[FileChange, Written]:
        for _ in range(_ATTEMPTS):
            settings = self._workplace.configuration()
            target = await to_thread.run_sync(find_target, word, settings)
            data = await to_thread.run_sync(_read, target)
            document = self._document(target)
            text = _decoded(target, data) if document is None else document.text
            change = await to_thread.run_sync(plan_change, settings, target, text, wishes)
            if change.after == text:
                return change, "nothing"
            if document is not None and self._can_edit:
                if await self._edit(document, change):
                    return change, "document"
                continue
            if document is not None and not _is_saved(document, target, data):
                raise Refusal(
                    "persist_failed",
                    f"`{target.name}` has changes in the editor that are not saved, and this editor cannot be asked "
                    "to change it: save it first",
                    origin=target.name,
                )
            if await self._replace(target, data, change):
                return change, "file"
        raise Refusal(
            "persist_failed", f"`{word}` is being changed by somebody else all the time", origin=word
        )

    def _document(self, target: Target) -> OpenDocument | None:
        for document in self._documents.open_documents():
            if document.path is not None and os.path.realpath(document.path) == str(target.path):
                return document
        return None

    async def _edit(self, document: OpenDocument, change: FileChange) -> bool:
        """Have the editor change a document; tells whether it was still the one that was read.

        Raises:
            Refusal: the editor did not want to.
        """
        outcome = await self._documents.apply_edit(
            document.uri,
            document.version,
            document.text,
            [_replacement(change.before, change.after)],
            f"Change {change.target.name}",
            is_proposal=False,
        )
        if outcome.result == "refused":
            reason = f": {outcome.reason}" if outcome.reason else ""
            raise Refusal(
                "persist_failed",
                f"the editor did not change `{change.target.name}`{reason}",
                origin=change.target.name,
            )
        return outcome.result == "applied"

    async def _replace(self, target: Target, expected: bytes | None, change: FileChange) -> bool:
        try:
            return await self._workplace.replace_file(target.path, expected, change.after.encode("utf-8"))
        except OSError as error:
            text = f"`{target.name}` could not be written: {error.strerror or error}"
            raise Refusal("persist_failed", text, origin=target.name) from error


def _read(target: Target) -> bytes | None:
    """Give the bytes of a file; `None` where there is none.

    Raises:
        Refusal: it cannot be read.
    """
    try:
        with target.path.open("rb") as file:
            data = file.read(MAX_FILE_SIZE + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        text = f"`{target.name}` cannot be read: {error.strerror or error}"
        raise Refusal("config_invalid", text, origin=target.name) from error
    if len(data) > MAX_FILE_SIZE:
        raise Refusal("config_invalid", f"`{target.name}`: {TOO_LARGE}", origin=target.name)
    return data


def _decoded(target: Target, data: bytes | None) -> str:
    try:
        return (data or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        text = f"`{target.name}` is not UTF-8 (byte {error.start})"
        raise Refusal("config_invalid", text, origin=target.name) from None


def _is_saved(document: OpenDocument, target: Target, data: bytes | None) -> bool:
    """Tell whether the file holds what the document does, so that the change made to one fits the other."""
    return data is not None and document.text == _decoded(target, data)


def _replacement(before: str, after: str) -> Replacement:
    """Give the smallest change of one piece, which does not part the two characters of a line's end."""
    start = _common(before, after)
    start -= before[:start].endswith("\r")
    most = min(len(before), len(after)) - start
    behind = min(_common(before[::-1], after[::-1]), most)
    behind -= behind > 0 and before[len(before) - behind] == "\n"
    return Replacement(start, len(before) - behind, after[start : len(after) - behind])


def _common(one: str, other: str) -> int:
    """Count the characters that two texts have in common at their begin."""
    differing = (
        index for index, (mine, theirs) in enumerate(zip(one, other, strict=False)) if mine != theirs
    )
    return next(differing, min(len(one), len(other)))

"""The file behind a temporary document: made for one question, read when its text is sent (query pipeline 4.7 C).

The text is the file's, unless the editor keeps us informed and has changes that are not saved: then it is the
editor's. What editors change by themselves, such as the break behind the last line, is not part of a text.
"""

import re
import secrets
from collections.abc import Callable, Mapping
from typing import Literal

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.server.workplace import Scratch
from jp_lsp.tools.arguments import parse_edited
from jp_lsp.tools.decision import Decision

SIZE_LIMIT = 1024 * 1024
"""The most bytes that a text may have."""

ANSWER_MARK = "<!-- Your answer goes below this line. -->"

_SUFFIXES: Mapping[str | None, str] = {"json": ".json", "text": ".txt"}
_NAMED_AFTER = 90
_NAME_SIZE = 30


class UnusableText(Exception):
    """The text cannot be taken; says why, and what to do."""


class TextFile:
    """The file of one question.

    Args:
        decision: the question.
        scratch: gives the place of the files; raises `Refusal` where there is none.
        synchronised: gives the text of a file as the client has it, by the file's name; `None` for a file
            that the client does not tell us about.
        conversation: where a text belongs that was not sent; `None` if it is not to be kept.
    """

    def __init__(
        self,
        decision: Decision,
        scratch: Callable[[], Scratch],
        synchronised: Callable[[str], str | None],
        conversation: ConversationId | None = None,
    ) -> None:
        self.name = _file_name(decision)
        self.uri = ""
        self._decision = decision
        self._initial = _preface(decision) + (decision.value or "")
        self._scratch = scratch
        self._conversation = conversation if decision.kind == "text" else None
        self._synchronised = synchronised
        self._stamp: object | None = None
        self._on_disk = self._initial
        """What the file has, as far as we know, so that unsaved changes can be told."""
        self._is_open = False

    async def write(self) -> None:
        """Make the file, or make it again with what it had.

        Raises:
            OSError: it could not be written.
            Refusal: there is no place for it.
        """
        scratch = self._scratch()
        self.uri = await scratch.write(self.name, self._on_disk, self._conversation)
        self._stamp = await scratch.stamp(self.name)

    async def is_there(self) -> bool:
        """Tell whether it was not deleted."""
        return await self._scratch().stamp(self.name) is not None

    async def change(self) -> Literal["saved", "closed"] | None:
        """Tell what happened to the file since it was looked at last.

        It is looked at because most clients tell us nothing of files that are not in their selector. For the
        same reason only a file that was seen open can be seen closed.

        Raises:
            OSError: it could not be looked at.
        """
        is_open = self._synchronised(self.name) is not None
        stamp = await self._scratch().stamp(self.name)
        if stamp is not None and stamp != self._stamp:
            self._stamp = stamp
            self._is_open = self._is_open or is_open  # if it was closed too, that is told next
            await self._note_save()
            return "saved"
        was_open, self._is_open = self._is_open, is_open
        return "closed" if was_open and not is_open else None

    async def read(self) -> str:
        """Give the text that is to be sent.

        Raises:
            FileNotFoundError: the file was deleted.
            OSError: it could not be read.
            UnusableText: it is too large, no text, or no JSON where JSON is wanted.
        """
        text = await self._read()
        if self._decision.language == "json" and text.strip():
            _, problem = parse_edited(text)
            if problem is not None:
                raise UnusableText(f"{problem}.")
        return text

    async def read_unsent(self) -> str | None:
        """Give what the user wrote so far; `None` when that is nothing.

        Raises:
            OSError: the file could not be read.
            UnusableText: it is too large, or no text.
        """
        if not self.uri:
            return None
        text = await self._read()
        return text if text.strip() and _plain(text) != _plain(self._decision.value or "") else None

    async def remove(self) -> None:
        """Remove the file.

        Raises:
            OSError: it could not be removed.
        """
        if self.uri:
            await self._scratch().remove(self.name)

    async def _note_save(self) -> None:
        """Where the editor saved what we know it has, there are no unsaved changes any more."""
        synchronised = self._synchronised(self.name)
        if synchronised is not None:
            saved = await self._scratch().read(self.name, SIZE_LIMIT + 1)
            if saved is not None and _plain(saved.decode("utf-8-sig", "replace")) == _plain(synchronised):
                self._on_disk = synchronised

    async def _read(self) -> str:
        text = self._synchronised(self.name)
        if text is None or _plain(text) == _plain(self._on_disk):
            text = await self._read_from_disk()
        elif len(text) > SIZE_LIMIT or len(text.encode("utf-8", "replace")) > SIZE_LIMIT:
            raise UnusableText("it is larger than 1 MiB. Make it shorter.")
        text = text.replace("\r\n", "\n")
        text = text if (self._decision.value or "").endswith("\n") else text.removesuffix("\n")
        return _below_mark(text) if _preface(self._decision) else text

    async def _read_from_disk(self) -> str:
        data = await self._scratch().read(self.name, SIZE_LIMIT + 1)
        if data is None:
            raise FileNotFoundError(self.name)
        if len(data) > SIZE_LIMIT:
            raise UnusableText("it is larger than 1 MiB. Make it shorter and save it.")
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise UnusableText(f"line {line} is not UTF-8. Save it with that encoding.") from None


def name_in(uri: str) -> str:
    """Give the name of a file; it alone tells our files apart, while clients spell paths in many ways."""
    return uri.rpartition("/")[2]


def _file_name(decision: Decision) -> str:
    """Name the file so that its tab in the editor says what it is for, and no two are the same."""
    words = re.sub(r"[^a-z0-9]+", "-", decision.message[:_NAMED_AFTER].lower()).strip("-")
    short = words[:_NAME_SIZE].strip("-") or "text"
    return f"{short}-{secrets.token_hex(4)}{_SUFFIXES.get(decision.language, '.md')}"


def _preface(decision: Decision) -> str:
    """Give what stands above an answer: what there is to know for it."""
    detail = (decision.detail or "").strip()
    return f"{detail}\n\n{ANSWER_MARK}\n\n" if detail and decision.kind == "text" else ""


def _below_mark(text: str) -> str:
    """Take away what stands above an answer; whoever took the mark away took that upon themselves."""
    _, mark, answer = text.rpartition(ANSWER_MARK)
    return answer.removeprefix("\n").removeprefix("\n") if mark else text


def _plain(text: str) -> str:
    """Take away what editors change by themselves."""
    return text.replace("\r\n", "\n").removesuffix("\n")

"""Repairs of what models write wrong, on events that were not shown yet (query pipeline 5.4, Fixups).

- A fence is written with at least five characters, so that fences inside it show as code.
- A fence that a model opened in the middle of a line (`text: ```py`) is closed by a bare fence, which reads
  as the opening of another one and would turn the rest of the answer into code. That bare fence is written
  as text, the lines behind it are read as markdown, and the fence that would close it is left out.
- A code span cannot go over an empty line. When a model closes one in the next paragraph, the closing run
  would open a code span of its own there, so it is escaped.
"""

import re
from dataclasses import replace

from jp_lsp.render.block_event import Block, BlockEvent, CodeClose, CodeLine, CodeOpen, Slice, Tail
from jp_lsp.render.blocks import BlockBuffer

FENCE_SIZE_MIN = 5
_HEAD_BYTES = 64
_SPACE = re.compile(r"\s")
_BACKTICKS = re.compile("`+")
_OPENING_NEIGHBOURS = frozenset("([{<\"'“‘—-*_~|/")


def fence_run(run: str) -> str:
    """Lengthen the run of a fence."""
    return run if len(run) >= FENCE_SIZE_MIN else run[0] * FENCE_SIZE_MIN


class Fixups:
    """Repairs the events of one text, in order."""

    def __init__(self) -> None:
        # The run of the code span that the last finished paragraph left open, for the next block only.
        self._orphan = 0
        self._head = _OrphanSearch(0)
        # Whether a fence was opened in the middle of a line and the bare one that closes it is awaited.
        self._expects_stray = False
        self._stray_lines: BlockBuffer | None = None

    def repair(self, events: list[BlockEvent]) -> list[BlockEvent]:
        """Repair events as they come out of the buffer."""
        repaired: list[BlockEvent] = []
        for event in events:
            repaired += self._repair(event)
        return repaired

    def _repair(self, event: BlockEvent) -> list[BlockEvent]:
        match event:
            case Block() | Tail():
                return [self._close_orphan(event, is_first=True, is_last=True)]
            case Slice():
                return [self._close_orphan(event, is_first=event.is_first, is_last=event.is_last)]
            case CodeOpen():
                self._orphan = 0
                return self._code_open(event)
            case CodeLine() if self._stray_lines is not None:
                self._stray_lines.push(event.text)
                return self._from_stray(self._stray_lines.pop_events())
            case CodeLine():
                return [event]
            case CodeClose() if self._stray_lines is not None:
                events = self._stray_lines.flush()
                self._stray_lines = None
                return self._from_stray(events)
            case CodeClose():
                return [replace(event, run=fence_run(event.run))]

    # Fences.

    def _code_open(self, event: CodeOpen) -> list[BlockEvent]:
        is_stray = self._expects_stray and not event.info
        self._expects_stray = False
        if not is_stray:
            return [replace(event, run=fence_run(event.run))]
        self._stray_lines = BlockBuffer()
        text = event.lead + "".join("\\" + character for character in event.run) + "\n"
        return [Block(text, "paragraph", event.indent, event.list_id, event.is_after_blank)]

    def _from_stray(self, events: list[BlockEvent]) -> list[BlockEvent]:
        """Finish events that were read from the lines behind a stray fence."""
        finished: list[BlockEvent] = []
        for event in events:
            match event:
                case CodeOpen() | CodeClose():
                    finished.append(replace(event, run=fence_run(event.run), list_id=_own(event.list_id)))
                case Block() | Tail():
                    finished.append(replace(event, list_id=_own(event.list_id)))
                case _:
                    finished.append(event)
        return finished

    # Code spans.

    def _close_orphan(
        self, event: Block | Tail | Slice, *, is_first: bool, is_last: bool
    ) -> Block | Tail | Slice:
        if is_first:
            self._head = _OrphanSearch(self._orphan if event.kind == "paragraph" else 0)
        text = self._head.escape(event.text)
        if is_last:
            self._orphan = event.open_run
            if event.open_run >= 3:
                self._expects_stray = True
        return event if text == event.text else replace(event, text=text)


def _own(list_id: int | None) -> int | None:
    """Give a list behind a stray fence an id that no list of the text itself has."""
    return None if list_id is None else -list_id


class _OrphanSearch:
    """Looks for the closing run of a code span at the head of a paragraph, and escapes it.

    The head is what stands before the first white space, within 64 bytes; the paragraph may come in slices.
    A run that looks like the beginning of a code span is left alone.
    """

    __slots__ = ("_before", "_bytes_left", "_size")

    def __init__(self, size: int) -> None:
        self._size = size
        self._bytes_left = _HEAD_BYTES
        self._before = ""

    def escape(self, text: str) -> str:
        """Take the next slice and give it with the orphan, if it is there, escaped."""
        if not self._size or not text:
            return text
        space = _SPACE.search(text)
        head = text if space is None else text[: space.start()]
        for run in _BACKTICKS.finditer(head):
            if len(head[: run.start()].encode("utf-8", "surrogatepass")) >= self._bytes_left:
                break
            if len(run[0]) != self._size:
                continue
            before = text[run.start() - 1] if run.start() else self._before
            self._size = 0
            if not self._closes(before, text[run.end() : run.end() + 1]):
                return text
            return text[: run.start()] + "\\`" * len(run[0]) + text[run.end() :]
        self._before = text[-1]
        self._bytes_left -= len(head.encode("utf-8", "surrogatepass"))
        if space is not None or self._bytes_left <= 0:
            self._size = 0
        return text

    @staticmethod
    def _closes(before: str, after: str) -> bool:
        if after == "" or after.isspace():
            return True
        return before != "" and before not in _OPENING_NEIGHBOURS

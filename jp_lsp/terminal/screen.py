"""The reducer of the terminal: chunks in, operations out.

On a terminal the whole transcript is shown, thoughts and tool calls dimmed. Elsewhere, in a pipe or a file,
only what the model says is written, so that the output can be used. The user's own words are never repeated.

Text that was written stays written: a terminal cannot take it back, and a pipe even less. What a `retract`
voids is therefore marked by a line below it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, assert_never

from pydantic import TypeAdapter, ValidationError

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.protocol.chunk import (
    Chunk,
    CodeChunk,
    NoticeChunk,
    PreviewChunk,
    PromptClosedChunk,
    PromptOpenChunk,
    ReasoningIndicatorChunk,
    Region,
    RetractChunk,
    RetryChunk,
    RoleChunk,
    StatusChunk,
    StructuredChunk,
    TextChunk,
    ToolCallChunk,
    ToolPreparingChunk,
    ToolProgressChunk,
    ToolResultChunk,
    TurnBeginChunk,
    TurnEndChunk,
)
from jp_lsp.terminal.operations import (
    EndLine,
    HideStatus,
    Kind,
    Level,
    Link,
    Operation,
    Say,
    ShowStatus,
    Write,
)
from jp_lsp.terminal.query_options import Thoughts
from jp_lsp.terminal.status import Slot, SlotChunk, StatusStyle, status_line
from jp_lsp.terminal.words import plain

QUIET_BEFORE_STATUS = 0.4
"""Seconds without text before a status line is drawn below it, so that it does not flicker while text flows."""

_QUIET_WITHOUT_STATE = 2.0
"""Seconds without text before the line is drawn although the server has nothing to tell."""

_LEADING_BREAK = re.compile(r"\n*")
_RULE_BREAK = re.compile(r"\n+---\n\n|\n*")
_TITLED = re.compile(r"\[([^\[\]\n]*)\]\(([^()\s]*)\)\Z")
_BREAK = "\n\n"
_RETRACTED = {
    "abort": "The text above was discarded.",
    "refused": "The text above does not count: the model refused to go on.",
    "empty": "The text above does not count: the answer begins anew.",
    "restart": "The text above does not count: it begins anew.",
}

_ADAPTER: TypeAdapter[Chunk] = TypeAdapter(Chunk)


def read_chunk(value: JsonValue) -> Chunk | None:
    """Read a chunk; one of a kind that is not known yet is `None`, and to be ignored."""
    try:
        return _ADAPTER.validate_python(value, by_alias=True, by_name=False)
    except ValidationError:
        return None


@dataclass(frozen=True, slots=True)
class Show:
    """What is shown.

    Attributes:
        is_terminal: standard output is a terminal, so tools are shown and the words are for a person.
        thoughts: where reasoning goes.
        status: how the status line is written.
    """

    is_terminal: bool
    thoughts: Thoughts = "in_place"
    status: StatusStyle = field(default_factory=StatusStyle)


@dataclass(slots=True)
class HeldValue:
    """A structured value that is held back until nothing can take it back any more.

    `began_at` and `ended_at` are the numbers of the chunks that opened and closed it.
    """

    began_at: int
    ended_at: int | None = None
    texts: list[str] = field(default_factory=lambda: [])


@dataclass(slots=True)
class Screen:
    """The state of one query's output. Times are seconds of one clock; `began` is when the query was sent."""

    show: Show
    began: float = 0.0
    doing: str = "working"
    """What goes on as long as the server tells nothing."""
    has_answer: bool = field(default=False, init=False)
    """Whether anything of what the model says was written."""
    _told: set[str] = field(default_factory=lambda: set[str](), init=False)
    """The sentences that the user has read already."""
    _slots: dict[str, Slot] = field(default_factory=lambda: {}, init=False)
    _is_users_text: bool = field(default=False, init=False)
    _has_written: bool = field(default=False, init=False)
    _has_ended_line: bool = field(default=False, init=False)
    _has_thought: bool = field(default=False, init=False)
    _hidden_before: Region | Literal["other"] | None = field(default=None, init=False)
    """What stood in the transcript just before, and was not shown: its separator must not be shown either."""
    _last_seq: int = field(default=0, init=False)
    """The number of the last chunk of which something was written."""
    _last_text: float | None = field(default=None, init=False)
    _value: "HeldValue | None" = field(default=None, init=False)

    def handle(self, chunk: Chunk, now: float) -> list[Operation]:
        """Take a chunk."""
        if isinstance(chunk, TextChunk | CodeChunk | StructuredChunk | TurnEndChunk):
            return [*self._release_value(now), *self._handle(chunk, now)]
        return self._handle(chunk, now)

    def _handle(self, chunk: Chunk, now: float) -> list[Operation]:
        match chunk:
            case RoleChunk():
                self._is_users_text = chunk.role == "user"
                self._hidden_before = "other"
                return []
            case TextChunk() | CodeChunk():
                return [] if self._is_users_text else self._said(chunk, now)
            case StructuredChunk():
                return self._structured(chunk, now)
            case ToolCallChunk() | ToolResultChunk():
                return self._tool(chunk, now)
            case NoticeChunk():
                return self._notice(chunk, now)
            case RetractChunk():
                return self._retract(chunk)
            case TurnBeginChunk() | TurnEndChunk():
                self._slots.clear()
                return [HideStatus()]
            case PromptOpenChunk() | PromptClosedChunk():
                return []
            case (
                StatusChunk()
                | ReasoningIndicatorChunk()
                | ToolPreparingChunk()
                | ToolProgressChunk()
                | RetryChunk()
                | PreviewChunk()
            ):
                self._set_slot(chunk, chunk.slot, now)
                return []
            case _:
                assert_never(chunk)

    def tick(self, now: float) -> list[Operation]:
        """Let time pass: draw the status line, unless text is flowing."""
        quiet = now - (self.began if self._last_text is None else self._last_text)
        if self._last_text is not None and quiet < QUIET_BEFORE_STATUS:
            return []
        has_state = any(not isinstance(slot.chunk, PreviewChunk) for slot in self._slots.values())
        if not has_state and self._last_text is not None and quiet < _QUIET_WITHOUT_STATE:
            return []
        line = status_line(self._slots, now, self.began, self.show.status, otherwise=self.doing)
        return [ShowStatus(line)]

    @property
    def held_back(self) -> str:
        """The text that the server holds back while a menu is open."""
        for slot in self._slots.values():
            if isinstance(slot.chunk, PreviewChunk):
                return plain(slot.chunk.md or "").strip()
        return ""

    def finish(self, text: str) -> list[Operation]:
        """End the output; `text` is the answer by the result, for the case that no chunks came."""
        self._slots.clear()
        operations: list[Operation] = [HideStatus(), *self._release_value(0.0)]
        if not self.has_answer and text.strip():
            operations += self._write(text, "answer", 0.0)
        return [*operations, EndLine()]

    # The transcript.

    def _said(self, chunk: TextChunk | CodeChunk, now: float) -> list[Operation]:
        if chunk.region == "message":
            self.has_answer = self.has_answer or bool(chunk.md.strip())
            return self._shown(chunk.md, "answer", chunk.seq, now)
        match self.show.thoughts:
            case "in_place":
                return self._shown(chunk.md, "thought", chunk.seq, now)
            case "aside":
                return self._thought_aside(chunk.md)
            case "hidden":
                self._hidden_before = "reasoning"
                return []
            case _:
                assert_never(self.show.thoughts)

    def _thought_aside(self, md: str) -> list[Operation]:
        """Write reasoning beside the answer, where its own separators and not the answer's count."""
        if self._hidden_before != "reasoning":
            md = md.lstrip("\n")
            md = _BREAK + md if self._has_thought and md else md
        self._hidden_before = "reasoning"
        self._has_thought = True
        return [Write(md, "thought")] if md else []

    def _structured(self, chunk: StructuredChunk, now: float) -> list[Operation]:
        """Show a value as it comes on a terminal; elsewhere whole, and only one that stands (7.2)."""
        self.has_answer = True
        if self.show.is_terminal:
            return self._shown(chunk.md, "answer", chunk.seq, now)
        match chunk.part:
            case "open":
                self._value = HeldValue(chunk.seq)
                self._hidden_before = "other"
            case "more":
                if self._value is not None:
                    self._value.texts.append(chunk.md)
            case "close":
                if self._value is not None:
                    self._value.ended_at = chunk.seq
            case _:
                assert_never(chunk.part)
        return []

    def _release_value(self, now: float) -> list[Operation]:
        """Write a value that is complete: something follows it, so it was the answer."""
        value = self._value
        if value is None or value.ended_at is None:
            return []
        self._value = None
        return self._shown("".join(value.texts), "answer", value.ended_at, now)

    def _tool(self, chunk: ToolCallChunk | ToolResultChunk, now: float) -> list[Operation]:
        self._slots.pop(f"tool:{chunk.call_id}", None)
        if not self.show.is_terminal:
            self._hidden_before = "other"
            return []
        shown = self._shown(chunk.md, "tool", chunk.seq, now)
        return _with_link(shown, chunk.uri) if isinstance(chunk, ToolResultChunk) else shown

    def _shown(self, md: str, kind: Kind, seq: int, now: float) -> list[Operation]:
        """Write a piece; what separates it from something that was not shown is replaced by a plain break."""
        text = md
        if self._hidden_before is not None:
            pattern = _RULE_BREAK if self._hidden_before == "reasoning" else _LEADING_BREAK
            separator = pattern.match(md)
            text = md[separator.end() if separator else 0 :]
            if text and self._has_written:
                text = ("\n" if self._has_ended_line else _BREAK) + text
        if not text:
            return []
        self._hidden_before = None
        self._last_seq = max(self._last_seq, seq)
        return self._write(text, kind, now)

    def _write(self, text: str, kind: Kind, now: float) -> list[Operation]:
        self._has_written = True
        self._has_ended_line = False
        self._last_text = now
        return [Write(text, kind)]

    def _in_place(self, said: Sequence[Operation]) -> list[Operation]:
        """Say something that belongs to this place of the transcript."""
        self._hidden_before = "other"
        self._has_ended_line = True
        return [EndLine(), *said]

    def tell(self, level: Level, text: str) -> list[Operation]:
        """Say something beside the transcript, once."""
        text = plain(text).strip()
        if not text or text in self._told:
            return []
        self._told.add(text)
        return [Say(notice_line(level, text), level)]

    def _notice(self, chunk: NoticeChunk, now: float) -> list[Operation]:
        if chunk.clear:
            return []
        said = self.tell(chunk.level or "info", chunk.text or "")
        if chunk.chunk_class == "ephemeral" or not said:
            return said
        self._last_text = now
        return self._in_place(said)

    def _retract(self, chunk: RetractChunk) -> list[Operation]:
        if self._value is not None and self._value.began_at >= chunk.from_seq:
            self._value = None
            self._hidden_before = "other"
        if self._last_seq < chunk.from_seq:
            return []
        self._last_seq = chunk.from_seq - 1
        return self._in_place([Say(f"[{_RETRACTED[chunk.reason]}]", "warning")])

    # The status.

    def _set_slot(self, chunk: SlotChunk, name: str, now: float) -> None:
        if chunk.clear:
            self._slots.pop(name, None)
        else:
            self._slots[name] = Slot(chunk, now)


def _with_link(shown: list[Operation], uri: str | None) -> list[Operation]:
    """Let a titled link to the whole result, at the end of what is shown of it, be one."""
    match shown:
        case [Write(text, kind)] if uri is not None and (link := _TITLED.search(text)) and link[2] == uri:
            before = [Write(text[: link.start()], kind)] if link.start() else []
            return [*before, Link(link[1], uri, kind)]
        case _:
            return shown


def notice_line(level: Level, text: str) -> str:
    """Write a notice for people."""
    return text if level == "info" else f"{level}: {text}"

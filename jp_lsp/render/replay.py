"""Shows stored turns again, through the same view as live ones (query pipeline 5.9).

Nothing is executed, asked or written. What a live turn shows and a stored one does not know stays out:
notices, states, and how the turn ended, for which `completed` stands. Nor is it known which formatter was done
first: the calls of a response stand in the order of the model.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from jp_lsp.conversation.base64_text import decode
from jp_lsp.conversation.call_metadata import (
    DECISION,
    EDITED_ARGUMENTS,
    EDITED_BEHIND,
    PREPARED_ARGUMENTS,
    RENDERED_ARGUMENTS,
    RENDERED_EDITED_ARGUMENTS,
    RESULT_DECISION,
    TOOL_SERVER,
    TOOL_SOURCE,
    shown_decision,
)
from jp_lsp.conversation.event import (
    ChatRequest,
    ConversationEvent,
    InquiryRequest,
    InquiryResponse,
    MessageResponse,
    ReasoningResponse,
    StructuredResponse,
    ToolCallRequest,
    ToolCallResponse,
    TurnStart,
)
from jp_lsp.conversation.ids import CallId
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.render.chat import TurnView
from jp_lsp.render.chunk import EPHEMERAL, Chunk, ToolSource
from jp_lsp.render.options import DisplayOptions, Labels
from jp_lsp.render.transcript import transcript

ResultUri = Callable[[ConversationEvent], str | None]
"""Finds the file with the whole result of a stored tool response, if there still is one."""

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_AGES = (
    (365 * _DAY, "year"),
    (30 * _DAY, "month"),
    (7 * _DAY, "week"),
    (_DAY, "day"),
    (_HOUR, "hour"),
    (_MINUTE, "minute"),
)


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn to be shown, with the settings that it is to be shown with.

    `number` is the one that people use for it, from 1, in the stream as it is stored (F35). A summary of
    several turns has the number of the last one in `last_number`. `age` is in seconds; without it the
    header has none.
    """

    number: int
    events: Sequence[ConversationEvent]
    age: float | None = None
    last_number: int | None = None
    options: DisplayOptions = field(default_factory=DisplayOptions)
    labels: Labels = field(default_factory=Labels)


def age_text(seconds: float) -> str:
    """Say how long ago something was; less than a minute, or a time to come, is now."""
    for size, unit in _AGES:
        count = int(seconds // size)
        if count >= 1:
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "now"


def turn_detail(turn: StoredTurn) -> str:
    """Give what the header of a stored turn says beside the name."""
    if turn.last_number is not None and turn.last_number > turn.number:
        numbers = f"turns {turn.number}-{turn.last_number}"
    else:
        numbers = f"turn {turn.number}"
    return numbers if turn.age is None else f"{numbers}, {age_text(turn.age)}"


def render_turns(
    turns: Iterable[StoredTurn],
    *,
    is_user_only: bool = False,
    has_detail: bool = True,
    result_uri: ResultUri | None = None,
) -> list[Chunk]:
    """Show stored turns.

    Args:
        turns: the turns, in order.
        is_user_only: show only what the user said.
        has_detail: put number and age into the header of each turn.
        result_uri: where whole results are found.
    """
    replay = _Replay(is_user_only, has_detail, result_uri)
    chunks: list[Chunk] = []
    for turn in turns:
        chunks += replay.turn(turn)
    return [chunk for chunk in chunks if not isinstance(chunk, EPHEMERAL)]


def export_markdown(
    turns: Iterable[StoredTurn], *, is_user_only: bool = False, has_detail: bool = True
) -> str:
    """Write stored turns as one markdown text; the arguments are those of `render_turns`."""
    text = transcript(render_turns(turns, is_user_only=is_user_only, has_detail=has_detail))
    return f"{text}\n" if text else ""


_Notes: TypeAlias = Mapping[str, JsonValue]


class _Replay:
    def __init__(self, is_user_only: bool, has_detail: bool, result_uri: ResultUri | None) -> None:
        self._is_user_only = is_user_only
        self._has_detail = has_detail
        self._result_uri = result_uri
        self._view = TurnView(DisplayOptions(), Labels())
        self._decisions: dict[CallId, JsonValue] = {}
        self._edited: list[tuple[ToolCallRequest, _Notes]] = []
        self._result_count = 0

    def turn(self, turn: StoredTurn) -> list[Chunk]:
        """Show one turn."""
        view = self._view
        view.configure(turn.options, turn.labels)
        detail = turn_detail(turn) if self._has_detail else None
        chunks: list[Chunk] = []
        has_begun = False
        for event in turn.events:
            kind = event.kind
            if isinstance(kind, ChatRequest) and not has_begun:
                chunks += view.turn_begin(turn.number, kind.content, detail=detail, author=kind.author)
                has_begun = True
            elif not isinstance(kind, TurnStart):
                if not has_begun:
                    chunks += view.turn_begin(turn.number, "", detail=detail)
                    has_begun = True
                chunks += self._event(event)
        chunks += self._edited_calls(math.inf)
        return [*chunks, *view.turn_end("completed", is_persisted=True)] if has_begun else chunks

    def _event(self, event: ConversationEvent) -> list[Chunk]:
        view = self._view
        kind = event.kind
        if isinstance(kind, ChatRequest):
            return view.request(kind.content, author=kind.author)
        if self._is_user_only:
            return []
        match kind:
            case MessageResponse():
                return view.part("message", kind.text)
            case ReasoningResponse():
                return view.part("reasoning", kind.text)
            case StructuredResponse():
                return view.structured_value(kind.data)
            case ToolCallRequest():
                return self._call(kind, event.metadata)
            case ToolCallResponse():
                return self._edited_calls(self._result_count) + self._result(kind, event)
            case TurnStart() | InquiryRequest() | InquiryResponse():
                return []

    def _call(self, call: ToolCallRequest, notes: _Notes) -> list[Chunk]:
        """Show a call. With a formatter that had to wait for the user's word, only what was edited has been shown."""
        self._decisions[call.id] = notes.get(DECISION)
        self._result_count = 0
        if EDITED_ARGUMENTS in notes:
            self._edited.append((call, notes))
        original = _rendered(notes.get(RENDERED_ARGUMENTS))
        if original is None and RENDERED_EDITED_ARGUMENTS in notes:
            return []
        arguments = notes.get(PREPARED_ARGUMENTS, call.arguments)
        return self._show_call(call, notes, arguments, rendered=original, is_edited=False)

    def _edited_calls(self, results: float) -> list[Chunk]:
        """Show what the user made of arguments, as far as it stood behind so many results or less."""
        edited, self._edited = self._edited, []
        chunks: list[Chunk] = []
        for call, notes in edited:
            behind = notes.get(EDITED_BEHIND)
            if isinstance(behind, int) and behind > results:
                self._edited.append((call, notes))
                continue
            rendered = _rendered(notes.get(RENDERED_EDITED_ARGUMENTS))
            chunks += self._show_call(call, notes, notes[EDITED_ARGUMENTS], rendered=rendered, is_edited=True)
        return chunks

    def _show_call(
        self,
        call: ToolCallRequest,
        notes: _Notes,
        arguments: JsonValue,
        *,
        rendered: str | None,
        is_edited: bool,
    ) -> list[Chunk]:
        server = notes.get(TOOL_SERVER)
        return self._view.tool_call(
            call.id,
            call.name,
            arguments,
            source=_source(notes.get(TOOL_SOURCE)),
            server=server if isinstance(server, str) else None,
            is_edited=is_edited,
            rendered=rendered,
        )

    def _result(self, response: ToolCallResponse, event: ConversationEvent) -> list[Chunk]:
        self._result_count += 1
        uri = None if self._result_uri is None else self._result_uri(event)
        decision = shown_decision(self._decisions.get(response.id), event.metadata.get(RESULT_DECISION))
        return self._view.tool_result(
            response.id, response.content, is_error=response.is_error, decision=decision, uri=uri
        )


def _source(noted: JsonValue) -> ToolSource:
    match noted:
        case "mcp":
            return "mcp"
        case "builtin":
            return "builtin"
        case _:
            return "local"


def _rendered(stored: JsonValue) -> str | None:
    return decode(stored) if isinstance(stored, str) else None

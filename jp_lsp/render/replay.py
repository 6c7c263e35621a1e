"""Shows stored turns again, through the same view as live ones (query pipeline 5.9).

Nothing is executed, asked or written. What a live turn shows and a stored one does not know stays out:
notices, states, and how the turn ended, for which `completed` stands.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from jp_lsp.conversation.base64_text import decode
from jp_lsp.conversation.call_metadata import (
    EDITED_ARGUMENTS,
    PREPARED_ARGUMENTS,
    RENDERED_ARGUMENTS,
    RENDERED_EDITED_ARGUMENTS,
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
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.render.chat import TurnView
from jp_lsp.render.chunk import EPHEMERAL, Chunk
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


class _Replay:
    def __init__(self, is_user_only: bool, has_detail: bool, result_uri: ResultUri | None) -> None:
        self._is_user_only = is_user_only
        self._has_detail = has_detail
        self._result_uri = result_uri
        self._view = TurnView(DisplayOptions(), Labels())

    def turn(self, turn: StoredTurn) -> list[Chunk]:
        """Show one turn."""
        view = self._view
        view.configure(turn.options, turn.labels)
        detail = turn_detail(turn) if self._has_detail else None
        chunks: list[Chunk] = []
        has_begun = False
        for event in turn.events:
            if isinstance(event.kind, ChatRequest) and not has_begun:
                chunks += view.turn_begin(turn.number, event.kind.content, detail=detail)
                has_begun = True
            elif not isinstance(event.kind, TurnStart):
                if not has_begun:
                    chunks += view.turn_begin(turn.number, "", detail=detail)
                    has_begun = True
                chunks += self._event(event)
        return [*chunks, *view.turn_end("completed", is_persisted=True)] if has_begun else chunks

    def _event(self, event: ConversationEvent) -> list[Chunk]:
        view = self._view
        kind = event.kind
        if isinstance(kind, ChatRequest):
            return view.request(kind.content)
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
                uri = None if self._result_uri is None else self._result_uri(event)
                return view.tool_result(kind.id, kind.content, is_error=kind.is_error, uri=uri)
            case TurnStart() | InquiryRequest() | InquiryResponse():
                return []

    def _call(self, call: ToolCallRequest, notes: Mapping[str, JsonValue]) -> list[Chunk]:
        """Show a call, and once more what the user made of its arguments.

        With a formatter that had to wait for the user's word, only the edited arguments have been shown.
        """
        original = _rendered(notes.get(RENDERED_ARGUMENTS))
        edited = _rendered(notes.get(RENDERED_EDITED_ARGUMENTS))
        chunks: list[Chunk] = []
        if edited is None or original is not None:
            arguments = notes.get(PREPARED_ARGUMENTS, call.arguments)
            chunks += self._view.tool_call(call.id, call.name, arguments, rendered=original)
        if EDITED_ARGUMENTS in notes:
            arguments = notes[EDITED_ARGUMENTS]
            chunks += self._view.tool_call(call.id, call.name, arguments, is_edited=True, rendered=edited)
        return chunks


def _rendered(stored: JsonValue) -> str | None:
    return decode(stored) if isinstance(stored, str) else None

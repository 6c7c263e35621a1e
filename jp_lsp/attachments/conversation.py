"""Another conversation of the workspace: `jp://ID?select=ua:-3` (config-and-tools 6.5).

It is shown as it is stored: what was compacted for its own next request is still what was said.
"""

import json
from collections.abc import Iterator

from jp_lsp.attachments.address import address_of, require_known
from jp_lsp.attachments.selection import LAST_ANSWER, BadSelection, Selection, read_selection
from jp_lsp.conversation import event_codec, json_text
from jp_lsp.conversation.directive import ConfigDelta
from jp_lsp.conversation.event import (
    ChatRequest,
    ConversationEvent,
    EventKind,
    MessageResponse,
    ReasoningResponse,
    StructuredResponse,
    ToolCallRequest,
    ToolCallResponse,
)
from jp_lsp.conversation.ids import ConversationId, parse_conversation_id
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.thread import TextAttachment
from jp_lsp.conversation.turns import Turn, numbered, split
from jp_lsp.ports.attachment import AttachmentEntry, AttachmentError, Fetched
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.store import ConversationStore

_RAW_FORMS = frozenset({"", "events", "all"})


class ConversationHandler:
    """Reads conversations, without locking them.

    Args:
        store: the conversations of the workspace.
    """

    def __init__(self, store: ConversationStore) -> None:
        self._store = store

    async def fetch(self, entry: AttachmentEntry) -> Fetched:
        """Read the conversation of an entry; one that is gone is left out.

        Raises:
            AttachmentError: the entry says nothing, or the conversation cannot be read.
        """
        wanted, selection, raw = _read(entry)
        try:
            stream = (await self._store.copy(wanted)).stream
        except Refusal as refusal:
            if refusal.error.code == "conversation_not_found":
                text = f"Attachment {entry.text!r} was left out: there is no conversation {wanted} any more."
                return Fetched(warnings=(text,))
            raise AttachmentError(f"Attachment {entry.text!r}: {refusal}", entry.text) from refusal
        form = "" if raw is None else "json, "
        match raw:
            case None:
                text = to_markdown(stream, selection)
            case "all":
                text = _to_json(_everything(stream, selection))
            case _:
                text = _to_json([_plain(event) for _, event in _selected(stream, selection)])
        return Fetched((TextAttachment(f"jp:{wanted} ({form}{selection.text})", text),))


def to_markdown(stream: ConversationStream, selection: Selection) -> str:
    """Write what is selected as markdown, with a heading for each turn and speaker."""
    parts: list[str] = []
    names: dict[str, str] = {}
    turn_shown: int | None = None
    for turn, event in _selected(stream, selection):
        if turn.index != turn_shown:
            turn_shown = turn.index
            parts.append(f"## Turn {turn.index + 1}")
        parts += _sections(event.kind, names)
    return "\n\n".join(parts)


def _sections(kind: EventKind, names: dict[str, str]) -> Iterator[str]:
    """Give heading and text of an event; `names` remembers what tools the calls are of."""
    match kind:
        case ChatRequest(content):
            yield f"### User\n\n{content.strip()}"
        case MessageResponse(text):
            yield f"### Assistant\n\n{text.strip()}"
        case StructuredResponse(data):
            yield f"### Assistant\n\n{_fenced(_to_json(data), 'json')}"
        case ReasoningResponse(text):
            yield f"### Reasoning\n\n{text.strip()}"
        case ToolCallRequest(call, name, arguments):
            names[call] = name
            yield f"### Tool: {name}\n\n{_fenced(_to_json(arguments), 'json')}"
        case ToolCallResponse(call, content):
            yield f"### Tool: {names.get(call, call)}\n\n{_fenced(content.rstrip())}"
        case _:
            pass


def _fenced(text: str, language: str = "") -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def _read(entry: AttachmentEntry) -> tuple[ConversationId, Selection, str | None]:
    """Read an entry: which conversation, what of it, and the raw form if one is wanted."""
    address = address_of(entry)
    require_known(entry, address, {"select", "raw"})
    try:
        wanted = parse_conversation_id(address.path.strip("/"))
        given = address.value("select")
        selection = LAST_ANSWER if given is None else read_selection(given)
    except (ValueError, BadSelection) as error:
        raise AttachmentError(f"Attachment {entry.text!r}: {error}.", entry.text) from error
    raw = address.value("raw")
    if raw is not None and raw not in _RAW_FORMS:
        text = f"Attachment {entry.text!r}: `raw` is `events` or `all`, not {raw!r}."
        raise AttachmentError(text, entry.text)
    return wanted, selection, raw


def _selected(stream: ConversationStream, selection: Selection) -> Iterator[tuple[Turn, ConversationEvent]]:
    turns = split(stream.entries)
    for index in selection.turns(len(turns)):
        for event in turns[index].events:
            if _letter(event.kind) in selection.content and not _is_empty(event.kind):
                yield turns[index], event


def _letter(kind: EventKind) -> str:
    match kind:
        case ChatRequest():
            return "u"
        case MessageResponse() | StructuredResponse():
            return "a"
        case ReasoningResponse():
            return "r"
        case ToolCallRequest() | ToolCallResponse():
            return "t"
        case _:
            return ""


def _is_empty(kind: EventKind) -> bool:
    return isinstance(kind, ReasoningResponse) and not kind.text.strip()


def _everything(stream: ConversationStream, selection: Selection) -> JsonObject:
    """Give the configuration, and all entries of the selected turns as they are stored."""
    turns = selection.turns(stream.turn_count)
    entries: list[JsonValue] = []
    for turn, entry in numbered(stream.entries):
        if turn not in turns:
            continue
        if isinstance(entry.content, ConversationEvent):
            if _letter(entry.content.kind) in selection.content:
                entries.append(_plain(entry.content, with_metadata=True))
        elif isinstance(entry.content, ConfigDelta):
            entries.append(json_text.from_text(entry.text))
    return {"base_config": stream.base_config, "events": entries}


def _plain(event: ConversationEvent, *, with_metadata: bool = False) -> JsonObject:
    """Give the stored object of an event, readable: what the file has as base64 is text."""
    stored = dict(event_codec.encode(event, newer_format=False))
    stored.pop("metadata", None)
    match event.kind:
        case ToolCallRequest(arguments=arguments):
            stored["arguments"] = arguments
        case ToolCallResponse(content=content):
            stored["content"] = content
        case _:
            pass
    if with_metadata and event.metadata:
        stored["metadata"] = dict(event.metadata)
    return stored


def _to_json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)

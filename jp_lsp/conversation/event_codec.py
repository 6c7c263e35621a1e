"""The seven kinds of events as stored objects, and back (conversation format 3.4 to 3.7).

Reading is exact: a known kind of the wrong shape raises `ShapeError`, because a stream that was read
wrong must never be saved over. Fields that we do not know are no error; `entry` keeps them.
"""

from typing import Literal, assert_never, cast

from jp_lsp.conversation import base64_text, shape
from jp_lsp.conversation.event import (
    NO_METADATA,
    Answered,
    AnswerType,
    Cancelled,
    ChatRequest,
    ChatResponse,
    ConversationEvent,
    EventKind,
    InquiryRequest,
    InquiryResponse,
    InquirySource,
    MessageResponse,
    Question,
    ReasoningResponse,
    Redacted,
    SelectOption,
    StructuredResponse,
    ToolCallRequest,
    ToolCallResponse,
    TurnStart,
)
from jp_lsp.conversation.ids import CallId, InquiryId
from jp_lsp.conversation.json_value import JsonObject, JsonValue

EVENT_TYPES = frozenset(
    {
        "turn_start",
        "chat_request",
        "chat_response",
        "tool_call_request",
        "tool_call_response",
        "inquiry_request",
        "inquiry_response",
    }
)


def encode(event: ConversationEvent, *, newer_format: bool) -> JsonObject:
    """Give the stored object of an event, keys in their written order.

    `newer_format` writes the outcome of every inquiry. Without it an answered one has the form that
    older readers know, and another one carries a null answer for them beside its outcome (3.12).
    """
    tag, fields = _encode_kind(event.kind, newer_format=newer_format)
    stored: dict[str, JsonValue] = {"timestamp": str(event.timestamp), "type": tag, **fields}
    if event.metadata:
        stored["metadata"] = base64_text.encode_values(event.metadata)
    return stored


def _encode_kind(kind: EventKind, *, newer_format: bool) -> tuple[str, JsonObject]:
    match kind:
        case TurnStart():
            return "turn_start", {}
        case ChatRequest(content, schema, author):
            fields: dict[str, JsonValue] = {"content": content}
            if schema is not None:
                fields["schema"] = schema
            if author is not None:
                fields["author"] = author
            return "chat_request", fields
        case MessageResponse(text):
            return "chat_response", {"message": text}
        case ReasoningResponse(text):
            return "chat_response", {"reasoning": text}
        case StructuredResponse(data):
            return "chat_response", {"data": data}
        case ToolCallRequest(call_id, name, arguments):
            encoded = base64_text.encode_values(arguments)
            return "tool_call_request", {"id": call_id, "name": name, "arguments": encoded}
        case ToolCallResponse(call_id, content, is_error):
            encoded = base64_text.encode(content)
            return "tool_call_response", {"id": call_id, "content": encoded, "is_error": is_error}
        case InquiryRequest(inquiry_id, source, question):
            stored_source: dict[str, JsonValue] = {"source": source.kind}
            if source.name is not None:
                stored_source["name"] = source.name
            stored_question = _encode_question(question)
            return "inquiry_request", {
                "id": inquiry_id,
                "source": stored_source,
                "question": stored_question,
            }
        case InquiryResponse():
            return "inquiry_response", _encode_outcome(kind, newer_format=newer_format)
        case _:
            assert_never(kind)


def _encode_question(question: Question) -> JsonObject:
    answer_type: dict[str, JsonValue] = {"type": question.answer_type.kind}
    if question.answer_type.kind == "select":
        answer_type["options"] = [
            {"value": option.value}
            if option.description is None
            else {"value": option.value, "description": option.description}
            for option in question.answer_type.options
        ]
    stored: dict[str, JsonValue] = {"text": question.text, "answer_type": answer_type}
    if question.default is not None:
        stored["default"] = question.default
    return stored


def _encode_outcome(response: InquiryResponse, *, newer_format: bool) -> JsonObject:
    null_answer: dict[str, JsonValue] = {} if newer_format else {"answer": None}
    match response.outcome:
        case Answered(answer) if newer_format:
            return {"outcome": "answered", "id": response.id, "answer": answer}
        case Answered(answer):
            return {"id": response.id, "answer": answer}
        case Cancelled(reason):
            return {"outcome": "cancelled", "id": response.id, "reason": reason} | null_answer
        case Redacted():
            return {"outcome": "redacted", "id": response.id} | null_answer
        case _:
            assert_never(response.outcome)


def decode(raw: JsonObject) -> ConversationEvent:
    """Read a stored object whose `type` is one of `EVENT_TYPES`.

    Raises:
        ShapeError: a field is missing or of the wrong type; says which.
    """
    metadata = _decoded_mapping(raw, "metadata") or NO_METADATA
    return ConversationEvent(shape.timestamp(raw), _decode_kind(raw), metadata)


def _decoded_mapping(raw: JsonObject, name: str) -> JsonObject:
    """Decode an object of base64 strings that may be missing but not null."""
    return cast(JsonObject, base64_text.decode_values(shape.mapping(raw, name))) if name in raw else {}


def _decode_kind(raw: JsonObject) -> EventKind:
    match raw["type"]:
        case "turn_start":
            return TurnStart()
        case "chat_request":
            schema = None if raw.get("schema") is None else shape.mapping(raw, "schema")
            return ChatRequest(shape.text(raw, "content"), schema, shape.optional_text(raw, "author"))
        case "chat_response":
            return _decode_response(raw)
        case "tool_call_request":
            decoded = _decoded_mapping(raw, "arguments")
            return ToolCallRequest(CallId(shape.text(raw, "id")), shape.text(raw, "name"), decoded)
        case "tool_call_response":
            call_id, content = CallId(shape.text(raw, "id")), base64_text.decode(shape.text(raw, "content"))
            return ToolCallResponse(call_id, content, shape.boolean(raw, "is_error"))
        case "inquiry_request":
            source = _decode_source(shape.mapping(raw, "source"))
            question = _decode_question(shape.mapping(raw, "question"))
            return InquiryRequest(InquiryId(shape.text(raw, "id")), source, question)
        case "inquiry_response":
            return InquiryResponse(InquiryId(shape.text(raw, "id")), _decode_outcome(raw))
        case other:
            raise shape.ShapeError(f"'type' {other!r} is not a kind of event")


def _decode_response(raw: JsonObject) -> ChatResponse:
    """Take the first field that fits, in the order of the format."""
    if isinstance(message := raw.get("message"), str):
        return MessageResponse(message)
    if isinstance(reasoning := raw.get("reasoning"), str):
        return ReasoningResponse(reasoning)
    if "data" in raw:
        return StructuredResponse(raw["data"])
    raise shape.ShapeError("none of 'message', 'reasoning' and 'data' is there with its type")


def _decode_source(raw: JsonObject) -> InquirySource:
    kind = shape.text(raw, "source")
    if kind in {"tool", "other"}:
        return InquirySource(cast(Literal["tool", "other"], kind), shape.text(raw, "name"))
    if kind in {"assistant", "user"}:
        return InquirySource(cast(Literal["assistant", "user"], kind))
    raise shape.ShapeError(f"'source' {kind!r} is not one of tool, assistant, user, other")


def _decode_question(raw: JsonObject) -> Question:
    answer_type = shape.mapping(raw, "answer_type")
    kind = shape.text(answer_type, "type")
    if kind not in {"boolean", "text", "select", "secret"}:
        raise shape.ShapeError(f"'answer_type' {kind!r} is not one of boolean, text, select, secret")
    options = (
        tuple(
            SelectOption(shape.required(option, "value"), shape.optional_text(option, "description"))
            for option in shape.items(answer_type, "options")
        )
        if kind == "select"
        else ()
    )
    known_kind = cast(Literal["boolean", "text", "select", "secret"], kind)
    return Question(shape.text(raw, "text"), AnswerType(known_kind, options), raw.get("default"))


def _decode_outcome(raw: JsonObject) -> Answered | Cancelled | Redacted:
    """Look at `outcome` first: a null `answer` beside it is there for older readers only."""
    if "outcome" not in raw:
        return Answered(shape.required(raw, "answer"))
    match raw["outcome"]:
        case "answered":
            return Answered(shape.required(raw, "answer"))
        case "cancelled":
            reason = raw.get("reason")
            return Cancelled(reason if isinstance(reason, str) else "unspecified")
        case "redacted":
            return Redacted()
        case other:
            raise shape.ShapeError(f"'outcome' {other!r} is not one of answered, cancelled, redacted")

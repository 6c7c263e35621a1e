"""A question of a tool, answered by a model in the background (query pipeline 3.7).

The model sees the conversation as it stands, with the waiting call answered by a note, and the question as a
last request with a schema. Nothing of it is stored or shown.
"""

from collections.abc import Callable, Mapping

from jp_lsp.conversation.event import ChatRequest, ConversationEvent, ToolCallResponse, TurnStart
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.thread import build_thread
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.driver.beside import beside_when_long
from jp_lsp.driver.collected import CollectError, collect_value
from jp_lsp.driver.preparation import CycleParts
from jp_lsp.ports.clock import Clock
from jp_lsp.ports.provider import CycleRequest
from jp_lsp.tools.actions import AskAssistant
from jp_lsp.tools.batches import with_limited_batches
from jp_lsp.tools.outcome import ToolQuestion
from jp_lsp.turn.inputs import InquiryAnswered


async def ask_assistant(
    action: AskAssistant,
    stream: ConversationStream,
    parts: CycleParts,
    clock: Clock,
    post: Callable[[InquiryAnswered], None],
) -> None:
    """Ask, and post the answer or why there is none. Nobody may change `stream` meanwhile."""
    now = Timestamp(clock.now().nanoseconds)
    request = await beside_when_long(len(stream), lambda: _request(action, stream, parts, now))
    try:
        value = await collect_value(parts.provider, request, parts.guards, clock)
    except CollectError as error:
        post(InquiryAnswered(action.call, action.pass_number, None, str(error)))
        return
    assert isinstance(value, Mapping), "it fits the schema"
    post(InquiryAnswered(action.call, action.pass_number, value["answer"]))


def _request(
    action: AskAssistant, stream: ConversationStream, parts: CycleParts, now: Timestamp
) -> CycleRequest:
    copy = stream.copy()
    note = ToolCallResponse(action.call, f"Tool paused: {action.question.text}", is_error=False)
    copy.append(ConversationEvent(now, note))
    copy.append(ConversationEvent(now, TurnStart()))
    text = (
        f"The tool {action.tool!r} asks: {action.question.text}\n"
        f"{action.question.context or ''}\n"
        "Answer from what this conversation is about, on behalf of its user."
    )
    copy.append(ConversationEvent(now, ChatRequest(text, _schema(action.question))))
    thread = build_thread(
        copy, system_prompt=parts.system_prompt, sections=parts.sections, attachments=parts.attachments
    )
    return CycleRequest(parts.model, with_limited_batches(thread), parts.parameters, parts.tools, "none")


def _schema(question: ToolQuestion) -> JsonObject:
    answer: JsonObject
    match question.kind:
        case "boolean":
            answer = {"type": "boolean"}
        case "select":
            answer = {"type": "string", "enum": list(question.options)}
        case _:
            answer = {"type": "string"}
    return {
        "type": "object",
        "properties": {"answer": answer},
        "required": ["answer"],
        "additionalProperties": False,
    }

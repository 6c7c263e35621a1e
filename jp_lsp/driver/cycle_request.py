"""What a cycle sends: the conversation as it is now, with what preparation found for the whole query."""

from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.thread import build_thread
from jp_lsp.driver.beside import beside_when_long
from jp_lsp.driver.preparation import CycleParts
from jp_lsp.ports.provider import CycleRequest
from jp_lsp.tools.batches import with_limited_batches
from jp_lsp.turn.actions import RequestCycle


async def build_request(stream: ConversationStream, parts: CycleParts, action: RequestCycle) -> CycleRequest:
    """Build the request of a cycle from a stream that nobody changes meanwhile."""

    def build() -> CycleRequest:
        thread = build_thread(
            stream,
            system_prompt=parts.system_prompt,
            sections=parts.sections,
            attachments=parts.attachments,
            hint=action.hint,
            appended=action.correction,
        )
        return CycleRequest(
            parts.model, with_limited_batches(thread), parts.parameters, parts.tools, action.tool_choice
        )

    return await beside_when_long(len(stream), build)

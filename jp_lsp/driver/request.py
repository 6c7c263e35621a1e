"""What a query asks: its own text, or that of the turn that it asks again (query pipeline 1.4, conversation format 7.3)."""

from jp_lsp.conversation.amend import counted
from jp_lsp.conversation.event import ChatRequest
from jp_lsp.conversation.retain import request_of
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.ports.refusal import Refusal
from jp_lsp.turn.query import Query


def request_to_ask(query: Query, stream: ConversationStream, author: str | None) -> ChatRequest:
    """Give the request of the turn; nothing of the stream is changed.

    Args:
        query: what was asked.
        stream: the conversation.
        author: who asks, if known.

    Raises:
        Refusal: the turn that is to be asked again is not there, or holds no request.
    """
    if query.replay is None:
        return ChatRequest(query.text, query.schema, author)
    count = stream.turn_count
    if query.replay > count:
        has = "no turn" if count == 0 else counted(count, "turn")
        text = f"The conversation has {has}, so there is no turn {query.replay} to ask again."
        raise Refusal("invalid_params", text, origin="replay")
    if query.text.strip():
        return ChatRequest(query.text, query.schema, author)
    replaced = request_of(stream, query.replay - 1)
    if replaced is None:
        text = f"Turn {query.replay} holds no query that could be asked again; give a text."
        raise Refusal("invalid_params", text, origin="replay")
    schema = replaced.schema if query.schema is None else query.schema
    return ChatRequest(replaced.content, schema, author)

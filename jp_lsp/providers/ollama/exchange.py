"""A chat of Ollama as an exchange: one request, one response."""

from collections.abc import Callable

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.providers.ollama.decode import ERRORS, ChatDecoder
from jp_lsp.providers.one_request import OneRequestExchange


class ChatExchange(OneRequestExchange[ChatDecoder]):
    """Implements `Exchange`."""

    def __init__(self, body: JsonObject, *, structured: bool, now: Callable[[], float]) -> None:
        super().__init__(body, ChatDecoder(structured=structured), ERRORS, now)

"""A chat completion as an exchange: one request, one response."""

from collections.abc import Callable

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.providers.chat.decode import ChatDecoder
from jp_lsp.providers.chat.dialect import Dialect
from jp_lsp.providers.one_request import OneRequestExchange


class ChatExchange(OneRequestExchange[ChatDecoder]):
    """Implements `Exchange` for the family."""

    def __init__(
        self, body: JsonObject, dialect: Dialect, *, structured: bool, now: Callable[[], float]
    ) -> None:
        decoder = ChatDecoder(
            dialect.errors,
            structured=structured,
            scans_tags=dialect.scans_tags,
            reuses_indices=dialect.reuses_indices,
            flushes_late=dialect.flushes_late,
            read_details=dialect.read_details,
        )
        super().__init__(body, decoder, dialect.errors, now)

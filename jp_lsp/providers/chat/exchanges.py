"""Which exchange carries a request out."""

from collections.abc import Callable
from functools import partial

from jp_lsp.providers.chat.dialect import Dialect
from jp_lsp.providers.chat.encode import EncodedRequest
from jp_lsp.providers.chat.exchange import ChatExchange
from jp_lsp.providers.chat.forced import ForcedExchange
from jp_lsp.providers.exchange import Exchange


def make_exchange(
    encoded: EncodedRequest, dialect: Dialect, *, structured: bool, now: Callable[[], float]
) -> Exchange:
    """Give the plain exchange, or the one that follows an answer up in which a tool had to be called."""
    make = partial(ChatExchange, dialect=dialect, structured=structured, now=now)
    return make(encoded.body) if encoded.owed is None else ForcedExchange(encoded, encoded.owed, make)

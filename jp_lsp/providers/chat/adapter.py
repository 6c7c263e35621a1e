"""A chat-completions server behind the provider port."""

import logging
from collections.abc import AsyncGenerator, Sequence

from jp_lsp.ports.provider import CycleObserver, CycleRequest, ModelDetails, ModelId
from jp_lsp.providers.chat.dialect import Dialect
from jp_lsp.providers.chat.encode import encode
from jp_lsp.providers.chat.exchanges import make_exchange
from jp_lsp.providers.exchange import run
from jp_lsp.providers.http import VendorHttp
from jp_lsp.providers.model_list import asking
from jp_lsp.providers.once import OnceLog
from jp_lsp.turn.stream_event import StreamEvent

_log = logging.getLogger(__name__)


class ChatProvider:
    """Implements `Provider` for one dialect."""

    pauses_in_arguments = True

    def __init__(self, dialect: Dialect, http: VendorHttp) -> None:
        self._dialect = dialect
        self._http = http
        self._warnings = OnceLog(_log)
        self._listed_at = 0.0
        self._listed: dict[ModelId, ModelDetails] = {}

    async def models(self) -> Sequence[ModelDetails]:
        """List what the server offers, by id."""
        with asking(self._dialect.errors, self._http):
            models = await self._dialect.list_models(self._http)
        self._listed = {model.id: model for model in models}
        self._listed_at = self._http.now()
        return sorted(models, key=lambda model: model.id.name)

    async def model_details(self, name: str) -> ModelDetails:
        """Look a model up in the list; one that is not there gives details that are all unknown.

        A list that lives for a while is not asked for again, so that queries do not wait for it.
        """
        wanted = ModelId(self._dialect.provider, name)
        is_fresh = 0 <= self._http.now() - self._listed_at < self._dialect.list_lifetime
        if not (is_fresh and self._listed):
            await self.models()
        return self._listed.get(wanted, ModelDetails(wanted))

    def stream(self, request: CycleRequest, observer: CycleObserver) -> AsyncGenerator[StreamEvent, None]:
        """Send one request and give its events."""
        encoded = encode(request, self._dialect)
        self._warnings.warn(encoded.warnings)
        exchange = make_exchange(
            encoded, self._dialect, structured=request.thread.schema is not None, now=self._http.now
        )
        return run(exchange, self._http, self._dialect.chat_path, observer)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

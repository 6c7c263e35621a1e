"""OpenAI behind the provider port."""

import logging
from collections.abc import AsyncGenerator, Sequence

from jp_lsp.ports.provider import CycleObserver, CycleRequest, ModelDetails
from jp_lsp.providers.connection import Connection
from jp_lsp.providers.exchange import run
from jp_lsp.providers.model_list import asking
from jp_lsp.providers.once import OnceLog
from jp_lsp.providers.openai.encode import encode
from jp_lsp.providers.openai.errors import ERRORS, PROVIDER
from jp_lsp.providers.openai.exchange import ResponsesExchange
from jp_lsp.providers.openai.models import describe, list_models
from jp_lsp.turn.stream_event import StreamEvent

_log = logging.getLogger(__name__)

_STREAM = "text/event-stream"
_WHOLE = "application/json"


class OpenAIProvider:
    """Implements `Provider`."""

    pauses_in_arguments = True

    def __init__(self, connection: Connection) -> None:
        self._http = connection.http(PROVIDER)
        self._warnings = OnceLog(_log)

    async def models(self) -> Sequence[ModelDetails]:
        """List what the vendor offers, by id."""
        with asking(ERRORS, self._http):
            models = await list_models(self._http)
        return sorted(models, key=lambda model: model.id.name)

    async def model_details(self, name: str) -> ModelDetails:
        """Tell what is known of a model.

        Nobody is asked: the vendor would only repeat the name, and a query that waits for that is no better off.
        """
        return describe(name)

    def stream(self, request: CycleRequest, observer: CycleObserver) -> AsyncGenerator[StreamEvent, None]:
        """Send one request and give its events."""
        encoded = encode(request)
        self._warnings.warn(encoded.warnings)
        exchange = ResponsesExchange(
            encoded, ERRORS, structured=request.thread.schema is not None, now=self._http.now
        )
        accept = _STREAM if encoded.streams else _WHOLE
        return run(exchange, self._http, "/v1/responses", observer, accept=accept)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()


def make_provider(connection: Connection) -> OpenAIProvider:
    """Build the adapter."""
    return OpenAIProvider(connection)

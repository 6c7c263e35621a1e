"""Google behind the provider port."""

import logging
from collections.abc import AsyncGenerator, Sequence
from urllib.parse import quote

from jp_lsp.ports.provider import CycleObserver, CycleRequest, ModelDetails, ModelId
from jp_lsp.providers.connection import Connection
from jp_lsp.providers.exchange import run
from jp_lsp.providers.google.contents import PROVIDER
from jp_lsp.providers.google.encode import encode
from jp_lsp.providers.google.errors import ERRORS
from jp_lsp.providers.google.exchange import GenerateExchange
from jp_lsp.providers.google.models import list_models
from jp_lsp.providers.model_list import asking
from jp_lsp.providers.once import OnceLog
from jp_lsp.turn.stream_event import StreamEvent

_log = logging.getLogger(__name__)


class GoogleProvider:
    """Implements `Provider`."""

    pauses_in_arguments = False

    def __init__(self, connection: Connection) -> None:
        # As a header: a key in the address would stand in every log on the way.
        self._http = connection.http(PROVIDER, key_header="x-goog-api-key")
        self._warnings = OnceLog(_log)

    async def models(self) -> Sequence[ModelDetails]:
        """List what the vendor offers, by id."""
        with asking(ERRORS, self._http):
            models = await list_models(self._http)
        return sorted(models, key=lambda model: model.id.name)

    async def model_details(self, name: str) -> ModelDetails:
        """Look a model up in the list; one that is not there gives details that are all unknown."""
        wanted = ModelId(PROVIDER, name)
        return next((model for model in await self.models() if model.id == wanted), ModelDetails(wanted))

    def stream(self, request: CycleRequest, observer: CycleObserver) -> AsyncGenerator[StreamEvent, None]:
        """Send the request, again where the API gave up on it, and give the events."""
        encoded = encode(request)
        self._warnings.warn(encoded.warnings)
        exchange = GenerateExchange(
            encoded.body, structured=request.thread.schema is not None, now=self._http.now
        )
        path = f"/models/{quote(request.model.id.name, safe='')}:streamGenerateContent?alt=sse"
        return run(exchange, self._http, path, observer)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()


def make_provider(connection: Connection) -> GoogleProvider:
    """Build the adapter."""
    return GoogleProvider(connection)

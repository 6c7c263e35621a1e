"""Ollama behind the provider port."""

import logging
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.ports.provider import CycleObserver, CycleRequest, ModelDetails, ModelId, Unsupported
from jp_lsp.providers.connection import Connection
from jp_lsp.providers.exchange import run
from jp_lsp.providers.model_list import asking, read_entries
from jp_lsp.providers.ollama.decode import ERRORS
from jp_lsp.providers.ollama.encode import encode
from jp_lsp.providers.ollama.exchange import ChatExchange
from jp_lsp.providers.ollama.messages import PROVIDER
from jp_lsp.providers.once import OnceLog
from jp_lsp.providers.untrusted import as_count, as_list, as_object, as_text, member
from jp_lsp.turn.stream_event import StreamEvent

_log = logging.getLogger(__name__)

_PORT = 11434


class OllamaProvider:
    """Implements `Provider`."""

    pauses_in_arguments = False

    def __init__(self, connection: Connection) -> None:
        address = with_port(connection.base_url)
        self._http = replace(connection, base_url=address).http(PROVIDER)
        self._warnings = OnceLog(_log)

    async def models(self) -> Sequence[ModelDetails]:
        """List what the server has, by id."""
        with asking(ERRORS, self._http):
            listed = as_object(await self._http.get("/api/tags"))
        models = read_entries(as_list(listed.get("models")), read_model)
        return sorted(models, key=lambda model: model.id.name)

    async def model_details(self, name: str) -> ModelDetails:
        """Look a model up in the list; one that is not there gives details that are all unknown."""
        wanted = ModelId(PROVIDER, name)
        return next((model for model in await self.models() if model.id == wanted), ModelDetails(wanted))

    def stream(self, request: CycleRequest, observer: CycleObserver) -> AsyncGenerator[StreamEvent, None]:
        """Send one request and give its events."""
        encoded = encode(request)
        self._warnings.warn(encoded.warnings)
        exchange = ChatExchange(
            encoded.body, structured=request.thread.schema is not None, now=self._http.now
        )
        return run(exchange, self._http, "/api/chat", observer, accept="application/x-ndjson")

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()


def with_port(base_url: str) -> str:
    """Add the server's usual port to a plain-text address that names none."""
    parts = urlsplit(base_url)
    if parts.scheme != "http" or parts.port is not None:
        return base_url
    return parts._replace(netloc=f"{parts.netloc.removesuffix(':')}:{_PORT}").geturl()


def read_model(entry: JsonObject) -> ModelDetails | None:
    """Read an entry of the list; `None` for one without a name."""
    name = as_text(entry.get("name"))
    if not name:
        return None
    capabilities = as_list(entry.get("capabilities"))
    return ModelDetails(
        ModelId(PROVIDER, name),
        display_name=name,
        context_window=as_count(member(entry, "details", "context_length")) or None,
        # One that can think is not described further: whether it can also do without is not said.
        reasoning=Unsupported() if capabilities and "thinking" not in capabilities else None,
    )


def make_provider(connection: Connection) -> OllamaProvider:
    """Build the adapter."""
    return OllamaProvider(connection)

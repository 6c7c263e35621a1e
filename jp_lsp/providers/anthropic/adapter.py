"""Anthropic behind the provider port."""

import logging
from collections.abc import AsyncGenerator, Sequence

from jp_lsp.ports.provider import CycleObserver, CycleRequest, ModelDetails
from jp_lsp.providers.anthropic.encode import encode
from jp_lsp.providers.anthropic.exchange import MessagesExchange
from jp_lsp.providers.anthropic.messages import PROVIDER
from jp_lsp.providers.anthropic.models import get_model, list_models
from jp_lsp.providers.connection import Connection
from jp_lsp.providers.exchange import run
from jp_lsp.providers.failure import VendorErrors
from jp_lsp.providers.model_list import LIST_LIFETIME, asking
from jp_lsp.providers.once import OnceLog
from jp_lsp.turn.stream_event import StreamEvent

_log = logging.getLogger(__name__)

_API_VERSION = "2023-06-01"
_BUSY_TYPES = frozenset({"rate_limit_error", "overloaded_error", "api_error", "timeout_error"})

ERRORS = VendorErrors(
    PROVIDER,
    billing_url="https://console.anthropic.com/settings/billing",
    patient_types=_BUSY_TYPES,
    patience=3.0,
    # Inside a stream all of these mean: something failed there, try again (providers 3.4).
    in_band_status=dict.fromkeys(_BUSY_TYPES, 500),
)


class AnthropicProvider:
    """Implements `Provider`."""

    pauses_in_arguments = True

    def __init__(self, connection: Connection) -> None:
        headers = {"anthropic-version": _API_VERSION}
        self._beta_headers = connection.settings.beta_headers
        if self._beta_headers:
            headers["anthropic-beta"] = ",".join(self._beta_headers)
        self._http = connection.http(PROVIDER, key_header="x-api-key", headers=headers)
        self._chains = connection.settings.chain_on_max_tokens
        self._known: dict[str, tuple[float, ModelDetails]] = {}
        self._warnings = OnceLog(_log)

    async def models(self) -> Sequence[ModelDetails]:
        """List what the vendor offers, by id."""
        with asking(ERRORS, self._http):
            models = await list_models(self._http)
        return sorted(models, key=lambda model: model.id.name)

    async def model_details(self, name: str) -> ModelDetails:
        """Look one model up; the answer is remembered for a day, so that queries do not wait for it."""
        asked_at, details = self._known.get(name, (0.0, None))
        if details is None or not 0 <= self._http.now() - asked_at < LIST_LIFETIME:
            with asking(ERRORS, self._http):
                details = await get_model(self._http, name)
            self._known[name] = (self._http.now(), details)
        return details

    def stream(self, request: CycleRequest, observer: CycleObserver) -> AsyncGenerator[StreamEvent, None]:
        """Send the request, and further ones if the answer takes them, and give the events."""
        encoded = encode(request, self._beta_headers)
        self._warnings.warn(encoded.warnings)
        exchange = MessagesExchange(
            encoded,
            ERRORS,
            structured=request.thread.schema is not None,
            chains=self._chains,
            now=self._http.now,
        )
        return run(exchange, self._http, "/v1/messages", observer)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()


def make_provider(connection: Connection) -> AnthropicProvider:
    """Build the adapter."""
    return AnthropicProvider(connection)

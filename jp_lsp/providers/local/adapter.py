"""The `local` provider: an answer without key or network, from a model on this computer.

The model runs in a child process that speaks llama.cpp's HTTP. So this adapter starts the child when it
is first needed and leaves the conversation with it to the adapter for llama.cpp servers (providers 6.5).
What remains is honesty about a very small model: a request is reduced to what it can do.
"""

import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Protocol

import anyio

from jp_lsp.conversation.thread import BinaryAttachment
from jp_lsp.ports.provider import CycleObserver, CycleRequest, ModelDetails, ProviderError
from jp_lsp.ports.providers import LOCAL
from jp_lsp.providers.chat import llamacpp
from jp_lsp.providers.connection import Connection
from jp_lsp.providers.local.installed import current_installation
from jp_lsp.providers.local.process import ChildOptions, Endpoint, LocalModel, LocalModelError
from jp_lsp.providers.local.settings import (
    LocalModelSettings,
    check_settings,
    describe_model,
    model_id,
)
from jp_lsp.providers.request_trace import RequestTrace
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.turn.stream_event import KeepAlive, StreamEvent

_LOG = logging.getLogger(__name__)
_KEEP_ALIVE_SECONDS = 3.0
_MAX_TOKENS = 1024
_TEMPERATURE = 0.2
_TOP_P = 0.9
_LOST_KINDS = frozenset({FailureKind.CONNECT, FailureKind.TIMEOUT, FailureKind.TRANSIENT})


class Backend(Protocol):
    """A provider for one llama.cpp server, which is closed when that server is gone."""

    def stream(self, request: CycleRequest, observer: CycleObserver) -> AsyncGenerator[StreamEvent, None]:
        """As `Provider.stream`."""
        ...

    async def aclose(self) -> None:
        """Close its connections."""


class LocalProvider:
    """The port `Provider` for the one local model.

    Args:
        settings: which model, and how it runs.
        model: owns the child process.
        connect: makes the adapter that talks to the child at an address.
        keep_alive: seconds between signs of life while the model loads.
    """

    def __init__(
        self,
        settings: LocalModelSettings,
        model: LocalModel,
        connect: Callable[[Endpoint], Backend],
        *,
        keep_alive: float = _KEEP_ALIVE_SECONDS,
    ) -> None:
        self._settings = settings
        self._model = model
        self._connect = connect
        self._keep_alive = keep_alive
        self._connected: tuple[Endpoint, Backend] | None = None
        self._has_warned = False

    @property
    def pauses_in_arguments(self) -> bool:
        """llama.cpp may think long over arguments (providers 4.3)."""
        return True

    async def models(self) -> Sequence[ModelDetails]:
        """Give the one model there is."""
        return [describe_model(self._settings)]

    async def model_details(self, name: str) -> ModelDetails:
        """Describe the model.

        Raises:
            ProviderError: another one is wanted. Answering in its stead would deceive the user.
        """
        known = model_id(self._settings.model_path)
        if name != known.name:
            message = f"There is no model {LOCAL}/{name}; the local model is {known}."
            raise ProviderError(_failure(FailureKind.UNKNOWN_MODEL, message))
        return describe_model(self._settings)

    async def stream(
        self, request: CycleRequest, observer: CycleObserver
    ) -> AsyncGenerator[StreamEvent, None]:
        """Start the child if need be, and stream its answer.

        While the model loads, `KeepAlive` says that something is going on.
        """
        endpoint: Endpoint | None = None
        while endpoint is None:
            try:
                with anyio.move_on_after(self._keep_alive):
                    endpoint = await self._model.start()
            except LocalModelError as error:
                yield _failure(FailureKind.OTHER, f"The local model does not run: {error}.")
                return
            if endpoint is None:
                observer.bytes_received()
                yield KeepAlive()
        backend = await self._backend(endpoint)
        async with aclosing(backend.stream(self._reduce(request), observer)) as events:
            async for event in events:
                yield await self._explain(event) if isinstance(event, StreamFailure) else event

    async def aclose(self) -> None:
        """Close the connection and end the child."""
        try:
            await self._disconnect()
        finally:
            await self._model.aclose()

    async def _backend(self, endpoint: Endpoint) -> Backend:
        if self._connected is None or self._connected[0] != endpoint:
            stale, self._connected = self._connected, (endpoint, self._connect(endpoint))
            if stale is not None:
                await stale[1].aclose()
        return self._connected[1]

    async def _disconnect(self) -> None:
        connected, self._connected = self._connected, None
        if connected is not None:
            await connected[1].aclose()

    def _reduce(self, request: CycleRequest) -> CycleRequest:
        """Leave out what the embedded model cannot do, and bound what it would do badly.

        It knows no tools, images or reasoning; unless told otherwise it answers at a low temperature, as
        its authors advise, and not for ever. A user's own model gets the request as it is.
        """
        if self._settings.model_path is not None:
            return request
        thread = request.thread
        readable = [part for part in thread.attachments if not isinstance(part, BinaryAttachment)]
        if (request.tools or len(readable) < len(thread.attachments)) and not self._has_warned:
            self._has_warned = True
            _LOG.warning("the local model cannot use tools, images or documents; they are not sent to it")
        wished = request.parameters
        return replace(
            request,
            thread=replace(thread, attachments=readable),
            tools=(),
            tool_choice="auto",
            parameters=replace(
                wished,
                reasoning="off",
                max_tokens=_MAX_TOKENS if wished.max_tokens is None else wished.max_tokens,
                temperature=_TEMPERATURE if wished.temperature is None else wished.temperature,
                top_p=_TOP_P if wished.top_p is None else wished.top_p,
            ),
        )

    async def _explain(self, failure: StreamFailure) -> StreamFailure:
        """Put our name on a failure; a lost connection often means that the child died."""
        if failure.kind in _LOST_KINDS:
            end = await self._model.explain_end()
            if end is not None:
                message = f"The local model {end}. It is started again at the next attempt."
                return _failure(FailureKind.TRANSIENT, message)
        return replace(failure, provider=LOCAL)


def create(settings: LocalModelSettings, trace: RequestTrace | None = None) -> LocalProvider:
    """Make the provider; starts nothing yet. `trace` writes down what the model is asked.

    Raises:
        Refusal: it is not installed, or a setting cannot work.
    """
    return LocalProvider(settings, build_model(settings), partial(connect_to_llamacpp, trace=trace))


def connect_to_llamacpp(endpoint: Endpoint, trace: RequestTrace | None = None) -> Backend:
    """Make the adapter that speaks the child's language."""
    return llamacpp.make_provider(Connection(endpoint.base_url, endpoint.key, trace=trace), LOCAL)


def build_model(settings: LocalModelSettings) -> LocalModel:
    """Make the owner of the child process; starts nothing yet.

    Raises:
        Refusal: it is not installed, or a setting cannot work.
    """
    check_settings(settings)
    installation = current_installation(settings.data_dir)
    options = ChildOptions(
        packages=installation.folder.absolute(),
        model=(settings.model_path or installation.model_path).absolute(),
        alias=model_id(settings.model_path).name,
        threads=settings.threads,
        context=settings.context,
    )
    return LocalModel(options)


def _failure(kind: FailureKind, message: str) -> StreamFailure:
    return StreamFailure(kind, message, provider=LOCAL)

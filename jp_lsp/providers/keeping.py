"""A provider that remembers what its vendor said about its models (providers 7).

What is known of a model is good for a day, so that a query does not wait for the question. When the vendor
cannot be reached, what it said before is better than nothing. A server of the user's own is always asked: it
is near, and what runs there changes at any time.
"""

import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from difflib import get_close_matches

from anyio import to_thread

from jp_lsp.ports.model_lists import KeptModel, KeptModels, ModelLists
from jp_lsp.ports.provider import (
    CycleObserver,
    CycleRequest,
    ModelDetails,
    ModelId,
    ProviderError,
)
from jp_lsp.ports.providers import SERVERS_OF_ONES_OWN
from jp_lsp.providers.closing import ClosingProvider
from jp_lsp.turn.failure import RETRYABLE_KINDS, FailureKind, StreamFailure
from jp_lsp.turn.stream_event import StreamEvent

_log = logging.getLogger(__name__)

KEPT_FOR = 24 * 3600.0
"""Seconds for which an answer is good enough."""

_MOST_NEAR_NAMES = 3
_NEAR = 0.6


@dataclass(frozen=True, slots=True)
class Vendor:
    """Which vendor it is, and where; the address is only told apart, never shown."""

    name: str
    address: str


class KeepingProvider:
    """Implements `Provider` around another one.

    Args:
        inner: asks the vendor.
        vendor: whose answers they are.
        lists: where answers are kept.
        now: gives Unix seconds.
    """

    def __init__(
        self, inner: ClosingProvider, vendor: Vendor, lists: ModelLists, now: Callable[[], float]
    ) -> None:
        self._inner = inner
        self._vendor = vendor
        self._lists = lists
        self._now = now
        self._is_near = vendor.name in SERVERS_OF_ONES_OWN

    @property
    def pauses_in_arguments(self) -> bool:
        """Whether the vendor is known to fall silent while it writes a tool call's arguments."""
        return self._inner.pauses_in_arguments

    async def models(self) -> Sequence[ModelDetails]:
        """Ask the vendor for its list, and remember it."""
        models = await self._inner.models()
        now = self._now()
        await self._keep(KeptModels({each.id.name: KeptModel(each, now) for each in models}, now))
        return models

    async def kept_models(self) -> KeptModels | None:
        """Give the vendor's last list, however old."""
        kept = await self._load()
        return None if kept is None or kept.listed_at is None else kept

    async def model_details(self, name: str) -> ModelDetails:
        """Give what is known of a model, asking only when that is too old; an unknown one names its neighbours."""
        kept = await self._load()
        known = None if kept is None else kept.models.get(name)
        if known is not None and not self._is_near and 0 <= self._now() - known.asked_at < KEPT_FOR:
            return known.details
        try:
            details = await self._inner.model_details(name)
        except ProviderError as error:
            if known is not None and error.failure.kind in RETRYABLE_KINDS:
                _log.warning("%s is described as it was before: %s", known.details.id, error)
                return known.details
            raise ProviderError(await self._with_near_names(error.failure, name)) from error
        if details != ModelDetails(ModelId(self._vendor.name, name)):
            before = kept or KeptModels({})
            asked = KeptModel(details, self._now())
            await self._keep(KeptModels({**before.models, name: asked}, before.listed_at))
        return details

    async def stream(
        self, request: CycleRequest, observer: CycleObserver
    ) -> AsyncGenerator[StreamEvent, None]:
        """Send one request and give its events; a model that the vendor does not know names its neighbours."""
        async with aclosing(self._inner.stream(request, observer)) as events:
            async for event in events:
                if isinstance(event, StreamFailure):
                    yield await self._with_near_names(event, request.model.id.name)
                else:
                    yield event

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()

    async def _with_near_names(self, failure: StreamFailure, name: str) -> StreamFailure:
        if failure.kind is not FailureKind.UNKNOWN_MODEL:
            return failure
        near = get_close_matches(name, await self._names(), n=_MOST_NEAR_NAMES, cutoff=_NEAR)
        if not near:
            return failure
        names = " or ".join(repr(f"{self._vendor.name}/{each}") for each in near)
        return replace(failure, message=f"{failure.message.rstrip('.')}. Did you mean {names}?")

    async def _names(self) -> Sequence[str]:
        """Name the vendor's models: from its last list, or by asking for one."""
        kept = await self.kept_models()
        if kept is not None and not self._is_near:
            return list(kept.models)
        try:
            return [each.id.name for each in await self.models()]
        except ProviderError as error:
            _log.info("%s cannot be asked which models there are: %s", self._vendor.name, error)
            return [] if kept is None else list(kept.models)

    async def _load(self) -> KeptModels | None:
        return await to_thread.run_sync(self._lists.load, self._vendor.name, self._vendor.address)

    async def _keep(self, kept: KeptModels) -> None:
        try:
            await to_thread.run_sync(self._lists.save, self._vendor.name, self._vendor.address, kept)
        except OSError as problem:
            _log.warning("the models of %s could not be remembered: %s", self._vendor.name, problem)

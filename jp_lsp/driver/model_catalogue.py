"""What models there are to choose from, of all vendors that can be asked (providers 7).

Every vendor is asked at the same time, and each has a few seconds: one that is slow, down or badly set up
costs its own models and a notice, never the list. What a vendor said is kept, because it hardly changes; a
server of the user's own is asked each time, since it is near and its models come and go.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import anyio

from jp_lsp.ports.clock import Clock
from jp_lsp.ports.model_lists import kept_models
from jp_lsp.ports.provider import ModelDetails, ModelId, Provider, ProviderError
from jp_lsp.ports.providers import (
    LOCAL,
    PROVIDER_DEFAULTS,
    SERVERS_OF_ONES_OWN,
    ModelNames,
    Providers,
    ProviderSettings,
)
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.trust import TrustStore
from jp_lsp.turn.failure import FailureKind
from jp_lsp.turn.outcome import Notice

PATIENCE = 5.0
"""Seconds that each vendor has to answer."""

KEPT_FOR = 24 * 3600.0
"""Seconds for which a vendor's list is good enough."""

_ABSENT = frozenset({FailureKind.CONNECT, FailureKind.TIMEOUT})


@dataclass(frozen=True, slots=True)
class ModelListing:
    """What was found, by id; `notices` tell which vendors are missing from it, and why."""

    models: tuple[ModelDetails, ...]
    effective: ModelId | None
    aliases: Mapping[str, ModelId]
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class _Kept:
    """A list, and when it was given, in wall-clock seconds."""

    models: Sequence[ModelDetails]
    since: float


_Key = tuple[str, ProviderSettings]


class ModelCatalogue:
    """The models of one workspace.

    Lists are kept in memory, for as long as the server runs; what providers remember beyond that is used too.

    Args:
        providers: gives the adapters.
        installed: gives the models on this computer that need no vendor.
        trust: tells whether the workspace may say where vendors are reached.
        clock: time.
    """

    def __init__(
        self,
        providers: Providers,
        installed: Callable[[], Sequence[ModelDetails]],
        trust: TrustStore,
        clock: Clock,
    ) -> None:
        self._providers = providers
        self._installed = installed
        self._trust = trust
        self._clock = clock
        self._kept: dict[_Key, _Kept] = {}

    async def list(self, names: ModelNames, *, vendor: str | None, is_fresh: bool) -> ModelListing:
        """List models.

        Args:
            names: what the configuration says about models.
            vendor: list only this one's.
            is_fresh: ask also where an answer is kept.
        """
        settings = self._settings(names)
        models: list[ModelDetails] = []
        notices = [Notice("warning", "models", text) for text in _problems_of_name(vendor)]

        async def ask(name: str) -> None:
            found, problem = await self._ask(name, settings, is_fresh=is_fresh)
            models.extend(found)
            is_expected = name == vendor or (names.effective is not None and name == names.effective.provider)
            if problem is not None and (is_expected or problem.is_worth_telling):
                notices.append(Notice("warning", "models", problem.text))

        async with anyio.create_task_group() as tasks:
            for name in PROVIDER_DEFAULTS:
                if vendor in {None, name}:
                    tasks.start_soon(ask, name)
        models += [model for model in self._installed() if vendor in {None, model.id.provider}]
        effective = names.effective
        if effective is not None and vendor in {None, effective.provider} and not _has(models, effective):
            models.append(ModelDetails(effective))
        models.sort(key=lambda model: str(model.id))
        notices.sort(key=lambda notice: notice.text)
        return ModelListing(tuple(models), effective, names.aliases, tuple(notices))

    def _settings(self, names: ModelNames) -> Mapping[str, ProviderSettings]:
        if names.trusted_providers is not None and not self._trust.changes(names.untrusted):
            return names.trusted_providers
        return names.providers

    async def _ask(
        self, vendor: str, settings: Mapping[str, ProviderSettings], *, is_fresh: bool
    ) -> "tuple[Sequence[ModelDetails], _Problem | None]":
        """Give a vendor's models; where it does not answer, those that it had, and what is wrong."""
        key = vendor, settings.get(vendor, PROVIDER_DEFAULTS[vendor])
        try:
            provider = self._providers.get(ModelId(vendor, "any"), settings)
        except Refusal as refusal:
            is_set_up = refusal.error.code == "config_invalid" and key[1] != PROVIDER_DEFAULTS[vendor]
            return (), _Problem(refusal.error.message, is_worth_telling=is_set_up)
        now = self._clock.wall()
        kept = None if vendor in SERVERS_OF_ONES_OWN else await self._kept_of(key, provider)
        if kept is not None and not is_fresh and 0 <= now - kept.since < KEPT_FOR:
            return kept.models, None
        answer: Sequence[ModelDetails] | None = None
        reason, kind = f"no answer within {PATIENCE:.0f} seconds", FailureKind.TIMEOUT
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._give_up, tasks.cancel_scope)
            try:
                answer = await provider.models()
            except ProviderError as error:
                reason, kind = error.failure.message, error.failure.kind
            tasks.cancel_scope.cancel()
        if answer is None:
            is_absent = vendor in SERVERS_OF_ONES_OWN and key[1] == PROVIDER_DEFAULTS[vendor]
            text = f"The models of {vendor} could not be listed: {reason.rstrip('.')}."
            if kept is not None:
                text += f" Shown are those of {_ago(now - kept.since)} ago."
            problem = _Problem(text, is_worth_telling=not (is_absent and kind in _ABSENT))
            return (() if kept is None else kept.models), problem
        if vendor not in SERVERS_OF_ONES_OWN:
            self._kept[key] = _Kept(answer, now)
        return answer, None

    async def _kept_of(self, key: _Key, provider: Provider) -> _Kept | None:
        """Give what a vendor said before: to us, or to a server that ran earlier."""
        if key not in self._kept:
            before = await kept_models(provider)
            if before is None or before.listed_at is None:
                return None
            self._kept[key] = _Kept(before.listed, before.listed_at)
        return self._kept[key]

    async def _give_up(self, scope: anyio.CancelScope) -> None:
        await self._clock.sleep(PATIENCE)
        scope.cancel()


@dataclass(frozen=True, slots=True)
class _Problem:
    """Why a vendor's models are missing. Of a vendor that the user does not use, nobody need be told."""

    text: str
    is_worth_telling: bool


def _problems_of_name(vendor: str | None) -> Iterator[str]:
    """Say that there is no such vendor, and which one was perhaps meant."""
    known = sorted([*PROVIDER_DEFAULTS, LOCAL])
    if vendor is not None and vendor not in known:
        near = get_close_matches(vendor, known, n=1)
        meant = f" Did you mean {near[0]!r}?" if near else ""
        yield f"There is no vendor {vendor!r}.{meant} Known: {', '.join(known)}."


def _ago(seconds: float) -> str:
    """Say how old something is, roughly."""
    for size, unit in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        if (count := int(seconds // size)) > 0:
            return f"{count} {unit}{'s' if count > 1 else ''}"
    return "a moment"


def _has(models: Collection[ModelDetails], wanted: ModelId) -> bool:
    return any(model.id == wanted for model in models)

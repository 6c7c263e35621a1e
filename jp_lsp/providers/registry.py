"""Which vendors there are, and how an adapter comes to be (providers 1.1).

`ProviderRegistry.get` is the preflight: everything that can be known without the network is checked here, so
that a query with a missing key fails before it has done anything. An adapter's module is imported when its
vendor is first asked for.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Literal, Protocol, cast
from urllib.parse import urlsplit

from jp_lsp.ports.model_lists import ModelLists
from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.providers import LOCAL, PROVIDER_DEFAULTS, SET_BY_EDITORS, ProviderSettings
from jp_lsp.ports.refusal import Refusal
from jp_lsp.providers.closing import ClosingProvider
from jp_lsp.providers.connection import Connection
from jp_lsp.providers.keeping import KeepingProvider, Vendor
from jp_lsp.providers.request_trace import TRACE_VARIABLE, RequestTrace
from jp_lsp.render.secrets import Secrets

MakeLocal = Callable[[RequestTrace | None], ClosingProvider]
"""Makes the provider of the embedded model, which writes down what it is asked where the user wants that."""


@dataclass(frozen=True, slots=True)
class _Vendor:
    """The module whose `make_provider` builds the adapter, and whether it works without a key."""

    module: str
    key: Literal["required", "optional"] = "required"


_VENDORS: Mapping[str, _Vendor] = {
    "anthropic": _Vendor("jp_lsp.providers.anthropic.adapter"),
    "cerebras": _Vendor("jp_lsp.providers.chat.cerebras"),
    "compatible": _Vendor("jp_lsp.providers.chat.compatible", "optional"),
    "deepseek": _Vendor("jp_lsp.providers.chat.deepseek"),
    "google": _Vendor("jp_lsp.providers.google.adapter"),
    "llamacpp": _Vendor("jp_lsp.providers.chat.llamacpp", "optional"),
    "lmstudio": _Vendor("jp_lsp.providers.chat.lmstudio", "optional"),
    "ollama": _Vendor("jp_lsp.providers.ollama.adapter", "optional"),
    "openai": _Vendor("jp_lsp.providers.openai.adapter"),
    "openrouter": _Vendor("jp_lsp.providers.chat.openrouter"),
    "xai": _Vendor("jp_lsp.providers.chat.xai"),
}


class _AdapterModule(Protocol):
    def make_provider(self, connection: Connection) -> ClosingProvider:
        """Build the adapter."""
        ...


class ProviderRegistry:
    """The vendors under one set of settings. Adapters are kept, so that their connections are used again.

    Args:
        settings: what the user set, by vendor; vendors that are absent have their defaults.
        environ: the environment that keys and addresses are read from.
        local: makes the provider of the embedded model; without it there is none.
        lists: where what vendors say about their models is kept; without it they are asked each time.
        now: gives Unix seconds.
    """

    def __init__(
        self,
        settings: Mapping[str, ProviderSettings],
        environ: Mapping[str, str],
        *,
        local: MakeLocal | None = None,
        lists: ModelLists | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._environ = environ
        self._local = local
        self._lists = lists
        self._now = now
        folder = environ.get(TRACE_VARIABLE, "").strip()
        self._trace = RequestTrace(Path(folder), Secrets(self._keys())) if folder else None
        self._made: dict[str, ClosingProvider] = {}

    @property
    def known(self) -> tuple[str, ...]:
        """Name the vendors that can be asked for."""
        return tuple(sorted([*_VENDORS, *([LOCAL] if self._local else [])]))

    def get(self, model: ModelId) -> ClosingProvider:
        """Give the adapter for a model.

        Raises:
            Refusal: unknown vendor, missing key, bad base URL; says what to set.
        """
        if (made := self._made.get(model.provider)) is None:
            made = self._made[model.provider] = self._make(model)
        return made

    async def aclose(self) -> None:
        """Close the connections of all adapters."""
        while self._made:
            _, provider = self._made.popitem()
            await provider.aclose()

    def _make(self, model: ModelId) -> ClosingProvider:
        if model.provider == LOCAL and self._local is not None:
            return self._local(self._trace)
        vendor = _VENDORS.get(model.provider)
        if vendor is None:
            raise Refusal("model_unknown", self._unknown_vendor(model), origin="assistant.model.id")
        connection = self._connect(model.provider, vendor)
        module = cast(_AdapterModule, import_module(vendor.module))
        provider = module.make_provider(connection)
        if self._lists is None:
            return provider
        return KeepingProvider(provider, Vendor(model.provider, connection.base_url), self._lists, self._now)

    def _unknown_vendor(self, model: ModelId) -> str:
        near = get_close_matches(model.provider, self.known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        return f"Unknown provider {model.provider!r} in model {str(model)!r}.{hint} Known: {', '.join(self.known)}."

    def _connect(self, provider: str, vendor: _Vendor) -> Connection:
        defaults = PROVIDER_DEFAULTS[provider]
        settings = self._settings.get(provider, defaults)
        table = f"jp.{provider}" if provider in SET_BY_EDITORS else f"providers.llm.{provider}"
        base_url, origin = settings.base_url or defaults.base_url, f"{table}.base_url"
        base_url_env = settings.base_url_env or defaults.base_url_env
        if base_url_env and (from_environment := self._environ.get(base_url_env, "").strip()):
            base_url, origin = from_environment, base_url_env
        key_name = settings.api_key_env or defaults.api_key_env
        return Connection(
            base_url=_checked_url(base_url, origin, provider),
            api_key=self._key(key_name, vendor, provider) if key_name else None,
            settings=settings,
            now=self._now,
            trace=self._trace,
        )

    def _keys(self) -> Iterator[str]:
        """Give the keys of all vendors: what is said to one may quote that of another."""
        for provider, defaults in PROVIDER_DEFAULTS.items():
            name = self._settings.get(provider, defaults).api_key_env or defaults.api_key_env
            if name:
                yield self._environ.get(name, "").strip()

    def _key(self, name: str, vendor: _Vendor, provider: str) -> str | None:
        # Keys are pasted, often with a line end; an empty value counts as none (providers 1.1).
        key = self._environ.get(name, "").strip()
        if not key:
            if vendor.key == "optional":
                return None
            state = "is empty" if name in self._environ else "is not set"
            message = f"Provider {provider!r} needs a key: environment variable {name} {state}."
            raise Refusal("provider_auth", message, origin=name)
        if not (key.isascii() and key.isprintable()):
            message = f"The key in environment variable {name} has characters that cannot be part of a key."
            raise Refusal("provider_auth", message, origin=name)
        return key


def _checked_url(url: str | None, origin: str, provider: str) -> str:
    """Give the URL if it can be a base URL.

    Raises:
        Refusal: it cannot; says why and where it comes from. The URL itself is not shown: it may hold a key.
    """
    problem = _problem_of_url(url)
    if url is None or problem:
        message = (
            f"The base URL of provider {provider!r} {problem}; set {origin}, such as 'https://host/path'."
        )
        raise Refusal("config_invalid", message, origin=origin)
    return url.strip()


def _problem_of_url(url: str | None) -> str | None:
    if url is None or not url.strip():
        return "is not set"
    if not url.strip().isprintable() or " " in url.strip():
        return "has blanks in it"
    try:
        parts = urlsplit(url.strip())
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return "has a host or port that cannot be read"
    if parts.scheme not in {"http", "https"}:
        return "does not begin with http:// or https://"
    if not has_host:
        return "names no host"
    if parts.query or parts.fragment:
        return "has a query or a fragment behind its path"
    return None

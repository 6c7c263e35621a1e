"""Where vendors are reached, and whether the workspace may decide that (config-and-tools 2.5, 10.4).

A workspace that was just cloned must not send the user's key, or a conversation, to a stranger. So an
address, or the name of the variable with the key, that its files set counts only when requests go to the
user's own machine or to the vendor itself, until the user trusts the workspace.
"""

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import cast
from urllib.parse import SplitResult, urlsplit

from jp_lsp.config.complete import complete
from jp_lsp.config.fold import fold
from jp_lsp.config.foreign import Foreign
from jp_lsp.config.keys_providers import LLM
from jp_lsp.config.layer import Origin, Source
from jp_lsp.config.problem import dotted
from jp_lsp.config.server_settings import ServerSettings
from jp_lsp.config.trace import narrowed, settings_of
from jp_lsp.config.value import ABSENT, MergedList, Partial, Path, Value, entries_of, value_at
from jp_lsp.ports.providers import PROVIDER_DEFAULTS, ProviderSettings

_LLM: Path = ("providers", "llm")
_DECISIVE = ("base_url", "api_key_env", "base_url_env")


@dataclass(frozen=True, slots=True)
class UntrustedEndpoint:
    """Something that a workspace's file says about a vendor, and the host that would get the requests."""

    provider: str
    key: str
    value: str
    host: str
    origin: Origin

    @property
    def claim(self) -> str:
        """What it would come to."""
        return f"`{self.key}` is `{self.value}`, so your key and the conversation would go to `{self.host}`"

    def __str__(self) -> str:
        return f"{self.origin}: {self.claim}"


def untrusted_endpoints(
    sources: Sequence[Source], foreign: Foreign, environ: Mapping[str, str]
) -> tuple[UntrustedEndpoint, ...]:
    """Find what a workspace must not decide; `sources` are in order, lowest first."""
    speaking = narrowed(sources, _LLM)
    found: list[UntrustedEndpoint] = []
    for provider, defaults in PROVIDER_DEFAULTS.items():
        values = {name: _decided(speaking, (*_LLM, provider, name), foreign) for name in _DECISIVE}
        url = _effective_url({name: value for name, (value, _, _) in values.items()}, defaults, environ)
        if _is_harmless(url, defaults.base_url):
            continue
        for name, (value, origin, trusted) in values.items():
            usual = trusted if trusted is not None else cast("str | None", getattr(defaults, name))
            if (
                origin is None
                or value is None
                or value == usual
                or not _matters(name, values, defaults, environ)
            ):
                continue
            key = dotted((*_LLM, provider, name))
            found.append(UntrustedEndpoint(provider, key, value, _host(url), origin))
    return tuple(found)


_Decided = tuple[str | None, Origin | None, str | None]
"""What holds, its origin if that is the workspace, and what the user's own layers say."""


def _decided(sources: Sequence[Source], path: Path, foreign: Foreign) -> _Decided:
    winner: str | None = None
    suspect: Origin | None = None
    for value, origin in settings_of(sources, path):
        if not isinstance(value, str):
            continue
        is_workspaces = origin in foreign
        if winner is None:
            winner, suspect = value, origin if is_workspaces else None
        if not is_workspaces:
            return winner, suspect, value
    return winner, suspect, None


def _effective_url(
    values: Mapping[str, str | None], defaults: ProviderSettings, environ: Mapping[str, str]
) -> str | None:
    variable = values["base_url_env"] or defaults.base_url_env
    from_environment = environ.get(variable, "").strip() if variable else ""
    return from_environment or values["base_url"] or defaults.base_url


def _matters(
    name: str, values: Mapping[str, _Decided], defaults: ProviderSettings, environ: Mapping[str, str]
) -> bool:
    """Tell whether a setting has a say: of address and variable only the one that is used has."""
    variable = values["base_url_env"][0] or defaults.base_url_env
    from_environment = bool(variable and environ.get(variable, "").strip())
    return {"base_url": not from_environment, "base_url_env": from_environment}.get(name, True)


def _is_harmless(url: str | None, own: str | None) -> bool:
    """Tell whether requests stay on this machine or go to the vendor; an address to puzzle over does not."""
    if url is None:
        return True
    parts = _split(url)
    if (
        parts is None
        or not parts.hostname
        or parts.username is not None
        or "\\" in url
        or not url.isprintable()
    ):
        return False
    if _is_loopback(parts.hostname):
        return True
    vendor = None if own is None else _split(own)
    return vendor is not None and (parts.scheme, parts.hostname, parts.port) == (
        vendor.scheme,
        vendor.hostname,
        vendor.port,
    )


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url.strip())
        _ = parts.port
    except ValueError:
        return None
    return parts


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _host(url: str | None) -> str:
    parts = _split(url or "")
    return (parts.hostname if parts is not None else None) or url or "nowhere"


def holds_secret(url: str) -> bool:
    """Tell whether an address has a user name or password in it, which must not be stored."""
    parts = _split(url)
    return parts is None or parts.username is not None or parts.password is not None


def provider_settings(
    sources: Sequence[Source], server: ServerSettings, untrusted: Sequence[UntrustedEndpoint] = ()
) -> Mapping[str, ProviderSettings]:
    """Build what each vendor's adapter is made from; settings that are not trusted are as if not there."""
    distrusted = {endpoint.key for endpoint in untrusted}
    tables = entries_of(complete(LLM, entries_of(value_at(fold(narrowed(sources, _LLM)).tree, _LLM))))
    settings = {
        provider: _settings(entries_of(tables.get(provider, ABSENT)), provider, defaults, distrusted)
        for provider, defaults in PROVIDER_DEFAULTS.items()
    }
    for provider, base_url in (
        ("lmstudio", server.lmstudio_base_url),
        ("compatible", server.compatible_base_url),
    ):
        if base_url is not None:
            settings[provider] = replace(settings[provider], base_url=base_url)
    return MappingProxyType(settings)


def _settings(
    table: Partial, provider: str, defaults: ProviderSettings, distrusted: set[str]
) -> ProviderSettings:
    def text(name: str, default: str | None) -> str | None:
        value = table.get(name, ABSENT)
        is_usable = isinstance(value, str) and dotted((*_LLM, provider, name)) not in distrusted
        return cast("str", value) if is_usable else default

    return ProviderSettings(
        base_url=text("base_url", defaults.base_url),
        api_key_env=text("api_key_env", defaults.api_key_env),
        base_url_env=text("base_url_env", defaults.base_url_env),
        beta_headers=_texts(table.get("beta_headers")),
        chain_on_max_tokens=table.get("chain_on_max_tokens", True) is True,
        app_name=text("app_name", None) or defaults.app_name,
        app_referrer=text("app_referrer", None),
    )


def _texts(value: Value) -> tuple[str, ...]:
    return (
        tuple(item for item in value.items if isinstance(item, str)) if isinstance(value, MergedList) else ()
    )

"""The port towards the set of vendors, and what a user may set for each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from jp_lsp.ports.provider import ModelId, Provider
from jp_lsp.ports.trust import TrustItem


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """`providers.llm.<id>` (config-and-tools 2.5). Every vendor reads the members that concern it.

    `api_key_env` and `base_url_env` name environment variables; a base URL from the environment wins.
    `app_name` and `app_referrer` are how the program presents itself to a vendor that asks.
    """

    base_url: str | None = None
    api_key_env: str | None = None
    base_url_env: str | None = None
    beta_headers: tuple[str, ...] = ()
    chain_on_max_tokens: bool = True
    app_name: str = "JP"
    app_referrer: str | None = None


PROVIDER_DEFAULTS: Mapping[str, ProviderSettings] = {
    "anthropic": ProviderSettings("https://api.anthropic.com", "ANTHROPIC_API_KEY"),
    "cerebras": ProviderSettings("https://api.cerebras.ai", "CEREBRAS_API_KEY"),
    "compatible": ProviderSettings(None, "COMPATIBLE_API_KEY"),
    "deepseek": ProviderSettings("https://api.deepseek.com", "DEEPSEEK_API_KEY"),
    "google": ProviderSettings("https://generativelanguage.googleapis.com/v1beta", "GEMINI_API_KEY"),
    "llamacpp": ProviderSettings("http://127.0.0.1:8080", "LLAMACPP_API_KEY"),
    "lmstudio": ProviderSettings("http://localhost:1234", "LMSTUDIO_API_KEY"),
    "ollama": ProviderSettings("http://localhost:11434", "OLLAMA_API_KEY"),
    "openai": ProviderSettings("https://api.openai.com", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "openrouter": ProviderSettings("https://openrouter.ai", "OPENROUTER_API_KEY"),
    # Its address has no key in the files that we share with another program, which would refuse it.
    "xai": ProviderSettings("https://api.x.ai", "XAI_API_KEY", "XAI_BASE_URL"),
}
"""What holds for a vendor where the user has set nothing."""

SET_BY_EDITORS = frozenset({"compatible", "lmstudio"})
"""Vendors whose address is a setting of the server: the files that we share with another program know them not."""


LOCAL = "local"
"""The vendor that is no vendor: the model that this program runs itself, without a key or an address."""

SERVERS_OF_ONES_OWN = frozenset({"compatible", "llamacpp", "lmstudio", "ollama"})
"""Vendors that are a server which users run themselves: they need no key, and may not be there at all."""


@dataclass(frozen=True, slots=True)
class ModelNames:
    """What a configuration says about models.

    Attributes:
        effective: the model that would be asked.
        aliases: what each alias stands for.
        providers: what adapters are made from as long as the workspace is not trusted.
        trusted_providers: the same once it is; `None` where there is no difference.
        untrusted: what the user must trust for that.
    """

    effective: ModelId | None
    aliases: Mapping[str, ModelId]
    providers: Mapping[str, ProviderSettings]
    trusted_providers: Mapping[str, ProviderSettings] | None = None
    untrusted: tuple[TrustItem, ...] = ()


class Providers(Protocol):
    """Gives the adapter for a model, made when first asked for and kept."""

    def get(self, model: ModelId, settings: Mapping[str, ProviderSettings]) -> Provider:
        """Give the adapter for a model, made with the settings of its vendor; touches no network.

        Raises:
            Refusal: unknown vendor, missing key, bad base URL; says what to set.
        """
        ...

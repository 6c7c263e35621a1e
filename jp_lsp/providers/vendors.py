"""The vendors of one client, whose settings may differ from query to query."""

from collections.abc import Mapping

from jp_lsp.ports.model_lists import ModelLists
from jp_lsp.ports.provider import ModelId, Provider
from jp_lsp.ports.providers import ProviderSettings
from jp_lsp.providers.registry import MakeLocal, ProviderRegistry


class Vendors:
    """The providers of one client. An adapter is made anew when the settings of its vendor change."""

    def __init__(
        self,
        environ: Mapping[str, str],
        local: MakeLocal,
        lists: ModelLists | None = None,
    ) -> None:
        self._environ = environ
        self._local = local
        self._lists = lists
        self._registries: dict[tuple[str, ProviderSettings | None], ProviderRegistry] = {}

    def get(self, model: ModelId, settings: Mapping[str, ProviderSettings]) -> Provider:
        """Give the adapter for a model.

        Raises:
            Refusal: unknown vendor, missing key, bad base URL.
        """
        key = model.provider, settings.get(model.provider)
        registry = self._registries.get(key)
        if registry is None:
            registry = self._registries[key] = ProviderRegistry(
                settings, self._environ, local=self._local, lists=self._lists
            )
        return registry.get(model)

    async def aclose(self) -> None:
        """Close all connections, and the embedded model."""
        for registry in self._registries.values():
            await registry.aclose()

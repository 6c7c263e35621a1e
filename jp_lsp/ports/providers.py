"""The port towards the set of vendors."""

from typing import Protocol

from jp_lsp.ports.provider import ModelId, Provider


class Providers(Protocol):
    """Gives the adapter for a model, made when first asked for and kept."""

    def get(self, model: ModelId) -> Provider:
        """Give the adapter; touches no network.

        Raises:
            Refusal: unknown vendor, missing key, bad base URL; says what to set.
        """
        ...

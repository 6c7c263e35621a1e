"""A provider that holds something until it is closed: connections, or a process."""

from typing import Protocol

from jp_lsp.ports.provider import Provider


class ClosingProvider(Provider, Protocol):
    """A provider that holds connections."""

    async def aclose(self) -> None:
        """Close them."""

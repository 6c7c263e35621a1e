"""The port towards what vendors said about their models before (providers 7).

Vendors are asked over the network and their answers hardly change, so they are remembered with their age: a
query need not ask again, and a list can be shown where no vendor can be reached.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from jp_lsp.ports.provider import ModelDetails


@dataclass(frozen=True, slots=True)
class KeptModel:
    """A model as it was described; `asked_at` is in Unix seconds."""

    details: ModelDetails
    asked_at: float


@dataclass(frozen=True, slots=True)
class KeptModels:
    """What one vendor said at one address.

    Attributes:
        models: by the vendor's names.
        listed_at: when all of them were listed, in Unix seconds; `None` if only single ones were asked about.
    """

    models: Mapping[str, KeptModel]
    listed_at: float | None = None

    @property
    def listed(self) -> Sequence[ModelDetails]:
        """All models, by name."""
        return [kept.details for _, kept in sorted(self.models.items())]


class ModelLists(Protocol):
    """Keeps what vendors said. Both methods may block for as long as a small file takes."""

    def load(self, provider: str, address: str) -> KeptModels | None:
        """Give what a vendor said; nothing when that is not known, or cannot be read any more."""
        ...

    def save(self, provider: str, address: str, kept: KeptModels) -> None:
        """Keep what a vendor said, in place of what it said before.

        Raises:
            OSError: it could not be kept.
        """
        ...


@runtime_checkable
class RemembersModels(Protocol):
    """A provider that knows what its vendor said before."""

    async def kept_models(self) -> KeptModels | None:
        """Give the vendor's last list, however old; nothing when there is none."""
        ...


async def kept_models(provider: object) -> KeptModels | None:
    """Give what a provider remembers of its vendor's list, if it remembers anything."""
    return await provider.kept_models() if isinstance(provider, RemembersModels) else None

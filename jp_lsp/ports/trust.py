"""The port towards trust: what a workspace wants to run, and what the user said to that (config-and-tools 10.4).

A workspace that was just cloned must not be able to run anything, nor to send the user's key elsewhere. What
its files define of that kind is a list of items. None of it counts until the user trusts the workspace, which
is kept outside of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

TrustPolicy = Literal["ask", "never", "always"]
"""The server's setting `trust`."""

TrustKind = Literal[
    "approval", "attachment", "endpoint", "formatter", "label", "label_approval", "link", "mcp_server", "tool"
]
"""What an item is: `approval` lets a tool of the user's own run unasked, `label_approval` the command of a label
of theirs, `endpoint` decides where requests go, `link` puts a folder of the workspace outside of it."""


@dataclass(frozen=True, slots=True, order=True)
class TrustItem:
    """One thing that a workspace's files define.

    `name` is that of the tool, server or label, or the key of a setting. `text` is all that is trusted with
    it, such as the command: another text is another item. `origin` says for people where it stands and is no
    part of it.
    """

    kind: TrustKind
    name: str
    text: str
    origin: str = ""


@dataclass(frozen=True, slots=True)
class TrustChange:
    """An item that the user has not trusted yet; `is_new` unless another text under its name was."""

    item: TrustItem
    is_new: bool


class TrustStore(Protocol):
    """What the user said about one workspace. Reading never fails: what cannot be read is not trusted."""

    def is_trusted(self, trust_hash: str) -> bool:
        """Tell whether exactly the items with this hash were trusted last."""
        ...

    def changes(self, items: Sequence[TrustItem]) -> tuple[TrustChange, ...]:
        """Give those of the items that were never trusted at this place; none if all of them were."""
        ...

    def trust(self, trust_hash: str, items: Sequence[TrustItem]) -> None:
        """Trust these items from now on. Holds until the server ends even where it cannot be stored."""

    def decline(self, trust_hash: str) -> None:
        """Remember until the server ends that the user said no to these items."""

    def is_declined(self, trust_hash: str) -> bool:
        """Tell whether the user said no to exactly these items."""
        ...

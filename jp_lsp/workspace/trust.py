"""What the user said about trusting a workspace, on disk (config-and-tools 10.4).

One file in the user's own data, never in a workspace: a clone could bring its own. An entry belongs to the
canonical path of a workspace, so a copy elsewhere is asked about anew. Of each item only a digest is kept.
What was trusted once stays so: going back to an older state of the files asks nothing.
"""

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jp_lsp.conversation.json_text import from_text
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.ports.trust import TrustChange, TrustItem
from jp_lsp.workspace.atomic import write_file

TRUST_FILE = "trust.json"

_log = logging.getLogger(__name__)

_VERSION = 1
_MOST_CHARACTERS = 16 * 1024 * 1024
_MOST_KEPT = 5000
"""Items that are kept of one workspace; the oldest go first."""


class DiskTrustStore:
    """Implements `ports.trust.TrustStore` for one workspace.

    Args:
        path: the file, in the user's own data.
        workspace: the workspace's folder.
    """

    def __init__(self, path: Path, workspace: Path) -> None:
        self._path = path
        self._place = str(workspace.resolve())
        self._unstored: _Entry | None = None
        self._declined: set[str] = set()

    def is_trusted(self, trust_hash: str) -> bool:
        """Tell whether exactly the items with this hash were trusted last."""
        return trust_hash == self._entry().hash

    def changes(self, items: Sequence[TrustItem]) -> tuple[TrustChange, ...]:
        """Give those of the items that were never trusted at this place; none if all of them were."""
        known = self._entry().digests
        names = {name for name, _ in known}
        return tuple(
            TrustChange(item, is_new=_name(item) not in names)
            for item in items
            if (_name(item), _digest(item)) not in known
        )

    def trust(self, trust_hash: str, items: Sequence[TrustItem]) -> None:
        """Trust these items from now on. Holds until the server ends even where it cannot be stored."""
        # Others write the file as well; their workspaces must not be lost.
        workspaces = dict(_read(self._path))
        known = self._entry().digests
        fresh = {(_name(item), _digest(item)): None for item in items}
        kept = [*(one for one in known if one not in fresh), *fresh][-_MOST_KEPT:]
        entry = _Entry(trust_hash, dict.fromkeys(kept))
        self._declined.discard(trust_hash)
        workspaces[self._place] = entry.to_json()
        text = json.dumps({"version": _VERSION, "workspaces": workspaces}, indent=1)
        try:
            write_file(self._path, f"{text}\n".encode())
        except OSError as error:
            _log.warning(
                "trust cannot be stored in %s and holds until the server ends: %s", self._path, error
            )
            self._unstored = entry
        else:
            self._unstored = None

    def decline(self, trust_hash: str) -> None:
        """Remember until the server ends that the user said no to these items."""
        self._declined.add(trust_hash)

    def is_declined(self, trust_hash: str) -> bool:
        """Tell whether the user said no to exactly these items."""
        return trust_hash in self._declined

    def _entry(self) -> "_Entry":
        """Give what is trusted. The file is read each time: who takes an entry out of it means that."""
        return self._unstored or _entry_of(_read(self._path).get(self._place))


@dataclass(frozen=True, slots=True)
class _Entry:
    """What is trusted of one workspace: the hash that was trusted last, and name and digest of every item."""

    hash: str | None = None
    digests: Mapping[tuple[str, str], None] = field(default_factory=lambda: {})

    def to_json(self) -> JsonObject:
        items: list[JsonValue] = [[name, digest] for name, digest in self.digests]
        return {"hash": self.hash, "items": items}


def _name(item: TrustItem) -> str:
    return f"{item.kind}:{item.name}"


def _digest(item: TrustItem) -> str:
    return hashlib.sha256(item.text.encode("utf-8", "surrogatepass")).hexdigest()


def _read(path: Path) -> JsonObject:
    """Read the entries of all workspaces; what is missing or broken trusts nothing."""
    try:
        with path.open(encoding="utf-8") as file:
            # What is longer than we ever write is cut, and then it is no JSON.
            held = from_text(file.read(_MOST_CHARACTERS))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        _log.warning("no workspace is trusted, because %s cannot be read: %s", path, error)
        return {}
    workspaces = held.get("workspaces") if isinstance(held, Mapping) else None
    return workspaces if isinstance(workspaces, Mapping) else {}


def _entry_of(value: JsonValue) -> _Entry:
    if not isinstance(value, Mapping):
        return _Entry()
    trust_hash, items = value.get("hash"), value.get("items")
    digests: dict[tuple[str, str], None] = {}
    for item in items if isinstance(items, Sequence) and not isinstance(items, str) else ():
        match item:
            case [str(name), str(digest)]:
                digests[name, digest] = None
            case _:
                continue
    return _Entry(trust_hash if isinstance(trust_hash, str) and trust_hash else None, digests)

"""The shelf of a scratch workspace, and what a test wants to know of it."""

import json
from pathlib import Path
from typing import Any

from jp_lsp.workspace.listing import Listing
from jp_lsp.workspace.operations import DiskOperations
from tests.support.workspaces import Place

ARCHIVE, TRASH = ".archive", ".trash"


def shelf_of(place: Place, *, newer_format: bool = False) -> DiskOperations:
    """A shelf of its own, as another process would have it."""
    roots = place.open()
    return DiskOperations(roots, Listing(roots), now=place.clock, newer_format=newer_format)


def folders(place: Place) -> dict[str, list[str]]:
    """The names of conversation folders: live, archived and in the trash, of both roots."""
    found: dict[str, list[str]] = {}
    for label, root in (("silo", place.silo), ("workspace", place.storage)):
        for part in ("", ARCHIVE, TRASH):
            folder = root / "conversations" / part
            names = [each.name for each in folder.iterdir() if each.name[0] != "."] if folder.is_dir() else []
            if names:
                found[f"{label}{part}"] = sorted(names)
    return found


def metadata_of(folder: Path) -> dict[str, Any]:
    """What the metadata of a folder say."""
    return json.loads((folder / "metadata.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]

"""What a place in a configuration file points at: a file that it extends, an alias, or a setting elsewhere."""

from dataclasses import dataclass
from typing import TypeAlias

from jp_lsp.config.kind import MapOf, Table
from jp_lsp.config.model_id import MODEL_ID
from jp_lsp.config.problem import dotted
from jp_lsp.config.value import Path
from jp_lsp.language.document import Document, Place, ValuePlace
from jp_lsp.language.schema_view import key_at

_ALIASES: Path = ("providers", "llm", "aliases")


@dataclass(frozen=True, slots=True)
class ExtendedFiles:
    """An entry of `extends`: a path or a pattern."""

    target: str


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting, wherever it is set."""

    key: str


Target: TypeAlias = ExtendedFiles | Setting


def target_at(document: Document, offset: int) -> Target | None:
    """Say what the place at an offset points at; `None` for nothing."""
    targets = map(_target, document.places_at(offset))
    return next((target for target in targets if target is not None), None)


def _target(place: Place) -> Target | None:
    key = key_at(place.path)
    if key is None:
        return None
    if isinstance(place, ValuePlace):
        value = None if place.node is None else place.node.scalar
        if not isinstance(value, str):
            return None
        if place.path[0] == "extends":
            is_file = len(place.path) == 2 or place.path[2:] == ("path",)
            return ExtendedFiles(value) if is_file and value else None
        if key.kind is MODEL_ID and "/" not in value:
            return Setting(dotted((*_ALIASES, value)))
        return None
    return None if isinstance(key.kind, Table | MapOf) else Setting(dotted(place.path))

"""Which layer, and which file of it, a value came from."""

from collections.abc import Sequence

from jp_lsp.config.layer import Change, Layer, Origin, Source
from jp_lsp.config.value import ABSENT, Path, value_at


def locate(sources: Sequence[Source], path: Path) -> Origin | None:
    """Give the origin of the topmost source that sets `path`, or something below or above it.

    For a value that layers add to this is the last one that added; `explain` knows them all.
    """
    for source in reversed(sources):
        origin = _place_in(source, path)
        if origin is not None:
            return origin
    return None


def _place_in(source: Source, path: Path) -> Origin | None:
    match source:
        case Layer():
            for step in reversed(source.steps):
                if value_at(step.partial, path) is not ABSENT:
                    return step.place_of(path)
            return None
        case Change():
            return source.origin if touches(source, path) else None


def touches(change: Change, path: Path) -> bool:
    """Tell whether an assignment is to `path`, to a part of it, or to something that holds it."""
    if not change.key:
        return value_at_object(change, path)
    key = change.key.split(".")
    names = [str(segment) for segment in path]
    count = min(len(key), len(names))
    return key[:count] == names[:count]


def value_at_object(change: Change, path: Path) -> bool:
    """Tell whether the object of a root assignment has something at `path`."""
    node = change.value
    for segment in path:
        if not isinstance(node, dict) or segment not in node:
            return False
        node = node[segment]
    return True

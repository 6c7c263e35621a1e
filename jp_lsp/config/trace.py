"""Which layer, and which file of it, a value came from."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from jp_lsp.config.assign import AssignmentError, assign_change
from jp_lsp.config.layer import Change, Layer, Origin, Source
from jp_lsp.config.value import ABSENT, EMPTY, MaybeValue, Path, Value, value_at


def settings_of(sources: Sequence[Source], path: Path) -> Iterator[tuple[Value, Origin]]:
    """Give each value that a source itself has at `path`, with its place; topmost first.

    A file of a layer counts by itself. For a value that takes the place of those below, the first is what
    holds; for a list or text all of them may have a part in it.
    """
    for source in reversed(sources):
        match source:
            case Layer():
                for step in reversed(source.steps):
                    value = value_at(step.partial, path)
                    if value is not ABSENT:
                        yield value, step.place_of(path)
            case Change():
                value = _assigned(source, path)
                if value is not ABSENT:
                    yield value, source.origin


def narrowed(sources: Sequence[Source], path: Path) -> Sequence[Source]:
    """Keep only what has something at `path`, to look up many keys below it."""
    kept: list[Source] = []
    for source in sources:
        match source:
            case Layer():
                steps = tuple(step for step in source.steps if value_at(step.partial, path) is not ABSENT)
                if steps:
                    kept.append(replace(source, steps=steps))
            case Change():
                if _assigned(source, path) is not ABSENT:
                    kept.append(source)
    return kept


def locate(sources: Sequence[Source], path: Path) -> Origin | None:
    """Give the place of the topmost source that sets `path`; for an item of a list, that sets the list."""
    names = path
    for index, segment in enumerate(path):
        if isinstance(segment, int):
            names = path[:index]
            break
    return next((origin for _, origin in settings_of(sources, names)), None)


def _assigned(change: Change, path: Path) -> MaybeValue:
    try:
        return value_at(assign_change(EMPTY, change), path)
    except AssignmentError:
        return ABSENT  # it changes something that only lower layers have, such as one item of a list

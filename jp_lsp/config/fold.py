"""Layers in their order, folded into one tree (config-and-tools 1.2).

The order is data. The architecture puts a conversation below the environment; the command-line tool has it
the other way round, and what is written into a conversation follows its order, whichever one is used for
reading.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from jp_lsp.config.assign import AssignmentError, assign_change
from jp_lsp.config.layer import FILE_KINDS, Change, Layer, LayerKind, Source
from jp_lsp.config.merge import merge_tables
from jp_lsp.config.problem import Problem
from jp_lsp.config.schema import SCHEMA
from jp_lsp.config.server_settings import LayerOrder
from jp_lsp.config.value import EMPTY, Partial

Order: TypeAlias = tuple[LayerKind, ...]

OUR_ORDER: Order = (*FILE_KINDS, "conversation", "environment", "request")
"""Lowest first; this is the order that settings are resolved in."""

REFERENCE_ORDER: Order = (*FILE_KINDS, "environment", "conversation", "request")
"""The command-line tool's; decides what is written into a conversation."""

ORDERS: Mapping[LayerOrder, Order] = {"environment_wins": OUR_ORDER, "conversation_wins": REFERENCE_ORDER}
"""What the server's setting `layer_order` chooses from."""

Watcher: TypeAlias = Callable[[Source, Partial], None]
"""Told of each source and of the tree after it."""


def in_order(sources: Iterable[Source], order: Order) -> Sequence[Source]:
    """Sort sources by the kind of their layer; those of one kind stay as they are."""
    ranks: dict[str, int] = {kind: rank for rank, kind in enumerate(order)}
    return sorted(sources, key=lambda source: ranks[source.kind])


@dataclass(frozen=True, slots=True)
class Folded:
    """The sum of all sources; `problems` tells of assignments that could not be made and are left out."""

    tree: Partial
    problems: tuple[Problem, ...] = ()


def fold(sources: Sequence[Source], watch: Watcher | None = None) -> Folded:
    """Fold sources that are in order already, lowest first."""
    tree: Partial = EMPTY
    problems: list[Problem] = []
    is_over_conversation = False
    for source in sources:
        match source:
            case Layer():
                skips_known = source.skips_known or is_over_conversation
                tree = merge_tables(SCHEMA, tree, layer_partial(source), skips_known=skips_known)
            case Change():
                try:
                    tree = assign_change(tree, source)
                except AssignmentError as error:
                    problems.append(Problem(error.key, error.text, source.origin))
            case _:
                assert_never(source)
        # What lies over a conversation was part of it when it began; adding it once more is never meant.
        is_over_conversation = is_over_conversation or source.kind == "conversation"
        if watch is not None:
            watch(source, tree)
    return Folded(tree, tuple(problems))


def layer_partial(layer: Layer) -> Partial:
    """Fold the files of one layer among themselves."""
    tree: Partial = EMPTY
    for step in layer.steps:
        tree = merge_tables(SCHEMA, tree, step.partial)
    return tree

"""What one query's settings come from, with what is made of it: the step from layers to answers.

Folding a hundred files takes longer than reading them again, so each result is made once, when it is first wanted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath

from jp_lsp.config.attachments import named_layer
from jp_lsp.config.delta import compute_change
from jp_lsp.config.explain import explain_all
from jp_lsp.config.explanation import Explanation
from jp_lsp.config.fold import REFERENCE_ORDER, Order, in_order
from jp_lsp.config.gather import Gathered
from jp_lsp.config.layer import FILE_KINDS, Layer, Source
from jp_lsp.config.problem import Problem
from jp_lsp.config.resolve import Resolved, complete_configuration, resolve
from jp_lsp.config.schema import SCHEMA
from jp_lsp.config.snapshot import from_stored, to_stored, without_private
from jp_lsp.config.stored import StoredSettings, stored_layer
from jp_lsp.config.trace import locate
from jp_lsp.config.value import ABSENT, Partial, entries_of, existing_path, value_at, without_manner
from jp_lsp.config.write import write_table
from jp_lsp.conversation.json_value import JsonObject

_LASTING_KINDS = frozenset({*FILE_KINDS, "environment"})
"""What the next query finds as well."""


@dataclass(frozen=True, slots=True, eq=False)
class Sources:
    """Sources as they were gathered, of a conversation too; results are kept for each order of the layers."""

    gathered: Gathered
    stored: StoredSettings | None
    document: FilePath | None = None
    _resolved: dict[Order, Resolved] = field(default_factory=lambda: {}, init=False)
    _values: dict[Order, JsonObject] = field(default_factory=lambda: {}, init=False)
    _explained: dict[Order, Sequence[Explanation]] = field(default_factory=lambda: {}, init=False)

    def attaching(self, attachments: Sequence[str]) -> "Sources":
        """Give the same, with what the query attaches."""
        sources = (*self.gathered.sources, named_layer(attachments, self.document))
        return Sources(replace(self.gathered, sources=sources), self.stored, self.document)

    def resolved(self, order: Order) -> Resolved:
        """Give the complete configuration."""
        if order not in self._resolved:
            self._resolved[order] = resolve(self.ordered(order))
        return self._resolved[order]

    def explained(self, order: Order) -> Sequence[Explanation]:
        """Say of each setting that somebody made where it comes from."""
        if order not in self._explained:
            self._explained[order] = tuple(explain_all(self.ordered(order), order))
        return self._explained[order]

    def ordered(self, order: Order) -> Sequence[Source]:
        """Give all of them, lowest first."""
        conversation = () if self.stored is None else (stored_layer(self.stored.tree),)
        return in_order((*self.gathered.sources, *conversation), order)

    def values(self, order: Order) -> JsonObject:
        """Give the complete configuration, for people: how its parts were merged no longer shows."""
        if order not in self._values:
            tree = without_manner(self.resolved(order).tree)
            self._values[order] = write_table(SCHEMA, entries_of(tree))
        return self._values[order]

    def to_store(self, tree: Partial) -> tuple[JsonObject, Sequence[str]]:
        """Give a configuration as the conversation should have it, and a sentence for each change that will not last."""
        if self.stored is None:
            return to_stored(tree), ()
        present = from_stored(to_stored(complete_configuration(self.stored.tree)[0]))
        target = from_stored(to_stored(tree if self._is_order_free else self.resolved(REFERENCE_ORDER).tree))
        wanted = without_private(target, present, self.ordered(REFERENCE_ORDER))
        change = compute_change(self.stored, wanted)
        return to_stored(wanted), (*map(_not_kept, change.lost), *self._coming_back(change.unsets, wanted))

    def _coming_back(self, unsets: Sequence[str], wanted: Partial) -> Iterator[str]:
        """Say which values are taken from the conversation in vain, since what lies below it has them too (trap 10)."""
        assert self.stored is not None
        lasting = [source for source in self.ordered(REFERENCE_ORDER) if source.kind in _LASTING_KINDS]
        for key in unsets:
            path = existing_path(self.stored.tree, key)
            if path is not None and value_at(wanted, path) is ABSENT and (origin := locate(lasting, path)):
                yield f"`{key}`: this change holds for this query only; {origin} sets it, which then counts again"

    @property
    def _is_order_free(self) -> bool:
        """Whether the order of conversation and environment makes no difference."""
        return not any(
            isinstance(source, Layer) and source.kind == "environment" and source.steps
            for source in self.gathered.sources
        )

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with them each by itself."""
        return (*self.gathered.problems, *(() if self.stored is None else self.stored.problems))


def _not_kept(key: str) -> str:
    return f"`{key}`: this change holds for this query only; the conversation's file format cannot keep it"

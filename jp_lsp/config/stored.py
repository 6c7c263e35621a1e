"""The settings that a conversation keeps: its base configuration and the changes after it (1.8).

Stored settings may be years old. They are read as far as they are understood; what is not understood is
noted, and the files stay as they are.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from jp_lsp.config.complete import final_table
from jp_lsp.config.layer import Layer, Origin, Step
from jp_lsp.config.merge import merge_tables
from jp_lsp.config.models import resolve_models
from jp_lsp.config.problem import Problem, Report, dotted
from jp_lsp.config.read import read_table
from jp_lsp.config.schema import SCHEMA
from jp_lsp.config.value import ABSENT, EMPTY, Partial, existing_path, with_value
from jp_lsp.conversation.json_value import JsonObject

ORIGIN = Origin("conversation", "the conversation's stored settings")

_NOT_KEPT = ("inherit", "extends")


class StoredChange(Protocol):
    """A change of settings as the conversation has it."""

    @property
    def delta(self) -> JsonObject:
        """The settings that changed."""
        ...

    @property
    def unsets(self) -> tuple[str, ...]:
        """Dotted keys that lose their value first."""
        ...

    @property
    def is_reset(self) -> bool:
        """Whether everything before is forgotten."""
        ...


@dataclass(frozen=True, slots=True)
class StoredSettings:
    """The sum of what a conversation keeps, not completed, and what could not be understood."""

    tree: Partial
    problems: tuple[Problem, ...] = ()


def read_stored(base: JsonObject, changes: Iterable[StoredChange]) -> StoredSettings:
    """Fold a base configuration and its changes, in stream order."""
    report = Report()
    tree = read_table(SCHEMA, base, report)
    for change in changes:
        if change.is_reset:
            tree = EMPTY
            continue
        for key in change.unsets:
            tree = clear(tree, key)
        tree = merge_tables(SCHEMA, tree, read_table(SCHEMA, change.delta, report))
    return StoredSettings(tree, tuple(_problems(report)))


def _problems(report: Report) -> Iterable[Problem]:
    for finding in dict.fromkeys(report.findings):
        is_unknown = finding.text.startswith("unknown key")
        yield Problem(dotted(finding.path), finding.text, ORIGIN, "hint" if is_unknown else "warning")


def stored_layer(tree: Partial) -> Layer:
    """Make the layer of a conversation.

    It takes the place of what files say, lists included, wherever it has a value. Aliases in it, as old
    conversations have them, mean what they meant then.
    """
    kept = {name: value for name, value in tree.items() if name not in _NOT_KEPT}
    resolved, _ = resolve_models(kept)
    return Layer(ORIGIN, (Step(ORIGIN, final_table(SCHEMA, resolved)),))


def clear(tree: Partial, key: str) -> Partial:
    """Take the value of a dotted key away; a key that has none changes nothing."""
    path = existing_path(tree, key)
    if path is None or any(isinstance(segment, int) for segment in path):
        return tree
    return with_value(tree, path, ABSENT)

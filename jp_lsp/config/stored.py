"""The settings that a conversation keeps: its base configuration and the changes after it (1.8).

Stored settings may be years old. They are read as far as they are understood; what is not understood is
noted, and the files stay as they are.
"""

from collections.abc import Iterable, Iterator, Sequence
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
from jp_lsp.conversation.stream import ConversationStream

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
    """The sum of what a conversation keeps, not completed, and what could not be understood.

    `newer_format`: its files can say that a value is gone.
    """

    tree: Partial
    problems: tuple[Problem, ...] = ()
    newer_format: bool = False


def read_stored(
    base: JsonObject, changes: Iterable[StoredChange], *, newer_format: bool = False
) -> StoredSettings:
    """Fold a base configuration and its changes, in stream order."""
    report = Report()
    *_, tree = stored_trees(base, changes, report)
    return StoredSettings(tree, tuple(_problems(report)), newer_format)


def stored_settings(conversation: ConversationStream) -> StoredSettings:
    """Read what a conversation keeps."""
    changes = stored_changes(conversation)
    return read_stored(conversation.base_config, changes, newer_format=conversation.newer_format)


def stored_changes(conversation: ConversationStream) -> Sequence[StoredChange]:
    """Give the changes of settings that a conversation has stored."""
    return [change for _, change in conversation.config_deltas()]


def stored_trees(base: JsonObject, changes: Iterable[StoredChange], report: Report) -> Iterator[Partial]:
    """Give the sum at each moment, not completed: before the first change, and behind each (trap 64)."""
    tree = read_table(SCHEMA, base, report)
    yield tree
    for change in changes:
        tree = _after(tree, change, report)
        yield tree


def _after(tree: Partial, change: StoredChange, report: Report) -> Partial:
    if change.is_reset:
        return EMPTY
    for key in change.unsets:
        tree = clear(tree, key)
    return merge_tables(SCHEMA, tree, read_table(SCHEMA, change.delta, report))


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

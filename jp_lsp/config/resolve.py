"""From sources to a complete configuration: fold, fill, check, look aliases up, sort (config-and-tools 1.9).

Pure: files were read before. What is wrong comes back as problems beside the tree, which is always usable;
whether a query may begin with it is for the caller.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from jp_lsp.config.assign import AssignmentError
from jp_lsp.config.complete import complete_table
from jp_lsp.config.fold import fold
from jp_lsp.config.keys_tools import TOOL_DEFAULTS_ENTRY
from jp_lsp.config.layer import Change, Source
from jp_lsp.config.models import MAIN_MODEL, Unresolved, resolve_models
from jp_lsp.config.problem import Problem, Severity, dotted
from jp_lsp.config.rules import RULES, Violation, without_incomplete
from jp_lsp.config.schema import SCHEMA
from jp_lsp.config.trace import locate
from jp_lsp.config.value import ABSENT, EMPTY, MergedList, Partial, Path, Value, entries_of, value_at, with_value

DEFAULT_RUN = "ask"
_RUN: Path = ("conversation", "tools", TOOL_DEFAULTS_ENTRY, "run")
_SORTED: tuple[Path, ...] = (("assistant", "system_prompt_sections"), ("assistant", "instructions"))


@dataclass(frozen=True, slots=True)
class Resolved:
    """A complete configuration; every value has its normal form, and models are no longer aliases."""

    tree: Partial
    problems: tuple[Problem, ...] = ()


def resolve(sources: Sequence[Source]) -> Resolved:
    """Resolve sources that are in order, lowest first."""
    folded, problems = _fold_all(sources)
    tree, violations = complete_configuration(folded)
    return Resolved(tree, (*problems, *_problems(violations, sources)))


def complete_configuration(folded: Partial) -> tuple[Partial, Sequence[Violation]]:
    """Fill, check and sort a tree that is folded already."""
    tree = complete_table(SCHEMA, folded)
    violations: list[Violation] = []
    if value_at(tree, _RUN) is ABSENT:
        tree = with_value(tree, _RUN, DEFAULT_RUN)
        violations.append(Violation(_RUN, f"is not set; `{DEFAULT_RUN}` is used", "hint"))
    tree, incomplete = without_incomplete(SCHEMA, tree)
    violations += incomplete
    for rule in RULES:
        for violation in rule(tree):
            violations.append(violation)
            if violation.drops:
                tree = with_value(tree, violation.path, ABSENT)
    tree, unresolved = resolve_models(tree)
    for model in unresolved:
        violations.append(_unresolved(model))
        tree = with_value(tree, _owner(model.path), ABSENT)
    return sort_by_position(tree), violations


def sort_by_position(tree: Partial) -> Partial:
    """Sort sections and instructions by their position; those at one position keep their order."""
    for path in _SORTED:
        held = value_at(tree, path)
        if isinstance(held, MergedList):
            tree = with_value(tree, path, replace(held, items=tuple(sorted(held.items, key=_position))))
    return tree


def _position(item: Value) -> int:
    position = entries_of(item).get("position", 0)
    return position if isinstance(position, int) else 0


def _fold_all(sources: Sequence[Source]) -> tuple[Partial, list[Problem]]:
    """Fold all sources; changes that cannot be made are left out and reported, each of them."""
    problems: list[Problem] = []
    while True:
        failed: list[Source] = []

        def watch(source: Source, tree: Partial, done: list[Source] = failed) -> None:
            done.append(source)

        try:
            return fold(sources, watch), problems
        except AssignmentError as error:
            culprit = sources[len(failed)]
            problems.append(Problem(error.key, error.text, culprit.origin))
            sources = [source for source in sources if source is not culprit]

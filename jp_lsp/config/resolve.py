"""From sources to a complete configuration: fold, fill, check, look aliases up, sort (config-and-tools 1.9).

Pure: files were read before. What is wrong comes back as problems beside the tree, which is always usable;
whether a query may begin with it is for the caller.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from jp_lsp.config.complete import complete_table
from jp_lsp.config.fold import fold
from jp_lsp.config.keys_tools import TOOL_DEFAULTS_ENTRY
from jp_lsp.config.layer import Source
from jp_lsp.config.models import ALIASES, MAIN_MODEL, Unresolved, resolve_models
from jp_lsp.config.problem import Problem, dotted
from jp_lsp.config.rules import RULES, Violation, without_incomplete
from jp_lsp.config.schema import SCHEMA
from jp_lsp.config.trace import locate
from jp_lsp.config.value import ABSENT, MergedList, Partial, Path, Value, entries_of, value_at, with_value
from jp_lsp.tools.builtin import BUILTIN_TOOLS

DEFAULT_RUN = "ask"
_TOOLS: Path = ("conversation", "tools")
_RUN: Path = (*_TOOLS, TOOL_DEFAULTS_ENTRY, "run")
_SORTED: tuple[Path, ...] = (("assistant", "system_prompt_sections"), ("assistant", "instructions"))


@dataclass(frozen=True, slots=True)
class Resolved:
    """A complete configuration; every value has its normal form, and models are no longer aliases."""

    tree: Partial
    problems: tuple[Problem, ...] = ()


def resolve(sources: Sequence[Source]) -> Resolved:
    """Resolve sources that are in order, lowest first."""
    folded = fold(sources)
    tree, violations = complete_configuration(folded.tree)
    return Resolved(tree, (*folded.problems, *_problems(violations, sources)))


def complete_configuration(folded: Partial) -> tuple[Partial, Sequence[Violation]]:
    """Fill, check and sort a tree that is folded already."""
    tree = _with_known_sources(complete_table(SCHEMA, folded))
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


def _with_known_sources(tree: Partial) -> Partial:
    """Say where tools of ours come from, so that one line is enough to switch them on (query pipeline 7.4)."""
    for name, tool in entries_of(value_at(tree, _TOOLS)).items():
        if name in BUILTIN_TOOLS and "source" not in entries_of(tool):
            tree = with_value(tree, (*_TOOLS, name, "source"), "builtin")
    return tree


def sort_by_position(tree: Partial) -> Partial:
    """Sort sections and instructions by their position; those at one position keep their order."""
    for path in _SORTED:
        held = value_at(tree, path)
        if isinstance(held, MergedList):
            tree = with_value(tree, path, order_items(path, held))
    return tree


def order_items(path: Path, held: MergedList) -> MergedList:
    """Sort the items of a list, if it is one of those that are sorted."""
    return replace(held, items=tuple(sorted(held.items, key=_position))) if path in _SORTED else held


def _position(item: Value) -> int:
    position = entries_of(item).get("position", 0)
    return position if isinstance(position, int) else 0


def _unresolved(model: Unresolved) -> Violation:
    if model.path == MAIN_MODEL:
        return Violation(model.path, model.text, "error")
    return Violation(model.path, f"{model.text}; it is left out")


def _owner(path: Path) -> Path:
    """Give what is left out with a model that is none: an alias, the model's table, or the main id itself."""
    return path if path == MAIN_MODEL or path[: len(ALIASES)] == ALIASES else path[:-1]


def _problems(violations: Iterable[Violation], sources: Sequence[Source]) -> Iterator[Problem]:
    for violation in violations:
        origin = locate(sources, violation.path)
        yield Problem(dotted(violation.path), violation.text, origin, violation.severity)


def located(
    violations: Sequence[Violation], sources: Sequence[Source], known: Sequence[Problem]
) -> Iterator[Problem]:
    """Give problems with the place of the key, or of the nearest table around it; none about a key twice."""
    told = {problem.key for problem in known}
    for violation in violations:
        if (key := dotted(violation.path)) not in told:
            prefixes = (violation.path[:end] for end in range(len(violation.path), 1, -1))
            origin = next((found for prefix in prefixes if (found := locate(sources, prefix))), None)
            yield Problem(key, violation.text, origin, violation.severity)

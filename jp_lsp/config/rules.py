"""What must hold across keys, as a list of rules (config-and-tools 2.8).

A server must live with a configuration that is wrong in one place. A rule therefore says what is left out,
and only what a query cannot do without is an error.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from jp_lsp.config.keys_tools import TOOL, TOOL_DEFAULTS_ENTRY
from jp_lsp.config.kind import Kind, ListOf, MapOf, Table, Variant, entry_kind
from jp_lsp.config.problem import Severity
from jp_lsp.config.value import (
    ABSENT,
    MaybeValue,
    MergedList,
    MergedMap,
    Partial,
    Path,
    Value,
    entries_of,
    value_at,
)

IDLE_TIMEOUT_MINIMUM = 10

_TOOLS: Path = ("conversation", "tools")
_LABEL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*\Z", re.ASCII)
_CHECKED_ELSEWHERE: frozenset[Path] = frozenset({("assistant", "model"), (*_TOOLS, TOOL_DEFAULTS_ENTRY)})
_FREE_CHOICES = frozenset({"auto", "none", "required"})


@dataclass(frozen=True, slots=True)
class Violation:
    """Something that must not be; `drops` says whether the value at `path` is left out for it."""

    path: Path
    text: str
    severity: Severity = "warning"
    drops: bool = True


Rule: TypeAlias = Callable[[Partial], Iterator[Violation]]


def _tools(tree: Partial) -> Iterator[tuple[str, Mapping[str, Value]]]:
    for name, tool in entries_of(value_at(tree, _TOOLS)).items():
        if name != TOOL_DEFAULTS_ENTRY:
            yield name, entries_of(tool)


def _idle_timeout(tree: Partial) -> Iterator[Violation]:
    path = ("assistant", "request", "stream_idle_timeout_secs")
    seconds = value_at(tree, path)
    if isinstance(seconds, int) and 0 < seconds < IDLE_TIMEOUT_MINIMUM:
        text = f"must be 0 or at least {IDLE_TIMEOUT_MINIMUM}, got {seconds}"
        yield Violation(path, text, "error", drops=False)


def _access(tree: Partial) -> Iterator[Violation]:
    """Leave a tool out whose limits nobody would keep, rather than offer it without limits."""
    for name, tool in _tools(tree):
        source = tool.get("source")
        if "access" in tool and isinstance(source, str) and source.partition(".")[0] != "local":
            text = f"`access` is only supported on local tools, and the source is `{source}`; the tool is left out"
            yield Violation((*_TOOLS, name), text)


def _labels(tree: Partial) -> Iterator[Violation]:
    path = ("conversation", "labels")
    for name in entries_of(value_at(tree, path)):
        if _LABEL_NAME.match(name) is None:
            text = "a label's name must begin with a letter and hold letters, digits, `_` and `-` only; it is left out"
            yield Violation((*path, name), text)


def _tool_choice(tree: Partial) -> Iterator[Violation]:
    path = ("assistant", "tool_choice")
    choice = value_at(tree, path)
    if not isinstance(choice, str) or choice in _FREE_CHOICES:
        return
    enable = effective_enable(tree, choice)
    if enable is not None and enable == (False, "never"):
        text = f"the tool `{choice}` is locked off and can never be offered"
        yield Violation(path, text, "error", drops=False)


def _empty_commands(tree: Partial) -> Iterator[Violation]:
    """Notice a command table without a program, which a change of shape leaves behind (trap 37)."""
    for name, tool in _tools(tree):
        command = tool.get("command", ABSENT)
        if command == "" or (isinstance(command, Mapping) and not command.get("program")):
            path = (*_TOOLS, name, "command")
            yield Violation(path, "names no program, so the tool cannot run", drops=False)


RULES: tuple[Rule, ...] = (_idle_timeout, _access, _labels, _tool_choice, _empty_commands)


def effective_enable(tree: Partial, name: str) -> tuple[bool, str] | None:
    """Give whether a tool is on and who may change it, field by field (4.3); `None` for no such tool."""
    tools = entries_of(value_at(tree, _TOOLS))
    if name not in tools or name == TOOL_DEFAULTS_ENTRY:
        return None
    shared = entries_of(entries_of(tools.get(TOOL_DEFAULTS_ENTRY, ABSENT)).get("enable", ABSENT))
    own = entries_of(entries_of(tools[name]).get("enable", ABSENT))
    state = own.get("state", shared.get("state", True))
    toggle = own.get("allow_toggle", shared.get("allow_toggle", "any"))
    return state is True, str(toggle)


def without_incomplete(table: Table, tree: Partial) -> tuple[Partial, tuple[Violation, ...]]:
    """Leave out entries, items and optional tables that lack what they need (trap 17)."""
    violations: list[Violation] = []
    checked = _checked(table, tree, (), violations)
    return entries_of(checked), tuple(violations)


def _checked(kind: Kind, value: Value, path: Path, violations: list[Violation]) -> MaybeValue:
    """Give a value without its incomplete parts; `ABSENT` if it is incomplete itself."""
    match kind:
        case Table():
            return _checked_table(kind, entries_of(value), path, violations)
        case Variant() if isinstance(value, Mapping):
            return _checked_table(kind.table, value, path, violations)
        case MapOf():
            entries = _present(
                {
                    name: _checked(entry_kind(kind, name), entry, (*path, name), violations)
                    for name, entry in entries_of(value).items()
                }
            )
            return replace(value, entries=entries) if isinstance(value, MergedMap) else entries
        case ListOf():
            assert isinstance(value, MergedList)
            items = (
                _checked(kind.item, item, (*path, at), violations) for at, item in enumerate(value.items)
            )
            return replace(value, items=tuple(item for item in items if item is not ABSENT))
        case _:
            return value


def _checked_table(table: Table, value: Partial, path: Path, violations: list[Violation]) -> MaybeValue:
    members = _present(
        {
            name: _checked(table.keys[name].kind, member, (*path, name), violations)
            for name, member in value.items()
        }
    )
    # An empty table says nothing, and is not written either.
    missing = [name for name, key in table.keys.items() if key.required and members.get(name, {}) == {}]
    if not missing or path in _CHECKED_ELSEWHERE:
        return members
    names = " and ".join(f"`{name}`" for name in missing)
    hint = "; was the file that defines the tool loaded?" if table is TOOL else ""
    violations.append(Violation(path, f"has no {names} and is left out{hint}"))
    return ABSENT


def _present(members: Mapping[str, MaybeValue]) -> Partial:
    return {name: member for name, member in members.items() if member is not ABSENT}

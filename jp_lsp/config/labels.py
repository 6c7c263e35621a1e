"""The labels that conversations are given: `conversation.labels`, as the driver needs it (config-and-tools 7.7)."""

from collections.abc import Iterator
from typing import Literal, cast

from jp_lsp.config.tool_commands import NoCommand, read_command
from jp_lsp.config.value import ABSENT, MaybeValue, Partial, entries_of, value_at
from jp_lsp.ports.settings import LabelRule
from jp_lsp.tools.spec import Command


def label_rules(tree: Partial) -> tuple[LabelRule, ...]:
    """Build them; one whose command cannot be read has no value and is left out."""
    return tuple(_rules(tree))


def _rules(tree: Partial) -> Iterator[LabelRule]:
    for name, entry in entries_of(value_at(tree, ("conversation", "labels"))).items():
        if isinstance(entry, str):
            yield LabelRule(name, entry)
            continue
        value = _value(value_at(entry, ("value",)))
        if value is not None:
            yield LabelRule(
                name,
                value,
                on_new=value_at(entry, ("apply_on", "new")) is not False,
                on_fork=value_at(entry, ("apply_on", "fork")) is True,
                run=_run(value_at(entry, ("run",))),
            )


def _value(value: MaybeValue) -> str | Command | None:
    if isinstance(value, str):
        return value
    try:
        return read_command(value_at(entries_of(value), ("cmd",)))
    except NoCommand:
        return "" if value is ABSENT else None


def _run(value: MaybeValue) -> Literal["ask", "unattended", "deny"]:
    return cast('Literal["ask", "unattended", "deny"]', value) if isinstance(value, str) else "ask"

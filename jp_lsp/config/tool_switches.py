"""A query's switches of tools as settings, so that they last like any other setting of a conversation."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from jp_lsp.config.keys_tools import TOOL_DEFAULTS_ENTRY
from jp_lsp.config.rules import effective_enable
from jp_lsp.config.value import Partial, entries_of, value_at
from jp_lsp.tools.builtin import BUILTIN_TOOLS, DESCRIBE_TOOLS
from jp_lsp.tools.switches import Switchable, Toggle, ToolSwitch, switched


def switch_expressions(tree: Partial, switches: Sequence[ToolSwitch]) -> Iterator[str]:
    """Give the `--cfg` expressions that do what the switches say, on top of a resolved configuration.

    Raises:
        ImpossibleSwitch: a name is unknown, or its tool is locked.
    """
    tools = dict(_switchable(tree))
    configured = entries_of(value_at(tree, ("conversation", "tools")))
    for name, is_on in switched(tools, switches).items():
        entry: dict[str, object] = {"enable": {"state": is_on}}
        if name not in configured:
            entry["source"] = "builtin"
        yield json.dumps({"conversation": {"tools": {name: entry}}}, ensure_ascii=False)


def _switchable(tree: Partial) -> Iterator[tuple[str, Switchable]]:
    """Give every tool that a switch may name; ours are off unless their entry says that they are on."""
    configured: Mapping[str, object] = entries_of(value_at(tree, ("conversation", "tools")))
    for name in configured:
        enable = effective_enable(tree, name)
        if enable is not None and name != TOOL_DEFAULTS_ENTRY:
            yield name, Switchable(enable[0], cast("Toggle", enable[1]))
    for name in BUILTIN_TOOLS:
        if name not in configured:
            is_locked = name == DESCRIBE_TOOLS
            yield name, Switchable(is_locked, "never" if is_locked else "if_named")

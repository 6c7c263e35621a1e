"""Switching tools on and off for a query, one directive after the other (config-and-tools 4.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from jp_lsp.tools.choice import near_names

Toggle = Literal["any", "never", "if_named", "if_named_or_group"]
"""What may switch a tool: anything, nothing, or whoever names it."""


@dataclass(frozen=True, slots=True)
class ToolSwitch:
    """Switch one tool, or all that need not be named."""

    is_on: bool
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Switchable:
    """How a tool stands, and what may change that."""

    is_on: bool
    toggle: Toggle = "any"


class ImpossibleSwitch(Exception):
    """There is no such tool, or it is locked; the text is for the user."""


def switched(tools: Mapping[str, Switchable], switches: Sequence[ToolSwitch]) -> Mapping[str, bool]:
    """Give the tools that stand otherwise in the end, and how.

    Raises:
        ImpossibleSwitch: a name is unknown, or its tool is locked.
    """
    unknown = [each.name for each in switches if each.name is not None and each.name not in tools]
    if unknown:
        raise ImpossibleSwitch(_not_found(unknown, tools))
    states = {name: tool.is_on for name, tool in tools.items()}
    for switch in switches:
        if switch.name is None:
            states.update((name, switch.is_on) for name, tool in tools.items() if tool.toggle == "any")
        elif states[switch.name] != switch.is_on:
            if tools[switch.name].toggle == "never":
                raise ImpossibleSwitch(_locked(switch.name, is_on=states[switch.name]))
            states[switch.name] = switch.is_on
    return {name: state for name, state in states.items() if state != tools[name].is_on}


def _not_found(names: Sequence[str], tools: Mapping[str, Switchable]) -> str:
    text = f"Tool{'s' if len(names) > 1 else ''} not found: {', '.join(names)}"
    near = near_names(names[0], tools)
    return f"{text}; did you mean {' or '.join(f'`{one}`' for one in near)}?" if near else text


def _locked(name: str, *, is_on: bool) -> str:
    return (
        f"cannot {'disable' if is_on else 'enable'} {name}: "
        f"this tool is configured as locked-{'on' if is_on else 'off'}"
    )

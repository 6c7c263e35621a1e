"""The choice of a tool by its name, held against what there is (config-and-tools 4.3).

Naming a tool is enough to have it offered for one turn, although it is switched off, unless it is locked.
A name that leads nowhere must stop the query: some vendors refuse a request that demands a tool it does not
declare, and the others would let the model choose as it likes.
"""

import difflib
from collections.abc import Collection, Mapping, Sequence

from jp_lsp.tools.definition import NamedTool, ToolChoice
from jp_lsp.tools.spec import ToolSpec

_NEAR = 3
_LISTED = 20


class ImpossibleChoice(Exception):
    """What was chosen is not there; the text says what is, for the user."""


def with_chosen(
    choice: ToolChoice, offered: Sequence[ToolSpec], idle: Sequence[ToolSpec]
) -> tuple[ToolSpec, ...]:
    """Give the tools to offer: those that are on, and the one that was named.

    Args:
        choice: what the model may, must or must not do.
        offered: the tools that are on.
        idle: those that are off, and may be named.

    Raises:
        ImpossibleChoice: there is no such tool, or none at all where one is required.
    """
    if isinstance(choice, NamedTool):
        if any(tool.name == choice.name for tool in offered):
            return tuple(offered)
        named = next((tool for tool in idle if tool.name == choice.name), None)
        if named is None:
            raise ImpossibleChoice(_no_such_tool(choice.name, [tool.name for tool in (*offered, *idle)]))
        return (*offered, named)
    if choice == "required" and not offered:
        raise ImpossibleChoice("tool choice `required` needs a tool, and none is enabled")
    return tuple(offered)


def require_declared(choice: ToolChoice, names: Collection[str], reasons: Mapping[str, str]) -> None:
    """Make sure that what was chosen is still there once it is known which tools can be had (trap 65).

    Args:
        choice: what the model may, must or must not do.
        names: the tools that the request will declare.
        reasons: why a tool that should be among them is not.

    Raises:
        ImpossibleChoice: it is not; says why where that is known.
    """
    if isinstance(choice, NamedTool) and choice.name not in names:
        reason = reasons.get(choice.name)
        text = f"tool choice `{choice.name}` cannot be kept, because the tool is not available"
        raise ImpossibleChoice(f"{text}: {reason}" if reason else text)
    if choice == "required" and not names:
        raise ImpossibleChoice("tool choice `required` needs a tool, and none is available")


def near_names(name: str, known: Collection[str]) -> Sequence[str]:
    """Give the known names that a wrong one was most likely meant to be, best first."""
    return difflib.get_close_matches(name, known, n=_NEAR, cutoff=0.6)


def _no_such_tool(name: str, known: Sequence[str]) -> str:
    text = f"tool choice `{name}` does not match any enabled tools"
    if near := near_names(name, known):
        return f"{text}; did you mean {' or '.join(f'`{one}`' for one in near)}?"
    listed = ", ".join(f"`{one}`" for one in sorted(known)[:_LISTED])
    more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
    return f"{text}; there are {listed}{more}" if known else f"{text}, because none is configured"

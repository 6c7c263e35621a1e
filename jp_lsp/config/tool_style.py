"""How calls of tools are shown, as `render` wants it (config-and-tools 2.4, 4.12)."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import cast

from jp_lsp.config.keys_tools import TOOL_DEFAULTS_ENTRY
from jp_lsp.config.tool_commands import formatter_of
from jp_lsp.config.value import ABSENT, MaybeValue, Partial, entries_of, value_at
from jp_lsp.render.options import FileLink, InlineResults, ParameterStyle, ToolStyle
from jp_lsp.tools.builtin import DESCRIBE_TOOLS, TELL_MESSAGE, TELL_USER

_HIDDEN = ToolStyle(is_hidden=True, parameters="off", inline_results="off", results_file_link="off")
"""How `describe_tools` is shown unless its entry says otherwise."""

_SPOKEN = ToolStyle(spoken=TELL_MESSAGE)
"""How `tell_user` is shown, whatever its entry says: the model relies on it that the user reads the message."""

_DEFAULT_LINES = 10


def effective_style(tree: Partial, name: str) -> Partial:
    """Give the style table that counts for a tool: its own as a whole, else the shared one (trap 21)."""
    tools = entries_of(value_at(tree, ("conversation", "tools")))
    own = entries_of(tools.get(name, ABSENT)).get("style", ABSENT)
    return entries_of(own if own is not ABSENT else value_at(tools, (TOOL_DEFAULTS_ENTRY, "style")))


def default_style(tree: Partial) -> ToolStyle:
    """Give the style of tools that have none of their own."""
    return _read(effective_style(tree, TOOL_DEFAULTS_ENTRY))


def tool_styles(tree: Partial) -> Mapping[str, ToolStyle]:
    """Give the styles of tools that have their own, in the configuration or by what they are."""
    return MappingProxyType(dict(_styles(tree)))


def _styles(tree: Partial) -> Iterator[tuple[str, ToolStyle]]:
    tools = entries_of(value_at(tree, ("conversation", "tools")))
    if DESCRIBE_TOOLS not in tools:
        yield DESCRIBE_TOOLS, _HIDDEN
    for name, tool in tools.items():
        if name != TOOL_DEFAULTS_ENTRY and "style" in entries_of(tool):
            yield name, _read(effective_style(tree, name))
    if _is_ours(tools.get(TELL_USER, ABSENT)):
        yield TELL_USER, _SPOKEN


def _is_ours(tool: MaybeValue) -> bool:
    """Tell whether an entry with the name of a built-in tool means that tool."""
    return str(entries_of(tool).get("source", "builtin")).partition(".")[0] == "builtin"


def _read(style: Partial) -> ToolStyle:
    failed = entries_of(style.get("error", ABSENT))
    link = failed.get("results_file_link")
    inline = failed.get("inline_results", ABSENT)
    return ToolStyle(
        is_hidden=style.get("hidden") is True,
        parameters=_parameters(style.get("parameters", ABSENT)),
        inline_results=_inline_results(style.get("inline_results", ABSENT)),
        results_file_link=cast("FileLink", style.get("results_file_link", "full")),
        error_inline_results=None if inline is ABSENT else _inline_results(inline),
        error_results_file_link=None if link is None else cast("FileLink", link),
    )


def _parameters(value: MaybeValue) -> ParameterStyle:
    if formatter_of(value) is not None:
        return "custom"
    return cast("ParameterStyle", value) if isinstance(value, str) else "json"


def _inline_results(value: MaybeValue) -> InlineResults:
    if value in {"off", "full"} if isinstance(value, str) else False:
        return cast("InlineResults", value)
    lines = value_at(value, ("truncate", "lines"))
    return lines if isinstance(lines, int) else _DEFAULT_LINES

"""A query's own choice of tools, in place of the configured one (config-and-tools 4.3)."""

from dataclasses import replace

from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.settings import QuerySettings
from jp_lsp.tools.choice import ImpossibleChoice, with_chosen
from jp_lsp.tools.definition import ToolChoice


def with_query_choice(settings: QuerySettings, choice: ToolChoice | None) -> QuerySettings:
    """Give the settings with what a query chose; a tool that it names is offered although it is off.

    Raises:
        Refusal: there is no such tool.
    """
    if choice is None:
        return settings
    try:
        tools = with_chosen(choice, settings.tools, settings.idle_tools)
    except ImpossibleChoice as problem:
        raise Refusal("invalid_params", str(problem), origin="toolChoice") from None
    idle = tuple(tool for tool in settings.idle_tools if tool not in tools)
    return replace(settings, tools=tools, idle_tools=idle, tool_choice=choice)

"""Tells what a query would send, from what its preparation found (query pipeline 7.3)."""

from collections.abc import Iterator, Sequence

from jp_lsp.conversation.projection import is_provider_visible, project
from jp_lsp.conversation.retain import take_back
from jp_lsp.conversation.sanitize import sanitize
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.driver.preparation import CycleParts
from jp_lsp.ports.settings import QuerySettings
from jp_lsp.ports.toolset import Toolset
from jp_lsp.tools.spec import McpSource
from jp_lsp.turn.explanation import Explanation, ValueOrigin
from jp_lsp.turn.inputs import PreparedTurn
from jp_lsp.turn.query import Query


def explain(
    query: Query,
    settings: QuerySettings,
    turn: PreparedTurn,
    parts: CycleParts,
    toolset: Toolset,
    origins: Sequence[ValueOrigin],
) -> Explanation:
    """Put together what the first request of the turn would be made of; its stream is only read."""
    return Explanation(
        model=str(settings.model),
        system_prompt=settings.system_prompt,
        sections=parts.sections,
        tools=tuple(toolset.tools.values()),
        attachments=parts.attachments,
        request=turn.request,
        tool_choice=settings.tool_choice,
        event_count=_earlier_events(query, turn.stream),
        origins=tuple(origins),
        effects=tuple(_effects(settings)),
        dropped_tools=toolset.dropped,
    )


def _earlier_events(query: Query, stream: ConversationStream) -> int:
    """Count what the model is shown of the turns before this one."""
    copy = stream.copy()
    if query.replay is not None:
        take_back(copy, query.replay - 1)
    sanitize(copy)
    return sum(is_provider_visible(item.event) for item in project(copy.entries))


def _effects(settings: QuerySettings) -> Iterator[str]:
    """Say what finding out may have done beside looking."""
    servers = {spec.source.server for spec in settings.tools if isinstance(spec.source, McpSource)}
    servers |= {entry.server for entry in settings.attachments if entry.server is not None}
    if servers:
        yield f"MCP servers that did not run yet were started: {', '.join(sorted(servers))}."
    commands = [entry.text for entry in settings.attachments if entry.handler == "cmd"]
    if commands:
        yield f"Commands of attachments were run: {', '.join(commands)}."

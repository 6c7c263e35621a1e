"""What a query would send, as text for people (`jp-lsp query --explain`)."""

import json
from collections.abc import Iterator

from jp_lsp.protocol.explanation import (
    ExplainedAttachment,
    ExplainedTool,
    QueryExplanation,
    SettingOrigin,
)
from jp_lsp.terminal.words import plain, plain_line

_WIDEST_VALUE = 60


def explained(explanation: QueryExplanation) -> str:
    """Write it as Markdown, from what a model sees first to where the settings come from."""
    return plain("\n".join(_lines(explanation)).rstrip()) + "\n"


def _lines(explanation: QueryExplanation) -> Iterator[str]:
    request = explanation.request
    yield f"# Request to {request.model}\n"
    if explanation.system_prompt is not None:
        yield f"## System prompt\n\n{explanation.system_prompt.rstrip()}\n"
    for section in explanation.sections:
        name = ": ".join(part for part in (section.tag, section.title) if part)
        yield f"## Section{f' ({name})' if name else ''}\n\n{section.content.rstrip()}\n"
    if explanation.attachments:
        yield "## Attachments\n"
        yield from map(_attachment, explanation.attachments)
        yield ""
    if explanation.tools or explanation.dropped_tools:
        choice = request.tool_choice
        yield f"## Tools (choice: {choice if isinstance(choice, str) else choice.name})\n"
        yield from map(_tool, explanation.tools)
        yield from (f"- not offered: {each.name}: {each.reason}" for each in explanation.dropped_tools)
        yield ""
    yield f"## Query, behind {request.earlier_events} earlier events\n\n{request.text.rstrip()}\n"
    if request.json_schema is not None:
        yield f"Schema of the answer: {request.json_schema}\n"
    if explanation.origins:
        yield "## Settings\n"
        yield from map(_origin, explanation.origins)
        yield ""
    yield "Nothing was sent and nothing was stored."
    yield from explanation.effects


def _attachment(item: ExplainedAttachment) -> str:
    title = "" if item.title is None else f": {item.title}"
    return f"- {item.source}{title} ({item.media_type or 'text'}, {item.size:,} bytes)"


def _tool(tool: ExplainedTool) -> str:
    place = tool.source if tool.server is None else f"{tool.source}, {tool.server}"
    description = "" if tool.description is None else f": {plain_line(tool.description)}"
    return f"- {tool.name} ({place}){description}\n  {json.dumps(tool.parameters, ensure_ascii=False)}"


def _origin(origin: SettingOrigin) -> str:
    value = json.dumps(origin.value, ensure_ascii=False)
    shown = value if len(value) <= _WIDEST_VALUE else f"{value[: _WIDEST_VALUE - 1]}…"
    places = [place.name if place.line is None else f"{place.name}:{place.line}" for place in origin.places]
    return f"- {origin.key} = {shown} ({', '.join(places) or 'default'})"

"""Wire types for `explain`: what a query would send (query pipeline 7.3)."""

from typing import Any, Literal

from jp_lsp.protocol.base import Array, WireModel
from jp_lsp.protocol.tool import NamedTool, ToolSource


class ExplainedSection(WireModel):
    """A piece of system text behind the system prompt."""

    content: str
    tag: str | None = None
    title: str | None = None


class ExplainedTool(WireModel):
    """A tool that is offered to the model."""

    name: str
    source: ToolSource
    server: str | None = None
    """The MCP server that has it."""
    description: str | None = None
    parameters: dict[str, Any]
    """A JSON schema of its arguments."""


class DroppedTool(WireModel):
    """A tool that was asked for and is not offered."""

    name: str
    reason: str


class ExplainedAttachment(WireModel):
    """Something that is shown to the model beside the query."""

    source: str
    title: str | None = None
    media_type: str | None = None
    """Left out for text."""
    size: int
    """In bytes."""


class ExplainedRequest(WireModel):
    """What is asked, and of whom."""

    model: str
    text: str
    json_schema: str | None = None
    """The JSON schema of the answer, as JSON text."""
    tool_choice: Literal["auto", "none", "required"] | NamedTool
    earlier_events: int
    """How many events of earlier turns the model is shown."""


class SettingPlace(WireModel):
    """Where a setting was made."""

    layer: str
    name: str
    """For people: a file, a variable, an expression."""
    line: int | None = None


class SettingOrigin(WireModel):
    """A setting that somebody made; those that nobody made have their defaults and are not listed."""

    key: str
    value: Any = None
    places: Array[SettingPlace] = ()
    """One; for a list all that have a part in it, lowest first."""


class QueryExplanation(WireModel):
    """What a query would send. Nothing was sent and nothing was stored."""

    schema_version: Literal[1]
    system_prompt: str | None = None
    sections: Array[ExplainedSection] = ()
    tools: Array[ExplainedTool] = ()
    dropped_tools: Array[DroppedTool] = ()
    attachments: Array[ExplainedAttachment] = ()
    request: ExplainedRequest
    origins: Array[SettingOrigin] = ()
    effects: Array[str] = ()
    """What was done to find all this out, such as servers that were started, in sentences."""

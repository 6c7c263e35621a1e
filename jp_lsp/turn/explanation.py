"""What a query would send, told instead of sending it (query pipeline 7.3, `explain`)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from jp_lsp.conversation.event import ChatRequest
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.conversation.section import Section
from jp_lsp.conversation.thread import Attachment
from jp_lsp.tools.definition import ToolChoice
from jp_lsp.tools.spec import ToolSpec


@dataclass(frozen=True, slots=True)
class Place:
    """Where a setting was made: its layer, and for people the file, variable or expression."""

    layer: str
    name: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class ValueOrigin:
    """A setting that somebody made, by its dotted key; several places have a part in a list, lowest first."""

    key: str
    value: JsonValue
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything that the first request of the turn would be made of.

    Attributes:
        model: who would answer.
        system_prompt: the first part of the system text.
        sections: the parts behind it, in the order of the settings.
        tools: what is offered.
        dropped_tools: why tools that were asked for are not offered, by name.
        attachments: what is shown beside the request.
        request: what the user asks.
        tool_choice: what the first response may do with tools.
        event_count: how many events of earlier turns the model is shown.
        origins: where the settings come from; what nobody set has its default and is not listed.
        effects: what was done to find all this out, in words.
    """

    model: str
    system_prompt: str | None
    sections: tuple[Section, ...]
    tools: tuple[ToolSpec, ...]
    attachments: tuple[Attachment, ...]
    request: ChatRequest
    tool_choice: ToolChoice
    event_count: int
    origins: tuple[ValueOrigin, ...]
    effects: tuple[str, ...] = ()
    dropped_tools: Mapping[str, str] = field(default_factory=lambda: {})

"""What one execution pass of a tool ended with (query pipeline 3.4, config-and-tools 4.6)."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from jp_lsp.conversation.json_value import JsonValue


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The tool did its work; `content` is for the model, `file` the absolute path of a file with all of it."""

    content: str
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The tool did not do its work; `content` says why, for the model to act on. `file` as for a success."""

    content: str
    file: str | None = None


@dataclass(frozen=True, slots=True)
class ToolQuestion:
    """Something that a tool must know before it can go on.

    `options` belong to `select`. An `is_exclusive` question is for the user alone, never for a model.
    `is_remembered` says whether the answer may be used again within the turn.
    """

    id: str
    text: str
    kind: Literal["boolean", "select", "text", "secret"]
    context: str | None = None
    options: tuple[str, ...] = ()
    default: JsonValue = None
    is_exclusive: bool = False
    is_remembered: bool = True


@dataclass(frozen=True, slots=True)
class NeedsInput:
    """The pass ended with a question; the tool is run again, from scratch, with the answer."""

    question: ToolQuestion


ToolOutcome: TypeAlias = Succeeded | Failed | NeedsInput

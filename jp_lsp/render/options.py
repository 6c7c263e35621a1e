"""How a response should read; `config` builds these from `style.*` and the server's settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

ReasoningMode = Literal["hidden", "full", "truncate", "progress", "static", "timer", "summary"]
ReasoningSeparator = Literal["rule", "blank", "none"]
Granularity = Literal["block", "raw"]
ControlSequences = Literal["strip", "keep_sgr"]
ParameterStyle = Literal["json", "function_call", "off", "custom"]
FileLink = Literal["full", "osc8", "off"]

InlineResults: TypeAlias = Literal["full", "off"] | int
"""How much of a tool's result is shown; a number is how many lines."""


@dataclass(frozen=True, slots=True)
class ReasoningDisplay:
    """A mode; `limit` counts code points for `truncate`."""

    mode: ReasoningMode = "full"
    limit: int = 100


@dataclass(frozen=True, slots=True)
class ToolStyle:
    """How calls of one tool and their results are shown (query pipeline 5.8).

    `custom` means that a formatter command writes the arguments; the view is given what it wrote. The two
    `error_*` values replace their namesakes for failed calls. `spoken` names the parameter whose text is shown as
    the assistant's own words, in place of the call and its result (7.4).
    """

    is_hidden: bool = False
    parameters: ParameterStyle = "json"
    inline_results: InlineResults = 10
    results_file_link: FileLink = "full"
    error_inline_results: InlineResults | None = None
    error_results_file_link: FileLink | None = None
    spoken: str | None = None


@dataclass(frozen=True, slots=True)
class DisplayOptions:
    """All of them (query pipeline 5).

    `tools` has the styles of tools that have their own, `default_tool` the one of all others.
    `shows_ephemeral` is false for a client that can show nothing but the transcript. Text is gathered for
    `gather_seconds` before it is sent (5.2).
    """

    reasoning: ReasoningDisplay = field(default_factory=ReasoningDisplay)
    reasoning_separator: ReasoningSeparator = "rule"
    extend_reasoning_across_tools: bool = True
    reasoning_background: str | None = None
    granularity: Granularity = "block"
    show_tool_calls: bool = True
    control_sequences: ControlSequences = "strip"
    tools: Mapping[str, ToolStyle] = field(default_factory=lambda: {})
    default_tool: ToolStyle = field(default_factory=ToolStyle)
    shows_ephemeral: bool = True
    gather_seconds: float = 0.016

    def tool_style(self, name: str) -> ToolStyle:
        """Give the style of a tool, whether it is configured or not (trap 109)."""
        return self.tools.get(name, self.default_tool)


@dataclass(frozen=True, slots=True)
class Labels:
    """Who speaks: the names in the headers and the model behind the assistant."""

    user: str = "User"
    assistant: str = "Assistant"
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """What of the settings decides how a turn is shown; `problem` says which of them could not be used."""

    options: DisplayOptions = field(default_factory=DisplayOptions)
    labels: Labels = field(default_factory=Labels)
    problem: str | None = None

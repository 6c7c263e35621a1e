"""What there is beside a query document, as far as it can be named in one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from jp_lsp.attachments.survey import Survey
from jp_lsp.config.named_list import NamedConfiguration
from jp_lsp.config.problem import Problem
from jp_lsp.config.value import Path
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.ports.provider import ModelDetails
from jp_lsp.ports.upkeep import ConversationFacts
from jp_lsp.tools.builtin import BUILTIN_TOOLS, DESCRIBE_TOOLS

_TOOLS: Path = ("conversation", "tools")
_SERVERS: Path = ("providers", "mcp")
_ALIASES: Path = ("providers", "llm", "aliases")
_ALL_TOOLS = "*"


@dataclass(frozen=True, slots=True)
class KnownToQuery:
    """What can be named. What takes time is a function, since most places need none of it.

    Attributes:
        values: the effective configuration with `--cfg` expressions on top.
        problems: what is wrong with the configuration with such expressions.
        locked: says of tools that are switched why they cannot be, given expressions and switches.
        named: the files that can be applied by name.
        sets: the settings that a named file makes, as key and value.
        survey: what a name would attach; raises `AttachmentError`.
        paths: files below a folder that fit, a limited number.
        models: the models that were listed by now.
        conversations: those that can be continued, the most recently used first.
        archived: those that can only be read and copied.
        open_names: what is open in the editor, as it is named in a query.
        runs_commands: whether the workspace is trusted, so that commands may be offered.
    """

    values: Callable[[Sequence[str]], JsonObject]
    problems: Callable[[Sequence[str]], Sequence[Problem]]
    locked: Callable[[Sequence[str], Sequence[tuple[bool, str | None]]], str | None]
    named: Callable[[], Sequence[NamedConfiguration]]
    sets: Callable[[NamedConfiguration], Sequence[tuple[str, JsonValue]]]
    survey: Callable[[str], Survey]
    paths: Callable[[str, Callable[[str], bool], int], Sequence[str]]
    models: Sequence[ModelDetails] = ()
    conversations: Sequence[ConversationFacts] = ()
    archived: Sequence[ConversationFacts] = ()
    open_names: Sequence[str] = ()
    runs_commands: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """A tool: what it does, at length too, whether it is on, and whether it asks before it runs."""

    summary: str
    description: str
    is_on: bool
    run: str


def tools_of(values: JsonObject) -> Mapping[str, ToolFacts]:
    """Give the tools that a configuration has, those of this program too."""
    entries = _at(values, _TOOLS)
    common = _members(entries.get(_ALL_TOOLS))
    found: dict[str, ToolFacts] = {}
    for name in (*(name for name in entries if name != _ALL_TOOLS), *BUILTIN_TOOLS):
        entry, ours = _members(entries.get(name)), BUILTIN_TOOLS.get(name)
        if name in found:
            continue
        standing = _state(common, None) if name in entries else name == DESCRIBE_TOOLS
        unasked = "unattended" if ours is not None and ours.needs_no_approval else None
        found[name] = ToolFacts(
            _text(entry, "summary") or ("" if ours is None else ours.definition.summary or ""),
            _text(entry, "description") or ("" if ours is None else ours.definition.description or ""),
            _state(entry, standing) is not False,
            _text(entry, "run") or unasked or _text(common, "run") or "ask",
        )
    return found


def aliases_of(values: JsonObject) -> Mapping[str, str]:
    """Give the aliases of models, each with what it stands for."""
    return {
        name: f"{model.get('provider')}/{model.get('name')}" if isinstance(model, Mapping) else str(model)
        for name, model in _at(values, _ALIASES).items()
    }


def servers_of(values: JsonObject) -> Sequence[str]:
    """Give the names of the MCP servers."""
    return tuple(_at(values, _SERVERS))


def entries_at(values: JsonObject, path: Path) -> Sequence[str]:
    """Give the names in a table of a configuration."""
    return tuple(_at(values, path))


def _at(values: JsonObject, path: Path) -> JsonObject:
    here: JsonValue = values
    for segment in path:
        here = here.get(str(segment)) if isinstance(here, Mapping) else None
    return _members(here)


def _members(value: JsonValue) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def _text(entry: JsonObject, name: str) -> str:
    value = entry.get(name)
    return value if isinstance(value, str) else ""


def _state(entry: JsonObject, default: JsonValue) -> JsonValue:
    """Read whether a tool is on, which its entry may leave to others."""
    return _members(entry.get("enable")).get("state", default)

"""Settings of the server itself, which the editor sends (query pipeline 0.4).

They are not part of `.jp` files, because the command-line tool refuses what it does not know. They come
from `initializationOptions.jp` or from the `jp` section of the editor's configuration, nested or with
dotted names. A value that does not fit falls back to its default and is reported once; it never fails a
query.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import Literal, TypeAlias, cast

from jp_lsp.config.complete import complete_table
from jp_lsp.config.keys_providers import DEFAULT_STARTUP_TIMEOUT
from jp_lsp.config.keys_server import SERVER_SCHEMA
from jp_lsp.config.problem import Finding, Report, dotted
from jp_lsp.config.read import read_table
from jp_lsp.config.value import Partial, Value, entries_of, value_at
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.turn.options import GapAction

DismissAction: TypeAlias = Literal["escalate", "continue"]
CancelAction: TypeAlias = Literal["stop", "abort"]
ProgressCancel: TypeAlias = Literal["cancel", "press"]
TextTransport: TypeAlias = Literal["auto", "prompt", "client", "document", "off"]
Granularity: TypeAlias = Literal["block", "raw"]
ControlSequences: TypeAlias = Literal["strip", "keep_sgr"]
ReasoningSeparator: TypeAlias = Literal["rule", "blank", "none"]
Trust: TypeAlias = Literal["ask", "never", "always"]
LayerOrder: TypeAlias = Literal["environment_wins", "conversation_wins"]


@dataclass(frozen=True, slots=True)
class InterruptSettings:
    """`interrupt.*`: what a press means where `.jp` files have no say (query pipeline 4.1 to 4.5)."""

    turn_action: GapAction = "stop"
    on_dismiss: DismissAction = "escalate"
    menu_timeout: int = 0
    progress_cancel: ProgressCancel = "cancel"
    cancel_action: CancelAction = "stop"


@dataclass(frozen=True, slots=True)
class PromptSettings:
    """`prompt.*`: how questions reach the user (query pipeline 4.7); `max_actions` 0 is no limit."""

    text_transport: TextTransport = "auto"
    save_commits: bool = False
    max_actions: int = 0


@dataclass(frozen=True, slots=True)
class RenderSettings:
    """`render.*`: how answers are cut and cleaned (query pipeline 5.2)."""

    granularity: Granularity = "block"
    control_sequences: ControlSequences = "strip"
    reasoning_separator: ReasoningSeparator = "rule"
    coalesce_ms: int = 16


@dataclass(frozen=True, slots=True)
class ShutdownSettings:
    """`shutdown.*`, in seconds: for the turns' saves, for all of them together, for background work."""

    turn_secs: float = 3.0
    limit_secs: float = 8.0
    background_secs: float = 2.0


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """`limits.*`: whether events are recorded, and how much one turn may do (0 is no limit)."""

    record_events: bool = False
    tool_calls: int = 128
    cycles: int = 0


@dataclass(frozen=True, slots=True)
class LocalSettings:
    """`local.*`: the embedded model; `model_path` is a GGUF file of the user's own."""

    model_path: FilePath | None = None
    threads: int = 1


@dataclass(frozen=True, slots=True)
class HttpServer:
    """`mcp.http.NAME`: a server of tools that is reached over HTTP (config-and-tools 5.1)."""

    url: str
    bearer_token_env: str | None = None
    optional: bool = False
    startup_timeout_secs: int = DEFAULT_STARTUP_TIMEOUT


@dataclass(frozen=True, slots=True)
class ToolLimits:
    """`conversation.tools.NAME.*`: what `.jp` files cannot say about a tool yet; unset ones inherit."""

    detached: JsonValue = None
    timeout_secs: int | None = None
    size_threshold: int | None = None
    exclusive_run: bool | None = None


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """All of them. `None` for a base URL means that it was not set."""

    interrupt: InterruptSettings = InterruptSettings()
    prompt: PromptSettings = PromptSettings()
    render: RenderSettings = RenderSettings()
    shutdown: ShutdownSettings = ShutdownSettings()
    limits: LimitSettings = LimitSettings()
    local: LocalSettings = LocalSettings()
    trust: Trust = "ask"
    layer_order: LayerOrder = "environment_wins"
    newer_format: bool = False
    lmstudio_base_url: str | None = None
    compatible_base_url: str | None = None
    http_servers: Mapping[str, HttpServer] = field(default_factory=lambda: {})
    tools: Mapping[str, ToolLimits] = field(default_factory=lambda: {})


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """The settings, and a sentence for each value that is not used."""

    settings: ServerSettings
    warnings: tuple[str, ...] = ()


def read_server_settings(raw: JsonValue) -> ReadSettings:
    """Read what an editor sent: the `jp` section, or an object that holds it; anything else is no settings."""
    report = Report()
    sent = _nested(_jp_section(raw))
    tree = complete_table(SERVER_SCHEMA, read_table(SERVER_SCHEMA, sent, report))
    warnings = [_warning(finding) for finding in report.findings]
    servers: dict[str, HttpServer] = {}
    for name, entry in entries_of(value_at(tree, ("mcp", "http"))).items():
        server = entries_of(entry)
        if not server.get("url"):
            warnings.append(f"The setting `jp.mcp.http.{name}` is not used: it has no `url`.")
            continue
        servers[name] = _http_server(server)
    return ReadSettings(_settings(tree, servers), tuple(warnings))


def _warning(finding: Finding) -> str:
    name = f"The setting `jp.{dotted(finding.path)}`"
    is_unknown = finding.severity == "warning"
    return f"{name} {finding.text}" if is_unknown else f"{name} is not used: {finding.text}."


def _jp_section(raw: JsonValue) -> JsonObject:
    if not isinstance(raw, Mapping):
        return {}
    inner = raw.get("jp")
    return inner if isinstance(inner, Mapping) else raw


def _nested(sent: JsonObject) -> JsonObject:
    """Turn names such as `render.granularity` into tables."""
    nested: dict[str, JsonValue] = {}
    for name, value in sent.items():
        head, dot, rest = name.partition(".")
        member = _nested({rest: value}) if dot else value
        present = nested.get(head)
        if isinstance(member, Mapping) and isinstance(present, Mapping):
            member = _united(present, member)
        nested[head] = member
    return nested


def _united(first: JsonObject, second: JsonObject) -> JsonObject:
    united = dict(first)
    for name, value in second.items():
        present = united.get(name)
        both_tables = isinstance(present, Mapping) and isinstance(value, Mapping)
        united[name] = _united(present, value) if both_tables else value  # type: ignore[arg-type]
    return united


def _settings(tree: Partial, servers: Mapping[str, HttpServer]) -> ServerSettings:
    def at(*path: str) -> Value:
        return cast("Value", value_at(tree, path))

    def optional(*path: str) -> str | None:
        value = value_at(tree, path)
        return value if isinstance(value, str) and value else None

    model_path = optional("local", "model_path")
    return ServerSettings(
        InterruptSettings(
            cast("GapAction", at("interrupt", "turn", "action")),
            cast("DismissAction", at("interrupt", "on_dismiss")),
            cast("int", at("interrupt", "menu_timeout_secs")),
            cast("ProgressCancel", at("interrupt", "progress_cancel")),
            cast("CancelAction", at("interrupt", "cancel_action")),
        ),
        PromptSettings(
            cast("TextTransport", at("prompt", "text_transport")),
            cast("bool", at("prompt", "save_commits")),
            cast("int", at("prompt", "max_actions")),
        ),
        RenderSettings(
            cast("Granularity", at("render", "granularity")),
            cast("ControlSequences", at("render", "control_sequences")),
            cast("ReasoningSeparator", at("render", "reasoning_separator")),
            cast("int", at("render", "coalesce_ms")),
        ),
        ShutdownSettings(
            cast("float", at("shutdown", "turn_secs")),
            cast("float", at("shutdown", "limit_secs")),
            cast("float", at("shutdown", "background_secs")),
        ),
        LimitSettings(
            cast("bool", at("limits", "record_events")),
            cast("int", at("limits", "tool_calls")),
            cast("int", at("limits", "cycles")),
        ),
        LocalSettings(
            None if model_path is None else FilePath(model_path),
            cast("int", at("local", "threads")),
        ),
        cast("Trust", at("trust")),
        cast("LayerOrder", at("layer_order")),
        cast("bool", at("storage", "newer_format")),
        optional("lmstudio", "base_url"),
        optional("compatible", "base_url"),
        MappingProxyType(dict(servers)),
        MappingProxyType(
            {
                name: _tool_limits(entries_of(tool))
                for name, tool in entries_of(at("conversation", "tools")).items()
            }
        ),
    )


def _http_server(server: Partial) -> HttpServer:
    token = server.get("bearer_token_env")
    return HttpServer(
        cast("str", server["url"]),
        token if isinstance(token, str) and token else None,
        cast("bool", server["optional"]),
        cast("int", server["startup_timeout_secs"]),
    )


def _tool_limits(tool: Partial) -> ToolLimits:
    return ToolLimits(
        cast("JsonValue", tool.get("detached")),
        cast("int | None", tool.get("timeout_secs")),
        cast("int | None", tool.get("size_threshold")),
        cast("bool | None", tool.get("exclusive_run")),
    )

"""The tools that a query offers, built from a complete configuration (config-and-tools 2.4, 4).

An entry becomes a tool only if it can work. One that is on and cannot is left out with a warning, so that the
rest of the configuration still serves. `describe_tools` joins wherever there is something to describe.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import cast

from jp_lsp.config.access import Approvals, CompiledAccess, compile_access, read_approvals
from jp_lsp.config.keys_tools import TOOL_DEFAULTS_ENTRY
from jp_lsp.config.mcp_servers import doubled_servers, mcp_servers
from jp_lsp.config.rules import Violation, effective_enable
from jp_lsp.config.server_settings import ServerSettings
from jp_lsp.config.tool_commands import NoCommand, read_command
from jp_lsp.config.tool_definition import stray_items, tool_definition
from jp_lsp.config.tool_policy import tool_policy
from jp_lsp.config.value import ABSENT, MergedList, Partial, Path, entries_of, value_at
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.ports.mcp import McpServerConfig
from jp_lsp.tools.builtin import BUILTIN_TOOLS, DESCRIBE_TOOLS, BuiltinTool
from jp_lsp.tools.choice import ImpossibleChoice, near_names, with_chosen
from jp_lsp.tools.command_line import describe_cut_word
from jp_lsp.tools.definition import NamedTool, ToolChoice
from jp_lsp.tools.spec import BuiltinSource, Command, LocalSource, McpSource, ToolSource, ToolSpec
from jp_lsp.tools.usage import without_lone_description

TOOLS: Path = ("conversation", "tools")
TOOL_CHOICE: Path = ("assistant", "tool_choice")


@dataclass(frozen=True, slots=True)
class ToolSettings:
    """What a query needs to know of tools.

    `offered` are in the order of the configuration; `idle` are off, and may be named. `violations` tell what
    is wrong with those that are offered.
    """

    offered: tuple[ToolSpec, ...]
    idle: tuple[ToolSpec, ...]
    choice: ToolChoice
    servers: Mapping[str, McpServerConfig]
    violations: tuple[Violation, ...] = ()


def tool_settings(
    tree: Partial, server: ServerSettings, root: FilePath | None, user_workspace_dir: FilePath | None
) -> ToolSettings:
    """Build all of it.

    Args:
        tree: the complete configuration.
        server: the settings of the server.
        root: the workspace, which access rules are relative to.
        user_workspace_dir: where the user keeps approvals for this workspace.
    """
    building = _Building(tree, server, root, read_approvals(user_workspace_dir))
    on: list[_Built] = []
    off: list[_Built] = []
    for name in _names(tree):
        (on if building.is_on(name) else off).append(building.tool(name))
    offered = tuple(built.spec for built in on if built.spec is not None)
    idle = tuple(
        built.spec for built in off if built.spec is not None and not building.is_locked(built.spec.name)
    )
    choice = read_choice(value_at(tree, TOOL_CHOICE))
    violations = [violation for built in on for violation in built.violations]
    try:
        chosen = with_chosen(choice, offered, idle)
    except ImpossibleChoice as problem:
        chosen = offered
        violations.append(Violation(TOOL_CHOICE, str(problem), "error", drops=False))
    for built in off:
        if built.spec in chosen:
            violations += built.violations
    chosen = building.with_description(chosen)
    needed = {spec.source.server for spec in chosen if isinstance(spec.source, McpSource)}
    violations += doubled_servers(tree, server, needed)
    rest = tuple(spec for spec in idle if spec not in chosen)
    return ToolSettings(chosen, rest, choice, mcp_servers(tree, server), tuple(violations))


def outdated(offered: Sequence[ToolSpec], present: Partial) -> Iterator[Violation]:
    """Notice that a conversation still runs commands which the files no longer say (trap 43).

    Args:
        offered: the tools of the query.
        present: what all layers but the conversation come to.
    """
    names: list[str] = []
    for spec in offered:
        command = value_at(present, (*TOOLS, spec.name, "command"))
        if isinstance(spec.source, LocalSource) and command is not ABSENT:
            with suppress(NoCommand):
                if read_command(command) != spec.source.command:
                    names.append(spec.name)
    if names:
        listed = ", ".join(f"`{name}`" for name in names)
        text = f"the conversation keeps its own commands, which are not those of the files now, for {listed}"
        yield Violation(TOOLS, text, drops=False)


def read_choice(value: object) -> ToolChoice:
    """Read `assistant.tool_choice` in its normal form."""
    match value:
        case "none":
            return "none"
        case "required":
            return "required"
        case str() if value != "auto":
            return NamedTool(value)
        case _:
            return "auto"


def source_of(name: str, text: str) -> tuple[str, str, str]:
    """Split a source into its kind, the server of an MCP tool, and what the tool is called there (4.1)."""
    kind, _, rest = text.partition(".")
    server = ""
    if kind == "mcp":
        server, _, rest = rest.partition(".")
    return kind, server, rest or name


def _names(tree: Partial) -> Iterator[str]:
    """Give the configured tools in their order, then those of ours that are not."""
    configured = [name for name in entries_of(value_at(tree, TOOLS)) if name != TOOL_DEFAULTS_ENTRY]
    yield from configured
    yield from (name for name in BUILTIN_TOOLS if name not in configured and name != DESCRIBE_TOOLS)


@dataclass(frozen=True, slots=True)
class _Built:
    """A tool, if the entry makes one, and what is wrong with the entry."""

    spec: ToolSpec | None
    violations: tuple[Violation, ...] = ()


@dataclass(frozen=True, slots=True)
class _Building:
    tree: Partial
    server: ServerSettings
    root: FilePath | None
    approvals: Approvals

    def entry(self, name: str) -> Partial:
        return entries_of(value_at(self.tree, (*TOOLS, name)))

    def is_on(self, name: str) -> bool:
        """Tell whether a tool is offered by itself; ours are only where their entry says so."""
        if self._is_ours_by_default(name):
            return False
        enable = effective_enable(self.tree, name)
        return enable is not None and enable[0]

    def is_locked(self, name: str) -> bool:
        """Tell whether nothing can switch a tool on that is off."""
        enable = effective_enable(self.tree, name)
        return enable is not None and not self._is_ours_by_default(name) and enable[1] == "never"

    def _is_ours_by_default(self, name: str) -> bool:
        return name in BUILTIN_TOOLS and name != DESCRIBE_TOOLS and "enable" not in self.entry(name)

    def with_description(self, specs: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
        """Add `describe_tools`, or take it away where there is nothing to describe (4.10).

        The user's entry of that name takes the place of ours, wholly (trap 56).
        """
        ours = None if self.entry(DESCRIBE_TOOLS) else self.tool(DESCRIBE_TOOLS).spec
        return without_lone_description(specs if ours is None else (*specs, ours))

    def tool(self, name: str) -> _Built:
        """Build a tool from its entry, or one of ours without."""
        entry = self.entry(name)
        kind, server_name, own_name = source_of(name, str(entry.get("source", "builtin")))
        path = (*TOOLS, name)
        if kind == "builtin":
            return self._builtin(name, entry)
        if kind == "mcp":
            return self._finish(name, entry, McpSource(server_name, own_name))
        try:
            command = read_command(entry.get("command", ABSENT))
        except NoCommand as problem:
            return _left_out((*path, "command"), str(problem))
        return self._finish(name, entry, LocalSource(own_name, command))

    def _builtin(self, name: str, entry: Partial) -> _Built:
        ours = BUILTIN_TOOLS.get(name)
        if ours is not None:
            return self._finish(name, entry, BuiltinSource(name), ours)
        known = near_names(name, BUILTIN_TOOLS) or BUILTIN_TOOLS
        hint = f"did you mean {', '.join(f'`{one}`' for one in known)}?"
        return _left_out((*TOOLS, name, "source"), f"there is no built-in tool of that name; {hint}")

    def _finish(
        self, name: str, entry: Partial, source: ToolSource, ours: BuiltinTool | None = None
    ) -> _Built:
        path = (*TOOLS, name)
        definition = tool_definition(name, entry, None if ours is None else ours.definition)
        unasked = ours is not None and ours.needs_no_approval
        try:
            policy = tool_policy(self.tree, name, self.server, run_mode="unattended" if unasked else None)
        except NoCommand as problem:
            return _left_out((*path, "style", "parameters"), str(problem))
        access = self._access(entry)
        spec = ToolSpec(
            definition,
            source,
            policy,
            cast("Mapping[str, JsonValue]", entries_of(entry.get("options", ABSENT))),
            access.wire,
            access.error,
        )
        return _Built(spec, (*_doubts(spec), *_dropped_rules(name, access)))

    def _access(self, entry: Partial) -> CompiledAccess:
        """Compile the access rules; a tool without any gets no policy at all."""
        if "access" not in entry:
            return CompiledAccess(None)
        if self.root is None:
            return CompiledAccess(None, "there is no workspace that its paths could be relative to")
        rules = value_at(entry, ("access", "fs"))
        items = rules.items if isinstance(rules, MergedList) else ()
        return compile_access([entries_of(rule) for rule in items], self.root, self.approvals)


def _doubts(spec: ToolSpec) -> Iterator[Violation]:
    """Notice what is most likely not meant (4.2, traps 22 and 23)."""
    path: Path = (*TOOLS, spec.name)
    for stray in stray_items(spec.definition.parameters):
        text = "describes `items`, but its type is not `array`"
        yield Violation((*path, "parameters", *stray), text, drops=False)
    commands: list[tuple[Path, Command | None]] = [((*path, "style", "parameters"), spec.policy.formatter)]
    if isinstance(spec.source, LocalSource):
        commands.append(((*path, "command"), spec.source.command))
    for key, command in commands:
        cut = None if command is None else describe_cut_word(command)
        if cut is not None:
            yield Violation(key, cut, drops=False)
    if (
        isinstance(spec.source, LocalSource)
        and spec.source.command.shell
        and spec.policy.run_mode == "unattended"
    ):
        text = "runs through a shell without asking; set `run` to `ask` if a model should not decide that"
        yield Violation((*path, "command"), text, drops=False)


def _dropped_rules(name: str, access: CompiledAccess) -> Iterator[Violation]:
    for reason in access.dropped:
        yield Violation((*TOOLS, name, "access", "fs"), reason, drops=False)


def _left_out(path: Path, problem: str) -> _Built:
    return _Built(None, (Violation(path, f"{problem}; the tool is left out", drops=False),))

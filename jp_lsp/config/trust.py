"""What a workspace's files define that needs the user's trust (config-and-tools 10.4).

Pure, and by comparison: the same definitions are read twice, from all layers and from the user's own alone.
What is there only because of the workspace, or reads otherwise because of it, must be trusted. So it does not
matter which file adds what: an argument that a workspace appends to the user's own server is seen, and a
tool of the user's that an old conversation repeats is not.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from jp_lsp.config.attachments import ATTACHMENTS, attachment_entries
from jp_lsp.config.endpoints import UntrustedEndpoint
from jp_lsp.config.fold import fold
from jp_lsp.config.foreign import Foreign
from jp_lsp.config.keys_tools import TOOL, TOOL_DEFAULTS_ENTRY
from jp_lsp.config.layer import WORKSPACE_KINDS, Layer, Source
from jp_lsp.config.mcp_servers import MCP, programs
from jp_lsp.config.resolve import complete_configuration
from jp_lsp.config.tool_commands import NoCommand, formatter_of, read_command
from jp_lsp.config.tools import TOOLS, source_of
from jp_lsp.config.trace import locate
from jp_lsp.config.value import ABSENT, MaybeValue, Partial, Path, Value, entries_of, value_at
from jp_lsp.config.write import write
from jp_lsp.ports.mcp import StdioServer
from jp_lsp.ports.trust import TrustItem, TrustKind
from jp_lsp.tools.builtin import BUILTIN_TOOLS
from jp_lsp.tools.command_line import command_line
from jp_lsp.tools.spec import Command

_LABELS: Path = ("conversation", "labels")

_UNASKED = "runs without asking"
_TOLD = ("options", "access", "questions")
"""What decides what a tool's command does, beside the arguments: that too is what the user trusts."""

_Definitions = Mapping[tuple[TrustKind, str], tuple[str, Path]]
"""What is trusted, by kind and name, with its place in the tree."""


def trust_items(
    tree: Partial, sources: Sequence[Source], foreign_origins: Foreign, strangers: Sequence[UntrustedEndpoint]
) -> tuple[TrustItem, ...]:
    """Find everything that the user must trust, sorted.

    Args:
        tree: the complete configuration.
        sources: what it was folded from, in order.
        foreign_origins: tells what came with the workspace.
        strangers: what its files say about vendors.
    """
    items = [TrustItem("endpoint", each.key, each.claim, str(each.origin)) for each in strangers]
    own_sources, foreign_sources = _split(sources, foreign_origins)
    if foreign_sources:
        own = complete_configuration(fold(own_sources).tree)[0]
        trusted = _definitions(own)
        foreign = {
            key: found for key, found in _definitions(tree).items() if trusted.get(key, ("",))[0] != found[0]
        }
        foreign.update(_approvals(tree, own, foreign))
        for (kind, name), (text, path) in foreign.items():
            items.append(TrustItem(kind, name, text, _place(foreign_sources, path)))
    return tuple(sorted(items))


def trust_hash(items: Iterable[TrustItem]) -> str:
    """Give a value that is equal for equal definitions only, wherever they stand; empty for none."""
    listed = sorted({(item.kind, item.name, item.text) for item in items})
    if not listed:
        return ""
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest()


def _split(sources: Sequence[Source], foreign_origins: Foreign) -> tuple[Sequence[Source], Sequence[Source]]:
    """Part the user's own sources from what came with the workspace: its layers, and any file that lies in it."""
    own: list[Source] = []
    foreign: list[Source] = []
    for source in sources:
        if not isinstance(source, Layer):
            (foreign if source.origin in foreign_origins else own).append(source)
        elif source.kind in WORKSPACE_KINDS:
            foreign.append(source)
        else:
            inside = tuple(step for step in source.steps if step.origin in foreign_origins)
            outside = tuple(step for step in source.steps if step not in inside)
            own.append(replace(source, steps=outside))
            if inside:
                foreign.append(replace(source, steps=inside))
    return own, foreign


def _place(sources: Sequence[Source], path: Path) -> str:
    """Say where a definition is, or the nearest table around it that these sources have a part in."""
    prefixes = (path[:end] for end in range(len(path), 1, -1))
    return str(next((found for prefix in prefixes if (found := locate(sources, prefix))), ""))


# ------------------------------------------------------------------------------------------- definitions


def _definitions(tree: Partial) -> _Definitions:
    found: dict[tuple[TrustKind, str], tuple[str, Path]] = {}
    for name, value in entries_of(value_at(tree, TOOLS)).items():
        entry = entries_of(value)
        if (formatter := formatter_of(value_at(entry, ("style", "parameters")))) is not None:
            found["formatter", name] = _command_text(formatter), (*TOOLS, name, "style", "parameters")
        if name != TOOL_DEFAULTS_ENTRY and source_of(name, str(entry.get("source", "")))[0] == "local":
            found["tool", name] = _tool_text(name, entry), (*TOOLS, name, "command")
    for name, server in programs(tree).items():
        found["mcp_server", name] = _server_text(server), (*MCP, name)
    for index, attached in enumerate(attachment_entries(tree)):
        if attached.handler == "cmd":
            found["attachment", attached.text] = attached.text, (*ATTACHMENTS, index)
    for name, label in entries_of(value_at(tree, _LABELS)).items():
        if (maker := value_at(label, ("value", "cmd"))) is not ABSENT:
            found["label", name] = _command_text(maker), (*_LABELS, name)
    return found


def _tool_text(name: str, entry: Partial) -> str:
    """Write what a local tool runs, with all that its command is told by the configuration."""
    own_name = source_of(name, str(entry.get("source", "")))[2]
    told = {key: write(TOOL.keys[key].kind, entry[key]) for key in _TOLD if entry.get(key)}
    return "".join(
        [
            _command_text(entry.get("command", ABSENT)),
            f", called as {own_name}" if own_name != name else "",
            *(f", with the {key} {json.dumps(value, ensure_ascii=False)}" for key, value in told.items()),
        ]
    )


def _server_text(server: StdioServer) -> str:
    text = command_line(Command(server.command, server.arguments))
    return text if server.checksum is None else f"{text}, {server.checksum.algorithm} {server.checksum.value}"


def _command_text(value: MaybeValue) -> str:
    try:
        return command_line(read_command(value))
    except NoCommand:
        return "" if value is ABSENT else str(value)


# ------------------------------------------------------------------------------------- running unasked


def _approvals(tree: Partial, own: Partial, foreign: _Definitions) -> _Definitions:
    """Find tools and labels of the user's whose programs would run unasked because the workspace says so.

    What the workspace defines itself is not offered before it is trusted. The user's own programs are, and
    must not lose the question that the user expects before each call.
    """
    found = _label_approvals(tree, own, foreign)
    servers = {name for kind, name in foreign if kind == "mcp_server"}
    tools = entries_of(value_at(tree, TOOLS))
    for name in dict.fromkeys((*tools, *BUILTIN_TOOLS)):
        entry = entries_of(tools.get(name, ABSENT))
        kind, server, _ = source_of(name, str(entry.get("source", "builtin")))
        is_foreign = ("tool", name) in foreign or (kind == "mcp" and server in servers)
        if name == TOOL_DEFAULTS_ENTRY or is_foreign or _runs_unasked_anyway(name):
            continue
        mode, path = _run_mode(tree, name)
        if mode == "unattended" and _run_mode(own, name)[0] != "unattended":
            found["approval", name] = _UNASKED, path
    return found


def _label_approvals(
    tree: Partial, own: Partial, foreign: _Definitions
) -> dict[tuple[TrustKind, str], tuple[str, Path]]:
    found: dict[tuple[TrustKind, str], tuple[str, Path]] = {}
    for kind, name in _definitions(tree):
        path = (*_LABELS, name, "run")
        is_own = kind == "label" and (kind, name) not in foreign
        if is_own and value_at(tree, path) == "unattended" and value_at(own, path) != "unattended":
            found["label_approval", name] = _UNASKED, path
    return found


def _runs_unasked_anyway(name: str) -> bool:
    ours = BUILTIN_TOOLS.get(name)
    return ours is not None and ours.needs_no_approval


def _run_mode(tree: Partial, name: str) -> tuple[Value, Path]:
    """Give the run mode of a tool, and where it is set."""
    path = (*TOOLS, name, "run")
    mode = value_at(tree, path)
    if mode is ABSENT:
        path = (*TOOLS, TOOL_DEFAULTS_ENTRY, "run")
        mode = value_at(tree, path)
    return "ask" if mode is ABSENT else mode, path

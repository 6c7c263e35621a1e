"""Whether a workspace may run what its files define (config-and-tools 10.4).

Asked once, at the first query that would need it. Until the answer is yes the query goes on without: reading
files and talking to a model need no trust, and a notice says what is missing. Only where requests would go to
a stranger does the query end, because there is no right way on.
"""

import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import anyio.to_thread

from jp_lsp.driver.asking import ask_user
from jp_lsp.ports.attachment import AttachmentEntry
from jp_lsp.ports.frontend import Frontend
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.settings import LabelRule, QuerySettings
from jp_lsp.ports.trust import TrustChange, TrustItem, TrustKind, TrustPolicy, TrustStore
from jp_lsp.tools.builtin import DESCRIBE_TOOLS
from jp_lsp.tools.command_line import command_line
from jp_lsp.tools.decision import Choice, Decision, DecisionId
from jp_lsp.tools.definition import NamedTool
from jp_lsp.tools.spec import LocalSource, McpSource, ToolSpec
from jp_lsp.tools.usage import without_lone_description
from jp_lsp.turn.inputs import Answered
from jp_lsp.turn.outcome import Notice
from jp_lsp.turn.shown import NoticeGiven

QUESTION = "Trust this workspace to run its programs?"
DONT_TRUST = Choice("deny", "Don't trust")
TRUST = Choice("trust", "Trust")

_NOUNS: dict[TrustKind, tuple[str, str]] = {
    "tool": ("tool", "tools"),
    "mcp_server": ("MCP server", "MCP servers"),
    "formatter": ("argument formatter", "argument formatters"),
    "attachment": ("attachment command", "attachment commands"),
    "label": ("label command", "label commands"),
    "endpoint": ("address for requests", "addresses for requests"),
    "approval": ("tool that would no longer ask", "tools that would no longer ask"),
    "label_approval": ("label command that would no longer ask", "label commands that would no longer ask"),
    "link": ("folder outside of the workspace", "folders outside of the workspace"),
}
_MOST_LISTED = 100
_MOST_NAMED = 8
_MOST_SHOWN = 500


async def decide_trust(
    settings: QuerySettings,
    store: TrustStore,
    frontend: Frontend,
    policy: TrustPolicy,
    *,
    is_interactive: bool = True,
) -> bool:
    """Tell whether what the workspace defines counts for this query; asks the user where that is open.

    Closing the question is no answer: nothing is trusted for this query, and the next one asks again.

    Args:
        settings: says what there is to trust, and what of it the query would use.
        store: what the user said before.
        frontend: asks; must have been configured, because the list is shown there.
        policy: the server's setting.
        is_interactive: whether the query may ask at all.
    """
    if policy != "ask":
        return policy == "always"
    items = settings.untrusted
    if not items or store.is_trusted(settings.trust_hash):
        return True
    changes = store.changes(items)
    if not changes:
        return True
    can_ask = frontend.can_prompt and is_interactive
    if not can_ask or not needed_items(settings) or store.is_declined(settings.trust_hash):
        return False
    listing = describe_changes(changes, len(items))
    frontend.publish(NoticeGiven(Notice("warning", "trust", listing), is_durable=False))
    answer = await ask_user(frontend, _question(changes, listing))
    if not isinstance(answer, Answered):
        return False
    if answer.choice != TRUST.id:
        store.decline(settings.trust_hash)
        return False
    await anyio.to_thread.run_sync(store.trust, settings.trust_hash, items)
    return True


def apply_trust(settings: QuerySettings, *, is_trusted: bool) -> QuerySettings:
    """Give the settings as they hold after the decision.

    Without trust, tools and servers that the workspace defines are gone, the user's own tools ask as the
    user wants it, and vendors are reached as if the workspace said nothing.

    Raises:
        Refusal: requests would go to a stranger, or the tool that must be called is one of the workspace's.
    """
    if is_trusted:
        return replace(settings, providers=settings.trusted_providers or settings.providers, untrusted=())
    if not settings.untrusted:
        return settings
    _refuse_stranger(settings)
    foreign = _Foreign(settings.untrusted)
    tools = without_lone_description(foreign.without(settings.tools))
    if all(tool.name == DESCRIBE_TOOLS for tool in tools):
        tools = ()  # nothing is left to describe
    _refuse_lost_choice(settings, tools)
    return replace(
        settings,
        tools=tools,
        idle_tools=foreign.without(settings.idle_tools),
        mcp_servers={
            name: server
            for name, server in settings.mcp_servers.items()
            if not foreign.has("mcp_server", name)
        },
        attachments=tuple(each for each in settings.attachments if not foreign.makes(each)),
        labels=labels_without_trust(settings),
        warnings=(*settings.warnings, *_missing(settings, foreign)),
    )


def labels_without_trust(settings: QuerySettings) -> tuple[LabelRule, ...]:
    """Give the labels without those of the workspace; those of the user's own ask again."""
    foreign = _Foreign(settings.untrusted)
    kept = [rule for rule in settings.labels if not foreign.has("label", rule.name)]
    return tuple(
        replace(rule, run="ask") if foreign.has("label_approval", rule.name) else rule for rule in kept
    )


def needed_items(settings: QuerySettings) -> tuple[TrustItem, ...]:
    """Give the items that this query itself would use; the others wait for a query that does."""
    names = {tool.name for tool in settings.tools}
    servers = {
        *(tool.source.server for tool in settings.tools if isinstance(tool.source, McpSource)),
        *(attached.server for attached in settings.attachments),
    }
    formatters = {command_line(tool.policy.formatter) for tool in settings.tools if tool.policy.formatter}

    def is_needed(item: TrustItem) -> bool:
        match item.kind:
            case "tool" | "approval":
                return item.name in names
            case "mcp_server":
                return item.name in servers
            case "formatter":
                return item.text in formatters
            case "endpoint":
                return _concerns_model(item, settings)
            case "attachment" | "label" | "label_approval" | "link":
                return True

    return tuple(item for item in settings.untrusted if is_needed(item))


# ---------------------------------------------------------------------------------------- the question


def describe_changes(changes: Sequence[TrustChange], count: int) -> str:
    """List what the user is asked to trust; `count` is how many items there are in all."""
    is_first = len(changes) == count and all(change.is_new for change in changes)
    head = "This workspace wants to run:" if is_first else "Changed or new since you trusted this workspace:"
    groups: dict[tuple[TrustKind, str, bool], list[TrustItem]] = {}
    for change in changes:
        groups.setdefault((change.item.kind, change.item.text, change.is_new), []).append(change.item)
    lines = [_describe(items, is_new=is_new) for (_, _, is_new), items in groups.items()]
    if len(lines) > _MOST_LISTED:
        lines = [*lines[:_MOST_LISTED], f"and {len(lines) - _MOST_LISTED} more"]
    return "\n".join([head, *(f"- {line}" for line in lines)])


def _describe(items: Sequence[TrustItem], *, is_new: bool) -> str:
    """Describe items of one kind that come to the same, such as tools with one command."""
    first = items[0]
    names = [item.name for item in items if item.name != item.text]
    what = _listed(names, *_NOUNS[first.kind]) if names else _NOUNS[first.kind][0]
    place = f" ({on_one_line(first.origin)})" if first.origin and len(items) == 1 else ""
    return f"{what}{'' if is_new else ' (changed)'}{place}: {on_one_line(first.text)}"


def on_one_line(text: str) -> str:
    """Put text of a stranger's on one line, so that it cannot pretend to be more of the list."""
    line = "".join(char if char.isprintable() else " " for char in " ".join(text.split()))
    rest = len(line) - _MOST_SHOWN
    return line if rest <= 0 else f"{line[:_MOST_SHOWN]} ... ({rest} more characters)"


def _question(changes: Sequence[TrustChange], listing: str) -> Decision:
    summary = _count([change.item for change in changes])
    return Decision(
        DecisionId(f"trust-{secrets.token_hex(4)}"),
        "approval",
        f"{QUESTION} {summary}.",
        (DONT_TRUST, TRUST),
        detail=listing,
    )


def _count(items: Sequence[TrustItem]) -> str:
    counts = Counter(item.kind for item in items)
    parts = [f"{counts[kind]} {words[counts[kind] != 1]}" for kind, words in _NOUNS.items() if counts[kind]]
    return ", ".join(parts)


# ------------------------------------------------------------------------------------- without trust


class _Foreign:
    """What must not count, for looking up."""

    def __init__(self, items: Sequence[TrustItem]) -> None:
        self._names = {(item.kind, item.name) for item in items}
        self._formatters = {item.text for item in items if item.kind == "formatter"}

    def has(self, kind: TrustKind, name: str) -> bool:
        return (kind, name) in self._names

    def defines(self, tool: ToolSpec) -> bool:
        """Tell whether a program of the workspace would run for this tool."""
        formatter = tool.policy.formatter
        if formatter is not None and command_line(formatter) in self._formatters:
            return True
        match tool.source:
            case LocalSource():
                return self.has("tool", tool.name)
            case McpSource(server):
                return self.has("mcp_server", server)
            case _:
                return False

    def makes(self, attached: AttachmentEntry) -> bool:
        """Tell whether a program of the workspace would make this attachment."""
        if attached.server is not None:
            return self.has("mcp_server", attached.server)
        return self.has("attachment", attached.text)

    def without(self, tools: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
        """Give the tools that may be offered; those of the user's own ask again."""
        kept = [tool for tool in tools if not self.defines(tool)]
        return tuple(_asking(tool) if self.has("approval", tool.name) else tool for tool in kept)


def _asking(tool: ToolSpec) -> ToolSpec:
    return replace(tool, policy=replace(tool.policy, run_mode="ask", formats_unasked=False))


def _concerns_model(item: TrustItem, settings: QuerySettings) -> bool:
    return item.kind == "endpoint" and item.name.startswith(f"providers.llm.{settings.model.provider}.")


def _refuse_stranger(settings: QuerySettings) -> None:
    strangers = [item for item in settings.untrusted if _concerns_model(item, settings)]
    if strangers:
        first = strangers[0]
        text = (
            f"{first.origin}: {first.text}. A workspace decides that only once it is trusted: set the server "
            f"setting `trust` to `always`, or set `{first.name}` in your own configuration."
        )
        chain = tuple(f"{item.origin}: {item.text}" for item in strangers)
        raise Refusal("config_invalid", text, chain=chain, origin=first.origin)


def _refuse_lost_choice(settings: QuerySettings, left: Sequence[ToolSpec]) -> None:
    choice = settings.tool_choice
    if not isinstance(choice, NamedTool) or any(tool.name == choice.name for tool in left):
        return
    text = (
        f"tool choice `{choice.name}` cannot be kept, because the workspace that defines the tool is not "
        "trusted. Choose another tool or none, or set the server setting `trust` to `always`."
    )
    raise Refusal("config_invalid", text, origin="assistant.tool_choice")


def _missing(settings: QuerySettings, foreign: _Foreign) -> tuple[str, ...]:
    """Say what this query goes without."""
    needed = needed_items(settings)

    def names(is_wanted: Callable[[TrustItem], bool]) -> list[str]:
        return [item.name for item in needed if is_wanted(item)]

    parts: list[str] = []
    if tools := [tool.name for tool in settings.tools if foreign.defines(tool)]:
        parts.append(f"it is not offered {_listed(tools, 'tool', 'tools')}")
    if servers := names(lambda item: item.kind == "mcp_server"):
        parts.append(f"it does not start {_listed(servers, *_NOUNS['mcp_server'])}")
    if left_out := [item for item in needed if item.kind in {"attachment", "label"}]:
        parts.append(f"it leaves out {_count(left_out)}")
    if asking := names(lambda item: item.kind == "approval"):
        parts.append(f"it is asked before {_listed(asking, 'tool', 'tools')} may run")
    if commands := names(lambda item: item.kind == "label_approval"):
        parts.append(f"it is asked before {_listed(commands, *_NOUNS['label'])} may run")
    if folders := names(lambda item: item.kind == "link"):
        parts.append(f"it leaves {_listed(folders, *_NOUNS['link'])} alone")
    if not parts:
        return ()
    return (f"The workspace is not trusted to run its programs. For this query: {'; '.join(parts)}.",)


def _listed(names: Sequence[str], one: str, many: str) -> str:
    shown = ", ".join(f"`{on_one_line(name)}`" for name in names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{one if len(names) == 1 else many} {shown}{more}"

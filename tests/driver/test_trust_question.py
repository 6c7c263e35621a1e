"""The question whether a workspace may run its programs, and what follows from the answer (config-and-tools 10.4)."""

from collections.abc import Sequence
from dataclasses import replace

import anyio
import pytest
from anyio import wait_all_tasks_blocked

from jp_lsp.driver.tool_choice import with_query_choice
from jp_lsp.driver.trust import apply_trust, decide_trust, needed_items
from jp_lsp.ports.mcp import StdioServer
from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.providers import ProviderSettings
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.settings import QuerySettings
from jp_lsp.ports.trust import TrustChange, TrustItem
from jp_lsp.tools.definition import NamedTool, ToolDefinition
from jp_lsp.tools.spec import BuiltinSource, Command, LocalSource, McpSource, ToolPolicy, ToolSource, ToolSpec
from jp_lsp.turn.inputs import AskFailed, Dismissed
from jp_lsp.turn.shown import NoticeGiven
from tests.support.frontend import RecordingFrontend

pytestmark = pytest.mark.anyio


def tool(name: str, source: ToolSource | None = None, **policy: object) -> ToolSpec:
    definition = ToolDefinition(name, {}, "Does something.")
    return ToolSpec(definition, source or LocalSource(name, Command("run")), ToolPolicy(**policy))  # type: ignore[arg-type]


THEIRS = TrustItem("tool", "theirs", "run", ".jp/config.toml:3")
SERVER = TrustItem("mcp_server", "notes", "notes-mcp --all", ".jp/config.toml:9")
FORMATTER = TrustItem("formatter", "*", "fmt", ".jp/config.toml:12")
APPROVAL = TrustItem("approval", "mine", "runs without asking", ".jp.toml:1")
STRANGER = TrustItem(
    "endpoint",
    "providers.llm.test.base_url",
    "`providers.llm.test.base_url` is `https://e.example`",
    ".jp.toml:2",
)
ATTACHED = TrustItem("attachment", "cmd:git log", "cmd:git log", ".jp.toml:3")


def settings(*untrusted: TrustItem, tools: Sequence[ToolSpec] = (), **more: object) -> QuerySettings:
    items = tuple(sorted(untrusted))
    base = QuerySettings(
        ModelId("test", "big"),
        {},
        tools=tuple(tools),
        untrusted=items,
        trust_hash=f"hash of {len(items)}" if items else "",
    )
    return replace(base, **more)  # type: ignore[arg-type]


class FakeStore:
    """Remembers what it was told; `known` are texts that were trusted, by kind and name."""

    def __init__(self, *known: TrustItem) -> None:
        self.known = list(known)
        self.trusted: list[str] = []
        self.declined: list[str] = []

    def is_trusted(self, trust_hash: str) -> bool:
        return trust_hash in self.trusted

    def changes(self, items: Sequence[TrustItem]) -> tuple[TrustChange, ...]:
        known = {(item.kind, item.name, item.text) for item in self.known}
        names = {(item.kind, item.name) for item in self.known}
        return tuple(
            TrustChange(item, (item.kind, item.name) not in names)
            for item in items
            if (item.kind, item.name, item.text) not in known
        )

    def trust(self, trust_hash: str, items: Sequence[TrustItem]) -> None:
        self.trusted.append(trust_hash)
        self.known += items

    def decline(self, trust_hash: str) -> None:
        self.declined.append(trust_hash)

    def is_declined(self, trust_hash: str) -> bool:
        return trust_hash in self.declined


WORKSPACE = settings(THEIRS, tools=[tool("theirs")])


class Asking:
    """One decision, with the user played by the test."""

    def __init__(self, query: QuerySettings = WORKSPACE, store: FakeStore | None = None) -> None:
        self.query = query
        self.store = store or FakeStore()
        self.frontend = RecordingFrontend()
        self.decided: bool | None = None

    async def run(self) -> None:
        self.decided = await decide_trust(self.query, self.store, self.frontend, "ask")

    @property
    def notices(self) -> list[str]:
        return [shown.notice.text for shown in self.frontend.shown if isinstance(shown, NoticeGiven)]


async def asked(query: QuerySettings = WORKSPACE, *, answer: str, store: FakeStore | None = None) -> Asking:
    """Ask, and answer with a choice, `dismiss` or `fail`."""
    asking = Asking(query, store)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(asking.run)
        await wait_all_tasks_blocked()
        decision, reply = asking.frontend.asked[-1]
        match answer:
            case "dismiss":
                reply(Dismissed(decision.id))
            case "fail":
                reply(AskFailed(decision.id, "it cannot be shown"))
            case _:
                asking.frontend.choose(answer)
    put = asking.frontend.asked[-1][0]
    assert asking.frontend.withdrawn == [(put.id, "answered")]
    return asking


@pytest.mark.requirement("T15")
async def test_the_question_is_short_and_the_list_is_shown_beside_it() -> None:
    query = settings(THEIRS, SERVER, FORMATTER, tools=[tool("theirs"), tool("n", McpSource("notes", "n"))])
    asking = await asked(query, answer="trust")
    decision, _ = asking.frontend.asked[0]
    assert decision.kind == "approval"
    assert decision.message == (
        "Trust this workspace to run its programs? 1 tool, 1 MCP server, 1 argument formatter."
    )
    assert [(choice.id, choice.title) for choice in decision.choices] == [
        ("deny", "Don't trust"),
        ("trust", "Trust"),
    ]
    listing = (
        "This workspace wants to run:\n"
        "- argument formatter `*` (.jp/config.toml:12): fmt\n"
        "- MCP server `notes` (.jp/config.toml:9): notes-mcp --all\n"
        "- tool `theirs` (.jp/config.toml:3): run"
    )
    assert (asking.notices, decision.detail) == ([listing], listing)
    assert asking.decided is True
    assert asking.store.trusted == ["hash of 3"]


@pytest.mark.requirement("T15", "R330")
@pytest.mark.parametrize("answer", ["deny", "dismiss", "fail"])
async def test_only_yes_means_yes(answer: str) -> None:
    asking = await asked(answer=answer)
    assert asking.decided is False
    assert asking.store.trusted == []
    assert asking.store.declined == (["hash of 1"] if answer == "deny" else [])


@pytest.mark.parametrize("answer", ["trust", "deny"])
async def test_an_answer_holds_for_the_next_query(answer: str) -> None:
    store = FakeStore()
    first = await asked(answer=answer, store=store)
    frontend = RecordingFrontend()
    assert await decide_trust(WORKSPACE, store, frontend, "ask") is first.decided
    assert frontend.asked == []


async def test_after_a_closed_question_the_next_query_asks_again() -> None:
    store = FakeStore()
    await asked(answer="dismiss", store=store)
    assert (await asked(answer="trust", store=store)).decided


@pytest.mark.parametrize(("policy", "wanted"), [("always", True), ("never", False)])
async def test_the_servers_setting_decides_without_a_question(policy: str, wanted: bool) -> None:
    frontend, store = RecordingFrontend(), FakeStore()
    assert await decide_trust(WORKSPACE, store, frontend, policy) is wanted  # type: ignore[arg-type]
    assert (frontend.asked, frontend.shown, store.trusted) == ([], [], [])


@pytest.mark.requirement("T15")
@pytest.mark.parametrize("why", ["cannot prompt", "not interactive"])
async def test_where_nobody_can_be_asked_nothing_is_trusted(why: str) -> None:
    frontend = RecordingFrontend(can_prompt=why != "cannot prompt")
    decided = await decide_trust(
        WORKSPACE, FakeStore(), frontend, "ask", is_interactive=why != "not interactive"
    )
    assert (decided, frontend.asked) == (False, [])


async def test_what_was_trusted_needs_no_one_to_ask() -> None:
    frontend = RecordingFrontend(can_prompt=False)
    assert await decide_trust(WORKSPACE, FakeStore(THEIRS), frontend, "ask") is True
    assert await decide_trust(settings(), FakeStore(), frontend, "ask") is True


async def test_a_change_asks_again_and_is_named() -> None:
    older = replace(THEIRS, text="walk")
    fresh = TrustItem("tool", "fresh", "fly", ".jp.toml:7")
    query = settings(THEIRS, fresh, SERVER, tools=[tool("theirs")])
    asking = await asked(query, answer="trust", store=FakeStore(older, SERVER))
    assert asking.notices == [
        "Changed or new since you trusted this workspace:\n"
        "- tool `fresh` (.jp.toml:7): fly\n"
        "- tool `theirs` (changed) (.jp/config.toml:3): run"
    ]
    assert asking.frontend.asked[0][0].message == "Trust this workspace to run its programs? 2 tools."


async def test_nothing_is_asked_before_a_query_needs_it() -> None:
    frontend = RecordingFrontend()
    for items, tools in [
        ((THEIRS,), [tool("mine")]),
        ((SERVER,), [tool("n", McpSource("other", "n"))]),
        ((FORMATTER,), [tool("mine", formatter=Command("other"))]),
        ((APPROVAL,), [tool("other")]),
        ((replace(STRANGER, name="providers.llm.other.base_url"),), []),
    ]:
        query = settings(*items, tools=tools)
        assert needed_items(query) == ()
        assert await decide_trust(query, FakeStore(), frontend, "ask") is False
    assert frontend.asked == []
    for item in (ATTACHED, replace(ATTACHED, kind="label")):
        assert needed_items(settings(item)) == (item,)


async def test_a_cancelled_query_takes_its_question_back() -> None:
    asking = Asking()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(asking.run)
        await wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    decision = asking.frontend.asked[0][0]
    assert asking.frontend.withdrawn == [(decision.id, "withdrawn")]
    assert asking.store.declined == []


async def test_texts_of_strangers_cannot_forge_the_list() -> None:
    nasty = TrustItem("tool", "a`\n- tool `b", "x\n- tool `safe`: ls \x1b[2K" + "y" * 600, "f\n:1")
    asking = await asked(settings(nasty, tools=[tool(nasty.name)]), answer="deny")
    (listing,) = asking.notices
    lines = listing.split("\n")
    assert len(lines) == 2
    assert "\x1b" not in listing
    assert lines[1].endswith("more characters)")


async def test_many_items_that_come_to_the_same_are_one_line() -> None:
    many = [TrustItem("tool", f"t{number:03}", "run", f"f:{number}") for number in range(30)]
    others = [TrustItem("tool", f"u{number:03}", f"run {number}", "") for number in range(150)]
    asking = await asked(settings(*many, *others, tools=[tool("t000")]), answer="deny")
    lines = asking.notices[0].split("\n")
    assert lines[1] == (
        "- tools `t000`, `t001`, `t002`, `t003`, `t004`, `t005`, `t006`, `t007` and 22 more: run"
    )
    assert (len(lines), lines[-1]) == (102, "- and 51 more")


# ------------------------------------------------------------------------------------------ what follows


@pytest.mark.requirement("T15")
async def test_without_trust_what_the_workspace_defines_is_gone_and_a_notice_says_so() -> None:
    mine, ask = tool("mine", run_mode="unattended", formats_unasked=True), tool("ask", BuiltinSource("ask"))
    query = settings(
        THEIRS, SERVER, FORMATTER, APPROVAL, ATTACHED,
        tools=[
            tool("theirs"), mine, ask, tool("note", McpSource("notes", "n")), tool("web", McpSource("web", "w")),
            tool("nice", formatter=Command("fmt")),
        ],
        idle_tools=(tool("theirs"), tool("idle")),
        mcp_servers={"notes": StdioServer("notes", "notes-mcp"), "web": StdioServer("web", "w")},
        warnings=("an older one",),
    )  # fmt: skip
    found = apply_trust(query, is_trusted=False)
    assert [spec.name for spec in found.tools] == ["mine", "ask", "web"]
    assert [spec.name for spec in found.idle_tools] == ["idle"]
    assert list(found.mcp_servers) == ["web"]
    assert (found.tools[0].policy.run_mode, found.tools[0].policy.formats_unasked) == ("ask", False)
    assert found.warnings == (
        "an older one",
        "The workspace is not trusted to run its programs. For this query: it is not offered tools `theirs`, `note`, "
        "`nice`; it does not start MCP server `notes`; it leaves out 1 attachment command; it is asked before tool "
        "`mine` may run.",
    )


async def test_where_no_tool_is_left_none_is_described() -> None:
    describe = tool("describe_tools", BuiltinSource("describe_tools"))
    assert apply_trust(settings(THEIRS, tools=[tool("theirs"), describe]), is_trusted=False).tools == ()
    kept = apply_trust(settings(THEIRS, tools=[tool("theirs"), tool("mine"), describe]), is_trusted=False)
    assert [spec.name for spec in kept.tools] == ["mine", "describe_tools"]


async def test_with_trust_everything_is_as_the_workspace_wants_it() -> None:
    wanted = {"test": ProviderSettings("https://proxy.example")}
    query = settings(THEIRS, STRANGER, tools=[tool("theirs")], trusted_providers=wanted)
    found = apply_trust(query, is_trusted=True)
    assert (found.tools, found.providers, found.untrusted, found.warnings) == (query.tools, wanted, (), ())


async def test_nothing_to_trust_changes_nothing() -> None:
    query = settings(tools=[tool("mine")])
    assert apply_trust(query, is_trusted=False) is query


@pytest.mark.requirement("T15")
async def test_requests_to_a_stranger_are_refused_with_file_line_and_host() -> None:
    with pytest.raises(Refusal) as caught:
        apply_trust(settings(STRANGER), is_trusted=False)
    error = caught.value.error
    assert (error.code, error.origin) == ("config_invalid", ".jp.toml:2")
    assert error.message == (
        ".jp.toml:2: `providers.llm.test.base_url` is `https://e.example`. A workspace decides that only once it is "
        "trusted: set the server setting `trust` to `always`, or set `providers.llm.test.base_url` in your own "
        "configuration."
    )
    elsewhere = replace(STRANGER, name="providers.llm.tester.base_url")
    assert apply_trust(settings(elsewhere), is_trusted=False).warnings == ()


@pytest.mark.requirement("R239")
async def test_a_chosen_tool_that_is_lost_ends_the_query() -> None:
    query = settings(THEIRS, tools=[tool("theirs"), tool("mine")])
    with pytest.raises(Refusal, match="tool choice `theirs` cannot be kept, because the workspace"):
        apply_trust(replace(query, tool_choice=NamedTool("theirs")), is_trusted=False)
    assert apply_trust(replace(query, tool_choice=NamedTool("mine")), is_trusted=False).tools == (
        tool("mine"),
    )


# ----------------------------------------------------------------------------------- the query's own choice


@pytest.mark.requirement("R239")
async def test_a_query_chooses_in_place_of_the_settings() -> None:
    query = settings(tools=[tool("on")], idle_tools=(tool("off"), tool("other")), tool_choice="none")
    assert with_query_choice(query, None) is query
    assert with_query_choice(query, "required").tool_choice == "required"
    found = with_query_choice(query, NamedTool("off"))
    assert [spec.name for spec in found.tools] == ["on", "off"]
    assert [spec.name for spec in found.idle_tools] == ["other"]
    with pytest.raises(Refusal, match="did you mean `other`"):
        with_query_choice(query, NamedTool("othr"))

"""The tools of a query: servers asked all at once, definitions merged, failures told or passed over."""

from dataclasses import replace
from typing import Any

import anyio
import pytest

from jp_lsp.ports.mcp import McpServerConfig, StdioServer
from jp_lsp.ports.refusal import Refusal
from jp_lsp.tools.definition import Parameter, ToolDefinition
from jp_lsp.tools.spec import BuiltinSource, McpSource, ToolSpec
from jp_lsp.toolsets.mcp import sdk, tools
from jp_lsp.toolsets.mcp.servers import McpServers
from jp_lsp.toolsets.mcp.tools import CompleteTools, McpTools
from tests.adapters.toolsets_mcp.scripted import watched_pool

pytestmark = pytest.mark.anyio

BUILTIN = ToolSpec(ToolDefinition("describe_tools", {}), BuiltinSource("describe_tools"))


def tool(name: str, source: str | None = None, server: str = "notes", **parameters: Parameter) -> ToolSpec:
    return ToolSpec(ToolDefinition(name, parameters), McpSource(server, source or name))


async def complete(servers: McpServers, specs: list[ToolSpec], *configs: McpServerConfig) -> CompleteTools:
    return await McpTools(servers, {config.name: config for config in configs}, "/").complete(specs)


@pytest.mark.requirement("R273", "R226")
@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_tools_get_the_servers_definition_under_the_configured_name(era: str) -> None:
    async with watched_pool() as (watching, servers):
        found = await complete(servers, [BUILTIN, tool("say", "echo")], watching.server(era=era))
    assert found.dropped == {}
    assert found.specs[0] is BUILTIN
    say = found.specs[1]
    assert say.name == "say"
    assert say.source == McpSource("notes", "echo")
    assert say.definition.summary == "Give the text back."
    assert say.definition.parameters["text"].schema == {"type": "string"}
    assert say.definition.parameters["text"].required


async def test_changes_of_the_user_are_merged() -> None:
    async with watched_pool() as (watching, servers):
        specs = [tool("echo", text=Parameter(None, enum=("yes", "no")))]
        found = await complete(servers, specs, watching.server())
    assert found.specs[0].definition.parameters["text"].schema == {"type": "string", "enum": ["yes", "no"]}


@pytest.mark.requirement("F23", "G61")
async def test_a_schema_of_any_kind_does_not_make_the_query_fail() -> None:
    """Trap 61."""
    schema = {
        "type": "object",
        "properties": {
            "tags": {"type": "array", "items": {"$ref": "#/$defs/Tag"}},
            "mode": {},
            "where": {"$ref": "#/$defs/none"},
        },
        "$defs": {"Tag": {"type": "string"}},
    }
    async with watched_pool() as (watching, servers):
        server = watching.server(tools=[{"name": "odd", "inputSchema": schema}])
        found = await complete(servers, [tool("odd")], server)
    parameters = found.specs[0].definition.parameters
    assert {name: parameter.schema for name, parameter in parameters.items()} == {
        "tags": {"type": "array", "items": {"$ref": "#/$defs/Tag"}},
        "mode": {},
        "where": {},
    }


async def test_servers_are_started_side_by_side_and_listed_once_each() -> None:
    async with watched_pool() as (watching, servers):
        configs = [watching.server(name, start="hold") for name in ("one", "two")]
        specs = [tool(f"{name}_{kind}", kind, name) for name in ("one", "two") for kind in ("echo", "fail")]
        found: list[CompleteTools] = []

        async def run() -> None:
            found.append(await complete(servers, specs, *configs))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            for process in [await watching.next_process(), await watching.next_process()]:
                process.go_on()
        assert [spec.name for spec in found[0].specs] == [spec.name for spec in specs]
        for process in watching.started:
            await process.wait_for("tools/list")
            assert [message["method"] for message in process.messages].count("tools/list") == 1


async def test_nothing_is_started_ahead_while_the_program_ends() -> None:
    async with watched_pool() as (watching, servers):
        await servers.aclose()
        McpTools(servers, {"notes": watching.server()}, "/").start([tool("echo")])
        assert watching.started == []


async def test_servers_can_be_started_ahead() -> None:
    async with watched_pool() as (watching, servers):
        config = watching.server()
        offered = McpTools(servers, {"notes": config}, "/")
        offered.start([tool("echo"), tool("x", server="unknown"), BUILTIN])
        await watching.next_process()
        await offered.complete([tool("echo")])
        assert len(watching.started) == 1


@pytest.mark.requirement("R273")
async def test_tools_are_listed_anew_for_each_turn() -> None:
    async with watched_pool() as (watching, servers):
        config = watching.server()
        for _ in range(2):
            await complete(servers, [tool("echo")], config)
        process = await watching.next_process()
        await process.wait_for("tools/list")
        await process.wait_for("tools/list")
        assert len(watching.started) == 1


async def test_long_lists_are_read_to_their_end() -> None:
    async with watched_pool() as (watching, servers):
        found = await complete(servers, [tool("sample"), tool("echo")], watching.server(page=2))
        assert len(found.specs) == 2


async def test_a_list_without_end_is_left_at_some_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdk, "MAX_PAGES", 3)
    async with watched_pool() as (watching, servers):
        found = await complete(servers, [tool("echo")], watching.server(page="endless"))
        assert len(found.specs) == 1


# ------------------------------------------------------------------------------------------ failures


async def check_refusal(
    servers: McpServers, specs: list[ToolSpec], text: str, *configs: McpServerConfig
) -> None:
    with pytest.raises(Refusal) as raised:
        await complete(servers, specs, *configs)
    assert raised.value.error.code == "mcp_failed"
    assert raised.value.error.message == text
    assert raised.value.error.origin == f"conversation.tools.{specs[0].name}.source"


async def test_a_server_that_nobody_declared_refuses_the_query() -> None:
    async with watched_pool() as (_, servers):
        text = "Unknown MCP server: notes; declare it under `providers.mcp.notes`"
        await check_refusal(servers, [tool("echo")], text)


async def test_a_tool_that_the_server_does_not_have_refuses_the_query() -> None:
    async with watched_pool() as (watching, servers):
        few = watching.server(tools=[{"name": name, "inputSchema": {"type": "object"}} for name in "ab"])
        text = "Unknown tool: search; MCP server 'notes' has: a, b"
        await check_refusal(servers, [tool("find", "search")], text, few)
        none = watching.server(tools=[])
        await check_refusal(
            servers, [tool("find", "x")], "Unknown tool: x; MCP server 'notes' has: none", none
        )
        many = watching.server(
            tools=[{"name": f"t{number}", "inputSchema": {"type": "object"}} for number in range(30)]
        )
        listed = ", ".join(f"t{number}" for number in range(20))
        text = f"Unknown tool: x; MCP server 'notes' has: {listed} and others"
        await check_refusal(servers, [tool("find", "x")], text, many)


async def test_a_server_that_is_needed_and_does_not_start_refuses_the_query() -> None:
    async with watched_pool() as (watching, servers):
        text = "MCP server 'notes' ended with code 3 before it was ready\nstderr:\n  no configuration"
        await check_refusal(servers, [tool("echo")], text, watching.server(start="exit"))


async def test_a_list_that_is_none_refuses_the_query() -> None:
    async with watched_pool() as (watching, servers):
        with pytest.raises(
            Refusal, match="MCP server 'notes' gave a wrong answer: what it answered is not valid"
        ):
            await complete(servers, [tool("x")], watching.server(tools=[{"name": "x"}]))


async def test_a_server_that_starts_but_lists_nothing_runs_into_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tools, "LIST_SECONDS", 0.1)
    async with watched_pool() as (watching, servers):
        text = "MCP server 'notes' did not list its tools within 0.1 s"
        await check_refusal(servers, [tool("x")], text, watching.server(start="mute"))


@pytest.mark.requirement("R273", "G65")
async def test_an_optional_server_that_does_not_start_costs_its_tools_only(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Trap 65: what was dropped is told, so that a tool choice that names it can be refused."""
    async with watched_pool() as (watching, servers):
        broken = replace(watching.server("broken", start="exit"), is_optional=True)
        specs = [tool("gone", "echo", "broken"), tool("echo")]
        found = await complete(servers, specs, broken, watching.server())
    assert [spec.name for spec in found.specs] == ["echo"]
    assert list(found.dropped) == ["gone"]
    assert found.dropped["gone"].startswith("MCP server 'broken' ended with code 3")
    assert "tool gone is not offered" in caplog.text


async def test_cancelling_leaves_nothing_behind() -> None:
    async with watched_pool() as (watching, servers):
        config: Any = watching.server(start="silent")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(complete, servers, [tool("echo")], config)
            await watching.next_process()
            tasks.cancel_scope.cancel()
    assert isinstance(config, StdioServer)

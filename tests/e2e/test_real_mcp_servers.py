"""MCP servers that others wrote, as a model meets them: their tools, questions, progress and documents."""

import asyncio
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from jp_lsp.ports.mcp import McpContent, StdioServer
from jp_lsp.toolsets.mcp.resources import ServerResources
from jp_lsp.toolsets.mcp.servers import McpServers
from jp_lsp.toolsets.mcp.session import ServerTool
from tests.adapters.toolsets_mcp.scripted import pool
from tests.support import mcp_packages
from tests.support.chat_vendor import ChatVendor, answer
from tests.support.jp_client import Json, result_of
from tests.support.jp_server import initialized_server
from tests.support.mcp_turns import calling, declare, heard, offered
from tests.support.screen import Screen
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

PROMPTS = {"experimental": {"jp": {"prompt": {"kinds": ["menu", "text", "pick"]}, "chunks": True}}}


async def turn(user: UserFolders, vendor: ChatVendor, *calls: tuple[str, dict[str, Any]]) -> list[str]:
    """Have the model make calls in a turn of its own, and give what it heard."""
    vendor.will_answer(calling(*calls), answer("Done."))
    async with initialized_server(user) as server:
        result = await server.client.query("go", "t")
    assert (result["outcome"], result["text"]) == ("completed", "Done.")
    return heard(vendor)


async def list_tools(config: StdioServer, servers: McpServers) -> Sequence[ServerTool]:
    """List a server's tools without a turn."""
    connection = await servers.connect(config, "/")
    return await connection.use(lambda session: session.list_tools())


def types(schema: Any) -> dict[str, set[str]]:
    """The types of a tool's parameters; what may be left out is null for some vendors."""

    def of(node: Any) -> set[str]:
        written = node.get("type", [])
        own = {written} if isinstance(written, str) else {*written}
        return own.union(*(of(choice) for choice in node.get("anyOf", ()))) - {"null"}

    return {name: of(node) for name, node in schema.get("properties", {}).items()}


@pytest.mark.requirement("R238", "F23")
async def test_all_tools_of_four_servers_are_offered_as_they_are(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    commands = {
        "git": mcp_packages.git(),
        "time": mcp_packages.time(),
        "filesystem": mcp_packages.filesystem(own_user.workspace),
        "everything": mcp_packages.everything(),
    }
    schemas: dict[str, Any] = {}
    async with pool() as servers:
        configs = [StdioServer(name, command[0], command[1:]) for name, command in commands.items()]
        listed = await asyncio.gather(*(list_tools(config, servers) for config in configs))
    for (name, command), tools in zip(commands.items(), listed, strict=True):
        declare(own_user, name, command, *(tool.name for tool in tools))
        schemas |= {tool.name: tool.schema for tool in tools}
    assert {"git_log", "convert_time", "read_text_file", "get-sum"} <= schemas.keys()
    vendor.will_answer(answer("Nothing to do."))
    async with initialized_server(own_user) as server:
        await server.client.query("go", "t")
    shown = offered(vendor)
    assert shown.keys() == {*schemas, "describe_tools"}
    for name, schema in schemas.items():
        assert types(shown[name]) == types(schema), name


@pytest.mark.requirement("R226", "R306")
async def test_git(own_user: UserFolders, vendor: ChatVendor) -> None:
    declare(own_user, "git", mcp_packages.git(), "git_log", "git_status", "git_commit")
    folder = str(own_user.workspace)
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
    for arguments in (["init", "-q"], [*who, "commit", "-q", "--allow-empty", "-m", "The first of all"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    (own_user.workspace / "new.txt").touch()
    log, status, elsewhere, wrong = await turn(
        own_user,
        vendor,
        ("git_log", {"repo_path": folder, "max_count": 1}),
        ("git_status", {"repo_path": folder}),
        ("git_status", {"repo_path": str(own_user.home)}),
        ("git_log", {"repo_path": folder, "max_count": "many"}),
    )
    assert "The first of all" in log
    assert "new.txt" in status
    assert str(own_user.home) in elsewhere
    assert "max_count: expected integer, not string" in wrong


@pytest.mark.requirement("R226")
async def test_time(own_user: UserFolders, vendor: ChatVendor) -> None:
    declare(own_user, "time", mcp_packages.time(), "convert_time")
    zones = {"source_timezone": "UTC", "time": "12:00"}
    right, wrong = await turn(
        own_user,
        vendor,
        ("convert_time", {**zones, "target_timezone": "Asia/Tokyo"}),
        ("convert_time", {**zones, "target_timezone": "Nowhere/At_All"}),
    )
    assert json.loads(right)["time_difference"] == "+9.0h"
    assert "Nowhere/At_All" in wrong


@pytest.mark.requirement("R226")
async def test_files_of_the_workspace_and_no_others(own_user: UserFolders, vendor: ChatVendor) -> None:
    """The workspace is the folder that a server is told of, and this one takes no others then."""
    command = mcp_packages.filesystem(own_user.home)
    declare(own_user, "filesystem", command, "read_text_file", "write_file", "list_allowed_directories")
    (own_user.workspace / "song.txt").write_text("la la lä\n", encoding="utf-8")
    secret = own_user.home / "secret.txt"
    secret.write_text("hush", encoding="utf-8")
    allowed, song, hushed, _ = await turn(
        own_user,
        vendor,
        ("list_allowed_directories", {}),
        ("read_text_file", {"path": str(own_user.workspace / "song.txt")}),
        ("read_text_file", {"path": str(secret)}),
        ("write_file", {"path": str(own_user.workspace / "made.txt"), "content": "made"}),
    )
    assert str(own_user.workspace) in allowed
    assert str(own_user.home) not in allowed
    assert song == "la la lä\n"
    assert "hush" not in hushed
    assert (own_user.workspace / "made.txt").read_text(encoding="utf-8") == "made"


@pytest.mark.requirement("R226")
async def test_all_kinds_of_content(own_user: UserFolders, vendor: ChatVendor) -> None:
    calls: dict[str, dict[str, Any]] = {
        "echo": {"message": "Grüße 😀"},
        "get-sum": {"a": 1, "b": 2.5},
        "get-tiny-image": {},
        "get-structured-content": {"location": "New York"},
        "get-resource-links": {"count": 2},
        "get-resource-reference": {"resourceType": "Blob", "resourceId": 1},
        "trigger-sampling-request": {"prompt": "hi"},
    }
    declare(own_user, "everything", mcp_packages.everything(), *calls.keys() - {"trigger-sampling-request"})
    echo, total, image, structured, links, reference, sampling = await turn(own_user, vendor, *calls.items())
    assert echo == "Echo: Grüße 😀"
    assert total == "The sum of 1 and 2.5 is 3.5."
    assert "[image, image/png, " in image
    assert "temperature" in json.loads(structured)
    assert links.count("[link to ") == 2
    assert "[resource demo://resource/dynamic/blob/1, text/plain, " in reference
    assert "trigger-sampling-request" in sampling, "we offer no models, so the server has no such tool"


async def test_progress_is_shown(own_user: UserFolders, vendor: ChatVendor) -> None:
    name = "trigger-long-running-operation"
    declare(own_user, "everything", mcp_packages.everything(), name)
    vendor.will_answer(calling((name, {"duration": 0.2, "steps": 4})), answer("Done."))
    async with initialized_server(own_user) as server:
        await server.client.query("go", "t")
        shown = [chunk for chunk in server.client.chunks("t") if chunk["type"] == "tool_progress"]
    assert {(chunk.get("name"), chunk["slot"]) for chunk in shown[:-1]} == {(name, "tool:call-0")}
    # Progress is replaced by what comes after it, so an editor that is busy may see some of it only.
    told = [chunk["percentage"] for chunk in shown if "percentage" in chunk]
    assert told == sorted({25, 50, 75, 100} & {*told})
    assert told
    assert shown[-1]["clear"]
    assert heard(vendor) == ["Long running operation completed. Duration: 0.2 seconds, Steps: 4."]


def fill(params: Json) -> Json:
    """Answer a question as a user does who takes what is offered, and otherwise says little."""
    if params["kind"] == "pick":
        return {"action": params["actions"][0]["id"]}
    said = {"legal name": "Ada", "email": "ada@example.com"}
    words = next((text for part, text in said.items() if part in params["message"]), "")
    return {"text": params.get("value", words)}


FILLED = {
    "name": "Ada",
    "check": True,
    "firstLine": "It was a dark and stormy night.",
    "email": "ada@example.com",
    "integer": 42,
    "number": 3.14,
    "untitledSingleSelectEnum": "Monica",
    "untitledMultipleSelectEnum": ["Guitar"],
    "titledSingleSelectEnum": "hero-1",
    "titledMultipleSelectEnum": ["fish-1"],
    "legacyTitledEnum": "pet-1",
}


@pytest.mark.requirement("R274")
async def test_a_servers_form_is_filled_by_prompts(own_user: UserFolders, vendor: ChatVendor) -> None:
    """Another call of the same server begins later and ends sooner; the form is still the first one's."""
    declare(own_user, "everything", mcp_packages.everything(), "trigger-elicitation-request", "echo")
    vendor.will_answer(
        calling(("trigger-elicitation-request", {}), ("echo", {"message": "done"})), answer("Done.")
    )
    async with initialized_server(own_user, capabilities=PROMPTS) as server:
        server.client.answers["jp/prompt"] = fill
        await server.client.query("go", "t")
        opened = [chunk for chunk in server.client.chunks("t") if chunk["type"] == "prompt_open"]
        asked = server.client.received("jp/prompt")
    form, echo = heard(vendor)
    assert echo == "Echo: done"
    assert json.loads(form.partition("Raw result: ")[2]) == {"action": "accept", "content": FILLED}
    assert all(
        params["detail"] == "everything asks: Please provide inputs for the following fields:"
        for params in asked
    )
    assert asked[-1]["callId"] == "call-0"
    assert len(opened) == len(asked) >= 13


async def test_a_form_that_is_closed_is_cancelled(own_user: UserFolders, vendor: ChatVendor) -> None:
    declare(own_user, "everything", mcp_packages.everything(), "trigger-elicitation-request")
    vendor.will_answer(calling(("trigger-elicitation-request", {})), answer("Done."))
    async with initialized_server(own_user, capabilities=PROMPTS) as server:
        screen = Screen()
        server.client.answers["jp/prompt"] = screen.show
        _, asked = server.client.start_query("go", "t")
        (await screen.next_question()).answer(None)
        await result_of(asked)
    (form,) = heard(vendor)
    assert json.loads(form.partition("Raw result: ")[2]) == {"action": "cancel"}


async def test_documents_are_listed_and_read(tmp_path: Path) -> None:
    command = mcp_packages.everything()
    configs = {"everything": StdioServer("everything", command[0], command[1:])}
    async with pool() as servers:
        documents = ServerResources(servers, configs, str(tmp_path))
        uris = [document.uri for document in await documents.list_resources("everything")]
        features = next(uri for uri in uris if uri.endswith("/features.md"))
        (text,) = await documents.read_resource("everything", features)
        (blob,) = await documents.read_resource("everything", "demo://resource/dynamic/blob/1")
    assert isinstance(text, McpContent)
    assert isinstance(text.content, str)
    assert text.content.startswith("# ")
    assert isinstance(blob.content, bytes)
    assert blob.content.startswith(b"Resource 1: This is a base64 blob")

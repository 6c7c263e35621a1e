"""MCP servers as they are declared (config-and-tools 5.1)."""

from typing import Any

import pytest

from jp_lsp.config.server_settings import HttpServer as DeclaredServer
from jp_lsp.config.server_settings import ServerSettings
from jp_lsp.ports.mcp import Checksum, HttpServer, StdioServer

TOOL = "conversation.tools.find = { source = 'mcp.notes' }\n"


def test_programs_come_from_files_with_every_member(world: Any):
    world.user(
        "[providers.mcp.notes]\ntype = 'stdio'\ncommand = 'notes-mcp'\narguments = ['--read-only']\n"
        "variables = ['NOTES_TOKEN']\noptional = true\nstartup_timeout_secs = 0\n"
        f"checksum = {{ algorithm = 'sha256', value = '{'a' * 64}' }}\n"
    )
    world.workspace(
        "providers.mcp = { notes = { arguments = ['--more'] }, plain = { type = 'stdio', command = 'p' } }"
    )
    found = world.settings().resolve([], None).mcp_servers
    assert dict(found) == {
        "notes": StdioServer(
            "notes",
            "notes-mcp",
            ("--read-only", "--more"),
            ("NOTES_TOKEN",),
            Checksum("sha256", "a" * 64),
            is_optional=True,
            startup_timeout=0.0,
        ),
        # Trap 15: without a value it is the documented one.
        "plain": StdioServer("plain", "p", startup_timeout=60.0),
    }


def test_addresses_come_from_the_servers_settings(world: Any):
    world.server = ServerSettings(
        http_servers={"notes": DeclaredServer("https://n.example", "TOKEN", optional=True)}
    )
    found = world.settings().resolve([], None).mcp_servers
    assert dict(found) == {"notes": HttpServer("notes", "https://n.example", "TOKEN", is_optional=True)}


@pytest.mark.parametrize("is_needed", [True, False])
def test_one_name_for_two_servers_is_an_error_where_it_matters(world: Any, is_needed: bool):
    world.server = ServerSettings(http_servers={"notes": DeclaredServer("https://n.example")})
    program = "providers.mcp.notes = { type = 'stdio', command = 'notes-mcp' }\n"
    world.workspace(program + (TOOL if is_needed else ""))
    text = (
        ".jp/config.toml:1: `providers.mcp.notes`: the server setting `jp.mcp.http.notes` declares a server of the "
        "same name; rename one of them"
    )
    if is_needed:
        assert world.refusal() == text
    else:
        assert world.settings().resolve([], None).warnings == (text,)

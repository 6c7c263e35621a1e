"""The tools of a real workspace, alone and with each persona (config-and-tools 10.2, 2)."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from jp_lsp.config.server_settings import ServerSettings
from jp_lsp.config.settings import WorkspaceSettings
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.mcp import StdioServer
from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.settings import QuerySettings
from jp_lsp.tools.builtin import BUILTIN_TOOLS
from jp_lsp.tools.spec import LocalSource, McpSource
from tests.support.shared import shared_path

PERSONAS = [
    "architect", "committer", "default", "dev", "pr-reviewer", "pr-triager", "review-triager",
    "rfd-implementor", "rfd-reviewer", "rfd-triager", "stager", "writer",
]  # fmt: skip


def expected(name: str) -> Mapping[str, Any]:
    summary = json.loads(shared_path("real-workspace", "expected", "config-summary.json").read_text("utf-8"))
    found: Mapping[str, Any] = summary["base"] if name == "base" else summary["personas"][name]
    return found


def settings() -> WorkspaceSettings:
    root = shared_path("real-workspace")
    return WorkspaceSettings(
        root, root, {}, Path("/nonexistent"), None, ServerSettings(), lambda: ModelId("a", "b")
    )


def resolved(name: str) -> QuerySettings:
    return settings().resolve([] if name == "base" else [name], None)


@pytest.mark.requirement("R238")
@pytest.mark.parametrize("name", ["base", *PERSONAS])
def test_the_tools_of_each_persona_in_their_order(name: str):
    found, wanted = resolved(name), expected(name)
    offered = [spec.name for spec in found.tools]
    assert offered[-1] == "describe_tools"
    assert sorted(offered[:-1]) == sorted(wanted["enabled_tools"])
    order = [tool for tool in expected("base")["tool_order"] if tool in wanted["enabled_tools"]]
    assert offered[:-1] == order
    assert len(offered) - 1 + len(found.idle_tools) == wanted["tool_count"] + len(BUILTIN_TOOLS) - 1


def test_their_sources_servers_and_styles():
    found = resolved("architect")
    tools = {spec.name: spec for spec in found.tools}
    assert tools["rust_crate_readme"].source == McpSource("bookworm", "crate_readme")
    assert isinstance(tools["fs_read_file"].source, LocalSource)
    assert tools["fs_read_file"].source.command.arguments == ("serve-tools", "{{context}}", "{{tool}}")
    assert dict(found.mcp_servers) == {"bookworm": StdioServer("bookworm", "just", ("serve-bookworm",))}
    assert {spec.policy.run_mode for spec in found.tools} <= {"unattended", "ask"}
    assert tools["fs_read_file"].definition.parameters


def test_nothing_of_it_may_run_before_the_user_trusts_it():
    found = resolved("architect")
    programs = {item.name for item in found.untrusted if item.kind == "tool"}
    local = {spec.name for spec in found.tools if isinstance(spec.source, LocalSource)}
    assert local <= programs
    assert [item.name for item in found.untrusted if item.kind == "mcp_server"] == ["bookworm"]
    assert all(item.origin.startswith(".jp/") for item in found.untrusted)


def test_a_conversation_that_repeats_it_has_nothing_new_to_trust():
    first = resolved("architect")
    stream = ConversationStream.new(Timestamp(0), first.partial)
    again = settings().resolve(["architect"], stream)
    assert again.trust_hash == first.trust_hash
    assert [spec.name for spec in again.tools] == [spec.name for spec in first.tools]
    assert not [text for text in again.warnings if "keeps its own commands" in text]

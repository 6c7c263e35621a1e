"""Turns in which a pretended model calls tools of MCP servers: what is configured, said and heard."""

import json
from typing import Any

from tests.support.chat_vendor import ChatVendor, answer, called
from tests.support.http_server import Reply
from tests.support.user_folders import UserFolders


def declare(
    user: UserFolders, server: str, command: tuple[str, ...], *tools: str, **keys: float | bool
) -> None:
    """Declare a server in the user's own file, with tools that run without being asked for.

    `keys` are further keys of the server's table.
    """
    lines = [
        f"[providers.mcp.{server}]",
        "type = 'stdio'",
        f"command = {json.dumps(command[0])}",
        f"arguments = {json.dumps(command[1:])}",
        *(f"{key} = {json.dumps(value)}" for key, value in keys.items()),
    ]
    for tool in tools:
        source = f"mcp.{server}.{tool}"
        lines += [f"[conversation.tools.{json.dumps(tool)}]", f"source = {json.dumps(source)}"]
        lines += ["enable = true", "run = 'unattended'"]
    path = user.config / "config.toml"
    path.write_text("\n".join([path.read_text(encoding="utf-8"), *lines, ""]), encoding="utf-8")


def calling(*calls: tuple[str, dict[str, Any]]) -> Reply:
    """An answer that calls tools side by side; the calls are named `call-0`, `call-1` and so on."""
    steps = [called(f"call-{at}", name, json.dumps(given), at) for at, (name, given) in enumerate(calls)]
    return answer(*steps, reason="tool_calls")


def heard(vendor: ChatVendor) -> list[str]:
    """What the model was told by the last calls, in the order of the calls."""
    messages = vendor.queries[-1]["messages"]
    last = max(at for at, message in enumerate(messages) if message["role"] == "assistant")
    return [message["content"] for message in messages[last + 1 :] if message["role"] == "tool"]


def offered(vendor: ChatVendor) -> dict[str, Any]:
    """The schemas of the tools that the model was offered last, by name."""
    functions = [tool["function"] for tool in vendor.queries[-1].get("tools", ())]
    return {function["name"]: function["parameters"] for function in functions}

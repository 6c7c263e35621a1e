"""Tools for a pretended user that are one line of shell each."""

import json
from typing import Any

from tests.support.chat_vendor import answer, called
from tests.support.http_server import Reply
from tests.support.user_folders import UserFolders

FREE = {"run": "unattended"}
"""The policy of a tool that nobody is asked about."""


def with_tools(user: UserFolders, **tools: tuple[str, dict[str, str]]) -> None:
    """Configure tools for the user: a shell command each, with its policy."""
    path = user.config / "config.toml"
    lines = [path.read_text(encoding="utf-8")]
    for name, (command, policy) in tools.items():
        lines += [
            f"[conversation.tools.{name}]",
            'source = "local"',
            "enable = true",
            f"command = {{ program = {json.dumps(command)}, shell = true }}",
            f"summary = {json.dumps('Does ' + name)}",
            *(f"{key} = {json.dumps(value)}" for key, value in policy.items()),
        ]
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")


def calls(*names: str) -> Reply:
    """An answer of the model that calls these tools; the ids are `call-0` and so on."""
    steps: list[Any] = [called(f"call-{at}", name, "{}", at) for at, name in enumerate(names)]
    return answer(*steps, reason="tool_calls")

"""The VS Code extension in a workspace that the user does not trust: one can ask, and nothing of the workspace runs."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.chat_vendor import ChatVendor, answer, called
from tests.support.user_folders import UserFolders
from tests.support.vscode_user import vscode_of

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("vscode")]

TOOL = """
[conversation.tools.intrude]
source = "local"
command = "touch intruded"
enable = true
run = "unattended"
"""


def make_hostile(user: UserFolders) -> Path:
    """Let the workspace name a tool that asks nobody, and a server of its own; give the file that the tool makes."""
    with (user.workspace / ".jp" / "config.toml").open("a", encoding="utf-8") as config:
        config.write(TOOL)
    settings = user.workspace / ".vscode" / "settings.json"
    settings.parent.mkdir()
    command = ["touch", str(user.workspace / "started")]
    settings.write_text(json.dumps({"jp.server.command": command}), encoding="utf-8")
    return user.workspace / "intruded"


@pytest.mark.requirement("R276")
def test_an_untrusted_workspace_runs_nothing(
    user: UserFolders, vendor: ChatVendor, tmp_path_factory: pytest.TempPathFactory
) -> None:
    intruded = make_hostile(user)
    vendor.will_answer(
        answer(called("call-0", "intrude", "{}"), reason="tool_calls"), answer("So it cannot be run.")
    )
    with vscode_of(user, tmp_path_factory, is_trusted=False) as window:
        expect(window.page.get_by_text("Restricted Mode").first).to_be_visible()
        window.show_chat()
        window.ask("Run your tool")
        expect(window.text("So it cannot be run.")).to_be_visible()
        window.picture("restricted")
    assert not intruded.exists()
    assert not (user.workspace / "started").exists()

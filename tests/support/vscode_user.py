"""A pretended user whose workspace is open in a real VS Code, with our extension in it."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.chat_vendor import ChatVendor
from tests.support.three_tools import give_tools
from tests.support.user_folders import UserFolders
from tests.support.vscode_extension import packaged_extension
from tests.support.vscode_host import VsCodeHost, code_server
from tests.support.vscode_window import VsCodeWindow, vscode_window

SOURCE = 'def main():\n    print("hello")\n\n\nmain()\n'


def vscode_user(folder: Path, vendor: ChatVendor) -> UserFolders:
    """Make a user with three tools, a tool of the editor's, a persona and the file `hello.py`."""
    user = UserFolders(folder, vendor.url)
    give_tools(user)
    with (user.config / "config.toml").open("a", encoding="utf-8") as config:
        config.write("[conversation.tools.editor_edit_file]\nenable = true\nrun = 'ask'\n")
    (user.workspace / "hello.py").write_text(SOURCE, encoding="utf-8")
    personas = user.workspace / ".jp" / "config" / "personas"
    personas.mkdir(parents=True)
    (personas / "poet.toml").write_text('[assistant]\nname = "Poet"\n', encoding="utf-8")
    (user.workspace / ".jp" / "config.toml").write_text(
        'config_load_paths = [".jp/config"]\n', encoding="utf-8"
    )
    return user


@contextmanager
def vscode_of(
    user: UserFolders, folders: pytest.TempPathFactory, *, is_trusted: bool = True
) -> Generator[VsCodeWindow]:
    """Open the workspace of a user. Pictures go to the folder that `JP_SCREENSHOTS` names, else a scratch one."""
    host, vsix = VsCodeHost.find(), packaged_extension()
    given = {
        "jp.server.command": [sys.executable, "-m", "jp_lsp"],
        "jp.server.environment": {key: text for key, text in user.environment().items() if key != "PATH"},
    }
    shots = Path(os.environ.get("JP_SCREENSHOTS") or folders.mktemp("screenshots"))
    with (
        code_server(
            host, folders.mktemp("vscode"), user.workspace, vsix, given, is_trusted=is_trusted
        ) as url,
        vscode_window(host, url, shots) as window,
    ):
        yield window

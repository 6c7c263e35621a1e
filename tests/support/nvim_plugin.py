"""A Neovim with our plugin, in the workspace of a pretended user, on a pretended screen."""

import json
import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.jp_server import serve_command
from tests.support.neovim import neovim_program
from tests.support.nvim_screen import NvimScreen
from tests.support.user_folders import UserFolders
from tests.support.wire_process import ROOT

PLUGIN = ROOT / "editors" / "nvim"

SPECS = PLUGIN / "tests" / "run.lua"

_GOLDEN = ROOT / "tests" / "golden" / "nvim"

_ALARMS = re.compile(r"stack traceback|Error executing|Error detected|\bE\d+:|please report")

_CHAT_TEXT = """
local chat = require('jp.chat.buffer').current(require('jp.client').of())
return table.concat(vim.api.nvim_buf_get_lines(chat.buffer, 0, -1, true), '\\n')
"""

_CHANGING = (
    (re.compile(r"jp-c\d{11}"), "jp-c00000000000"),
    (re.compile(r"\d+\.\d s\b"), "0.0 s"),
    (re.compile(r"[◐◓◑◒]"), "◐"),
    (re.compile(r"jp://edit/\S+"), "jp://edit/0"),
    (re.compile(r"jp://proposed/\d+/"), "jp://proposed/0/"),
    (re.compile(r"j//p/\d+/"), "j//p/0/"),
)
"""What differs from run to run on a screen, and what stands for it."""


@contextmanager
def nvim_with_plugin(
    user: UserFolders, folder: Path, *, size: tuple[int, int] = (100, 30), **options: Any
) -> Generator[NvimScreen]:
    """Neovim for the length of a block; what it had to complain of fails the test.

    Args:
        user: whose workspace and configuration it is.
        folder: where the socket is made; its path must be short.
        size: columns and lines of the screen.
        options: go to `setup`, on top of a command line for the server and of keys that answer at once.
    """
    given = {"cmd": serve_command(), "answer_delay_ms": 0, **options}
    setup = f"lua require('jp').setup(vim.json.decode([==[{json.dumps(given)}]==]))"
    argv = [
        neovim_program(),
        "--clean",
        "-n",
        "--cmd",
        f"set rtp^={PLUGIN} noruler noshowcmd",
        "--cmd",
        setup,
    ]
    environment = user.environment(TERM="xterm", LC_ALL="C.UTF-8")
    with NvimScreen(argv, environment, folder / "s", user.workspace, *size) as screen:
        yield screen
        messages = screen.lua("return vim.fn.execute('messages')")
    assert not _ALARMS.search(messages), messages


def normalised(text: str) -> str:
    """A screen without what differs from run to run."""
    for pattern, words in _CHANGING:
        text = pattern.sub(words, text)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def check_screen(screen: NvimScreen, name: str, *, update: bool) -> None:
    """Compare the screen with a golden one, as soon as it has come to rest."""
    path = _GOLDEN / f"{name}.txt"
    if update:
        screen.wait_until_still()
        path.write_text(normalised(screen.text), encoding="utf-8")
    wanted = path.read_text(encoding="utf-8")
    screen.settle(lambda: normalised(screen.text) == wanted)
    assert normalised(screen.text) == wanted


def chat_text(screen: NvimScreen) -> str:
    """All text of the chat that was used last, folded or not."""
    return str(screen.lua(_CHAT_TEXT))


def wait_for_chat(screen: NvimScreen, wanted: str) -> None:
    """Wait until a text stands anywhere in the chat that was used last."""
    screen.until(lambda: wanted in chat_text(screen), f"the chat never had {wanted!r}")

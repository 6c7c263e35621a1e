"""A vendor, a user and an editor, for each test its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.chat_vendor import ChatVendor
from tests.support.nvim_plugin import nvim_with_plugin
from tests.support.nvim_screen import NvimScreen
from tests.support.three_tools import give_tools
from tests.support.user_folders import UserFolders


@pytest.fixture
def vendor() -> Iterator[ChatVendor]:
    with ChatVendor() as vendor:
        yield vendor
    assert not vendor.has_plans, "an answer was planned that nobody asked for"


@pytest.fixture
def user(tmp_path: Path, vendor: ChatVendor) -> UserFolders:
    """A user with three tools and a file."""
    user = UserFolders(tmp_path, vendor.url)
    give_tools(user)
    (user.workspace / "area.py").write_text(
        "def area(width, height):\n    return width * height\n", encoding="utf-8"
    )
    return user


@pytest.fixture
def short_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose path is short enough for a socket."""
    return tmp_path_factory.mktemp("n")


@pytest.fixture
def nvim(user: UserFolders, short_folder: Path) -> Iterator[NvimScreen]:
    """Neovim with the plugin and the user's file."""
    with nvim_with_plugin(user, short_folder) as screen:
        screen.command("edit area.py")
        yield screen

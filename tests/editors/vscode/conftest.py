"""A vendor, a user and a window of VS Code, shared by the tests of a file.

A file whose user has more in it overrides `user`.
"""

from collections.abc import Iterator

import pytest

from tests.support.chat_vendor import ChatVendor
from tests.support.user_folders import UserFolders
from tests.support.vscode_user import vscode_of, vscode_user
from tests.support.vscode_window import VsCodeWindow


@pytest.fixture(scope="module")
def vendor() -> Iterator[ChatVendor]:
    with ChatVendor() as vendor:
        yield vendor


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory, vendor: ChatVendor) -> UserFolders:
    return vscode_user(tmp_path_factory.mktemp("user"), vendor)


@pytest.fixture(scope="module")
def shared_window(tmp_path_factory: pytest.TempPathFactory, user: UserFolders) -> Iterator[VsCodeWindow]:
    with vscode_of(user, tmp_path_factory) as window:
        yield window


@pytest.fixture
def window(
    shared_window: VsCodeWindow, vendor: ChatVendor, request: pytest.FixtureRequest
) -> Iterator[VsCodeWindow]:
    """The window as the last test has left it, with a vendor that remembers nothing of that."""
    vendor.forget()
    yield shared_window
    shared_window.picture(f"end of {request.node.name}")


@pytest.fixture
def new_conversation(window: VsCodeWindow) -> None:
    """The chat view shows a new conversation."""
    window.start_conversation()


@pytest.fixture
def closed_editors(shared_window: VsCodeWindow) -> Iterator[None]:
    """No editor is left open. It takes the shared window, so that the picture of the end still shows them."""
    yield
    shared_window.command("View: Revert and Close Editor")
    shared_window.command("View: Close All Editors")

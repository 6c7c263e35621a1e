"""A vendor, a user and a server, shared by the tests of a module that leave them as they found them."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.chat_vendor import ChatVendor
from tests.support.jp_client import JpClient
from tests.support.jp_server import JpServer, initialized_server, opened_workspace
from tests.support.shared import copy_real_workspace
from tests.support.user_folders import UserFolders


@pytest.fixture(scope="module")
def shared_vendor() -> Iterator[ChatVendor]:
    with ChatVendor() as vendor:
        yield vendor


@pytest.fixture
def vendor(shared_vendor: ChatVendor) -> Iterator[ChatVendor]:
    """The vendor, without plans and memories of earlier tests; all answers that a test plans must be fetched."""
    shared_vendor.forget()
    yield shared_vendor
    assert not shared_vendor.has_plans, "an answer was planned that nobody asked for"


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory, shared_vendor: ChatVendor) -> UserFolders:
    return UserFolders(tmp_path_factory.mktemp("user"), shared_vendor.url)


@pytest.fixture
def own_user(tmp_path: Path, shared_vendor: ChatVendor) -> UserFolders:
    """A user of one test alone, who may be configured and leave things behind."""
    return UserFolders(tmp_path, shared_vendor.url)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def server(user: UserFolders) -> AsyncIterator[JpServer]:
    """A server with an editor that knows standard LSP and no more."""
    async with initialized_server(user) as server:
        yield server


@pytest.fixture
def client(server: JpServer) -> JpClient:
    return server.client


@pytest.fixture(scope="module")
def real_user(tmp_path_factory: pytest.TempPathFactory) -> UserFolders:
    """A user whose workspace is a copy of a real one, which may be written."""
    user = UserFolders(tmp_path_factory.mktemp("real"))
    copy_real_workspace(user.workspace)
    return user


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def real_client(real_user: UserFolders) -> AsyncIterator[JpClient]:
    async with opened_workspace(real_user) as server:
        yield server.client

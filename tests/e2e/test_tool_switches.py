"""A query that switches tools on and off."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.jp_client import WireFault
from tests.support.jp_server import initialized_server
from tests.support.shell_tools import with_tools
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e, pytest.mark.requirement("R239")]

OFF = {"enable": False}


@pytest.fixture
def own_user(tmp_path: Path, shared_vendor: ChatVendor) -> UserFolders:
    user = UserFolders(tmp_path, shared_vendor.url)
    with_tools(user, one=("echo 1", {}), two=("echo 2", {}), three=("echo 3", {}))
    config = user.config / "config.toml"
    text = config.read_text(encoding="utf-8").replace("enable = true", 'enable = "explicit"')
    config.write_text(text.replace('"explicit"', "true", 2), encoding="utf-8")
    return user


def offered(vendor: ChatVendor) -> set[str]:
    """The tools of the last request, but for the one that describes them."""
    names = {each["function"]["name"] for each in vendor.queries[-1].get("tools", [])}
    return names - {"describe_tools"}


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        ([], {"one", "two"}),
        ([OFF], set()),
        ([OFF, {"enable": True, "name": "two"}], {"two"}),
        ([{"enable": True}], {"one", "two"}),
        ([{"enable": True, "name": "three"}, {"enable": False, "name": "one"}], {"two", "three"}),
        ([OFF, {"enable": True, "name": "ask_user"}], {"ask_user"}),
    ],
)
async def test_what_is_offered(
    own_user: UserFolders, vendor: ChatVendor, tools: list[dict[str, Any]], expected: set[str]
) -> None:
    vendor.will_answer(answer("One."), answer("Two."))
    async with initialized_server(own_user) as server:
        result = await server.client.query("go", "t", tools=tools, conversation="new")
        assert result["outcome"] == "completed"
        assert offered(vendor) == expected
        # It lasts, as every setting of a conversation does.
        await server.client.query("go on", "u", conversation=result["conversation"])
        assert offered(vendor) == expected


@pytest.mark.parametrize(
    ("name", "is_on", "problem"),
    [
        ("onne", True, "Tool not found: onne; did you mean `one`?"),
        ("describe_tools", False, "cannot disable describe_tools: this tool is configured as locked-on"),
    ],
)
async def test_what_is_refused(
    own_user: UserFolders, vendor: ChatVendor, name: str, is_on: bool, problem: str
) -> None:
    async with initialized_server(own_user) as server:
        with pytest.raises(WireFault) as raised:
            await server.client.query("go", "t", tools=[{"enable": is_on, "name": name}])
    assert problem in str(raised.value)
    assert vendor.queries == []

"""Results that are too long to be shown or sent: cut for the model, whole in a file of the user's."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.jp_client import Json
from tests.support.jp_server import initialized_server
from tests.support.shell_tools import FREE, calls, with_tools
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]


def told(vendor: ChatVendor) -> list[str]:
    """What the model was told of its calls in the last request."""
    return [each["content"] for each in vendor.queries[-1]["messages"] if each["role"] == "tool"]


def linked(chunk: Json) -> Path:
    """The file that a result's chunk links."""
    assert f"see: <{chunk['uri']}>" in chunk["md"]
    return Path(unquote(urlsplit(chunk["uri"]).path))


def files_in(user: UserFolders) -> list[Path]:
    (silo,) = (user.data / "workspace").iterdir()
    return [path for path in (silo / "results").rglob("*") if path.is_file()]


@pytest.mark.requirement("T05", "R264")
async def test_a_long_result_is_in_a_file_now_and_later(own_user: UserFolders, vendor: ChatVendor) -> None:
    with_tools(own_user, flood=("yes line | head -c 1000000", FREE), little=("echo hi", FREE))
    vendor.will_answer(calls("flood", "little"), answer("Done."))
    async with initialized_server(own_user) as server:
        result = await server.client.query("go", "t")
        shown = {each["name"]: each for each in server.client.chunks("t") if each["type"] == "tool_result"}
        file = linked(shown["flood"])
        assert "uri" not in shown["little"]
        await server.client.request(
            "jp/conversation/render", {"conversation": result["conversation"], "partialResultToken": "r"}
        )
        again = {each["name"]: each for each in server.client.chunks("r") if each["type"] == "tool_result"}
    assert file.read_text(encoding="utf-8") == "line\n" * 200_000
    assert file.stat().st_mode & 0o777 == 0o600
    assert own_user.data in file.parents
    flood, little = told(vendor)
    assert len(flood) <= 262_144
    assert flood.endswith(f" more bytes were left out; more is in {file}]")
    assert little == "hi\n"
    assert {name: each["md"] for name, each in again.items()} == {
        name: each["md"] for name, each in shown.items()
    }


@pytest.mark.requirement("R120", "R270")
@pytest.mark.parametrize(
    ("style", "end"), [("full", "\n\nsee: <{}>"), ("osc8", "\n\n[full result]({})"), ("off", "")]
)
async def test_three_styles_of_a_link(
    own_user: UserFolders, vendor: ChatVendor, style: str, end: str
) -> None:
    with_tools(own_user, flood=("yes line | head -c 5000", FREE))
    with (own_user.config / "config.toml").open("a", encoding="utf-8") as file:
        file.write(f'[conversation.tools.flood.style]\nresults_file_link = "{style}"\n')
    vendor.will_answer(calls("flood"), answer("Done."))
    async with initialized_server(own_user) as server:
        await server.client.query("go", "t")
        (chunk,) = (each for each in server.client.chunks("t") if each["type"] == "tool_result")
        lines = "line\n" * 10
        shown = f"Tool result (truncated):\n\n```\n{lines}```{end.format(chunk['uri'])}"
        assert chunk["md"].strip("\n") == shown
        transcript = server.client.transcript("t")
        assert f"Calling tool flood\n\n{shown}\n\nDone." in transcript
        assert "\x1b" not in transcript


@pytest.mark.requirement("R264")
async def test_a_query_that_is_not_stored_leaves_no_file(own_user: UserFolders, vendor: ChatVendor) -> None:
    with_tools(own_user, flood=("yes line | head -c 10000", FREE))
    vendor.will_answer(calls("flood"), answer("Done."))
    async with initialized_server(own_user) as server:
        await server.client.query("go", "t", persist=False)
        (chunk,) = (each for each in server.client.chunks("t") if each["type"] == "tool_result")
        file = linked(chunk)
        assert not file.exists()
    assert files_in(own_user) == []


@pytest.mark.requirement("T05")
async def test_all_results_of_an_answer_have_a_limit_together(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    with_tools(own_user, flood=("yes line | head -c 1000000", FREE), little=("echo hi", FREE))
    vendor.will_answer(calls(*["flood"] * 10, "little"), answer("Done."))
    async with initialized_server(own_user) as server:
        await server.client.query("go", "t")
    given = told(vendor)
    assert 2_000_000 < sum(map(len, given)) <= 2 * 1024 * 1024
    assert given[-1] == "hi\n"
    assert all(" more bytes were left out; more is in " in text[-300:] for text in given[:-1])
    assert len(files_in(own_user)) == 10

"""Settings, the files that can be applied by name, and models, as an editor's pickers need them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.jp_client import JP_CLIENT, JpClient
from tests.support.jp_server import JpServer, initialized_server
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

WORKSPACE = """\
config_load_paths = ["roles"]

[assistant]
name = "Ada"

[providers.llm.aliases]
quick = "llamacpp/tiny"
far = "anthropic/claude-sonnet-4-5"
"""
ROLE = """\
# Answers like a sailor.

[assistant]
name = "Sailor"
"""


@pytest.fixture
def configured(own_user: UserFolders) -> UserFolders:
    """A user whose workspace has a name, aliases and a role."""
    (own_user.workspace / ".jp" / "config.toml").write_text(WORKSPACE, encoding="utf-8")
    (own_user.workspace / "roles").mkdir()
    (own_user.workspace / "roles" / "sailor.toml").write_text(ROLE, encoding="utf-8")
    return own_user


@pytest_asyncio.fixture(loop_scope="session")
async def own_server(configured: UserFolders) -> AsyncIterator[JpServer]:
    async with initialized_server(configured, capabilities=JP_CLIENT) as server:
        yield server


@pytest.fixture
def editor(own_server: JpServer) -> JpClient:
    return own_server.client


@pytest.mark.requirement("R223", "R285")
async def test_a_setting_names_the_file_and_line_that_it_is_from(
    editor: JpClient, configured: UserFolders
) -> None:
    asked = {"key": "assistant.name", "config": ["assistant.name=Bo"]}
    explained = await editor.request("jp/config/explain", asked)
    (setting,) = explained["settings"]
    assert (setting["key"], setting["value"]) == ("assistant.name", "Bo")
    said = {each["state"]: each["place"] for each in setting["contributions"]}
    assert said["wins"] == {"layer": "request", "name": "--cfg assistant.name=Bo"}
    assert said["shadowed"] == {
        "layer": "workspace",
        "name": ".jp/config.toml",
        "uri": (configured.workspace / ".jp" / "config.toml").as_uri(),
        "line": 4,
    }
    assert explained["order"][-1] == "request"
    every = await editor.request("jp/config/explain")
    assert {"assistant.name", "assistant.model.id", "config_load_paths"} <= {
        each["key"] for each in every["settings"]
    }
    fault = await editor.refusal("jp/config/explain", {"key": "assistant.nme"})
    assert fault.data["code"] == "invalid_params"
    assert "did you mean `assistant.name`" in fault.message


@pytest.mark.requirement("R223", "R284")
async def test_a_conversation_has_the_last_word(
    editor: JpClient, vendor: ChatVendor, configured: UserFolders
) -> None:
    vendor.will_answer(answer("Aye."))
    result = await editor.query("hi", "aye", conversation="new", config=["sailor"])
    conversation = result["conversation"]
    assert (await editor.request("jp/config/get", {"key": "assistant.name"}))["value"] == "Ada"
    asked = {"key": "assistant.name", "conversation": conversation}
    assert (await editor.request("jp/config/get", asked))["value"] == "Sailor"
    (setting,) = (await editor.request("jp/config/explain", asked))["settings"]
    assert (setting["place"]["layer"], setting["withoutConversation"]) == ("conversation", "Ada")
    every = await editor.request("jp/config/get", {"conversation": conversation})
    assert every["value"]["assistant"]["name"] == "Sailor"
    fault = await editor.refusal("jp/config/get", {"conversation": "jp-c17900000000"})
    assert fault.data["code"] == "conversation_not_found"


@pytest.mark.requirement("R236")
async def test_the_order_of_the_layers_is_a_setting(configured: UserFolders, vendor: ChatVendor) -> None:
    """The environment has more weight than a conversation, or as for the `jp` command less."""
    environment = {"JP_CFG_ASSISTANT_NAME": "Env"}
    told: dict[str, object] = {}
    async with initialized_server(configured, capabilities=JP_CLIENT) as server:
        vendor.will_answer(answer("Aye."))
        conversation = (await server.client.query("hi", "aye", conversation="new"))["conversation"]
    for layer_order in ("environment_wins", "conversation_wins"):
        async with initialized_server(
            configured,
            environment=environment,
            capabilities=JP_CLIENT,
            options={"jp": {"layer_order": layer_order}},
        ) as server:
            asked = {"key": "assistant.name", "conversation": conversation}
            explained = await server.client.request("jp/config/explain", asked)
            told[layer_order] = (explained["settings"][0]["value"], explained["order"][-3:-1])
    assert told == {
        "environment_wins": ("Env", ["conversation", "environment"]),
        "conversation_wins": ("Ada", ["environment", "conversation"]),
    }


async def test_what_is_wrong_comes_with_the_value(editor: JpClient, configured: UserFolders) -> None:
    path = configured.workspace / ".jp" / "config.toml"
    path.write_text(WORKSPACE.replace('name = "Ada"', "name = 3"), encoding="utf-8")
    got = await editor.request("jp/config/get", {"key": "assistant.name"})
    assert "value" not in got
    (problem,) = [each for each in got["problems"] if each["severity"] == "error"]
    assert (problem["key"], problem["place"]["line"]) == ("assistant.name", 4)


async def test_a_persona_is_chosen_from_a_list(editor: JpClient, vendor: ChatVendor) -> None:
    """What the list offers is put into the next query as it is, and lasts in its conversation."""
    (sailor,) = (await editor.request("jp/config/list"))["files"]
    uri = sailor.pop("uris")[0]
    assert sailor == {
        "name": "sailor",
        "expression": "sailor",
        "group": "roles",
        "title": "Sailor",
        "description": "Answers like a sailor.",
    }
    assert uri.endswith("/roles/sailor.toml")
    vendor.will_answer(answer("Aye."), answer("Aye again."))
    result = await editor.query("hi", "first", conversation="new", config=[sailor["expression"]])
    assert "## Sailor" in editor.transcript("first")
    await editor.query("more", "second", conversation=result["conversation"])
    assert "## Sailor" in editor.transcript("second")


@pytest.mark.requirement("R1")
async def test_models_with_their_aliases_and_the_one_in_use(
    editor: JpClient, vendor: ChatVendor, configured: UserFolders
) -> None:
    listed = await editor.request("jp/model/list")
    assert [(model["id"], model["aliases"], model["effective"]) for model in listed["models"]] == [
        ("llamacpp/tiny", ["quick"], True)
    ]
    assert (listed["effective"], listed["notices"]) == ("llamacpp/tiny", [])
    assert {"name": "far", "model": "anthropic/claude-sonnet-4-5"} in listed["aliases"]
    asked = [request.path for request in vendor.requests].count("/v1/models")
    await editor.request("jp/model/list", {"vendor": "llamacpp", "refresh": True})
    assert [request.path for request in vendor.requests].count("/v1/models") == asked + 1
    other = await editor.request(
        "jp/model/list", {"vendor": "anthropic", "config": ["assistant.model.id=far"]}
    )
    assert [model["id"] for model in other["models"]] == ["anthropic/claude-sonnet-4-5"]
    (notice,) = other["notices"]
    assert "ANTHROPIC_API_KEY" in notice["text"]


async def test_a_vendor_that_there_is_not_names_its_neighbour(editor: JpClient) -> None:
    listed = await editor.request("jp/model/list", {"vendor": "llama.cpp"})
    assert listed["models"] == []
    (notice,) = listed["notices"]
    assert notice["text"].startswith(
        "There is no vendor 'llama.cpp'. Did you mean 'llamacpp'? Known: anthropic,"
    )


async def test_a_vendor_that_is_down_is_a_notice(configured: UserFolders) -> None:
    configured.configure("http://127.0.0.1:9")
    async with initialized_server(configured, capabilities=JP_CLIENT) as server:
        listed = await server.client.request("jp/model/list")
        assert [model["id"] for model in listed["models"]] == ["llamacpp/tiny"]
        (notice,) = listed["notices"]
        assert (notice["level"], notice["code"]) == ("warning", "models")
        assert notice["text"].startswith("The models of llamacpp could not be listed: ")


@pytest.mark.requirement("R326")
@pytest.mark.parametrize("method", ["model.list", "config.get", "config.explain", "config.list"])
async def test_each_has_a_command(editor: JpClient, method: str) -> None:
    asked = {"command": f"jp.{method}", "arguments": [{}]}
    as_command = await editor.request("workspace/executeCommand", asked)
    assert as_command == await editor.request(f"jp/{method.replace('.', '/')}", {})


async def test_no_control_sequence_of_a_file_reaches_the_client(
    editor: JpClient, configured: UserFolders
) -> None:
    role = Path(configured.workspace / "roles" / "evil.toml")
    role.write_text('assistant.name = "a\\u001b[31mb\\u0007"\n', encoding="utf-8")
    (evil,) = [each for each in (await editor.request("jp/config/list"))["files"] if each["name"] == "evil"]
    assert evil["title"] == "ab"

"""`jp/config/set` over the wire: into files, into documents that are open, and as a command."""

import asyncio
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.jp_client import JpClient, Json, WireFault
from tests.support.jp_server import JpServer, initialized_server
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

JP = {"jp": {"version": 1, "chunks": True}}
PLAIN: Json = {"experimental": JP}
EDITING: Json = {
    "experimental": JP,
    "workspace": {
        "applyEdit": True,
        "workspaceEdit": {"documentChanges": True, "changeAnnotationSupport": {"groupsOnLabel": True}},
    },
}
TEXT = """\
# Ours.  🦀
config_load_paths = ["roles"]

[assistant]
name = "Ada"  # after the countess
"""
CHANGED = TEXT.replace('"Ada"', '"Bo"')


@pytest.fixture
def path(own_user: UserFolders) -> Path:
    """The configuration of the workspace."""
    path = own_user.workspace / ".jp" / "config.toml"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest_asyncio.fixture(loop_scope="session")
async def own_server(own_user: UserFolders, path: Path) -> AsyncIterator[JpServer]:
    async with initialized_server(own_user, capabilities=PLAIN) as server:
        yield server


@pytest_asyncio.fixture(loop_scope="session")
async def editing(own_user: UserFolders, path: Path) -> AsyncIterator[JpServer]:
    async with initialized_server(own_user, capabilities=EDITING) as server:
        yield server


@pytest.fixture
def editor(own_server: JpServer) -> JpClient:
    return own_server.client


def setting(value: object, key: str = "assistant.name", **more: object) -> Json:
    return {"set": [{"key": key, "value": value}], **more}


def open_document(client: JpClient, path: Path, text: str) -> None:
    document = {"uri": path.as_uri(), "languageId": "toml", "version": 3, "text": text}
    client.notify("textDocument/didOpen", {"textDocument": document})


async def test_a_key_is_set_and_the_rest_of_the_file_stays(editor: JpClient, path: Path) -> None:
    result = await editor.request("jp/config/set", setting("Bo"))
    assert path.read_text(encoding="utf-8") == CHANGED
    (outcome,) = result.pop("settings")
    place = {"layer": "workspace", "name": ".jp/config.toml", "uri": path.as_uri(), "line": 5}
    assert outcome == {"key": "assistant.name", "value": "Bo", "own": "Bo", "state": "wins", "place": place}
    assert result["written"] == "file"
    assert (result["name"], result["uri"]) == (".jp/config.toml", path.as_uri())
    assert (await editor.request("jp/config/get", {"key": "assistant.name"}))["value"] == "Bo"
    again = await editor.request("jp/config/set", setting("Bo"))
    assert again["written"] == "nothing"


@pytest.mark.requirement("G18")
async def test_a_file_is_written_in_words_that_jp_understands(editor: JpClient, path: Path) -> None:
    """It refuses a whole file for a key or a value that only we, or only its assignments, know."""
    server = 'providers.mcp.s:={"type":"stdio","command":"c","args":["a"]}'
    effort = "assistant.model.parameters.reasoning=high"
    await editor.request("jp/config/set", {"config": [server, "providers.mcp.s.args+=b", effort]})
    held = tomllib.loads(path.read_text(encoding="utf-8"))
    assert held["providers"]["mcp"]["s"] == {"type": "stdio", "command": "c", "arguments": ["a", "b"]}
    assert held["assistant"]["model"]["parameters"] == {"reasoning": {"effort": "high"}}
    found = await editor.request("jp/config/get", {"key": "providers.mcp.s.args"})
    assert found["value"] == ["a", "b"]


async def test_a_command_that_cannot_be_split_is_not_set(editor: JpClient, path: Path) -> None:
    with pytest.raises(WireFault, match="a command line in which every quotation ends"):
        await editor.request("jp/config/set", {"config": ["editor.cmd=vi 'x"]})
    assert path.read_text(encoding="utf-8") == TEXT


async def test_the_command_does_the_same(editor: JpClient, path: Path) -> None:
    wanted = {"config": ["assistant.name=Bo"], "unset": ["user.name"]}
    result = await editor.request(
        "workspace/executeCommand", {"command": "jp.config.set", "arguments": [wanted]}
    )
    assert (path.read_text(encoding="utf-8"), result["written"]) == (CHANGED, "file")


async def test_the_next_query_has_it(editor: JpClient, vendor: ChatVendor, path: Path) -> None:
    vendor.will_answer(answer("Aye."))
    await editor.request("jp/config/set", setting("Bo"))
    await editor.query("hi", "t", conversation="new")
    assert "## Bo" in editor.transcript("t")


async def test_a_file_with_half_a_character_can_be_changed(editor: JpClient, path: Path) -> None:
    """JSON can name half of a surrogate pair, in a value and in a key, and no other format can."""
    path.unlink()
    path = path.with_suffix(".json")
    text = (
        r'{"assistant": {"name": "x\ud800"}, "template": {"values": {"\udc00": 1}}, "user": {"name": "Ada"}}'
    )
    path.write_text(text, encoding="utf-8")
    result = await editor.request("jp/config/set", setting("Bo", "user.name"))
    assert (result["written"], path.read_text(encoding="utf-8")) == ("file", text.replace("Ada", "Bo"))


async def test_a_file_of_comments_can_be_changed(editor: JpClient, path: Path) -> None:
    path.unlink()
    path = path.with_suffix(".json5")
    path.write_text("// Ours.\n", encoding="utf-8")
    await editor.request("jp/config/set", setting("Bo"))
    assert path.read_text(encoding="utf-8") == '// Ours.\n{\n  "assistant": {"name": "Bo"}\n}\n'


async def test_a_table_of_an_array_is_given_other_members(editor: JpClient, path: Path) -> None:
    tables = '\n[[assistant.instructions]]  # first\ntitle = "A"\nitems = ["x"]\n\n[[assistant.instructions]]\ntitle = "B"\n'
    path.write_text(TEXT + tables, encoding="utf-8")
    await editor.request("jp/config/set", setting({"title": "𝄞"}, "assistant.instructions.0"))
    wanted = tables.replace('title = "A"\nitems = ["x"]\n', 'title = "𝄞"\n')
    assert path.read_text(encoding="utf-8") == TEXT + wanted


async def test_a_value_that_is_wrong_writes_nothing(editor: JpClient, path: Path) -> None:
    asked = {"set": [{"key": "user.name", "value": "fine"}, {"key": "assistant.nme", "value": "x"}]}
    fault = await editor.refusal("jp/config/set", asked)
    assert fault.data["code"] == "invalid_params"
    assert fault.message == "`assistant.nme`: unknown key; did you mean `assistant.name`?"
    fault = await editor.refusal("jp/config/set", setting(["x"]))
    assert fault.message == "`assistant.name`: expected text, got a list"
    fault = await editor.refusal("jp/config/set", setting(5, "assistant.request.stream_idle_timeout_secs"))
    assert fault.data["code"] == "config_invalid"
    assert "must be 0 or at least 10" in fault.message
    fault = await editor.refusal("jp/config/set", {})
    assert "say what to change" in fault.message
    fault = await editor.refusal("jp/config/set", setting("x", target="/etc/passwd"))
    assert "no file that configuration is read from" in fault.message
    assert path.read_text(encoding="utf-8") == TEXT


async def test_a_layer_above_is_named(own_user: UserFolders, path: Path) -> None:
    environment = {"JP_CFG_ASSISTANT_NAME": "Env"}
    async with initialized_server(own_user, capabilities=PLAIN, environment=environment) as server:
        result = await server.client.request("jp/config/set", setting("Bo", target="user_global"))
    (outcome,) = result["settings"]
    assert (outcome["state"], outcome["value"], outcome["own"]) == ("shadowed", "Env", "Bo")
    assert outcome["place"] == {"layer": "environment", "name": "JP_CFG_ASSISTANT_NAME"}
    assert 'name = "Bo"' in (own_user.config / "config.toml").read_text(encoding="utf-8")


async def test_a_conversation_that_keeps_its_own_value_is_named(
    editor: JpClient, vendor: ChatVendor, path: Path
) -> None:
    vendor.will_answer(answer("Aye."))
    conversation = (await editor.query("hi", "t", conversation="new"))["conversation"]
    result = await editor.request("jp/config/set", setting("Bo", conversation=conversation))
    (outcome,) = result["settings"]
    assert (outcome["state"], outcome["value"], outcome["place"]["layer"]) == (
        "shadowed",
        "Ada",
        "conversation",
    )


async def test_a_persona_is_made_and_changed_by_its_name(
    editor: JpClient, own_user: UserFolders, path: Path
) -> None:
    role = own_user.workspace / "roles" / "sailor.toml"
    made = await editor.request("jp/config/set", setting("Sailor", target="roles/sailor.toml"))
    assert role.read_text(encoding="utf-8") == '[assistant]\nname = "Sailor"\n'
    assert (made["expression"], made["settings"][0]["state"]) == ("sailor", "wins")
    await editor.request("jp/config/set", setting("Captain", target="sailor"))
    assert role.read_text(encoding="utf-8") == '[assistant]\nname = "Captain"\n'


async def test_what_the_workspace_would_run_is_told(editor: JpClient, path: Path) -> None:
    server = {"type": "stdio", "command": "run-me"}
    result = await editor.request("jp/config/set", setting(server, "providers.mcp.s"))
    (question,) = result["questions"]
    assert question.endswith("run-me")


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        (
            "sailor.yaml",
            "# Ahoy.\nassistant:\n  name: Jim  # lad\n",
            "# Ahoy.\nassistant:\n  name: Bo  # lad\n",
        ),
        (
            "sailor.json5",
            "{\n  // Ahoy.\n  assistant: {name: 'Jim'}, // lad\n}\n",
            '{\n  // Ahoy.\n  assistant: {name: "Bo"}, // lad\n}\n',
        ),
        (
            "sailor.json",
            '{\n  "assistant": {"name": "Jim"} // lad\n}\n',
            '{\n  "assistant": {"name": "Bo"} // lad\n}\n',
        ),
    ],
)
async def test_other_formats_keep_their_comments_too(
    editor: JpClient, own_user: UserFolders, path: Path, name: str, text: str, wanted: str
) -> None:
    role = own_user.workspace / "roles" / name
    role.parent.mkdir()
    role.write_text(text, encoding="utf-8")
    result = await editor.request("jp/config/set", setting("Bo", target="sailor"))
    assert role.read_text(encoding="utf-8") == wanted
    assert [each["state"] for each in result["settings"]] == ["wins"]


async def test_two_changes_at_once_both_last(editor: JpClient, path: Path) -> None:
    keys = [f"providers.llm.aliases.a{number}" for number in range(8)]
    await asyncio.gather(*(editor.request("jp/config/set", setting("openai/x", key)) for key in keys))
    text = path.read_text(encoding="utf-8")
    assert text.startswith(TEXT)
    assert sorted(text.removeprefix(TEXT).splitlines()[2:]) == [
        f'a{number} = "openai/x"' for number in range(8)
    ]


# ---------------------------------------------------------------------------------- files that are open


@pytest.mark.requirement("T22")
async def test_a_file_that_is_open_is_changed_in_the_editor(editing: JpServer, path: Path) -> None:
    """With what is not saved in it; the file itself stays for the user to save."""
    client = editing.client
    unsaved = TEXT + "\n[user]\nname = 'Pixel'  # not saved\n"
    open_document(client, path, unsaved)
    edits: list[Any] = []

    def apply(params: Json) -> Json:
        edits.append(params["edit"])
        ((change,),) = [each["edits"] for each in params["edit"]["documentChanges"]]
        document = {"uri": path.as_uri(), "version": 4}
        piece = {"range": change["range"], "text": change["newText"]}
        client.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [piece]})
        return {"applied": True}

    client.answers["workspace/applyEdit"] = apply
    result = await client.request("jp/config/set", setting("Bo"))
    (edit,) = edits
    assert edit == {
        "documentChanges": [
            {
                "textDocument": {"uri": path.as_uri(), "version": 3},
                "edits": [
                    {
                        "range": {"start": {"line": 4, "character": 8}, "end": {"line": 4, "character": 11}},
                        "newText": "Bo",
                    }
                ],
            }
        ]
    }
    assert result["written"] == "document"
    assert (result["settings"][0]["value"], result["settings"][0]["state"]) == ("Bo", "wins")
    assert path.read_text(encoding="utf-8") == TEXT
    again = await client.request("jp/config/set", setting("Bo"))
    assert again["written"] == "nothing"


async def test_an_editor_that_does_not_want_to_changes_nothing(editing: JpServer, path: Path) -> None:
    client = editing.client
    open_document(client, path, TEXT)
    client.answers["workspace/applyEdit"] = lambda params: {"applied": False, "failureReason": "read-only"}
    fault = await client.refusal("jp/config/set", setting("Bo"))
    assert fault.data["code"] == "persist_failed"
    assert fault.message == "the editor did not change `.jp/config.toml`: read-only"
    assert path.read_text(encoding="utf-8") == TEXT


async def test_an_editor_that_cannot_be_asked_must_have_saved(editor: JpClient, path: Path) -> None:
    open_document(editor, path, TEXT + "# not saved\n")
    fault = await editor.refusal("jp/config/set", setting("Bo"))
    assert fault.message == (
        "`.jp/config.toml` has changes in the editor that are not saved, and this editor cannot be asked to change it: "
        "save it first"
    )
    assert path.read_text(encoding="utf-8") == TEXT
    document = {"uri": path.as_uri(), "version": 4}
    editor.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": TEXT}]})
    assert (await editor.request("jp/config/set", setting("Bo")))["written"] == "file"
    assert path.read_text(encoding="utf-8") == CHANGED


async def test_a_folder_in_place_of_the_file_says_so(
    editor: JpClient, own_user: UserFolders, path: Path
) -> None:
    (own_user.config / "config.toml").unlink()
    (own_user.config / "config.toml").mkdir()
    with pytest.raises(WireFault) as caught:
        await editor.request("jp/config/set", setting("Bo", target="user_global"))
    assert caught.value.message.endswith("config.toml` is no file")

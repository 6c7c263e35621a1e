"""What a folder that somebody else prepared does to its user over stdio: nothing that the user did not allow.

Links and pipes stand for whatever a file could be instead of itself: the user's own file, or one whose reading
never ends. Each server here must answer within the patience of the client.
"""

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.jp_client import JpClient, Json, WireFault, result_of
from tests.support.jp_server import initialized_server
from tests.support.process_watch import watch_processes
from tests.support.screen import Screen
from tests.support.user_folders import UserFolders
from tests.support.workspaces import states

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e, pytest.mark.requirement("R306")]

EXPIRED = "17740000000-old"
METADATA = '{"last_activated_at":"2026-01-01 00:00:00.0","expires_at":"2026-01-01 00:00:00.0"}'
EVENTS = '[{"type":"turn_start","timestamp":"2026-01-01 00:00:00.0"}]'
NOTHING: Json = {"experimental": {"jp": {}}}
STOCK: Json = {"window": {"showMessage": {"messageActionItem": {"additionalPropertiesSupport": True}}}}


@pytest_asyncio.fixture(loop_scope="session")
async def client(own_user: UserFolders) -> AsyncIterator[JpClient]:
    async with initialized_server(own_user, capabilities=NOTHING) as server:
        yield server.client


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def put_conversation(user: UserFolders, name: str, **files: str) -> Path:
    folder = user.workspace / ".jp" / "conversations" / name
    for file, text in {"metadata": METADATA, "events": EVENTS, "base_config": "{}", **files}.items():
        write(folder / f"{file}.json", text)
    return folder


def open_document(client: JpClient, path: Path, text: str, language: str = "markdown") -> str:
    document = {"uri": path.as_uri(), "languageId": language, "version": 1, "text": text}
    client.notify("textDocument/didOpen", {"textDocument": document})
    return path.as_uri()


async def look(client: JpClient, uri: str, character: int = 0) -> None:
    """Ask for all that an editor asks for by itself or at a touch of the mouse."""
    document, place = {"uri": uri}, {"line": 0, "character": character}
    everywhere = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}
    for method in ("completion", "hover", "definition"):
        await client.request(f"textDocument/{method}", {"textDocument": document, "position": place})
    for method in ("codeLens", "documentLink", "documentSymbol", "foldingRange"):
        await client.request(f"textDocument/{method}", {"textDocument": document})
    await client.request(
        "textDocument/codeAction",
        {"textDocument": document, "range": everywhere, "context": {"diagnostics": []}},
    )


# ------------------------------------------------------------------------------------------- only looking


async def test_to_look_at_code_and_configuration_changes_nothing_on_disk(
    client: JpClient, own_user: UserFolders
) -> None:
    put_conversation(own_user, EXPIRED)
    put_conversation(own_user, "17740000001-later", metadata=METADATA.replace("2026-01-01", "2025-01-01"))
    before = states(own_user.workspace), states(own_user.data)
    code = open_document(client, own_user.workspace / "a.py", "def add(a, b): return a\n", "python")
    settings = open_document(client, own_user.workspace / ".jp.toml", "assistant.name = 'x'\n", "toml")
    await look(client, code)
    await look(client, settings, 3)
    assert await client.wait_for(lambda: client.received("textDocument/publishDiagnostics"))
    assert (states(own_user.workspace), states(own_user.data)) == before


async def test_what_runs_can_be_listed_without_removing_what_has_expired(
    client: JpClient, own_user: UserFolders
) -> None:
    folder = put_conversation(own_user, EXPIRED)
    put_conversation(own_user, "17740000001-later", metadata=METADATA.replace("00.0", "01.0"))
    for _ in range(3):
        await client.request("jp/turn/list")
        await client.request("jp/config/get", {"key": "assistant.name"})
    assert folder.is_dir()
    await client.request("jp/conversation/list")
    await client.wait_for(lambda: client.received("jp/conversationChanged"))
    assert not folder.exists()


LOOKS: dict[str, Json] = {
    "jp/turn/list": {},
    "jp/conversation/list": {},
    "jp/conversation/render": {"conversation": "jp-c17740000000"},
    "jp/conversation/show": {"conversation": "jp-c17740000000"},
    "jp/conversation/export": {"conversation": "jp-c17740000000"},
    "jp/conversation/replay": {"conversation": "jp-c17740000000"},
    "jp/conversation/search": {"pattern": "x"},
    "jp/conversation/trash": {},
    "jp/config/list": {},
    "jp/config/get": {"key": "assistant.name", "conversation": "jp-c17740000000"},
}


async def test_nothing_that_is_looked_up_makes_a_workspace(tmp_path: Path, vendor: ChatVendor) -> None:
    user = UserFolders(tmp_path, vendor.url)
    (user.workspace / ".jp").rmdir()
    async with initialized_server(user, capabilities=NOTHING) as server:
        for method, params in LOOKS.items():
            if "conversation" in params:
                fault = await server.client.refusal(method, params)
                assert fault.data["code"] == "conversation_not_found", method
            else:
                await server.client.request(method, params)
            assert list(user.workspace.iterdir()) == [], method
        path = user.workspace / "ask.jp.md"
        uri = open_document(server.client, path, "---\nconversation: jp-c17740000000\n---\nHi\n")
        at = {"textDocument": {"uri": uri}, "position": {"line": 1, "character": 18}}
        await server.client.request("textDocument/hover", at)
    assert list(user.workspace.iterdir()) == []


async def test_what_a_file_says_of_itself_fetches_nothing_in_a_hover(
    client: JpClient, own_user: UserFolders
) -> None:
    write(own_user.workspace / ".jp/config.toml", "config_load_paths = ['.jp/personas']\n")
    picture = "# A helper ![.](https://evil.example/seen.png) <img src='https://evil.example/too'>\n"
    write(own_user.workspace / ".jp/personas/helper.toml", f"{picture}assistant.name = 'H'\n")
    text = "---\npersona: helper\n---\nHi\n"
    uri = open_document(client, own_user.workspace / "ask.jp.md", text)
    at = {"textDocument": {"uri": uri}, "position": {"line": 1, "character": 11}}
    said = str(await client.request("textDocument/hover", at))
    assert "A helper" in said
    assert " ![" not in said
    assert " <img" not in said


# ------------------------------------------------------------------------------------------- links and pipes


async def test_a_link_in_place_of_the_id_leaves_the_users_file_alone(
    client: JpClient, own_user: UserFolders, tmp_path: Path
) -> None:
    precious = write(tmp_path / ".bashrc", "export PRECIOUS=1\n")
    (own_user.workspace / ".jp" / ".id").unlink(missing_ok=True)
    (own_user.workspace / ".jp" / ".id").symlink_to(precious)
    await client.request("jp/conversation/list")
    assert precious.read_text(encoding="utf-8") == "export PRECIOUS=1\n"
    assert not (own_user.workspace / ".jp" / ".id").is_symlink()


async def test_a_link_in_place_of_a_lock_leaves_the_users_file_alone(
    client: JpClient, own_user: UserFolders, tmp_path: Path
) -> None:
    precious = write(tmp_path / ".bashrc", "export PRECIOUS=1\n")
    put_conversation(own_user, EXPIRED, metadata=METADATA.partition(',"exp')[0] + "}")
    lock = own_user.workspace / ".jp" / "locks" / "jp-c17740000000.lock"
    lock.parent.mkdir(parents=True)
    lock.symlink_to(precious)
    await client.request("jp/conversation/title", {"conversation": "jp-c17740000000", "title": "Mine"})
    assert precious.read_text(encoding="utf-8") == "export PRECIOUS=1\n"


async def test_a_link_that_has_the_name_of_a_title_gets_no_file(
    client: JpClient, own_user: UserFolders, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    folder = put_conversation(own_user, EXPIRED, metadata=METADATA.partition(',"exp')[0] + "}")
    (folder.parent / "17740000000-mine").symlink_to(outside)
    titled = {"conversation": "jp-c17740000000", "title": "Mine"}
    assert (await client.request("jp/conversation/title", titled))["title"] == "Mine"
    assert list(outside.iterdir()) == []
    listed = await client.request("jp/conversation/list")
    assert [each["title"] for each in listed["conversations"]] == ["Mine"]
    assert (folder / "events.json").read_text(encoding="utf-8") == EVENTS


async def test_a_pipe_in_place_of_the_id_stops_nothing(client: JpClient, own_user: UserFolders) -> None:
    (own_user.workspace / ".jp" / ".id").unlink(missing_ok=True)
    os.mkfifo(own_user.workspace / ".jp" / ".id")
    assert (await client.request("jp/conversation/list"))["conversations"] == []


async def test_a_pipe_that_a_query_names_is_looked_at_and_not_read(
    client: JpClient, own_user: UserFolders
) -> None:
    os.mkfifo(own_user.workspace / "pipe.txt")
    text = "Look at @pipe.txt please\n"
    uri = open_document(client, own_user.workspace / "ask.jp.md", text)
    await look(client, uri, text.index("pipe") + 2)
    (fault,) = await client.wait_for(lambda: _marks(client, uri))
    assert "no ordinary file" in fault["message"]
    with pytest.raises(WireFault) as refused:
        await client.request("jp/query", {"document": {"uri": uri}})
    assert "no ordinary file" in refused.value.message


def _marks(client: JpClient, uri: str) -> list[Any]:
    published = [each for each in client.received("textDocument/publishDiagnostics") if each["uri"] == uri]
    return published[-1]["diagnostics"] if published else []


async def test_a_pipe_is_no_query_document(client: JpClient, own_user: UserFolders) -> None:
    pipe = own_user.workspace / "ask.jp.md"
    os.mkfifo(pipe)
    with pytest.raises(WireFault) as refused:
        await client.request("jp/query", {"document": {"uri": pipe.as_uri()}})
    assert "no ordinary file" in refused.value.message


async def test_files_of_conversations_that_lead_elsewhere_are_not_read(
    client: JpClient, own_user: UserFolders, tmp_path: Path
) -> None:
    """A pipe at the end of a link: who follows it never comes back."""
    endless = tmp_path / "endless"
    os.mkfifo(endless)
    for place in (EXPIRED, ".trash/17740000001-gone", ".archive/17740000002-kept"):
        folder = put_conversation(own_user, place)
        for name in ("metadata.json", "events.json", "base_config.json"):
            (folder / name).unlink()
            (folder / name).symlink_to(endless)
    note = "# Conversation set aside\n\n- **Reason**: it was removed\n- **Date**: 2026-01-01T00:00:00Z\n"
    write(own_user.workspace / ".jp/conversations/.trash/17740000001-gone/TRASHED.md", note)
    await client.request("jp/conversation/list")
    await client.request("jp/conversation/list", {"archived": True})
    await client.request("jp/conversation/search", {"pattern": "x"})
    found = await client.request("jp/conversation/trash")
    assert [each["conversation"] for each in found["conversations"]] == ["jp-c17740000001"]
    fault = await client.refusal("jp/query", {"text": "hi", "conversation": "jp-c17740000000"})
    assert fault.data["code"] == "conversation_unreadable"


async def test_a_setting_is_not_written_through_a_link_into_the_users_own_file(
    client: JpClient, own_user: UserFolders
) -> None:
    own = own_user.config / "config.toml"
    before = own.read_bytes()
    (own_user.workspace / ".jp" / "config.toml").unlink(missing_ok=True)
    (own_user.workspace / ".jp" / "config.toml").symlink_to(own)
    changes = {"target": "workspace", "config": ["assistant.name=Theirs"]}
    with pytest.raises(WireFault) as refused:
        await client.request("jp/config/set", changes)
    assert "leads out of the workspace" in refused.value.message
    assert own.read_bytes() == before


# ------------------------------------------------------------------------------------------------ running


async def test_to_look_at_a_hostile_workspace_starts_no_program(
    own_user: UserFolders, tmp_path: Path
) -> None:
    environment, started = watch_processes(own_user, tmp_path)
    evil = "{ program = 'touch harmed', shell = true }"
    config = write(
        own_user.workspace / ".jp" / "config.toml",
        f"conversation.tools.evil = {{ source = 'local', command = {evil}, run = 'unattended', enable = true }}\n"
        "conversation.attachments = ['cmd:touch harmed']\n"
        f"conversation.labels.evil = {{ value = {{ cmd = {evil} }}, run = 'unattended' }}\n"
        "providers.mcp.evil = { type = 'stdio', command = 'touch', arguments = ['harmed'] }\n"
        "conversation.tools.served = { source = 'mcp.evil', enable = true, run = 'unattended' }\n"
        f"conversation.tools.'*'.style.parameters = {evil}\n",
    )
    text = '---\nconfig: ["conversation.attachments=[\'cmd:touch harmed\']"]\n---\n@"cmd:touch harmed" @src\n'
    async with initialized_server(own_user, environment=environment, capabilities=NOTHING) as server:
        client = server.client
        await look(client, open_document(client, config, config.read_text(encoding="utf-8"), "toml"), 4)
        await look(client, open_document(client, own_user.workspace / "ask.jp.md", text), 2)
        made = await client.request("jp/conversation/new", {})
        await client.request("jp/conversation/fork", {"conversation": made["conversation"]})
        for method in ("jp/conversation/list", "jp/config/list", "jp/turn/list", "jp/model/list"):
            await client.request(method, {})
        await client.request("jp/config/set", {"target": "workspace", "config": ["assistant.name=x"]})
    assert not started.exists()
    assert not (own_user.workspace / "harmed").exists()


async def test_the_workspace_cannot_let_a_label_command_of_the_users_run_unasked(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    label = "conversation.labels.mine = { value = { cmd = 'touch ran' } }\n"
    with (own_user.config / "config.toml").open("a", encoding="utf-8") as file:
        file.write(f"[conversation.labels]\nmine = {label.partition(' = ')[2]}")
    write(own_user.workspace / ".jp" / "config.toml", "conversation.labels.mine.run = 'unattended'\n")
    vendor.will_answer(answer("ok"))
    async with initialized_server(own_user, capabilities=STOCK) as server:
        screen = Screen()
        server.client.answers["window/showMessageRequest"] = screen.show
        await server.client.request("jp/conversation/new", {})
        assert not (own_user.workspace / "ran").exists()
        _, future = server.client.start_query("hi", "t", conversation="new")
        question = await screen.next_question()
        assert "1 label command that would no longer ask" in question.params["message"]
        question.answer({"title": "Don't trust"})
        question = await screen.next_question()
        assert question.params["message"] == "Run the command of label mine? touch ran"
        question.answer({"title": "Don't run"})
        await result_of(future)
        assert not (own_user.workspace / "ran").exists()


@pytest.mark.parametrize("scheme", ["file", "git"])
async def test_a_document_of_another_clone_is_trusted_no_more(
    own_user: UserFolders, vendor: ChatVendor, tmp_path: Path, scheme: str
) -> None:
    """An editor has several folders open, and only the first is the workspace."""
    ran = tmp_path / "ran"
    uri = (tmp_path / "elsewhere" / "ask.jp.md").as_uri().replace("file", scheme, 1)
    text = f'Look @"cmd:touch {ran}"\n'
    async with initialized_server(own_user, capabilities=NOTHING) as server:
        document = {"uri": uri, "languageId": "jp-query", "version": 1, "text": text}
        server.client.notify("textDocument/didOpen", {"textDocument": document})
        vendor.will_answer(answer("No."))
        asked = {"document": {"uri": uri}, "interactive": False, "partialResultToken": "t"}
        assert (await server.client.request("jp/query", asked))["outcome"] == "completed"
        assert "it leaves out 1 attachment command" in str(server.client.received("$/progress"))
    assert not ran.exists()

"""What is shown to the model beside the conversation, from the editor to the vendor."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_tools import STOCK, choose, configured, screen_of, until_exists
from tests.support.chat_vendor import ChatVendor, answer
from tests.support.http_server import HttpServer, Reply
from tests.support.jp_client import JpClient, fault_of, result_of
from tests.support.jp_server import initialized_server
from tests.support.process_watch import watch_processes
from tests.support.processes import wait_until_gone
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

SCRIPTED = Path(__file__).parents[1] / "support" / "mcp_server.py"


def write(user: UserFolders, **files: str) -> None:
    for name, text in files.items():
        path = user.workspace / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def documents(vendor: ChatVendor) -> str:
    """The attachments of the last query, as the model got them; empty when there were none."""
    texts = [each["content"] for each in vendor.queries[-1]["messages"] if each["role"] == "system"]
    return next((text for text in texts if text.startswith("<documents>")), "")


def sources(vendor: ChatVendor) -> list[str]:
    lines = documents(vendor).split("\n")
    found = [
        line.strip().removeprefix("<source>").removesuffix("</source>")
        for line in lines
        if "<source>" in line
    ]
    return [each.removeprefix("<![CDATA[").removesuffix("]]>") for each in found]


def warnings(client: JpClient, token: str) -> str:
    return "\n".join(chunk["text"] for chunk in client.chunks(token) if chunk["type"] == "notice")


@pytest.mark.requirement("R224", "F26")
async def test_files_a_folder_and_a_pattern_come_in_order_and_stay_with_the_conversation(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    write(own_user, notes_md="n", src__b_py="b", src__a_py="a", src__deep__c_py="c", docs__x_txt="x & y")
    vendor.will_answer(answer("One."), answer("Two."), answer("Three."))
    uri = (own_user.workspace / "notes.md").as_uri()
    async with initialized_server(own_user) as server:
        result = await server.client.query("go", "t", attachments=[uri, "src/**/*.py", "docs", "!b.py"])
        first = documents(vendor)
        assert sources(vendor) == ["notes.md", "src/a.py", "src/deep/c.py", "docs/x.txt"]
        assert "<content>x &amp; y</content>" in first
        conversation = result["conversation"]
        again = await server.client.query("more", "u", conversation=conversation, attachments=[uri])
        assert (again["outcome"], documents(vendor)) == ("completed", first)
        # What is attached already is not stored again.
        assert own_user.story(conversation).count("config_delta") == 0
    async with initialized_server(own_user) as server:
        write(own_user, docs__y_txt="new")
        await server.client.query("later", "v", conversation=conversation)
    assert documents(vendor).startswith(first.removesuffix("</documents>"))
    assert sources(vendor)[-1] == "docs/y.txt"


async def test_what_a_later_query_attaches_is_stored_as_a_change(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    write(own_user, a_md="a", b_md="b")
    vendor.will_answer(answer("One."), answer("Two."))
    async with initialized_server(own_user) as server:
        conversation = (await server.client.query("go", "t"))["conversation"]
        content = [{"type": "resource", "uri": (own_user.workspace / "b.md").as_uri()}]
        await server.client.query(
            "look", "u", conversation=conversation, content=content, attachments=["a.md"]
        )
    assert sources(vendor) == ["a.md", "b.md"]
    (delta,) = (each for each in own_user.events(conversation) if each["type"] == "config_delta")
    assert "file:a.md" in str(delta)
    assert "file:b.md" in str(delta)


@pytest.mark.requirement("T21")
async def test_the_editor_is_ahead_of_the_disk(own_user: UserFolders, vendor: ChatVendor) -> None:
    write(own_user, dirty_md="old", clean_md="as opened")
    vendor.will_answer(answer("Seen."))
    async with initialized_server(own_user) as server:
        for name, text in (("dirty.md", "unsaved"), ("clean.md", "as opened")):
            uri = (own_user.workspace / name).as_uri()
            document = {"uri": uri, "languageId": "markdown", "version": 1, "text": text}
            server.client.notify("textDocument/didOpen", {"textDocument": document})
        nameless = {"uri": "untitled:Untitled-1", "languageId": "text", "version": 1, "text": "no file yet"}
        server.client.notify("textDocument/didOpen", {"textDocument": nameless})
        await server.client.request("jp/turn/list")  # the documents were compared with the disk by now
        write(own_user, clean_md="changed by a command")
        named = ["dirty.md", "clean.md", "untitled:Untitled-1"]
        result = await server.client.query("go", "t", attachments=named)
    sent = documents(vendor)
    assert sources(vendor) == named
    assert [text in sent for text in ("unsaved", "changed by a command", "no file yet")] == [True] * 3
    assert [text in sent for text in (">old<", "as opened")] == [False, False]
    # No later query could find a document that is in the editor alone.
    base = json.loads((own_user.folder_of(result["conversation"]) / "base_config.json").read_text("utf-8"))
    assert "untitled" not in json.dumps(base)
    assert "file:dirty.md" in json.dumps(base)


@pytest.mark.requirement("T15", "R306")
async def test_a_command_of_the_workspace_waits_for_trust_and_one_of_the_query_does_not(
    own_user: UserFolders, vendor: ChatVendor, tmp_path: Path
) -> None:
    environment, started = watch_processes(own_user, tmp_path)
    write(own_user, plain_md="plain")
    (own_user.workspace / ".jp" / "config.toml").write_text(
        "conversation.attachments = ['cmd:touch harmed', 'CMD:touch harmed-too', 'file:plain.md', "
        "{ type = 'cmd', path = 'touch', params = { arg = 'harmed-as-well' } }, 'mcp+evil+memo://one']\n"
        f"[providers.mcp.evil]\ntype = 'stdio'\ncommand = {json.dumps(sys.executable)}\n"
        f"arguments = {json.dumps([str(SCRIPTED), '{}'])}\n",
        encoding="utf-8",
    )
    vendor.will_answer(answer("Untrusted."), answer("Mine."), answer("Trusted."))
    async with initialized_server(own_user, capabilities=STOCK, environment=environment) as server:
        screen = screen_of(server)
        _, future = server.client.start_query("go", "t")
        question = await screen.next_question()
        assert "3 attachment commands" in question.params["message"]
        question.answer(None)
        conversation = (await result_of(future))["conversation"]
        assert not started.exists(), started.read_text(encoding="utf-8")
        assert sources(vendor) == ["plain.md"]
        assert "leaves out 3 attachment commands" in warnings(server.client, "t")
        assert "does not start MCP server `evil`" in warnings(server.client, "t")
        await server.client.query(
            "mine", "u", interactive=False, conversation="new", attachments=["cmd:echo mine"]
        )
        # The watch works: the user's own command was seen to start, and nothing of the workspace's.
        assert "echo" in started.read_text(encoding="utf-8")
        assert "touch" not in started.read_text(encoding="utf-8")
        assert sources(vendor) == ["plain.md", "echo mine"]
        assert not list(own_user.workspace.glob("harmed*"))
        _, future = server.client.start_query("now", "v", conversation=conversation)
        choose(await screen.next_question(), "Trust")
        await result_of(future)
    assert sources(vendor) == [
        "touch harmed",
        "touch harmed-too",
        "plain.md",
        "touch harmed-as-well",
        "memo://one",
    ]
    assert len(list(own_user.workspace.glob("harmed*"))) == 3


async def test_the_model_sees_how_a_command_ended(own_user: UserFolders, vendor: ChatVendor) -> None:
    vendor.will_answer(answer("Seen."))
    command = "sh -c 'pwd; echo \"<oh>\" >&2; cat; exit 3'"
    async with initialized_server(own_user) as server:
        await server.client.query("go", "t", attachments=[f"cmd:{command}?description=Where"])
    assert (
        f"<Output>\n  <stdout>{own_user.workspace}\n</stdout>\n  <stderr>&lt;oh&gt;\n</stderr>\n"
        "  <code>3</code>\n</Output>"
    ) in documents(vendor)


@pytest.mark.requirement("R224")
async def test_a_web_page_becomes_markdown_and_an_error_page_does_not(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    page = (
        "<html><head><title>x</title></head><body><h1>Title</h1><script>no()</script><p>A <b>word</b>.</body>"
    )
    replies = [
        Reply.text(page, content_type="text/html; charset=utf-8"),
        Reply.text("oops", 404, "text/html"),
    ]
    vendor.will_answer(answer("One."), answer("Two."))
    with HttpServer(replies) as site:
        async with initialized_server(own_user) as server:
            conversation = (await server.client.query("go", "t", attachments=[f"{site.url}/a?b=c"]))[
                "conversation"
            ]
            assert site.requests[0].path == "/a?b=c"
            assert (sources(vendor), "# Title\n\nA **word**." in documents(vendor)) == (
                [f"{site.url}/a?b=c"],
                True,
            )
            await server.client.query("again", "u", conversation=conversation)
            assert "oops" not in documents(vendor)
            assert "HTTP status 404" in warnings(server.client, "u")


@pytest.mark.requirement("G35")
async def test_a_document_of_an_mcp_server_needs_no_tool_of_it(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    configured(
        own_user,
        f"[providers.mcp.notes]\ntype = 'stdio'\ncommand = {json.dumps(sys.executable)}\n"
        f"arguments = {json.dumps([str(SCRIPTED), '{}'])}\n",
    )
    vendor.will_answer(answer("Seen."))
    async with initialized_server(own_user) as server:
        await server.client.query("go", "t", attachments=["mcp+notes+memo://one"])
        assert (sources(vendor), "äöü" in documents(vendor)) == (["memo://one"], True)
        fault = await server.client.refusal(
            "jp/query", {"text": "x", "attachments": ["mcp+notes+memo://none"]}
        )
    assert fault.data["code"] == "attachment_failed"
    assert "no document memo://none" in fault.message


async def test_another_conversation_is_shown(own_user: UserFolders, vendor: ChatVendor) -> None:
    vendor.will_answer(answer("Forty-two."), answer("Seen."), answer("Gone."))
    async with initialized_server(own_user) as server:
        other = (await server.client.query("What is it?", "t"))["conversation"]
        await server.client.query("go", "u", conversation="new", attachments=[f"{other}?ua:1"])
        assert sources(vendor) == [f"jp:{other} (ua:1)"]
        assert "## Turn 1\n\n### User\n\nWhat is it?\n\n### Assistant\n\nForty-two." in documents(vendor)
        await server.client.query("go", "v", conversation="new", attachments=["jp-c17912345678"])
        assert "there is no conversation jp-c17912345678 any more" in warnings(server.client, "v")
    assert documents(vendor) == ""


REFUSED: dict[str, tuple[str, str]] = {
    "no such file": ("nowhere.md", "there is no such file or folder"),
    "outside": ("../secret.md", "outside of the workspace"),
    "a link to outside": ("link.md", "outside of the workspace"),
    "a name that no file can have": ("a" * 300, "no path that can be followed"),
    "outside, as an editor names it": ("file:///etc/hostname", "outside of the workspace"),
    "unknown kind": ("notes:today.md", "Attachment handler 'notes' not found"),
    "no program": ("cmd:no-such-program-here", "failed to run command"),
    "no server": ("mcp+none+memo://x", "Unknown MCP server: none"),
    "no selection": ("jp://jp-c17912345678?select=x", "must begin with letters"),
    "too large": ("large.bin", "File 'large.bin' is too large (10485761 bytes, limit is 10485760 bytes)."),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_one_that_cannot_be_had_ends_the_query_before_anything_is_stored(
    own_user: UserFolders, vendor: ChatVendor, case: str
) -> None:
    name, text = REFUSED[case]
    (own_user.workspace.parent / "secret.md").write_text("secret", encoding="utf-8")
    (own_user.workspace / "link.md").symlink_to(own_user.workspace.parent / "secret.md")
    (own_user.workspace / "large.bin").write_bytes(b"x" * (10 * 1024 * 1024 + 1))
    async with initialized_server(own_user) as server:
        fault = await server.client.refusal("jp/query", {"text": "hi", "attachments": [name]})
        assert (fault.code, fault.data["code"], fault.data["draft"]) == (-32803, "attachment_failed", "hi")
        assert text in fault.message
        assert (await server.client.request("jp/conversation/list"))["conversations"] == []
    assert vendor.queries == []


async def test_cancelling_ends_what_is_fetched(own_user: UserFolders, vendor: ChatVendor) -> None:
    async with initialized_server(own_user) as server:
        request, future = server.client.start_query(
            "go", "t", attachments=["cmd:sh -c 'echo $$ > began; sleep 600'"]
        )
        began = own_user.workspace / "began"
        await until_exists(began, "\n")
        server.client.cancel(request)
        assert (await fault_of(future)).code == -32800
        await wait_until_gone(int(began.read_text(encoding="utf-8")))


async def test_a_picture_goes_where_it_can_be_seen_and_is_told_of_where_not(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    (own_user.workspace / "dot.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x01")
    (own_user.workspace / "sheet.zip").write_bytes(b"PK\x03\x04\x00\xff")
    vendor.will_answer(answer("Seen."))
    async with initialized_server(own_user) as server:
        await server.client.query("go", "t", attachments=["dot.png", "sheet.zip"])
        await server.log.wait_for("takes no application/zip: attachment 'sheet.zip' was left out")
    sent: list[Any] = vendor.queries[-1]["messages"]
    assert "data:image/png;base64,iVBORw0KGgoAAQ==" in json.dumps(sent)

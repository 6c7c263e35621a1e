"""Query documents over stdio, as three editors and a plain client use them: written, looked at, and sent by the lens."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from lsprotocol import types
from pygls.uris import to_fs_path

from tests.e2e.test_language_features import LITERALS, Editor, messages
from tests.language.cursor import cursor
from tests.support.chat_vendor import ChatVendor, answer
from tests.support.edited_text import EditedText
from tests.support.http_server import Hold
from tests.support.jp_client import JpClient, WireFault
from tests.support.jp_server import initialized_server
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

PATIENCE = 30.0
BASE = """\
config_load_paths = [".jp/config"]
[providers.llm.aliases]
fast = "llamacpp/tiny"
"""
PERSONA = """\
# Answers in verse.
[assistant]
name = "𝄞 Bard"
"""
QUERY = """\
---
model: fast
persona: personas/bard
conversation: new
tools: [ask_user]
attachments: docs/*.md
---

𝄞 What is in @src/main.py?
"""


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory, shared_vendor: ChatVendor) -> UserFolders:
    user = UserFolders(tmp_path_factory.mktemp("user"), shared_vendor.url)
    furnish(user)
    return user


def furnish(user: UserFolders) -> None:
    user.write(".jp/config.toml", BASE)
    user.write(".jp/config/personas/bard.toml", PERSONA)
    user.write("src/main.py", "def add(a, b):\n    return a - b\n")
    user.write("docs/guide.md", "Be brief.\n")


@pytest_asyncio.fixture(
    scope="module", loop_scope="session", params=["visual-studio-code", "neovim", "emacs"]
)
async def editor(request: pytest.FixtureRequest, user: UserFolders) -> AsyncIterator[Editor]:
    client = Editor(request.param)
    client.feature(types.WORKSPACE_CODE_LENS_REFRESH)(lambda params: None)
    client.announced = await client.begin(user)
    yield client
    await client.end()


def opened(editor: Editor, user: UserFolders, text: str, name: str = "notes/ask.jp.md") -> EditedText:
    return editor.open(user.workspace / name, text, "markdown")


async def lenses(editor: Editor, document: EditedText) -> list[types.Command]:
    found = await editor.text_document_code_lens_async(types.CodeLensParams(document.id))
    assert all(each.range.start == types.Position(0, 0) for each in found or [])
    return [each.command for each in found or [] if each.command is not None]


async def test_what_is_announced(editor: Editor) -> None:
    announced = editor.announced.capabilities
    assert announced.code_lens_provider is not None
    assert announced.completion_provider is not None
    assert "@" in (announced.completion_provider.trigger_characters or [])


async def test_a_document_is_sent_by_its_lens(editor: Editor, user: UserFolders, vendor: ChatVendor) -> None:
    document = opened(editor, user, QUERY)
    await document.diagnostics(lambda found: not found)
    (lens,) = await lenses(editor, document)
    assert lens.title == "Send to JP (new conversation, fast)"
    assert [*(lens.arguments or ())] == [{"document": {"uri": document.uri}}]
    vendor.will_answer(answer("It subtracts."))
    pressed = types.ExecuteCommandParams(lens.command, lens.arguments)
    async with asyncio.timeout(PATIENCE):
        result: Any = await editor.workspace_execute_command_async(pressed)
    (query,) = vendor.queries
    sent = str(query["messages"])
    assert query["messages"][-1]["content"] == "𝄞 What is in @src/main.py?"
    assert "return a - b" in sent
    assert "Be brief." in sent
    assert "ask_user" in [tool["function"]["name"] for tool in query["tools"]]
    assert user.story(result["conversation"]) == [
        "turn",
        "user: 𝄞 What is in @src/main.py?",
        "message: It subtracts.",
    ]
    assert '"name": "𝄞 Bard"' in (user.folder_of(result["conversation"]) / "base_config.json").read_text(
        "utf-8"
    )
    document.becomes(QUERY.partition("𝄞")[0])
    assert await lenses(editor, document) == []
    document.close()


async def test_the_editors_text_counts_before_the_file(
    editor: Editor, user: UserFolders, vendor: ChatVendor
) -> None:
    user.write("saved.jp.md", "---\nconversation: new\n---\nAs saved")
    params = {"document": {"uri": (user.workspace / "saved.jp.md").as_uri()}}
    vendor.will_answer(answer("One."), answer("Two."), answer("Three."))
    await editor.call("jp/query", params)
    document = opened(editor, user, "---\nconversation: new\n---\nAs edited", "saved.jp.md")
    await editor.call("jp/query", params)
    await editor.call("jp/query", {**params, "text": "As said"})
    assert [query["messages"][-1]["content"] for query in vendor.queries] == [
        "As saved",
        "As edited",
        "As said",
    ]
    document.close()


@pytest.mark.parametrize(
    ("marked", "label", "filtered"),
    [
        ("---\nmod|\n---\n", "model", None),
        ("---\nmodel: |\n---\n", "fast", None),
        ("---\nmodel: |\n---\n", "llamacpp/tiny", None),
        ("---\npersona: |\n---\n", "personas/bard", None),
        ("---\ntools: [|]\n---\n", "ask_user", None),
        ("---\nconversation: |\n---\n", "new", None),
        ("𝄞 @ma|", "src/main.py", None),
        ("𝄞 @docs/|", "docs/guide.md", None),
        ("𝄞 @|", "https://", None),
        ("𝄞 @|", "A talk about 𝄞", "A talk about 𝄞"),
    ],
)
async def test_completion(
    editor: Editor, user: UserFolders, vendor: ChatVendor, marked: str, label: str, filtered: str | None
) -> None:
    if filtered is not None:
        await editor.call("jp/conversation/new", {"title": filtered})
    text, offset = cursor(marked)
    document = opened(editor, user, text)
    params = types.CompletionParams(document.id, document.position(offset))
    async with asyncio.timeout(PATIENCE):
        while True:
            result = await editor.text_document_completion_async(params)
            assert isinstance(result, types.CompletionList)
            found = next((item for item in result.items if item.label == label), None)
            if found is not None:
                break
            assert result.is_incomplete  # vendors' models are listed beside
            assert label == "llamacpp/tiny"
    assert found.filter_text is not None
    assert filtered is None or filtered in found.filter_text
    document.close()


@pytest.mark.parametrize(
    ("piece", "expected"),
    [
        ("fast", "an alias of `llamacpp/tiny`"),
        ("personas/bard", 'assistant.name = "𝄞 Bard"'),
        ("ask_user", "Asks the user a question"),
        ("docs/*.md", "pattern: 1 file, 10 bytes"),
        ("@src/main.py", "file, text, 32 bytes"),
        ("conversation", "- takes an id, `new` or `last`"),
    ],
)
async def test_hover(editor: Editor, user: UserFolders, piece: str, expected: str) -> None:
    document = opened(editor, user, QUERY)
    params = types.HoverParams(document.id, document.place_of(piece))
    hover = await editor.text_document_hover_async(params)
    assert hover is not None
    assert expected in str(hover.contents)
    document.close()


async def test_hover_and_link_of_a_conversation(
    editor: Editor, user: UserFolders, vendor: ChatVendor
) -> None:
    vendor.will_answer(answer("Yes."))
    asked = await editor.call("jp/query", {"text": "Is it?", "conversation": "new", "title": "𝄞 Doubt"})
    name = asked.conversation
    document = opened(editor, user, f"---\nconversation: {name}\n---\nSee @{name} and @src/main.py")
    await document.diagnostics(lambda found: not found)
    (lens,) = await lenses(editor, document)
    assert lens.title == "Send to JP (𝄞 Doubt)"
    for piece in (f" {name}", f"@{name}"):
        hover = await editor.text_document_hover_async(
            types.HoverParams(document.id, document.place_of(piece))
        )
        assert "𝄞 Doubt" in str(hover)
        assert "- 1 turn" in str(hover)
    links = await editor.text_document_document_link_async(types.DocumentLinkParams(document.id))
    targets = {document.text.split("\n")[each.range.start.line]: str(each.target) for each in links or []}
    assert len(links or []) == 3
    assert targets[f"conversation: {name}"] == "None"
    followed = await editor.document_link_resolve_async(
        next(each for each in links or [] if each.range.start.line == 1)
    )
    assert followed.target is not None
    path = to_fs_path(followed.target)
    assert path is not None
    assert "Is it?" in Path(path).read_text("utf-8")
    assert (user.workspace / "src/main.py").as_uri() in [each.target for each in links or []]
    document.close()


async def test_an_archived_conversation_can_be_copied_and_attached_but_not_continued(
    editor: Editor, user: UserFolders, vendor: ChatVendor
) -> None:
    vendor.will_answer(answer("Yes."))
    asked = await editor.call("jp/query", {"text": "Is it?", "conversation": "new"})
    name = asked.conversation
    await editor.call("jp/conversation/archive", {"conversation": name})
    document = opened(editor, user, f"---\nconversation: {name}\n---\nWhy? @{name}")
    found = await document.diagnostics(lambda found: "archived" in str(found))
    assert messages(found) == [
        f"conversation {name} is archived: unarchive it, or name it as `fork` to ask in a copy"
    ]
    document.close()
    document = opened(editor, user, f"---\nfork: {name}\n---\nWhy? @{name}")
    await document.diagnostics(lambda found: not found)
    vendor.will_answer(answer("Because."))
    copied = await editor.call("jp/query", {"document": {"uri": document.uri}})
    assert user.story(copied.conversation)[-1] == "message: Because."
    document.close()


async def test_diagnostics_and_how_they_are_mended(editor: Editor, user: UserFolders) -> None:
    document = opened(editor, user, QUERY)
    await document.diagnostics(lambda found: not found)
    document.becomes(
        QUERY.replace("model: fast", "modle: fast").replace("main.py", "mian.py").replace("bard", "brad")
    )
    found = await document.diagnostics(lambda found: len(found) == 3)
    assert [(each.range.start.line, each.code, each.source) for each in found] == [
        (1, "unknown-key", "jp"),
        (2, "not-found", "jp"),
        (8, "not-found", "jp"),
    ]
    assert messages(found)[0] == "unknown key; did you mean `model`?"
    new_texts: list[str] = []
    for wrong in found:
        context = types.CodeActionContext([wrong], only=[types.CodeActionKind.QuickFix])
        actions = await editor.text_document_code_action_async(
            types.CodeActionParams(document.id, wrong.range, context)
        )
        (mend,) = [each for each in actions or [] if isinstance(each, types.CodeAction) and each.edit]
        assert mend.edit is not None
        changes: Any = mend.edit.document_changes or [(mend.edit.changes or {})[document.uri]]
        (edit,) = changes[0].edits if mend.edit.document_changes else changes[0]
        assert edit.range == wrong.range
        new_texts.append(edit.new_text)
    assert new_texts == ["model", "personas/bard", "@src/main.py"]
    document.close()
    await document.diagnostics(lambda found: not found)


async def test_a_file_that_comes_to_be_is_noticed(editor: Editor, user: UserFolders) -> None:
    document = opened(editor, user, "See @src/later.py")
    await document.diagnostics(lambda found: "there is no such file" in str(found))
    later = opened(editor, user, "", "src/later.py")
    path = user.write("src/later.py", "")
    editor.text_document_did_save(types.DidSaveTextDocumentParams(later.id))
    await document.diagnostics(lambda found: not found)
    path.unlink()
    for each in (document, later):
        each.close()


async def test_a_query_is_refused_as_the_diagnostics_say(editor: Editor, user: UserFolders) -> None:
    document = opened(editor, user, "---\nmodel: fsat\n---\n𝄞 @src/nowhere/x.py")
    found = await document.diagnostics(lambda found: len(found) == 2)
    with pytest.raises(Exception) as refused:
        await editor.call("jp/query", {"document": {"uri": document.uri}})
    places = ("notes/ask.jp.md:2:8", "notes/ask.jp.md:4:3")
    listed = "".join(f"\n- {place}: {text}" for place, text in zip(places, messages(found), strict=True))
    assert str(refused.value).endswith(f"The query has 2 problems:{listed}")
    document.close()


# --------------------------------------------------------------------------- plain clients


ASK = "---\nconversation: new\n---\n"


async def open_query(client: JpClient, user: UserFolders, text: str, language: str = "markdown") -> str:
    name = "ask.jp.md" if language == "markdown" else "ask"
    uri = (user.workspace / name).as_uri() if language == "markdown" else f"untitled:{name}"
    document = {"uri": uri, "languageId": language, "version": 1, "text": text}
    client.notify("textDocument/didOpen", {"textDocument": document})
    return uri


async def lens_of(client: JpClient, uri: str) -> Any:
    (lens,) = await client.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
    return lens["command"]


async def test_a_document_that_was_never_saved(own_user: UserFolders, vendor: ChatVendor) -> None:
    async with initialized_server(own_user, capabilities=LITERALS) as server:
        client = server.client
        uri = await open_query(client, own_user, f"{ASK}Hello @ada", "jp-query")
        command = await lens_of(client, uri)
        vendor.will_answer(answer("Hi."))
        asked = {"command": command["command"], "arguments": command["arguments"]}
        result = await client.request("workspace/executeCommand", asked)
        assert own_user.story(result["conversation"]) == ["turn", "user: Hello @ada", "message: Hi."]


async def test_the_lens_tells_of_a_running_turn(own_user: UserFolders, vendor: ChatVendor) -> None:
    capabilities = {"workspace": {"codeLens": {"refreshSupport": True}}}
    async with initialized_server(own_user, capabilities=capabilities) as server:
        client = server.client
        client.answers["workspace/codeLens/refresh"] = lambda params: None
        uri = await open_query(client, own_user, f"{ASK}Hello")
        command = await lens_of(client, uri)
        gate = Hold()
        vendor.will_answer(answer("Hel", gate, "lo"))
        asked = {"command": command["command"], "arguments": command["arguments"]}
        _, running = client.start("workspace/executeCommand", asked)
        assert await asyncio.to_thread(gate.wait_until_reached)
        busy = await lens_of(client, uri)
        assert busy["title"] == "JP is answering … (interrupt)"
        stop = {**busy["arguments"][0], "action": "stop"}
        pressed = await client.request(
            "workspace/executeCommand", {"command": busy["command"], "arguments": [stop]}
        )
        assert pressed["handled"] == "action"
        gate.open()
        assert (await running)["result"]["outcome"] == "stopped"
        assert (await lens_of(client, uri))["title"].startswith("Send to JP")
        assert len(client.received("workspace/codeLens/refresh")) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{ASK}\n", "ask.jp.md has no text below its front matter: write what to ask."),
        (
            "---\n- model\n---\nHi",
            "ask.jp.md:2:1: expected lines of `name: value`",
        ),
        (
            "---\nmodel: a/b\n",
            "ask.jp.md:1:1: the front matter has no end; write `---` on a line of its own below it",
        ),
    ],
)
async def test_what_cannot_be_sent(client: JpClient, user: UserFolders, text: str, message: str) -> None:
    uri = await open_query(client, user, text)
    with pytest.raises(WireFault) as refused:
        await client.request("jp/query", {"document": {"uri": uri}})
    assert (refused.value.code, refused.value.message) == (-32602, message)
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


async def test_what_changes_on_disk_shows_in_the_next_answer(own_user: UserFolders) -> None:
    """What was resolved is kept, and never longer than it holds."""
    furnish(own_user)
    async with initialized_server(own_user) as server:
        uri = await open_query(server.client, own_user, "---\npersona: \nmodel: \n---\n")

        async def offered(line: int, character: int) -> set[str]:
            place = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
            found = await server.client.request("textDocument/completion", place)
            return {each["label"] for each in found["items"]}

        for _ in range(2):
            assert await offered(1, 9) == {"personas/bard"}
            assert await offered(2, 7) == {"fast"}
        own_user.write(".jp/config/personas/poet.toml", PERSONA)
        assert await offered(1, 9) == {"personas/bard", "personas/poet"}
        own_user.write(".jp/config.toml", BASE.replace("fast", "slow"))
        assert await offered(2, 7) == {"slow"}
        (own_user.workspace / ".jp/config/personas/bard.toml").unlink()
        assert await offered(1, 9) == {"personas/poet"}


async def test_a_setting_is_completed_and_described(client: JpClient, user: UserFolders) -> None:
    uri = await open_query(client, user, "---\ncfg: [style.reasoning.display=s]\n---\n")
    place = {"textDocument": {"uri": uri}, "position": {"line": 1, "character": 31}}
    found = await client.request("textDocument/completion", place)
    assert "style.reasoning.display=summary" in [each["label"] for each in found["items"]]
    shown = await client.request("textDocument/hover", place)
    assert "**`style.reasoning.display`**" in str(shown["contents"])
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


async def test_a_document_that_is_nowhere(client: JpClient, user: UserFolders) -> None:
    for uri, reason in (
        ((user.workspace / "gone.jp.md").as_uri(), "No such file or directory"),
        ("untitled:gone", "is not open"),
    ):
        with pytest.raises(WireFault) as refused:
            await client.request("jp/query", {"document": {"uri": uri}})
        assert reason in refused.value.message


async def test_a_command_in_a_document_of_the_workspace_waits_for_trust(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    """Whoever clones a workspace may be asked to send a document that somebody else wrote."""
    ran = own_user.workspace / "ran"
    async with initialized_server(own_user) as server:
        uri = await open_query(server.client, own_user, f'{ASK}Look @"cmd:touch {ran}"')
        vendor.will_answer(answer("No."))
        query = {"document": {"uri": uri}, "interactive": False, "partialResultToken": "t"}
        result = await server.client.request("jp/query", query)
        assert result["outcome"] == "completed"
        assert not ran.exists()
        assert "it leaves out 1 attachment command" in str(server.client.received("$/progress"))


async def test_a_command_runs_once_the_user_trusts_it(own_user: UserFolders, vendor: ChatVendor) -> None:
    capabilities = {"experimental": {"jp": {"prompt": {"kinds": ["approval"]}, "chunks": True}}}
    async with initialized_server(own_user, capabilities=capabilities) as server:
        asked: list[Any] = []

        def trust(prompt: Any) -> Any:
            asked.append(prompt)
            return {"action": "trust"}

        server.client.answers["jp/prompt"] = trust
        uri = await open_query(server.client, own_user, f'{ASK}Look @"cmd:echo out-of-it"')
        vendor.will_answer(answer("Yes."))
        await server.client.request("jp/query", {"document": {"uri": uri}})
    assert [prompt["message"] for prompt in asked] == [
        "Trust this workspace to run its programs? 1 attachment command."
    ]
    (query,) = vendor.queries
    assert "out-of-it\n" in str(query["messages"][:-1]).replace("\\n", "\n")


@pytest.mark.parametrize(
    ("encoding", "start", "end"), [("utf-8", 5, 12), ("utf-16", 3, 10), ("utf-32", 2, 9)]
)
async def test_positions_in_the_units_of_the_client(
    own_user: UserFolders, encoding: str, start: int, end: int
) -> None:
    capabilities = {"general": {"positionEncodings": [encoding]}}
    async with initialized_server(own_user, capabilities=capabilities) as server:
        client = server.client
        own_user.write("a/b.py", "")
        uri = await open_query(client, own_user, "𝄞 @a/c.py 𝄞")

        def published() -> Any:
            return next(iter(client.received("textDocument/publishDiagnostics")), None)

        (wrong,) = (await client.wait_for(published))["diagnostics"]
        place = {"start": {"line": 0, "character": start}, "end": {"line": 0, "character": end}}
        assert wrong["range"] == place
        at = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": start + len("@a/")}}
        offered = await client.request("textDocument/completion", at)
        behind_the_sign = {"start": {"line": 0, "character": start + 1}, "end": place["end"]}
        assert all(item["textEdit"]["range"] == behind_the_sign for item in offered["items"])
        assert offered["items"]

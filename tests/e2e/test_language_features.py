"""Language features over stdio, as three editors ask for them: configuration files, and asking about code."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from lsprotocol import types

from tests.language.cursor import cursor
from tests.support.chat_vendor import ChatVendor, answer
from tests.support.edited_text import NOT_YET, EditedText
from tests.support.jp_client import JpClient
from tests.support.jp_server import initialized_server
from tests.support.stock_client import StockClient
from tests.support.three_tools import call_of
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

PATIENCE = 30.0
BASE = """\
config_load_paths = [".jp/config"]

[providers.llm.aliases]
fast = "anthropic/claude-tiny"

[assistant]
name = "Base"
"""
PERSONA = """\
extends = ["../parts/*.toml"]

[assistant]
name = "𝄞 Dev"
"""


class Editor(StockClient):
    """An editor that remembers what the server can do."""

    announced: types.InitializeResult

    def open(self, path: Path, text: str, language: str | None = None) -> EditedText:
        """Open a document; its positions count in what was agreed on."""
        encoding = self.announced.capabilities.position_encoding or "utf-16"
        return EditedText(self, str(encoding), path, text, language)


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory, shared_vendor: ChatVendor) -> UserFolders:
    user = UserFolders(tmp_path_factory.mktemp("user"), shared_vendor.url)
    user.write(".jp/config.toml", BASE)
    user.write(".jp/config/personas/dev.toml", PERSONA)
    user.write(".jp/config/parts/short.toml", '[assistant]\nname = "Part"\n')
    user.write("src/main.py", "def add(a, b):\n    return a - b\n")
    return user


@pytest_asyncio.fixture(
    scope="module", loop_scope="session", params=["visual-studio-code", "neovim", "emacs"]
)
async def editor(request: pytest.FixtureRequest, user: UserFolders) -> AsyncIterator[Editor]:
    client = Editor(request.param)
    client.announced = await client.begin(user)
    yield client
    await client.end()


def messages(found: Sequence[types.Diagnostic]) -> list[str]:
    return [each.message for each in found]


async def test_what_is_announced(editor: Editor) -> None:
    announced = editor.announced.capabilities
    assert announced.completion_provider is not None
    assert {".", "[", '"', "="} <= set(announced.completion_provider.trigger_characters or [])
    assert announced.hover_provider
    assert announced.definition_provider
    assert isinstance(announced.code_action_provider, types.CodeActionOptions)
    assert set(announced.code_action_provider.code_action_kinds or ()) == {"quickfix", "jp"}


@pytest.mark.parametrize(
    ("marked", "label"),
    [
        ("[assistant]\nna|", "name"),
        ("style.reasoning.display = |", "summary"),
        (f'{BASE}[assistant.model]\nid = "|"', "fast"),
        ('[assistant.model]\nid = "|', "fast"),  # broken, so what is saved counts
        ('[assistant.model]\nid = "|"', "llamacpp/tiny"),
        ("extends = [|]", "config/personas/dev.toml"),
    ],
)
async def test_completion(editor: Editor, user: UserFolders, marked: str, label: str) -> None:
    text, offset = cursor(marked)
    document = editor.open(user.workspace / ".jp/config.toml", BASE)
    document.becomes(text)
    params = types.CompletionParams(document.id, document.position(offset))
    async with asyncio.timeout(PATIENCE):
        while True:
            result = await editor.text_document_completion_async(params)
            assert isinstance(result, types.CompletionList)
            if label in [item.label for item in result.items]:
                break
            # Vendors' models are listed beside; an incomplete list says that there may be more.
            assert result.is_incomplete
            assert "/" in label
    document.close()


@pytest.mark.parametrize(
    ("name", "marked", "label", "expected"),
    [
        (
            "half.json",
            '{"user": {"name": "𝄞"}, "assistant": {"na|}}',
            "name",
            '{"user": {"name": "𝄞"}, "assistant": {"name": }}',
        ),
        ("half.yaml", "assistant: { 'na| } # 𝄞", "name", "assistant: { 'name':  } # 𝄞"),
        ("half.toml", "x = '𝄞'\n[[ext|]]", "extends", "x = '𝄞'\n[[extends]]"),
    ],
)
async def test_what_is_half_written_keeps_what_stands_behind_it(
    editor: Editor, user: UserFolders, name: str, marked: str, label: str, expected: str
) -> None:
    text, offset = cursor(marked)
    document = editor.open(user.workspace / ".jp/config" / name, text)
    params = types.CompletionParams(document.id, document.position(offset))
    result = await editor.text_document_completion_async(params)
    assert isinstance(result, types.CompletionList)
    (item,) = [item for item in result.items if item.label == label]
    assert item.text_edit is not None
    assert document.edited([item.text_edit]) == expected
    document.close()


async def test_a_misspelt_key_in_a_merged_list_is_mended(editor: Editor, user: UserFolders) -> None:
    text = "assistant.instructions = { value = [{ title = '𝄞', itmes = [] }], strategy = 'replace' }\n"
    document = editor.open(user.workspace / ".jp/config/merged.toml", text)
    found = await document.diagnostics(lambda found: "did you mean" in str(found))
    (wrong,) = [each for each in found if each.code == "unknown-key"]
    assert document.piece(wrong.range) == "itmes"
    context = types.CodeActionContext([wrong], only=[types.CodeActionKind.QuickFix])
    actions = await editor.text_document_code_action_async(
        types.CodeActionParams(document.id, wrong.range, context)
    )
    titles = [each.title for each in actions or [] if isinstance(each, types.CodeAction) and each.edit]
    assert titles == ["Change to `items`"]
    document.becomes(text.replace("itmes", "items"))
    await document.diagnostics(lambda found: not [each for each in found if each.code == "unknown-key"])
    document.close()


async def test_hover_says_where_a_value_is_from(editor: Editor, user: UserFolders) -> None:
    document = editor.open(user.workspace / ".jp/config/personas/dev.toml", PERSONA)
    params = types.HoverParams(document.id, document.place_of("name"))
    hover = await editor.text_document_hover_async(params)
    assert hover is not None
    assert isinstance(hover.contents, types.MarkupContent)
    assert hover.contents.value.splitlines() == [
        "**`assistant.name`**",
        "",
        "The assistant's name in transcripts.",
        "",
        "- takes text",
        '- now: `"𝄞 Dev"`, from `.jp/config/personas/dev.toml:4`',
        '- `.jp/config/personas/../parts/short.toml:2` has no effect: `"Part"`',
        '- `.jp/config.toml:7` has no effect: `"Base"`',
    ]
    document.becomes(PERSONA.replace("𝄞 Dev", "Changed"))
    hover = await editor.text_document_hover_async(params)
    assert hover is not None
    assert "Changed" in str(hover.contents)
    document.close()


async def test_definition_leads_through_extends(editor: Editor, user: UserFolders) -> None:
    document = editor.open(user.workspace / ".jp/config/personas/dev.toml", PERSONA)

    async def places(piece: str) -> list[tuple[str, int]]:
        params = types.DefinitionParams(document.id, document.place_of(piece))
        found = await editor.text_document_definition_async(params)
        assert isinstance(found, list)
        return [
            (each.uri.removeprefix(user.workspace.as_uri()), each.range.start.line)
            for each in found
            if isinstance(each, types.Location)
        ]

    assert await places("../parts") == [("/.jp/config/parts/short.toml", 0)]
    assert await places("name") == [("/.jp/config/parts/short.toml", 1), ("/.jp/config.toml", 6)]
    document.becomes('assistant.model.id = "fast"\n')
    assert await places("fast") == [("/.jp/config.toml", 3)]
    document.close()


async def test_diagnostics_follow_the_text(editor: Editor, user: UserFolders) -> None:
    document = editor.open(user.workspace / ".jp/config.toml", BASE)
    await document.diagnostics(lambda found: not found)
    document.becomes(BASE + 'nmae = "x"\n')
    (wrong,) = await document.diagnostics(lambda found: "did you mean" in str(found))
    assert (wrong.message, wrong.code, wrong.source) == (
        "unknown key; did you mean `name`?",
        "unknown-key",
        "jp",
    )
    assert wrong.range == types.Range(types.Position(7, 0), types.Position(7, 4))
    document.becomes(BASE)
    await document.diagnostics(lambda found: not found)
    document.becomes(BASE + "broken = \n[style]\nreasoning.display = 3.5\n")
    found = await document.diagnostics(lambda found: len(found) == 2)
    assert [each.code for each in found if each.severity == types.DiagnosticSeverity.Error]
    document.close()
    await document.diagnostics(lambda found: not found)


async def test_what_other_files_make_of_it(editor: Editor, user: UserFolders) -> None:
    over = user.write(".jp.toml", '[assistant]\nname = "Over"\n')
    document = editor.open(user.workspace / ".jp/config.toml", BASE)
    (faded,) = await document.diagnostics(lambda found: "no effect" in str(found))
    assert faded.message == "has no effect: .jp.toml:2 decides"
    if editor.kind == "visual-studio-code":
        assert list(faded.tags or ()) == [types.DiagnosticTag.Unnecessary]
    other = editor.open(over, over.read_text("utf-8"))
    await other.diagnostics(lambda found: not found)
    over.write_text("", encoding="utf-8")
    other.becomes("")
    editor.text_document_did_save(types.DidSaveTextDocumentParams(other.id))
    await document.diagnostics(lambda found: not found)
    over.unlink()
    stray = editor.open(user.workspace / ".jp/stray.toml", "inherit = true\n")
    assert messages(await stray.diagnostics(lambda found: found != [NOT_YET])) == [
        "nothing reads this file: it is no layer, in no load path, and no file that counts extends it"
    ]
    for each in (document, other, stray):
        each.close()


async def test_what_a_file_extends_is_its_own(editor: Editor, user: UserFolders) -> None:
    text = f'extends = ["config/personas/dev.toml"]\n{BASE}'  # which extends another file in turn
    document = editor.open(user.workspace / ".jp/config.toml", text)
    await document.diagnostics(lambda found: not found)
    hover = await editor.text_document_hover_async(
        types.HoverParams(document.id, document.place_of("extends"))
    )
    assert "no effect" not in str(hover)
    document.close()


async def test_other_files_are_left_alone(editor: Editor, user: UserFolders) -> None:
    document = editor.open(user.workspace / "pyproject.toml", "nmae = 1\n")
    params = types.HoverParams(document.id, types.Position(0, 1))
    assert await editor.text_document_hover_async(params) is None
    assert document.uri not in editor.diagnostics
    document.close()


async def test_a_missing_comma_is_inserted(editor: Editor, user: UserFolders) -> None:
    text = '{\n  "user": {"name": "𝄞"} // ours\n  "assistant": {"name": "x"}\n}\n'
    document = editor.open(user.workspace / ".jp/config/comma.json5", text)
    found = await document.diagnostics(lambda found: "a comma is missing" in str(found))
    (wrong,) = [each for each in found if each.severity == types.DiagnosticSeverity.Error]
    assert wrong.range.start.line == wrong.range.end.line == 1
    context = types.CodeActionContext([wrong], only=[types.CodeActionKind.QuickFix])
    actions = await editor.text_document_code_action_async(
        types.CodeActionParams(document.id, wrong.range, context)
    )
    (mend,) = [each for each in actions or [] if isinstance(each, types.CodeAction) and each.edit]
    assert mend.title == "Insert `,`"
    edit = str(mend.edit)
    assert "new_text=','" in edit
    assert str(wrong.range.end) in edit  # behind the bracket, in the units that were agreed on
    document.close()


async def test_a_misspelt_key_is_mended(editor: Editor, user: UserFolders) -> None:
    text = BASE + 'nmae = "𝄞"\n'
    document = editor.open(user.workspace / ".jp/config.toml", text)
    (wrong,) = await document.diagnostics(lambda found: "did you mean" in str(found))
    context = types.CodeActionContext([wrong], only=[types.CodeActionKind.QuickFix])
    actions = await editor.text_document_code_action_async(
        types.CodeActionParams(document.id, wrong.range, context)
    )
    (mend,) = [each for each in actions or [] if isinstance(each, types.CodeAction) and each.edit]
    assert (mend.title, mend.is_preferred) == ("Change to `name`", True)
    assert list(mend.diagnostics or ()) == [wrong]
    assert mend.edit is not None
    if mend.edit.document_changes is not None:
        (change,) = mend.edit.document_changes
        assert isinstance(change, types.TextDocumentEdit)
        assert change.text_document.version == document.version
        edits: Sequence[Any] = change.edits
    else:
        edits = (mend.edit.changes or {})[document.uri]
    assert [(each.range, each.new_text) for each in edits] == [(wrong.range, "name")]
    document.close()


LITERALS = {
    "textDocument": {"codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}}}}
}


@pytest_asyncio.fixture(
    scope="module", loop_scope="session", params=[LITERALS, {}], ids=["literals", "commands"]
)
async def plain(request: pytest.FixtureRequest, user: UserFolders) -> AsyncIterator[JpClient]:
    """An editor as plain JSON, since the protocol library takes an action with a command for that command."""
    async with initialized_server(user, capabilities=request.param) as server:
        text = (user.workspace / "src/main.py").read_text("utf-8")
        uri = (user.workspace / "src/main.py").as_uri()
        document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        server.client.notify("textDocument/didOpen", {"textDocument": document})
        yield server.client


async def asks(
    client: JpClient, user: UserFolders, end: tuple[int, int], *diagnostics: Any, only: Any = None
) -> dict[str, Any]:
    """The commands that are offered for the text up to a place, by title."""
    start, last = {"line": 0, "character": 0}, dict(zip(("line", "character"), end, strict=True))
    context = {"diagnostics": list(diagnostics), **({} if only is None else {"only": only})}
    uri = (user.workspace / "src/main.py").as_uri()
    asked = {"textDocument": {"uri": uri}, "range": {"start": start, "end": last}, "context": context}
    found = await client.request("textDocument/codeAction", asked)
    commands = [each if isinstance(each["command"], str) else each["command"] for each in found]
    return {each["title"]: each for each in commands}


async def test_a_diagnostic_is_explained(plain: JpClient, user: UserFolders, vendor: ChatVendor) -> None:
    place = {"start": {"line": 1, "character": 11}, "end": {"line": 1, "character": 16}}
    complaint = {"range": place, "message": "the sum is a difference", "source": "thinker"}
    offered = await asks(plain, user, (0, 0), complaint)
    assert list(offered) == [
        "JP: Fix this problem",
        "JP: Explain this problem",
        "JP: Ask about this problem …",
    ]
    command = offered["JP: Explain this problem"]
    vendor.will_answer(answer("It subtracts."))
    await plain.request(
        "workspace/executeCommand", {"command": command["command"], "arguments": command["arguments"]}
    )
    (query,) = vendor.queries
    assert query["messages"][-1]["content"] == (
        "Explain this problem, and what can be done.\n\n"
        "`src/main.py`, lines 1 to 3:\n\n```python\ndef add(a, b):\n    return a - b\n```\n\n"
        "The editor says:\n\n- line 2: the sum is a difference (thinker)"
    )


async def test_only_a_selection_or_a_diagnostic_is_asked_about(plain: JpClient, user: UserFolders) -> None:
    everything = ["JP: Ask about this code …", "JP: Explain this code", "JP: Fix this code"]
    assert list(await asks(plain, user, (0, 0))) == []
    assert list(await asks(plain, user, (1, 0))) == everything
    assert list(await asks(plain, user, (1, 0), only=["jp.ask"])) == everything[:1]
    assert list(await asks(plain, user, (1, 0), only=["jp"])) == everything
    assert list(await asks(plain, user, (1, 0), only=["quickfix"])) == []


async def test_what_the_user_asks_about_code_comes_with_the_code(
    user: UserFolders, vendor: ChatVendor
) -> None:
    capabilities = {"experimental": {"jp": {"prompt": {"kinds": ["menu", "text", "edit"]}, "chunks": True}}}
    async with initialized_server(user, capabilities=capabilities) as server:
        client = server.client
        client.answers["jp/prompt"] = lambda prompt: {"text": "Why minus?"}
        vendor.will_answer(answer("By mistake."))
        result = await client.request("jp/query", {"quote": "`a.py`, line 1:\n\n```\na - b\n```"})
        assert result["outcome"] == "completed", result
    (query,) = vendor.queries
    assert query["messages"][-1]["content"] == "Why minus?\n\n`a.py`, line 1:\n\n```\na - b\n```"


@pytest.mark.parametrize(("encoding", "end"), [("utf-8", 15), ("utf-16", 13), ("utf-32", 12)])
async def test_positions_in_the_units_of_the_client(own_user: UserFolders, encoding: str, end: int) -> None:
    capabilities = {"general": {"positionEncodings": [encoding]}}
    async with initialized_server(own_user, capabilities=capabilities) as server:
        client: JpClient = server.client
        uri = (own_user.workspace / ".jp/config.toml").as_uri()
        text = 'user = { "𝄞" = 1 }'
        document = {"uri": uri, "languageId": "toml", "version": 1, "text": text}
        client.notify("textDocument/didOpen", {"textDocument": document})

        def published() -> Any:
            return next(iter(client.received("textDocument/publishDiagnostics")), None)

        wrong = (await client.wait_for(published))["diagnostics"][-1]
        assert wrong["range"]["start"] == {"line": 0, "character": 9}
        assert wrong["range"]["end"] == {"line": 0, "character": end}
        at = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 9}}
        offered = await client.request("textDocument/completion", at)
        ranges = [item["textEdit"]["range"] for item in offered["items"]]
        assert ranges == [wrong["range"]] * len(ranges)
        assert "name" in [item["label"] for item in offered["items"]]


async def test_the_document_of_a_conversation(editor: Editor, user: UserFolders, vendor: ChatVendor) -> None:
    vendor.will_answer(call_of("missing", who="𝄞 Ada"), answer("See [the code](src/main.py)."))
    result = await editor.ask("Who is there?", f"{editor.kind}-outline")
    shown = await editor.call("jp/conversation/render", {"conversation": result.conversation})
    path = user.data / "scratch" / f"{result.conversation}-1.md"
    document = editor.open(path, shown.md, "markdown")

    symbols = await editor.text_document_document_symbol_async(types.DocumentSymbolParams(document.id))
    (turn,) = symbols or []
    assert isinstance(turn, types.DocumentSymbol)
    assert (turn.name, turn.detail) == ("Who is there?", "turn 1")
    assert [child.name for child in turn.children or ()] == ["missing"]

    folds = await editor.text_document_folding_range_async(types.FoldingRangeParams(document.id))
    lines = document.text.split("\n")
    starts = [lines[fold.start_line] for fold in folds or []]
    assert starts[0].startswith("## ")
    assert "Calling tool missing" in starts

    links = await editor.text_document_document_link_async(types.DocumentLinkParams(document.id))
    assert [link.target for link in links or []] == [(user.workspace / "src/main.py").as_uri()]

    params = types.HoverParams(document.id, document.place_of("Calling tool"))
    hover = await editor.text_document_hover_async(params)
    assert hover is not None
    assert '"who": "𝄞 Ada"' in str(hover.contents)
    assert "Result:" in str(hover.contents)
    elsewhere = types.HoverParams(document.id, types.Position(0, 0))
    assert await editor.text_document_hover_async(elsewhere) is None
    document.close()


async def test_a_client_without_symbols_within_symbols_gets_one_list(
    plain: JpClient, user: UserFolders
) -> None:
    uri = (user.workspace / ".jp/config.toml").as_uri()
    document = {"uri": uri, "languageId": "toml", "version": 1, "text": BASE}
    plain.notify("textDocument/didOpen", {"textDocument": document})
    symbols = await plain.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    plain.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert [(each["name"], each.get("containerName")) for each in symbols] == [
        ("config_load_paths", None),
        ("providers.llm.aliases", None),
        ("fast", "providers.llm.aliases"),
        ("assistant", None),
        ("name", "assistant"),
    ]
    assert {each["location"]["uri"] for each in symbols} == {uri}
    assert symbols[2]["location"]["range"]["start"] == {"line": 3, "character": 0}

"""Language features over stdio in every format of a configuration file, for every editor and unit of positions.

Each text has characters beyond the basic plane before what is asked about, so that the three units differ there.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

import pytest
import pytest_asyncio
from lsprotocol import types

from tests.language.cursor import cursor
from tests.support.edited_text import EditedText
from tests.support.jp_client import PATIENCE
from tests.support.stock_client import StockClient
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

EDITORS = ("visual-studio-code", "neovim", "emacs")
ENCODINGS = ("utf-8", "utf-16", "utf-32")
BASE = """\
config_load_paths = [".jp/config"]

[providers.llm.aliases]
fast = "anthropic/claude-tiny"

[assistant]
name = "Base"

[conversation.tools.read]
source = "builtin"
summary = "Reads."
"""


@dataclass(frozen=True)
class Format:
    """One format: the same said in it.

    `keys` to `files` are half written, with a cursor; behind each is a label that is offered there, and what becomes
    of the text. `whole` extends files and sets a name that one of them shadows, with the `symbols` and `folds` that it
    has; `wrong` has a misspelt key, which is `mended`.
    """

    name: str
    keys: tuple[str, str, str]
    values: tuple[str, str, str]
    models: tuple[str, str, str]
    tools: tuple[str, str, str]
    files: tuple[str, str, str]
    whole: str
    wrong: str
    mended: str
    bad_value: str
    symbols: Mapping[str, list[str]]
    folds: list[tuple[str, str]]


TOML = Format(
    "personas/in_toml.toml",
    ('assistant = { name = "𝄞", mod|', "model", 'assistant = { name = "𝄞", model'),
    (
        'style = { "𝄞" = 1, reasoning = { display = "su|',
        "summary",
        'style = { "𝄞" = 1, reasoning = { display = "summary"',
    ),
    (
        'assistant = { name = "𝄞", model = { id = | } }',
        "fast",
        'assistant = { name = "𝄞", model = { id = "fast" } }',
    ),
    (
        'assistant = { name = "𝄞", tool_choice = | }',
        "read",
        'assistant = { name = "𝄞", tool_choice = "read" }',
    ),
    ('extends = ["𝄞.toml", |]', "../parts/late.toml", 'extends = ["𝄞.toml", "../parts/late.toml"]'),
    """\
extends = ["../parts/𝄞 early.yaml", { path = "../parts/late.toml", strategy = "after" }, "missing"]

[assistant]
name = "𝄞 Dev"
request = { max_retries = 7 }
system_prompt = \"\"\"
𝄞
more\"\"\"

[conversation.tools.read]
run = "ask"
""",
    'assistant = { name = "𝄞", nmae = "x" }\n',
    'assistant = { name = "𝄞", name = "x" }\n',
    'assistant = { name = "𝄞", request = { max_retries = "many" } }\n',
    {
        "extends": ["1: ../parts/late.toml"],
        "assistant": ["name: 𝄞 Dev", "request: ", "system_prompt: 𝄞 more"],
        "conversation.tools.read": ["run: ask"],
    },
    [
        ("[assistant]", 'more"""'),
        ('system_prompt = """', 'more"""'),
        ("[conversation.tools.read]", 'run = "ask"'),
    ],
)
YAML = Format(
    "personas/in_yaml.yaml",
    ('assistant: { name: "𝄞", mod|', "model", 'assistant: { name: "𝄞", model:'),
    (
        'style: { "𝄞": 1, reasoning: { display: su| } }',
        "summary",
        'style: { "𝄞": 1, reasoning: { display: summary } }',
    ),
    ('assistant: { name: "𝄞", model: { id: | } }', "fast", 'assistant: { name: "𝄞", model: { id: fast } }'),
    ('assistant: { name: "𝄞", tool_choice: "| }', "read", 'assistant: { name: "𝄞", tool_choice: "read" }'),
    ('extends: ["𝄞.toml", |]', "../parts/late.toml", 'extends: ["𝄞.toml", "../parts/late.toml"]'),
    """\
extends:
  - "../parts/𝄞 early.yaml"
  - { path: ../parts/late.toml, strategy: after }
  - missing
assistant:
  name: 𝄞 Dev
  request: { max_retries: 7 }
  system_prompt: |
    𝄞
    more
conversation:
  tools:
    read:
      run: ask
""",
    'assistant: { name: "𝄞", nmae: x }\n',
    'assistant: { name: "𝄞", name: x }\n',
    'assistant: { name: "𝄞", request: { max_retries: many } }\n',
    {
        "extends": ["1: ../parts/late.toml"],
        "assistant": ["name: 𝄞 Dev", "request: ", "system_prompt: 𝄞 more"],
        "conversation": ["tools: "],
    },
    [
        ("extends:", "  - missing"),
        ("assistant:", "    more"),
        ("  system_prompt: |", "    more"),
        ("conversation:", "      run: ask"),
        ("  tools:", "      run: ask"),
        ("    read:", "      run: ask"),
    ],
)
JSON5 = Format(
    "personas/in_json5.json5",
    ("{ assistant: { name: '𝄞', mod|", "model", "{ assistant: { name: '𝄞', model: "),
    (
        "{ style: { '𝄞': 1, reasoning: { display: 'su|' } } }",
        "summary",
        "{ style: { '𝄞': 1, reasoning: { display: 'summary' } } }",
    ),
    (
        "{ assistant: { name: '𝄞', model: { id: | } } }",
        "fast",
        "{ assistant: { name: '𝄞', model: { id: \"fast\" } } }",
    ),
    (
        "{ assistant: { name: '𝄞', tool_choice: | } }",
        "read",
        "{ assistant: { name: '𝄞', tool_choice: \"read\" } }",
    ),
    ("{ extends: ['𝄞.toml', |] }", "../parts/late.toml", "{ extends: ['𝄞.toml', \"../parts/late.toml\"] }"),
    """\
// 𝄞
{
  extends: ["../parts/𝄞 early.yaml", { path: "../parts/late.toml", strategy: "after" }, "missing"],
  assistant: {
    name: "𝄞 Dev", request: { max_retries: 7 },
    system_prompt: "𝄞 more",
  },
  conversation: { tools: { read: { run: "ask" } } },
}
""",
    "{ assistant: { name: '𝄞', nmae: 'x' } }\n",
    "{ assistant: { name: '𝄞', name: 'x' } }\n",
    "{ assistant: { name: '𝄞', request: { max_retries: 'many' } } }\n",
    {
        "extends": ["1: ../parts/late.toml"],
        "assistant": ["name: 𝄞 Dev", "request: ", "system_prompt: 𝄞 more"],
        "conversation": ["tools: "],
    },
    [("  assistant: {", '    system_prompt: "𝄞 more",')],
)
FORMATS = {"toml": TOML, "yaml": YAML, "json5": JSON5}


class Editor(StockClient):
    """An editor that counts in one unit."""

    encoding: str

    def open(self, user: UserFolders, form: Format, text: str) -> EditedText:
        return EditedText(self, self.encoding, user.workspace / ".jp/config" / form.name, text)


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> UserFolders:
    user = UserFolders(tmp_path_factory.mktemp("user"))
    user.write(".jp/config.toml", BASE)
    user.write(".jp/config/parts/𝄞 early.yaml", "assistant:\n  name: Early\n  request:\n    max_retries: 3\n")
    user.write(".jp/config/parts/late.toml", '[assistant]\nname = "Late"\n')
    for form in FORMATS.values():
        user.write(f".jp/config/{form.name}", form.whole)
    return user


@pytest_asyncio.fixture(
    scope="module",
    loop_scope="session",
    params=[(kind, encoding) for kind in EDITORS for encoding in ENCODINGS],
    ids="-".join,
)
async def editor(request: pytest.FixtureRequest, user: UserFolders) -> AsyncIterator[Editor]:
    kind, encoding = request.param
    client = Editor(kind)
    client.encoding = encoding
    announced = await client.begin(user, encoding)
    assert announced.capabilities.position_encoding == encoding
    yield client
    await client.end()


@pytest.fixture(params=FORMATS.values(), ids=list(FORMATS))
def form(request: pytest.FixtureRequest) -> Format:
    found = request.param
    assert isinstance(found, Format)
    return found


async def test_completion_in_a_half_written_text(editor: Editor, user: UserFolders, form: Format) -> None:
    document = editor.open(user, form, form.whole)
    for marked, label, expected in (form.keys, form.values, form.models, form.tools, form.files):
        text, offset = cursor(marked)
        document.becomes(text)
        params = types.CompletionParams(document.id, document.position(offset))
        async with asyncio.timeout(PATIENCE):
            result = await editor.text_document_completion_async(params)
        assert isinstance(result, types.CompletionList)
        edits = [
            item.text_edit for item in result.items if item.label == label and item.text_edit is not None
        ]
        assert document.edited(edits) == expected
    document.close()


async def test_hover_says_where_a_value_is_from(editor: Editor, user: UserFolders, form: Format) -> None:
    document = editor.open(user, form, form.whole)
    hover = await editor.text_document_hover_async(
        types.HoverParams(document.id, document.place_of("max_retries"))
    )
    assert hover is not None
    assert hover.range is not None
    assert document.piece(hover.range) == "max_retries"
    assert isinstance(hover.contents, types.MarkupContent)
    line = form.whole[: form.whole.index("max_retries")].count("\n") + 1
    assert hover.contents.value.splitlines() == [
        "**`assistant.request.max_retries`**",
        "",
        "How often a failed request is tried again; 0 for never.",
        "",
        "- takes a whole number from 0 to 4294967295",
        "- default: `5`",
        f"- now: `7`, from `.jp/config/{form.name}:{line}`",
        "- `.jp/config/personas/../parts/𝄞 early.yaml:4` has no effect: `3`",
    ]
    document.close()


async def test_definition_leads_through_extends(editor: Editor, user: UserFolders, form: Format) -> None:
    document = editor.open(user, form, form.whole)

    async def places(piece: str) -> list[tuple[str, int]]:
        params = types.DefinitionParams(document.id, document.place_of(piece))
        found = await editor.text_document_definition_async(params)
        assert isinstance(found, list)
        return [
            (each.uri.rpartition("/")[2], each.range.start.line)
            for each in found
            if isinstance(each, types.Location)
        ]

    early = (user.workspace / "𝄞 early.yaml").as_uri().rpartition("/")[2]
    assert await places("parts/late") == [("late.toml", 0)]
    assert await places("parts/𝄞") == [(early, 0)]
    assert await places("max_retries") == [(early, 3)]
    document.close()


async def test_diagnostics_name_what_is_wrong(editor: Editor, user: UserFolders, form: Format) -> None:
    document = editor.open(user, form, form.whole)
    found = await document.diagnostics(lambda found: "does not exist" in str(found))
    assert [(each.code, document.piece(each.range).strip("\"'"), each.message) for each in found] == [
        ("problem", "missing", "`missing` does not exist and is left out"),
        (
            "shadowed",
            next(piece for piece in ('name = "𝄞 Dev', "name: 𝄞 Dev", 'name: "𝄞 Dev') if piece in form.whole),
            "has no effect: .jp/config/personas/../parts/late.toml:2 decides",
        ),
    ]
    document.becomes(form.wrong)
    (wrong,) = await document.diagnostics(lambda found: "did you mean" in str(found))
    assert (document.piece(wrong.range), wrong.code) == ("nmae", "unknown-key")
    document.becomes(form.bad_value)
    (wrong,) = await document.diagnostics(lambda found: "many" in str(found))
    assert (document.piece(wrong.range).strip("\"'"), wrong.code) == ("many", "wrong-value")
    document.becomes(form.keys[0].replace("|", ""))
    (broken,) = [
        each
        for each in await document.diagnostics(lambda found: "not valid" in str(found))
        if each.severity == types.DiagnosticSeverity.Error
    ]
    assert broken.code in {"not-toml", "not-yaml", "not-json"}
    document.close()
    await document.diagnostics(lambda found: not found)


async def test_a_misspelt_key_is_mended(editor: Editor, user: UserFolders, form: Format) -> None:
    document = editor.open(user, form, form.wrong)
    (wrong,) = await document.diagnostics(lambda found: "did you mean" in str(found))
    context = types.CodeActionContext([wrong], only=[types.CodeActionKind.QuickFix])
    actions = await editor.text_document_code_action_async(
        types.CodeActionParams(document.id, wrong.range, context)
    )
    (mend,) = [each for each in actions or [] if isinstance(each, types.CodeAction) and each.edit]
    assert mend.edit is not None
    if mend.edit.document_changes is not None:
        (change,) = mend.edit.document_changes
        assert isinstance(change, types.TextDocumentEdit)
        assert (
            document.edited([each for each in change.edits if isinstance(each, types.TextEdit)])
            == form.mended
        )
    else:
        assert document.edited((mend.edit.changes or {})[document.uri]) == form.mended
    document.close()


async def test_symbols_are_tables_and_keys(editor: Editor, user: UserFolders, form: Format) -> None:
    document = editor.open(user, form, form.whole)
    found = await editor.text_document_document_symbol_async(types.DocumentSymbolParams(document.id))
    symbols = [each for each in found or [] if isinstance(each, types.DocumentSymbol)]
    named = {
        each.name: [f"{child.name}: {child.detail or ''}" for child in each.children or ()]
        for each in symbols
    }
    assert named == form.symbols
    for each in symbols:
        assert document.piece(each.selection_range).strip("\"'") == each.name
        assert document.piece(each.selection_range) in document.piece(each.range)
    document.close()


async def test_tables_and_long_texts_can_be_folded(editor: Editor, user: UserFolders, form: Format) -> None:
    document = editor.open(user, form, form.whole)
    found = await editor.text_document_folding_range_async(types.FoldingRangeParams(document.id))
    lines = document.text.split("\n")
    assert [(lines[fold.start_line], lines[fold.end_line]) for fold in found or []] == form.folds
    document.close()


async def test_what_is_extended_is_linked(editor: Editor, user: UserFolders, form: Format) -> None:
    document = editor.open(user, form, form.whole)
    found = await editor.text_document_document_link_async(types.DocumentLinkParams(document.id))
    parts = user.workspace / ".jp/config/parts"
    assert [(document.piece(link.range), link.target) for link in found or []] == [
        ("../parts/𝄞 early.yaml", (parts / "𝄞 early.yaml").as_uri()),
        ("../parts/late.toml", (parts / "late.toml").as_uri()),
    ]
    document.close()

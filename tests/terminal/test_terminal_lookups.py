"""What `jp-lsp conversations`, `models` and `config` print."""

import pytest

from jp_lsp.protocol.configuration import (
    ConfigExplainResult,
    ConfigGetResult,
    ConfigListResult,
    ConfigSetResult,
)
from jp_lsp.protocol.conversation import ConversationListResult
from jp_lsp.protocol.export.examples import EXAMPLES
from jp_lsp.protocol.model import ModelListResult
from jp_lsp.protocol.reading import read
from jp_lsp.terminal.arguments import parse
from jp_lsp.terminal.looked_up import (
    config_files,
    config_outcomes,
    config_values,
    conversations,
    explanations,
    models,
)
from jp_lsp.terminal.lookup_arguments import lookup_of


def test_conversations() -> None:
    result = read(ConversationListResult, EXAMPLES["jp/conversation/list"][0].result, "list")
    assert conversations(result) == [
        "jp-c17912345678  2026-10-05 21:11  Test files",
        "jp-c17912000000  2026-10-05 11:40  Locks       pinned, busy, area=storage, wip",
    ]
    assert conversations(ConversationListResult(conversations=())) == ["There are no such conversations."]


def test_a_conversation_without_a_title_and_one_that_is_damaged() -> None:
    times = {"createdAt": "2026-10-05T21:09:27.800Z", "lastActivatedAt": "2026-10-05T21:09:27.800Z"}
    listed = [
        {"conversation": "jp-c2", **times, "expiresAt": "2026-10-06T00:00:00Z", "local": True},
        {"conversation": "jp-c1", **times, "archived": True, "problem": "metadata.json is missing"},
    ]
    assert conversations(read(ConversationListResult, {"conversations": listed}, "list")) == [
        "jp-c2  2026-10-05 21:09  (untitled)  local, until 2026-10-06 00:00",
        "jp-c1  2026-10-05 21:09  (untitled)  archived, damaged: metadata.json is missing",
    ]


def test_models() -> None:
    result = read(ModelListResult, EXAMPLES["jp/model/list"][0].result, "list")
    assert models(result) == [
        "anthropic/claude-sonnet-4-5  Claude Sonnet 4.5  in use, also called sonnet, 200,000 tokens",
        "warning: The models of lmstudio could not be listed: no answer within 5 seconds.",
    ]
    nothing = {"models": [], "aliases": [{"name": "far", "model": "anthropic/x"}]}
    assert models(read(ModelListResult, nothing, "list")) == [
        "",
        "Aliases of models that no vendor listed:",
        "  far  anthropic/x",
        "No model can be asked here; `jp-lsp doctor` says what is missing.",
    ]


def test_a_setting_and_every_layers_word() -> None:
    result = read(ConfigExplainResult, EXAMPLES["jp/config/explain"][0].result, "explain")
    assert explanations(result) == [
        'assistant.name = "Ada"',
        '  wins  .jp/config.toml:4  "Ada"',
        '  shadowed  /home/user/.config/jp/config.toml:1  "JP"',
    ]


def test_a_setting_with_everything() -> None:
    place = {"layer": "workspace", "name": "a.toml", "line": 2}
    setting = {
        "key": "a.b",
        "value": ["x" * 100],
        "place": {"layer": "defaults", "name": "the program's defaults"},
        "contributions": [
            {"place": {"layer": "cwd", "name": ".jp.*"}, "state": "skipped", "reason": "sealed"}
        ],
        "items": [{"value": "x", "place": place, "duplicate": True}],
        "notes": ["a note"],
        "withoutConversation": 3,
    }
    problems = [
        {"severity": "error", "text": "is wrong", "key": "a.c", "place": place},
        {"severity": "hint", "text": "-"},
    ]
    result = {"order": [], "settings": [setting], "problems": problems}
    shown = f'["{"x" * 69}…'
    assert explanations(read(ConfigExplainResult, result, "explain")) == [
        f"a.b = {shown}",
        "  default  the program's defaults",
        "  skipped  .jp.*  (sealed)",
        '  - "x"  a.toml:2 (once more)',
        "  note: a note",
        "  without the conversation it would be 3",
        "error: a.toml:2: `a.c`: is wrong",
    ]
    both = read(ConfigExplainResult, {**result, "settings": [setting, setting]}, "explain")
    assert "  skipped  .jp.*  (sealed)" not in explanations(both), "of many settings only what is said"


def test_values_and_files() -> None:
    value = read(ConfigGetResult, EXAMPLES["jp/config/get"][0].result, "get")
    assert config_values(value) == ['"Ada"']
    files = read(ConfigListResult, EXAMPLES["jp/config/list"][0].result, "list")
    assert config_files(files) == [
        "architect  personas  Software Architect  You are a principal software architect."
    ]
    assert config_files(ConfigListResult(files=())) == [
        "No file can be applied by name; `config_load_paths` says where such files are."
    ]


def test_a_change_is_told_with_what_holds_now() -> None:
    result = read(ConfigSetResult, EXAMPLES["jp/config/set"][0].result, "set")
    assert config_outcomes(result) == [
        "Changed .jp/config.toml",
        'assistant.name = "Bo"  JP_CFG_ASSISTANT_NAME',
        '  the file says "Ada", but JP_CFG_ASSISTANT_NAME has more weight',
        'assistant.tool_choice = "auto"  the program\'s defaults',
    ]
    more = result.model_copy(
        update={"written": "document", "settings": (), "expression": "dev", "questions": ("x: runs y",)}
    )
    assert config_outcomes(more) == [
        "Changed, and not saved yet: .jp/config.toml",
        "This holds for queries with `--cfg dev`.",
        "The next query will ask whether you trust x: runs y",
    ]


@pytest.mark.parametrize(
    ("line", "method", "params"),
    [
        ("conversations", "jp/conversation/list", {"archived": False, "labels": []}),
        (
            "conversations --archived --pinned --title x --label a=b --label c --limit 3",
            "jp/conversation/list",
            {"archived": True, "pinned": True, "title": "x", "labels": ["a=b", "c"], "limit": 3},
        ),
        ("models", "jp/model/list", {"config": []}),
        ("models openai --cfg a=b", "jp/model/list", {"vendor": "openai", "config": ["a=b"]}),
        (
            "config explain assistant.name --conversation jp-c1",
            "jp/config/explain",
            {"key": "assistant.name", "conversation": "jp-c1", "config": []},
        ),
        ("config get", "jp/config/get", {"config": []}),
        ("config list", "jp/config/list", {}),
        (
            "config set assistant.name=Ada --cfg editor.envs+=A --unset user.name --in user_global",
            "jp/config/set",
            {
                "target": "user_global",
                "config": ["assistant.name=Ada", "editor.envs+=A"],
                "unset": ["user.name"],
            },
        ),
        (
            "config set --unset user.name",
            "jp/config/set",
            {"target": "workspace", "config": [], "unset": ["user.name"]},
        ),
    ],
)
def test_the_command_line_and_the_request(line: str, method: str, params: dict[str, object]) -> None:
    lookup = lookup_of(parse(line.split(), "0"))
    assert (lookup.method, lookup.params) == (method, params)

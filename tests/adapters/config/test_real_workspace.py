"""A real workspace of 107 files, alone and with each persona (config-and-tools 10.2, 1 and 2)."""

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from jp_lsp.config.files import FileCache
from jp_lsp.config.fold import OUR_ORDER, fold, in_order
from jp_lsp.config.gather import Gathered, Places, gather, read_standing
from jp_lsp.config.layer import Layer, Source
from jp_lsp.config.resolve import sort_by_position
from jp_lsp.config.rules import effective_enable
from jp_lsp.config.schema import SCHEMA
from jp_lsp.config.server_settings import ServerSettings
from jp_lsp.config.settings import WorkspaceSettings
from jp_lsp.config.value import MergedList, MergedText, entries_of, value_at
from jp_lsp.config.write import write_table
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.refusal import Refusal
from tests.support.shared import shared_files, shared_path

NOWHERE = Path("/nonexistent")
PERSONAS = [
    "architect", "committer", "default", "dev", "po", "pr-reviewer", "pr-triager", "review-triager",
    "rfd-implementor", "rfd-reviewer", "rfd-triager", "stager", "writer",
]  # fmt: skip
# This one still has a table `mcp` of an older version at its root, which is an unknown key (1.1).
STALE = {"po": [".jp/config/personas/po.toml:71: `mcp`: unknown key"]}


@pytest.fixture(scope="module")
def cache() -> FileCache:
    return FileCache()


def root() -> Path:
    return shared_path("real-workspace")


def expected(name: str) -> Mapping[str, Any]:
    summary = json.loads((root() / "expected" / "config-summary.json").read_text(encoding="utf-8"))
    found = summary["base"] if name == "base" else summary["personas"][name]
    assert isinstance(found, dict)
    return found


def gathered(overrides: Sequence[str], cache: FileCache) -> Gathered:
    places = Places(root(), root(), NOWHERE)
    return gather(places, read_standing(places, {}, cache), overrides, cache)


def sources_of(overrides: Sequence[str], cache: FileCache) -> Sequence[Source]:
    return in_order(gathered(overrides, cache).sources, OUR_ORDER)


def summary_of(overrides: Sequence[str], cache: FileCache) -> Mapping[str, Any]:
    sources = sources_of(overrides, cache)
    tree = sort_by_position(fold(sources).tree)
    written: Any = write_table(SCHEMA, tree)
    counted = [
        each for each in sources if isinstance(each, Layer) and (each.kind == "request" or not overrides)
    ]
    steps = [step for layer in counted for step in layer.steps]
    prompt = value_at(tree, ("assistant", "system_prompt"))
    assert isinstance(prompt, MergedText)
    assert prompt.text is not None

    def items(*path: str) -> Sequence[Mapping[str, Any]]:
        held = value_at(tree, path)
        return [entries_of(item) for item in held.items] if isinstance(held, MergedList) else []

    tools = [name for name in written["conversation"]["tools"] if name != "*"]
    attachments = value_at(tree, ("conversation", "attachments"))
    assert isinstance(attachments, MergedList)
    return {
        "files_loaded": len(steps),
        "unique_files": len({step.origin.path.resolve() for step in steps if step.origin.path}),
        "assistant_name": written["assistant"].get("name"),
        "model_id": written["assistant"]["model"]["id"],
        "reasoning": written["assistant"]["model"]["parameters"]["reasoning"],
        "system_prompt_chars": len(prompt.text),
        "system_prompt_sha256_16": hashlib.sha256(prompt.text.encode()).hexdigest()[:16],
        "section_count": len(items("assistant", "system_prompt_sections")),
        "section_tags_or_titles_sorted": [
            item.get("tag") or item.get("title") for item in items("assistant", "system_prompt_sections")
        ],
        "instruction_titles_sorted": [item.get("title") for item in items("assistant", "instructions")],
        "tool_defaults": written["conversation"]["tools"]["*"],
        "tool_count": len(tools),
        "enabled_tools": sorted(name for name in tools if (effective_enable(tree, name) or (False,))[0]),
        "attachments": list(attachments.items),
        "tool_order": tools,
        "alias_count": len(written["providers"]["llm"]["aliases"]),
    }


def with_normal_switch(summary: Mapping[str, Any]) -> Mapping[str, Any]:
    """Write the short switch `false` as the table that it stands for."""
    defaults = dict(summary["tool_defaults"])
    if defaults.get("enable") is False:
        defaults["enable"] = {"state": False, "allow_toggle": "any"}
    return {**summary, "tool_defaults": defaults}


@pytest.mark.parametrize("name", ["base", *PERSONAS])
def test_the_summary_is_reproduced(name: str, cache: FileCache):
    overrides = [] if name == "base" else [name]
    found = summary_of(overrides, cache)
    wanted = with_normal_switch(expected(name))
    assert {key: found[key] for key in wanted} == wanted


@pytest.mark.requirement("G36")
@pytest.mark.parametrize("name", [name for name in PERSONAS if name not in STALE])
def test_trap_36_a_persona_adds_nothing_to_a_conversation_that_has_it(name: str):
    settings = WorkspaceSettings(root(), root(), {}, NOWHERE, None, ServerSettings(), lambda: None)
    first = settings.resolve([name], None)
    stream = ConversationStream.new(Timestamp(0), first.partial)
    assert settings.resolve([name], stream).partial == first.partial
    assert settings.resolve([name, name], None).partial == first.partial


def test_a_persona_that_the_workspace_has_already_is_there_twice_and_hinted_at(cache: FileCache):
    """As with the reference; whoever asks what is wrong is told."""
    found = gathered(["default"], cache)
    assert [str(problem) for problem in found.problems if problem.severity == "hint"] == [
        ".jp/config/personas/default.toml: .jp/config.toml has this file already, so its list items are there twice"
    ]


def test_every_file_is_toml_and_all_but_one_stale_persona_have_known_keys_only(cache: FileCache):
    files = shared_files("real-workspace/.jp/**/*.toml")
    if not files:
        shared_path("real-workspace")
    assert len(files) == 107 - len(shared_files("real-workspace/.config/**/*.toml"))
    for path in files:
        tomllib.loads(path.read_text(encoding="utf-8"))
    problems = {
        path.stem: [finding.text.split(";")[0] for finding in cache.load(path).findings]
        for path in files
        if cache.load(path).findings
    }
    assert problems == {"po": ["unknown key"]}


@pytest.mark.parametrize("name", PERSONAS)
def test_a_query_with_each_persona_begins_or_says_which_line_is_wrong(name: str):
    settings = WorkspaceSettings(root(), root(), {}, NOWHERE, None, ServerSettings(), lambda: None)
    if name in STALE:
        with pytest.raises(Refusal) as caught:
            settings.resolve([name], None)
        assert caught.value.error.message.startswith(STALE[name][0])
        return
    resolved = settings.resolve([name], None)
    assert resolved.model.provider in {"anthropic", "openai"}
    wanted = expected(name)
    assert len(resolved.sections) == wanted["section_count"] + len(wanted["instruction_titles_sorted"])
    assert [section.position for section in resolved.sections] == sorted(
        section.position for section in resolved.sections
    )

"""Which layer lies above which (config-and-tools 1.2, 1.3, 10.2 test 4)."""

import random
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest

from jp_lsp.config.fold import OUR_ORDER, REFERENCE_ORDER, fold, in_order
from jp_lsp.config.layer import Layer, Origin, Step
from jp_lsp.config.server_settings import ServerSettings
from jp_lsp.config.settings import WorkspaceSettings
from jp_lsp.conversation.directive import ConfigDelta
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp

Value = Callable[..., Any]


def conversation_with(base: Any) -> ConversationStream:
    return ConversationStream.new(Timestamp(0), base)


def everywhere(world: Any) -> dict[str, Callable[[], None]]:
    """Set one key in every layer; gives what takes each away again, lowest first."""
    world.cwd = world.root / "src" / "deep"
    world.cwd.mkdir(parents=True)
    files = {
        "user_global": world.user('assistant.name = "user_global"'),
        "workspace": world.workspace('assistant.name = "workspace"'),
        "cwd": world.workspace('assistant.name = "cwd top"', ".jp.toml"),
        "cwd src": world.workspace('assistant.name = "cwd src"', "src/.jp.toml"),
        "cwd deep": world.workspace('assistant.name = "cwd deep"', "src/deep/.jp.toml"),
        "user_workspace": world.user_of_workspace('assistant.name = "user_workspace"'),
    }
    world.environ["JP_CFG_ASSISTANT_NAME"] = "environment"
    return {
        **{name: path.unlink for name, path in files.items()},
        "environment": world.environ.clear,
    }


@pytest.mark.requirement("R236", "R223")
def test_the_highest_layer_wins_and_explain_lists_the_rest(world: Any):
    removals = everywhere(world)
    stream = conversation_with({"assistant": {"name": "conversation"}})
    overrides = ["assistant.name=request"]
    lowest_first = [
        "user_global", "workspace", "cwd top", "cwd src", "cwd deep", "user_workspace", "conversation", "environment",
        "request",
    ]  # fmt: skip
    while lowest_first:
        explanation = world.settings().explain("assistant.name", overrides, stream)
        assert explanation.value == lowest_first[-1]
        assert [each.value for each in explanation.shadowed] == lowest_first[:-1]
        assert world.settings().resolve(overrides, stream).assistant_name == lowest_first[-1]
        gone = lowest_first.pop()
        if gone == "request":
            overrides = []
        elif gone == "conversation":
            stream = conversation_with({})
        else:
            removals["cwd" if gone == "cwd top" else gone]()
    explanation = world.settings().explain("assistant.name", [], stream)
    assert (explanation.value, explanation.origin.kind) == (None, "defaults")


def test_the_reference_order_is_a_switch(world: Any):
    world.environ["JP_CFG_ASSISTANT_NAME"] = "environment"
    stream = conversation_with({"assistant": {"name": "conversation"}})
    assert world.settings().explain("assistant.name", [], stream).value == "environment"
    world.server = ServerSettings(layer_order="conversation_wins")
    explanation = world.settings().explain("assistant.name", [], stream)
    assert explanation.value == "conversation"
    assert explanation.order == REFERENCE_ORDER
    assert world.settings().resolve([], stream).assistant_name == "conversation"


@pytest.mark.parametrize("layer_order", ["environment_wins", "conversation_wins"])
def test_what_a_conversation_is_given_to_keep_does_not_depend_on_the_order(world: Any, layer_order: Any):
    """The switch decides what is read; what is written follows the reference in both cases (1.2)."""
    world.workspace('assistant.name = "workspace"\n[[assistant.instructions]]\ntitle = "W"\n')
    stream = conversation_with(world.settings().resolve([], None).partial)
    world.environ |= {
        "JP_CFG_ASSISTANT_NAME": "environment",
        "JP_CFG_USER_NAME": "me",
        "JP_CFG_EDITOR_ENVS": "E",
    }
    expected = world.settings().resolve(["assistant.tool_choice=none"], stream).partial
    world.server = ServerSettings(layer_order=layer_order)
    resolved = world.settings().resolve(["assistant.tool_choice=none"], stream)
    assert resolved.partial == expected
    assert world.settings().delta(stream, resolved) == ConfigDelta({"assistant": {"tool_choice": "none"}})
    assert resolved.user_name == "me"
    assert resolved.assistant_name == ("environment" if layer_order == "environment_wins" else "workspace")


ORDERS: dict[str, list[str]] = {
    "environment_wins": ["files", "conversation", "environment", "request"],
    "conversation_wins": ["files", "environment", "conversation", "request"],
}


@pytest.mark.parametrize("layer_order", ORDERS)
def test_each_order_holds_for_replacing_adding_and_explaining(world: Any, layer_order: Any):
    world.server = ServerSettings(layer_order=layer_order)
    world.workspace('assistant.name = "files"\n[template.values]\na = "files"\nfiles = 1\n')
    world.environ |= {
        "JP_CFG_ASSISTANT_NAME": "environment",
        "JP_CFG_TEMPLATE_VALUES": ':{"a":"environment"}',
    }
    stream = conversation_with(
        {"assistant": {"name": "conversation"}, "template": {"values": {"a": "conversation", "kept": 1}}}
    )
    overrides = ["assistant.name=request", 'template.values:+={"a":"request"}']
    settings = world.settings()
    said = [
        each.value
        for each in settings.explain("assistant.name", overrides, stream).contributions
        if each.value
    ]
    assert said == ORDERS[layer_order]
    entry = settings.explain("template.values.a", overrides, stream)
    assert (entry.value, [each.value for each in entry.shadowed]) == ("request", ORDERS[layer_order][:-1])
    below = settings.explain("template.values", [], stream)
    assert below.value == {"a": ORDERS[layer_order][2], "files": 1, "kept": 1}
    assert settings.explain("assistant.name", [], stream).value == ORDERS[layer_order][2]
    assert list(below.order)[-3:] == ORDERS[layer_order][1:]


def layer(kind: Any, name: str, partial: Any) -> Layer:
    origin = Origin(kind, name)
    return Layer(origin, (Step(origin, partial),))


THREE = [
    layer("workspace", "w", {"assistant": {"name": "w"}, "user": {"name": "w"}}),
    layer("environment", "e", {"assistant": {"name": "e"}}),
    layer("request", "r", {"assistant": {"tool_choice": "none"}}),
]


@pytest.mark.requirement("R282", "R324")
def test_the_order_in_which_layers_come_makes_no_difference():
    expected = {"assistant": {"name": "e", "tool_choice": "none"}, "user": {"name": "w"}}
    shuffled = list(THREE)
    for seed in range(10):
        random.Random(seed).shuffle(shuffled)
        assert fold(in_order(shuffled, OUR_ORDER)).tree == expected


@pytest.mark.requirement("R283")
def test_layers_are_frozen_and_kept():
    before = repr(THREE)
    fold(in_order(THREE, OUR_ORDER))
    assert repr(THREE) == before
    with pytest.raises(FrozenInstanceError):
        THREE[0].state = "skipped"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        THREE[0].steps[0].partial = {}  # type: ignore[misc]


@pytest.mark.requirement("R253")
def test_what_a_query_gets_is_frozen(world: Any):
    settings = world.settings().resolve(["assistant.model.parameters.seed:=1"], None)
    with pytest.raises(FrozenInstanceError):
        settings.assistant_name = "x"
    with pytest.raises(FrozenInstanceError):
        settings.parameters.max_tokens = 1
    with pytest.raises(TypeError):
        settings.parameters.other["seed"] = 2


@pytest.mark.requirement("R253")
def test_an_edit_holds_from_the_next_query_on(world: Any):
    world.workspace('assistant.name = "before"')
    settings = world.settings()
    first = settings.resolve([], None)
    world.workspace('assistant.name = "afterwards"')
    assert settings.resolve([], None).assistant_name == "afterwards"
    assert first.assistant_name == "before"


@pytest.mark.requirement("G2")
def test_trap_02_inherit_false_seals_and_explain_says_what_was_skipped(world: Any, value_of: Value):
    world.user('user.name = "global"')
    world.workspace('inherit = false\nassistant.name = "workspace"')
    world.workspace('assistant.name = "cwd"', ".jp.toml")
    world.user_of_workspace('assistant.name = "own"')
    world.environ["JP_CFG_ASSISTANT_TOOL_CHOICE"] = "none"
    assert value_of("assistant.name") == "workspace"
    assert value_of("user.name") == "global"
    assert value_of("assistant.tool_choice") == "none"
    skipped = [
        each for each in world.settings().explain("assistant.name").contributions if each.state == "skipped"
    ]
    assert [(each.origin.name, each.reason) for each in skipped] == [
        (".jp.*", "`inherit` is false in .jp/config.toml"),
        (str(world.user_workspace / "config.*"), "`inherit` is false in .jp/config.toml"),
    ]


def test_an_extended_file_can_seal_too(world: Any, value_of: Value):
    world.workspace('extends = ["seal.toml"]')
    world.workspace("inherit = false", ".jp/seal.toml")
    world.workspace('assistant.name = "cwd"', ".jp.toml")
    assert value_of("assistant.name") is None


def test_what_is_skipped_is_not_even_read(world: Any):
    world.workspace("inherit = false")
    world.workspace("not toml", ".jp.toml")
    assert world.settings().problems()[0].severity == "hint"
    world.settings().resolve([], None)


def test_outside_a_workspace_the_chain_begins_at_the_top(world: Any, tmp_path: Path):
    (tmp_path / ".jp.toml").write_text('assistant.name = "outer"\nuser.name = "outer"', encoding="utf-8")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (inner / ".jp.toml").write_text('assistant.name = "inner"', encoding="utf-8")
    settings = WorkspaceSettings(
        None, inner, {}, world.user_config, None, world.server, lambda: world.default_model
    )
    resolved = settings.resolve([], None)
    assert (resolved.assistant_name, resolved.user_name) == ("inner", "outer")


def test_a_folder_outside_the_workspace_adds_no_chain(world: Any, tmp_path: Path, value_of: Value):
    world.workspace('assistant.name = "top"', ".jp.toml")
    world.cwd = tmp_path / "elsewhere"
    world.cwd.mkdir()
    (world.cwd / ".jp.toml").write_text('assistant.name = "elsewhere"', encoding="utf-8")
    assert value_of("assistant.name") == "top"


def test_only_the_first_format_of_a_place_is_read(world: Any, value_of: Value):
    world.workspace('assistant.name = "toml"')
    world.workspace("not json", ".jp/config.json")
    assert value_of("assistant.name") == "toml"


def test_json5_is_read_instead_of_hiding_what_comes_after_it(world: Any, value_of: Value):
    world.workspace("{assistant: {name: 'json5'}}", ".jp/config.json5")
    world.workspace("assistant: {name: yaml}", ".jp/config.yaml")
    assert value_of("assistant.name") == "json5"


def test_the_default_conversation_is_read_without_one(world: Any):
    assert world.settings().default_conversation([]) is None
    world.workspace('conversation.default_id = "last"')
    assert world.settings().default_conversation([]) == "last-activated"
    assert world.settings().default_conversation(["conversation.default_id=prev"]) == "previous"
    assert (
        world.settings().default_conversation(["conversation.default_id=jp-c17912345678"])
        == "jp-c17912345678"
    )
    partial: Any = world.settings().resolve([], None).partial
    assert "default_id" not in partial["conversation"]

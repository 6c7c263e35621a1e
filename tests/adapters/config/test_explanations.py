"""Where a value comes from (config-and-tools 1.12)."""

from typing import Any

import pytest

from jp_lsp.config.fold import OUR_ORDER
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.refusal import Refusal


def story(explanation: Any) -> list[tuple[str, str, object]]:
    return [(each.state, str(each.origin), each.value) for each in explanation.contributions]


@pytest.mark.requirement("R285", "R223")
def test_a_scalar_names_its_winner_its_losers_and_the_silent_layers(world: Any):
    world.user('assistant.name = "global"')
    world.workspace('extends = ["base.toml"]\n\n[assistant]\nname = "workspace"\n')
    world.workspace('assistant.name = "base"', ".jp/base.toml")
    explanation = world.settings().explain("assistant.name", ["assistant.name=asked", "user.name=x"])
    assert explanation.value == "asked"
    assert str(explanation.origin) == "--cfg assistant.name=asked"
    assert explanation.order == OUR_ORDER
    assert story(explanation) == [
        ("shadowed", f"{world.user_config / 'config.toml'}:1", "global"),
        ("shadowed", ".jp/base.toml:1", "base"),
        ("shadowed", ".jp/config.toml:4", "workspace"),
        ("not found", ".jp.*", None),
        ("not found", str(world.user_workspace / "config.*"), None),
        ("not found", "environment", None),
        ("wins", "--cfg assistant.name=asked", "asked"),
        ("not set", "--cfg user.name=x", None),
    ]


def test_a_value_that_nobody_sets_is_the_programs(world: Any):
    explanation = world.settings().explain("assistant.request.max_retries")
    assert (explanation.value, str(explanation.origin)) == (5, "the program's defaults")
    assert {each.state for each in explanation.contributions} == {"not found"}


@pytest.mark.requirement("R285")
def test_each_item_of_a_list_has_an_origin(world: Any):
    world.user('[[assistant.instructions]]\ntitle = "G"\nposition = 9\n')
    world.workspace('assistant.name = "x"\n\n[[assistant.instructions]]\ntitle = "W"\n')
    explanation = world.settings().explain("assistant.instructions", ["assistant.instructions+=R"])
    assert [(item.value["title"], str(item.origin)) for item in explanation.items] == [
        ("W", ".jp/config.toml:3"),
        ("R", "--cfg assistant.instructions+=R"),
        ("G", f"{world.user_config / 'config.toml'}:1"),
    ]
    second = world.settings().explain("assistant.instructions.1", ["assistant.instructions+=R"])
    assert (second.value["title"], second.origin.kind) == ("R", "request")
    title = world.settings().explain("assistant.instructions.0.title")
    assert (title.value, str(title.origin)) == ("W", ".jp/config.toml:3")


def test_setting_a_list_shadows_all_below(world: Any):
    world.workspace('editor.envs = ["W"]')
    explanation = world.settings().explain("editor.envs", ["editor.envs=R"])
    assert [each.value for each in explanation.shadowed] == [["W"]]
    assert [(item.value, item.origin.kind) for item in explanation.items] == [("R", "request")]


def test_what_replaces_within_a_layer_shadows_the_files_before_it(world: Any):
    world.user('[[assistant.instructions]]\ntitle = "G"\n')
    world.workspace(
        'extends = ["base.toml"]\nassistant.instructions = { value = [{ title = "W" }], strategy = "replace" }'
    )
    world.workspace('[[assistant.instructions]]\ntitle = "B"\n', ".jp/base.toml")
    explanation = world.settings().explain("assistant.instructions")
    assert [item.value["title"] for item in explanation.items] == ["W"]
    assert [(each.state, str(each.origin)) for each in explanation.contributions if each.value] == [
        ("shadowed", f"{world.user_config / 'config.toml'}:1"),
        ("shadowed", ".jp/base.toml:1"),
        ("wins", ".jp/config.toml:2"),
    ]


def test_items_of_defaults_are_the_programs(world: Any):
    items = world.settings().explain("editor.envs").items
    assert [(item.value, item.origin.kind) for item in items] == [
        ("JP_EDITOR", "defaults"), ("VISUAL", "defaults"), ("EDITOR", "defaults"),
    ]  # fmt: skip


def test_texts_show_what_was_added_to_what(world: Any):
    world.user('assistant.system_prompt = "Gone."')
    world.workspace('assistant.system_prompt = "Base."')
    world.workspace(
        'assistant.system_prompt = { value = "More.", strategy = "append", separator = "space" }', ".jp.toml"
    )
    explanation = world.settings().explain("assistant.system_prompt")
    assert explanation.value == "Base. More."
    assert [(each.state, each.value) for each in explanation.contributions if each.value] == [
        ("shadowed", "Gone."),
        ("adds", "Base."),
        ("adds", "More."),
    ]


def test_what_gives_way_is_shadowed_by_anything(world: Any):
    world.user('assistant.system_prompt = "Below."\nconversation.attachments = ["file:a"]')
    world.workspace(
        'extends = ["base.toml"]\nassistant.system_prompt = { value = "Way.", discard_when_merged = true }\n'
    )
    world.workspace(
        'conversation.attachments = { value = ["file:b"], discard_when_merged = true }', ".jp/base.toml"
    )
    world.workspace(
        'assistant.system_prompt = { value = "On top.", strategy = "append" }\nconversation.attachments = ["file:c"]',
        ".jp.toml",
    )
    for key, value in (("assistant.system_prompt", "On top."), ("conversation.attachments", ["file:c"])):
        explanation = world.settings().explain(key)
        assert explanation.value == value
        states = [each.state for each in explanation.contributions if each.value]
        assert states == ["shadowed", "shadowed", "wins"]
    world.workspace('extends = ["base.toml"]\nconversation.attachments = ["file:d"]')
    world.workspace("", ".jp.toml")
    explanation = world.settings().explain("conversation.attachments")
    assert explanation.value == ["file:a", "file:d"]
    assert [each.state for each in explanation.contributions if each.value] == ["adds", "shadowed", "adds"]


def test_each_contribution_names_its_strategy(world: Any):
    world.user('assistant.system_prompt = "Base."\nassistant.instructions = [{ title = "A" }]')
    world.workspace(
        'assistant.system_prompt = { value = "First. ", strategy = "prepend" }\n'
        'assistant.instructions = { value = [{ title = "B" }], strategy = "replace" }\n'
    )
    for key in ("assistant.system_prompt", "assistant.instructions"):
        said = [each.reason for each in world.settings().explain(key).contributions if each.value]
        assert said == [None, "strategy `prepend`" if key.endswith("prompt") else "strategy `replace`"]


def test_what_files_extend_is_decided_by_the_lowest(world: Any):
    world.user('extends = ["a.toml"]')
    world.workspace('extends = ["b.toml"]')
    explanation = world.settings().explain("extends")
    assert (explanation.value, explanation.origin.kind) == (["a.toml"], "user_global")
    assert [each.origin.kind for each in explanation.shadowed] == ["workspace"]


def test_clearing_a_value_is_a_contribution(world: Any):
    world.workspace('assistant.name = "x"')
    explanation = world.settings().explain("assistant.name", ["assistant.name:=null"])
    assert (explanation.value, explanation.origin.kind) == (None, "request")
    assert explanation.contributions[-1].reason == "takes the value away"
    assert [each.value for each in explanation.shadowed] == ["x"]


def test_changing_a_part_is_a_contribution(world: Any):
    world.workspace('[[assistant.instructions]]\ntitle = "W"\n')
    explanation = world.settings().explain("assistant.instructions", ["assistant.instructions.0.title=New"])
    assert [each.state for each in explanation.contributions if each.state in {"adds", "wins"}] == [
        "adds",
        "adds",
    ]
    assert explanation.contributions[-1].reason == "changes a part of it"


def test_an_alias_is_shown_with_what_it_means(world: Any):
    world.workspace('providers.llm.aliases.quick = "openai/q"\nassistant.model.id = "quick"')
    explanation = world.settings().explain("assistant.model.id")
    assert explanation.value == {"provider": "openai", "name": "q"}
    assert explanation.notes == ("`quick` is an alias of `openai/q`",)


def test_a_whole_table_can_be_asked_for(world: Any):
    world.workspace("style.lock_wait.show = false")
    explanation = world.settings().explain("style.lock_wait")
    assert explanation.value == {"show": False, "delay_secs": 1, "interval_ms": 100, "timeout_secs": 10}
    assert explanation.origin.kind == "workspace"


def test_names_with_dots_are_found(world: Any):
    world.workspace('[conversation.tools."my.tool"]\nsource = "local"\ncommand = "x"\n')
    explanation = world.settings().explain("conversation.tools.my.tool.command")
    assert (explanation.key, explanation.value) == ('conversation.tools."my.tool".command', "x")


KEYS: dict[str, tuple[str, object]] = {
    'conversation.tools."my.tool".command': ('conversation.tools."my.tool".command', "x"),
    'conversation.tools."plain".command': ("conversation.tools.plain.command", "y"),
    'providers.mcp."s".args': ("providers.mcp.s.arguments", ["a"]),
    "providers.mcp.s.args.0": ("providers.mcp.s.arguments.0", "a"),
    "assistant.model.parameters.seed": ("assistant.model.parameters.other.seed", 7),
}


@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_found_in_every_spelling(world: Any, key: str):
    """Quoted without need, under its other name, and a parameter that only the vendor knows."""
    world.workspace(
        '[conversation.tools."my.tool"]\nsource = "local"\ncommand = "x"\n'
        '[conversation.tools.plain]\nsource = "local"\ncommand = "y"\n'
        '[providers.mcp.s]\ntype = "stdio"\ncommand = "c"\narguments = ["a"]\n'
        "[assistant.model.parameters]\nseed = 7\n"
    )
    explanation = world.settings().explain(key)
    assert (explanation.key, explanation.value) == KEYS[key]


def test_an_unset_key_is_explained_too(world: Any):
    assert world.settings().explain("user.name").value is None


def test_the_embedded_model_of_a_stored_conversation(world: Any):
    stream = ConversationStream.new(Timestamp(0), {"assistant": {"model": {"id": "llamacpp/x"}}})
    explanation = world.settings().explain("assistant.model.id", [], stream)
    assert (explanation.value, explanation.origin.kind) == (
        {"provider": "llamacpp", "name": "x"},
        "conversation",
    )


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("assistant.nam", "; did you mean `assistant.name`?"),
        ("zz", ""),
        ("", ""),
        ("assistant.name.x", ""),
        ("editor.envs.9", ""),
        ("editor.envs." + "1" * 5000, ""),
        ('"', ""),
    ],
)
def test_an_unknown_key_is_refused_with_a_near_one(world: Any, key: str, hint: str):
    with pytest.raises(Refusal) as caught:
        world.settings().explain(key)
    assert caught.value.error.code == "invalid_params"
    if hint:
        assert caught.value.error.message == f"`{key}`: unknown key{hint}"


@pytest.mark.requirement("R285", "R223")
def test_all_that_somebody_set_is_told_with_its_places(world: Any):
    """The entries of a map one by one; what nobody set, and what is shadowed, is not there."""
    world.user('assistant.name = "global"\n[[assistant.instructions]]\ntitle = "G"\n')
    world.workspace(
        'assistant.name = "workspace"\n[[assistant.instructions]]\ntitle = "W"\n'
        '[conversation.tools.a]\nsource = "local"\n[conversation.tools.b]\nsource = "local"\n'
    )
    told = world.settings().origins(["conversation.tools.b.enable=true"], None)
    assert [each.key for each in told] == [
        "assistant.name",
        "assistant.instructions",
        "conversation.tools.a",
        "conversation.tools.b",
    ]
    places = {each.key: [(place.layer, place.line) for place in each.places] for each in told}
    assert places["assistant.name"] == [("workspace", 1)]
    assert places["assistant.instructions"] == [("user_global", 2), ("workspace", 2)]
    assert places["conversation.tools.b"] == [("workspace", 6), ("request", None)]


@pytest.mark.requirement("R285")
def test_they_are_the_places_of_the_long_explanation(world: Any):
    """Leaving out what other keys need nothing of changes no answer."""
    world.user('assistant.instructions = ["G"]\nuser.name = "u"')
    world.workspace(
        'extends = ["base.toml"]\n[assistant.model]\nid = "quick"\n[providers.llm.aliases]\nquick = "a/b"\n'
    )
    world.workspace('assistant.instructions = ["B"]', ".jp/base.toml")
    overrides = ["assistant.instructions.0.title=T", "user.name=x"]
    settings = world.settings()
    for told in settings.origins(overrides, None):
        whole = settings.explain(told.key, overrides)
        heard = [each for each in whole.contributions if each.state in {"wins", "adds"}]
        assert told.value == whole.value
        assert [place.name for place in told.places] == [each.origin.name for each in heard]

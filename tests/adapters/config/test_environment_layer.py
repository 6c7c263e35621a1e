"""Settings from environment variables (config-and-tools 1.7)."""

from collections.abc import Callable
from typing import Any

import pytest

from jp_lsp.config.environment import find_path, variable_name
from jp_lsp.config.schema import leaf_keys

PATHS: dict[str, tuple[str, ...] | None] = {
    "ASSISTANT_NAME": ("assistant", "name"),
    "ASSISTANT_MODEL_ID": ("assistant", "model", "id"),
    "ASSISTANT_MODEL_ID_PROVIDER": ("assistant", "model", "id", "provider"),
    "ASSISTANT_SYSTEM_PROMPT": ("assistant", "system_prompt"),
    "ASSISTANT_SYSTEM_PROMPT_SECTIONS": ("assistant", "system_prompt_sections"),
    "ASSISTANT_SYSTEM_PROMPT_SECTIONS_0_TITLE": ("assistant", "system_prompt_sections", "0", "title"),
    "ASSISTANT_MODEL_PARAMETERS_MAX_TOKENS": ("assistant", "model", "parameters", "max_tokens"),
    "ASSISTANT_MODEL_PARAMETERS_REASONING_EFFORT": (
        "assistant",
        "model",
        "parameters",
        "reasoning",
        "effort",
    ),
    "ASSISTANT_MODEL_PARAMETERS_TOP_LOGPROBS": ("assistant", "model", "parameters", "top_logprobs"),
    "CONFIG_LOAD_PATHS": ("config_load_paths",),
    "STYLE_TOOL_CALL_SHOW": ("style", "tool_call", "show"),
    "CONVERSATION_TOOLS_FS_RUN": ("conversation", "tools", "fs", "run"),
    "CONVERSATION_TOOLS_*_RUN": ("conversation", "tools", "*", "run"),
    "CONVERSATION_TOOLS_FS_READ_RUN": ("conversation", "tools", "fs_read", "run"),
    "CONVERSATION_TOOLS_MY_TOOL_V2_RUN": ("conversation", "tools", "my-tool.v2", "run"),
    "CONVERSATION_TOOLS_FS_OTHER_RUN": None,
    "PROVIDERS_LLM_ALIASES_GPT": ("providers", "llm", "aliases", "gpt"),
    "PROVIDERS_LLM_ALIASES_GPT_MINI": None,
    "PROVIDERS_MCP_SRV_ARGS": ("providers", "mcp", "srv", "args"),
    "TEMPLATE_VALUES_X_Y": ("template", "values", "x", "y"),
    "TEMPLATE_VALUES_A_B": ("template", "values", "a_b"),
    "TEMPLATE_VALUES_A_C": ("template", "values", "a", "c"),
    "CONVERSATION_TOOLS_FS_PARAMETERS_P_TYPE": None,
    "EXTENDS": None,
    "ASSISTANT_NAMES": None,
    "": None,
}
EXISTING: Any = {
    "conversation": {"tools": {"fs_read": {}, "my-tool.v2": {}}},
    "template": {"values": {"a": {}, "a_b": 1}},
}


@pytest.mark.parametrize("words", PATHS)
def test_a_name_is_matched_with_the_known_structure(words: str):
    assert find_path(words, EXISTING) == PATHS[words]


def test_every_key_can_be_named():
    for path, key in leaf_keys():
        if key.assignable:
            assert find_path(variable_name(path).removeprefix("JP_CFG_"), EXISTING) == path


VALUES: dict[str, tuple[str, str, str, object]] = {
    "text": ("ASSISTANT_NAME", "a", "assistant.name", "a"),
    "json": ("ASSISTANT_NAME", ':"a"', "assistant.name", "a"),
    "a literal colon": ("ASSISTANT_NAME", "\\:a", "assistant.name", ":a"),
    "a literal plus": ("ASSISTANT_NAME", "\\+a", "assistant.name", "+a"),
    "a list": ("CONFIG_LOAD_PATHS", "a,b", "config_load_paths", ["a", "b"]),
    "a list in json": ("CONFIG_LOAD_PATHS", ':["a,b"]', "config_load_paths", ["a,b"]),
    "a list to add": ("CONFIG_LOAD_PATHS", '+:["a"]', "config_load_paths", ["a"]),
    "a list to add, the other way": ("CONFIG_LOAD_PATHS", ':+["a"]', "config_load_paths", ["a"]),
    "a number": ("ASSISTANT_REQUEST_MAX_RETRIES", "9", "assistant.request.max_retries", 9),
}


@pytest.mark.parametrize("case", VALUES)
def test_marks_in_front_of_a_value_say_what_it_is(world: Any, value_of: Callable[..., object], case: str):
    name, value, key, expected = VALUES[case]
    world.environ[f"JP_CFG_{name}"] = value
    assert value_of(key) == expected


@pytest.mark.requirement("F37", "R286")
def test_the_environment_beats_a_file_and_explain_says_so(world: Any):
    world.workspace('[assistant]\nname = "file"\n')
    world.environ["JP_CFG_ASSISTANT_NAME"] = "env"
    settings = world.settings()
    assert settings.resolve([], None).assistant_name == "env"
    explanation = settings.explain("assistant.name")
    assert (explanation.value, explanation.origin.name) == ("env", "JP_CFG_ASSISTANT_NAME")
    assert [(str(each.origin), each.value) for each in explanation.shadowed] == [
        (".jp/config.toml:2", "file")
    ]


@pytest.mark.requirement("F37", "G8")
def test_trap_08_a_list_from_the_environment_adds_to_the_files(world: Any):
    world.workspace('editor.envs = ["EDITOR"]')
    world.environ["JP_CFG_EDITOR_ENVS"] = "vi"
    explanation = world.settings().explain("editor.envs")
    assert explanation.value == ["EDITOR", "vi"]
    assert [(each.state, each.origin.name) for each in explanation.contributions if each.value] == [
        ("adds", ".jp/config.toml"),
        ("adds", "JP_CFG_EDITOR_ENVS"),
    ]


@pytest.mark.requirement("G7")
def test_trap_07_a_variable_without_the_whole_prefix_is_not_read_but_noticed(
    world: Any, value_of: Callable[..., object]
):
    world.environ |= {
        "JP_ASSISTANT_NAME": "x",
        "JP_GITHUB_TOKEN": "x",
        "JP_EDITOR": "vi",
        "JP_USER_DATA_DIR": "/x",
    }
    assert value_of("assistant.name") is None
    hints = [str(problem) for problem in world.settings().problems() if "JP_" in str(problem)]
    assert hints == [
        "JP_ASSISTANT_NAME: is not read; to set `assistant.name` call it `JP_CFG_ASSISTANT_NAME`"
    ]
    assert world.settings().resolve([], None).warnings == ()


def test_an_unknown_variable_fails_the_load_and_names_a_near_one(world: Any):
    world.environ["JP_CFG_ASSISTANT_NAM"] = "x"
    assert world.refusal() == "JP_CFG_ASSISTANT_NAM: unknown key; did you mean `JP_CFG_ASSISTANT_NAME`?"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("JP_CFG_CONVERSATION_TOOLS___RUN", "JP_CFG_CONVERSATION_TOOLS_*_RUN"),
        ("JP_CFG_EXTENDS", "JP_CFG_EDITOR_ENVS"),  # that key itself comes from files alone
    ],
)
def test_only_a_variable_that_is_read_is_proposed(world: Any, name: str, meant: str):
    world.environ[name] = "ask"
    assert world.refusal() == f"{name}: unknown key; did you mean `{meant}`?"


@pytest.mark.requirement("G8")
@pytest.mark.parametrize(("value", "expected"), [("b", ["f", "b"]), ("+b", ["f", "a", "b"])])
def test_a_plus_is_about_other_variables(
    world: Any, value_of: Callable[..., object], value: str, expected: list[str]
):
    """What files have is added to in any case."""
    world.workspace('editor.envs = ["f"]')
    world.environ |= {"JP_CFG_EDITOR": ':{"envs": ["a"], "cmd": "vi"}', "JP_CFG_EDITOR_ENVS": value}
    assert value_of("editor.envs") == expected
    assert value_of("editor.cmd") == "vi"


def test_what_all_tools_share_can_be_set(world: Any, value_of: Callable[..., object]):
    world.environ["JP_CFG_CONVERSATION_TOOLS_*_RUN"] = "unattended"
    assert value_of("conversation.tools.*.run") == "unattended"


def test_a_value_that_does_not_fit_names_variable_and_key(world: Any):
    world.environ["JP_CFG_ASSISTANT_REQUEST_MAX_RETRIES"] = "many"
    assert world.refusal() == (
        "JP_CFG_ASSISTANT_REQUEST_MAX_RETRIES: `assistant.request.max_retries`: type error: expected a whole number "
        "from 0 to 4294967295, got `many`"
    )


def test_bad_json_in_a_variable_is_an_error(world: Any):
    world.environ["JP_CFG_USER_NAME"] = ":{"
    assert "parse error: `{` is not JSON" in world.refusal()


def test_names_and_values_that_are_no_text_are_left_alone(world: Any, value_of: Callable[..., object]):
    world.environ |= {"JP_CFG_ASSISTANT_NAME": "a\udcff", "JP_CFG_\udcff": "x"}
    assert value_of("assistant.name") is None
    assert world.settings().problems() == world.settings().problems()
    assert not [each for each in world.settings().problems() if each.severity == "error"]


def test_entries_that_files_define_can_be_named(world: Any, value_of: Callable[..., object]):
    world.workspace('[conversation.tools.fs_read]\nsource = "local"\ncommand = "x"\n')
    world.environ["JP_CFG_CONVERSATION_TOOLS_FS_READ_RUN"] = "unattended"
    assert value_of("conversation.tools.fs_read.run") == "unattended"


def test_load_paths_from_the_environment_count(world: Any, value_of: Callable[..., object]):
    world.workspace('assistant.name = "x"', "roles/a.toml")
    world.environ["JP_CFG_CONFIG_LOAD_PATHS"] = "roles"
    assert value_of("assistant.name", "a") == "x"

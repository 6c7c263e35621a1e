"""The traps of loading and merging that are not proved elsewhere (config-and-tools 8).

Traps 1, 3, 5 to 8, 11 to 16, 21, 36 to 41 and 66 stand with the part that they concern.
"""

from collections.abc import Callable
from typing import Any

import pytest

from jp_lsp.conversation.directive import ConfigDelta
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.refusal import Refusal

Value = Callable[..., Any]


def warnings(world: Any, *overrides: str) -> tuple[str, ...]:
    return world.settings().resolve(overrides, None).warnings


@pytest.mark.requirement("G3")
def test_trap_03_a_diamond_doubles_items_and_explain_marks_them(world: Any):
    world.workspace('extends = ["a.toml", "b.toml"]')
    for name in ("a", "b"):
        world.workspace('extends = ["shared.toml"]', f".jp/{name}.toml")
    world.workspace('[[assistant.instructions]]\ntitle = "Twice"\n', ".jp/shared.toml")
    explanation = world.settings().explain("assistant.instructions")
    assert [(item.value["title"], str(item.origin), item.is_duplicate) for item in explanation.items] == [
        ("Twice", ".jp/shared.toml:1", False),
        ("Twice", ".jp/shared.toml:1", True),
    ]


@pytest.mark.requirement("G4")
def test_trap_04_a_folder_config_d_is_not_loaded_but_hinted_at(world: Any, value_of: Value):
    world.workspace("")
    world.workspace('assistant.name = "x"', ".jp/config.d/a.toml")
    assert value_of("assistant.name") is None
    hints = [problem for problem in world.settings().problems() if problem.key == "extends"]
    assert [(str(hint), hint.severity) for hint in hints] == [
        (
            ".jp/config.toml: `extends`: `config.d` is not loaded by itself; to load it set "
            '`extends = ["config.d/**/*"]`',
            "hint",
        )
    ]
    world.workspace('extends = ["config.d/**/*"]')
    assert value_of("assistant.name") == "x"
    assert not [problem for problem in world.settings().problems() if problem.key == "extends"]


@pytest.mark.requirement("G10")
def test_trap_10_a_conversation_hides_an_edit_and_explain_says_so(world: Any):
    world.workspace('assistant.name = "old"')
    stream = ConversationStream.new(Timestamp(0), world.settings().resolve([], None).partial)
    world.workspace('assistant.name = "new"\nuser.name = "Pixel"')
    settings = world.settings()
    resolved = settings.resolve([], stream)
    assert (resolved.assistant_name, resolved.user_name) == ("old", "Pixel")
    explanation = settings.explain("assistant.name", [], stream)
    assert (explanation.value, explanation.origin.kind) == ("old", "conversation")
    assert explanation.without_conversation == "new"
    assert [str(each.origin) for each in explanation.shadowed] == [".jp/config.toml:1"]
    path = world.root / ".jp" / "config.toml"
    assert explanation.notes == (
        f"the conversation keeps what it has stored; a query with `--cfg {path}` applies .jp/config.toml:1 to it",
    )
    applied = settings.resolve([str(path)], stream)
    assert applied.assistant_name == "new"
    change = ConfigDelta({"assistant": {"name": "new"}, "user": {"name": "Pixel"}})
    assert settings.delta(stream, applied) == change
    assert settings.explain("user.name", [], stream).notes == ()


@pytest.mark.requirement("G43")
def test_trap_43_a_conversation_keeps_the_old_command_and_explain_shows_both(world: Any):
    tool = '[conversation.tools.t]\nsource = "local"\ncommand = "{}"\n'
    world.workspace(tool.format("old"))
    stream = ConversationStream.new(Timestamp(0), world.settings().resolve([], None).partial)
    world.workspace(tool.format("new"))
    explanation = world.settings().explain("conversation.tools.t.command", [], stream)
    assert (explanation.value, explanation.without_conversation) == ("old", "new")


@pytest.mark.requirement("G16")
def test_trap_16_replace_is_lost_when_a_later_file_of_the_layer_adds(world: Any):
    world.workspace('[[assistant.instructions]]\ntitle = "Workspace"\n')
    world.user_of_workspace(
        'extends = ["base.toml"]\n[[assistant.instructions]]\ntitle = "Own"\n',
    )
    world.user_of_workspace(
        '[assistant.instructions]\nstrategy = "replace"\nvalue = [{ title = "Base" }]\n', "base.toml"
    )
    explanation = world.settings().explain("assistant.instructions")
    assert [item.value["title"] for item in explanation.items] == ["Workspace", "Base", "Own"]
    assert explanation.notes == (
        f"`replace` in {world.user_workspace / 'base.toml'}:1 reaches only files of its own layer, because a later "
        "one of them adds something",
    )


def test_a_replace_that_comes_last_in_its_layer_replaces_the_layers_below(world: Any):
    world.workspace('[[assistant.instructions]]\ntitle = "Workspace"\n')
    world.user_of_workspace('[assistant.instructions]\nstrategy = "replace"\nvalue = [{ title = "Base" }]\n')
    explanation = world.settings().explain("assistant.instructions")
    assert [item.value["title"] for item in explanation.items] == ["Base"]
    assert [(str(each.origin), each.state) for each in explanation.contributions if each.value] == [
        (".jp/config.toml:1", "shadowed"),
        (f"{world.user_workspace / 'config.toml'}:1", "wins"),
    ]
    assert explanation.notes == ()


@pytest.mark.requirement("G17")
def test_trap_17_a_tool_that_is_only_enabled_is_left_out_and_named(world: Any, value_of: Value):
    world.workspace(
        '[conversation.tools.x]\nenable = true\n[conversation.tools.y]\nsource = "local"\ncommand = "y"\n'
    )
    assert warnings(world) == (
        ".jp/config.toml:1: `conversation.tools.x`: has no `source` and is left out; was the file that defines the "
        "tool loaded?",
    )
    partial: Any = world.settings().resolve([], None).partial
    assert list(partial["conversation"]["tools"]) == ["*", "y"]


@pytest.mark.requirement("G18")
def test_trap_18_a_bare_effort_is_accepted_in_a_file(world: Any):
    world.workspace('assistant.model.parameters.reasoning = "high"')
    assert world.settings().resolve([], None).parameters.reasoning.effort == "high"


@pytest.mark.requirement("G19")
def test_trap_19_a_parameter_that_looks_misspelt_is_sent_and_noticed(world: Any):
    world.workspace("assistant.model.parameters.max_token = 5\nassistant.model.parameters.seed = 1\n")
    assert warnings(world) == (
        ".jp/config.toml:1: `assistant.model.parameters.max_token`: is not a known key and is sent to the provider as "
        "it is; did you mean `max_tokens`?",
    )
    assert world.settings().resolve([], None).parameters.other == {"max_token": 5, "seed": 1}


@pytest.mark.requirement("G20")
def test_trap_20_enable_true_unlocks_what_a_lower_layer_locked(world: Any):
    world.workspace(
        '[conversation.tools.x]\nsource = "local"\ncommand = "x"\n'
        'enable = { state = false, allow_toggle = "never" }\n'
    )
    world.workspace("conversation.tools.x.enable = true", ".jp.toml")
    explanation = world.settings().explain("conversation.tools.x.enable")
    assert explanation.value == {"state": True, "allow_toggle": "any"}
    assert [(str(each.origin), each.value) for each in explanation.contributions if each.value] == [
        (".jp/config.toml:4", {"state": False, "allow_toggle": "never"}),
        (".jp.toml:1", {"state": True, "allow_toggle": "any"}),
    ]


@pytest.mark.requirement("G37")
def test_trap_37_a_command_that_lost_its_program_is_noticed(world: Any):
    world.workspace('[conversation.tools.x]\nsource = "local"\ncommand = "a b"\n')
    world.workspace('conversation.tools.x.command = { args = ["c"] }', ".jp.toml")
    assert warnings(world) == (
        ".jp.toml:1: `conversation.tools.x.command`: has no `program` and is left out",
    )
    world.workspace('conversation.tools.x.command = ""', ".jp.toml")
    assert warnings(world) == (
        ".jp.toml:1: `conversation.tools.x.command`: names no program, so the tool cannot run",
    )


@pytest.mark.requirement("G39")
def test_trap_39_switches_in_yaml(world: Any, value_of: Value):
    world.workspace(
        "assistant: {model: {parameters: {reasoning: off}}}\nconversation: {tools: {'*': {enable: on}}}\n",
        ".jp/config.yaml",
    )
    assert value_of("assistant.model.parameters.reasoning") == "off"
    assert value_of("conversation.tools.*.enable") == {"state": True, "allow_toggle": "any"}


@pytest.mark.requirement("G42")
def test_trap_42_keys_are_never_copied(world: Any):
    world.environ |= {
        "ANTHROPIC_API_KEY": "sk-secret",
        "JP_CFG_PROVIDERS_LLM_OPENAI_BASE_URL": "https://me:pass@host",
    }
    world.user('providers.llm.ollama.base_url = "http://user:pass@localhost:11434"')
    partial = world.settings().resolve([], None).partial
    assert "sk-secret" not in str(partial)
    assert "pass" not in str(partial)
    assert partial["providers"]["llm"]["anthropic"]["api_key_env"] == "ANTHROPIC_API_KEY"


@pytest.mark.requirement("G42")
def test_trap_42_what_the_user_has_set_is_kept_and_can_be_kept_at_home(world: Any):
    """As the reference does, and `start_local` keeps the whole conversation out of the workspace."""
    world.environ["JP_CFG_USER_NAME"] = "Pixel"
    world.user('[providers.mcp.s]\ntype = "stdio"\ncommand = "/home/me/bin/s"\n')
    partial: Any = world.settings().resolve([], None).partial
    assert partial["user"]["name"] == "Pixel"
    assert partial["providers"]["mcp"]["s"]["command"] == "/home/me/bin/s"
    assert world.settings().resolve(["conversation.start_local=true"], None).start_local


@pytest.mark.requirement("G44")
def test_trap_44_redefining_an_alias_does_not_change_a_conversation(world: Any):
    world.workspace('providers.llm.aliases.fast = "openai/a"\nassistant.model.id = "fast"')
    stream = ConversationStream.new(Timestamp(0), world.settings().resolve([], None).partial)
    world.workspace('providers.llm.aliases.fast = "openai/b"\nassistant.model.id = "fast"')
    assert str(world.settings().resolve([], stream).model) == "openai/a"


@pytest.mark.requirement("R299")
def test_all_files_with_problems_are_named_at_once_with_line_and_value(world: Any):
    world.workspace('[assistant]\nnme = "x"\n[assistant.request]\nmax_retries = "many"\n')
    world.workspace("a = = b", ".jp.toml")
    world.user("style:\n  lock_wait:\n    show: maybe\n", "config.yaml")
    message = world.refusal("user.name:=1")
    assert message == (
        "The configuration has 5 problems:\n"
        f"- {world.user_config / 'config.yaml'}:3: `style.lock_wait.show`: expected true or false, got `maybe`\n"
        "- .jp/config.toml:2: `assistant.nme`: unknown key; did you mean `name`?\n"
        "- .jp/config.toml:4: `assistant.request.max_retries`: expected a whole number from 0 to 4294967295, got "
        "`many`\n"
        "- .jp.toml:1: not valid TOML: Invalid value\n"
        "- --cfg user.name:=1: `user.name`: type error: expected text, got 1"
    )


@pytest.mark.requirement("R299")
def test_a_refusal_carries_chain_and_origin(world: Any):
    world.workspace('[assistant]\nnme = "x"\n')
    with pytest.raises(Refusal) as caught:
        world.settings().resolve([], None)
    error = caught.value.error
    assert error.code == "config_invalid"
    assert error.message == ".jp/config.toml:2: `assistant.nme`: unknown key; did you mean `name`?"
    assert error.chain == (error.message,)
    assert error.origin == ".jp/config.toml:2"


def test_one_bad_file_does_not_hide_what_others_say(world: Any, value_of: Value):
    world.workspace("a = = b", ".jp.toml")
    world.workspace('assistant.name = "kept"')
    assert value_of("assistant.name") == "kept"


def test_a_missing_run_mode_is_ask(world: Any, value_of: Value):
    assert value_of("conversation.tools.*.run") == "ask"
    hints = [problem for problem in world.settings().problems() if problem.key == "conversation.tools.*.run"]
    assert [(hint.text, hint.severity) for hint in hints] == [("is not set; `ask` is used", "hint")]


VALIDATIONS: dict[str, tuple[str, str]] = {
    "an idle timeout that is too short": (
        "assistant.request.stream_idle_timeout_secs = 5",
        ".jp/config.toml:1: `assistant.request.stream_idle_timeout_secs`: must be 0 or at least 10, got 5",
    ),
    "a choice of a tool that is locked off": (
        'assistant.tool_choice = "x"\n[conversation.tools.x]\nsource = "local"\ncommand = "x"\n'
        'enable = { state = false, allow_toggle = "never" }',
        ".jp/config.toml:1: `assistant.tool_choice`: the tool `x` is locked off and can never be offered",
    ),
    "a cycle of aliases that is used": (
        'assistant.model.id = "a"\n[providers.llm.aliases]\na = "b"\nb = "a"',
        ".jp/config.toml:1: `assistant.model.id`: model alias cycle detected: a -> b -> a",
    ),
    "an alias that is none": (
        'assistant.model.id = "claud"\nproviders.llm.aliases.claude = "anthropic/x"',
        ".jp/config.toml:1: `assistant.model.id`: `claud` is neither a known alias (did you mean `claude`?) nor "
        "`provider/name` with one of `anthropic`, `cerebras`, `compatible`, `deepseek`, `google`, `llamacpp`, "
        "`lmstudio`, `local`, `ollama`, `openai`, `openrouter`, `xai`",
    ),
    "a model without a name": (
        "assistant.model.id = { provider = 'openai' }",
        ".jp/config.toml:1: `assistant.model.id`: a model needs both a provider and a name",
    ),
}


@pytest.mark.parametrize("case", VALIDATIONS)
def test_what_a_query_cannot_do_without_stops_it(world: Any, case: str):
    text, message = VALIDATIONS[case]
    world.workspace(text)
    assert world.refusal() == message


TOLERATED: dict[str, tuple[str, str]] = {
    "a cycle of aliases that is not used": (
        'assistant.model.id = "openai/x"\n[providers.llm.aliases]\na = "a"',
        ".jp/config.toml:3: `providers.llm.aliases.a`: model alias cycle detected: a -> a; it is left out",
    ),
    "an alias of nothing": (
        'assistant.model.id = "openai/x"\nproviders.llm.aliases.a = "zzz"',
        ".jp/config.toml:2: `providers.llm.aliases.a`: `zzz` is neither a known alias nor `provider/name` with one of "
        "`anthropic`, `cerebras`, `compatible`, `deepseek`, `google`, `llamacpp`, `lmstudio`, `local`, `ollama`, "
        "`openai`, `openrouter`, `xai`; it is left out",
    ),
    "a title model that is none": (
        'conversation.title.generate.model.id = "so"\nproviders.llm.aliases.sol = "openai/x"',
        ".jp/config.toml:1: `conversation.title.generate.model.id`: `so` is neither a known alias (did you "
        "mean `sol`?) nor `provider/name` with one of `anthropic`, `cerebras`, `compatible`, `deepseek`, `google`, `llamacpp`, "
        "`lmstudio`, `local`, `ollama`, `openai`, `openrouter`, `xai`; it is left out",
    ),
    "access for a tool of a server": (
        '[conversation.tools.x]\nsource = "mcp.s"\naccess.fs = [{ path = "." }]',
        ".jp/config.toml:1: `conversation.tools.x`: `access` is only supported on local tools, and the source is "
        "`mcp.s`; the tool is left out",
    ),
    "a label with a name that is none": (
        'conversation.labels."1st" = "x"',
        ".jp/config.toml:1: `conversation.labels.1st`: a label's name must begin with a letter and hold letters, "
        "digits, `_` and `-` only; it is left out",
    ),
    "a server without a command": (
        '[providers.mcp.s]\ntype = "stdio"',
        ".jp/config.toml:1: `providers.mcp.s`: has no `command` and is left out",
    ),
    "a section without content": (
        'assistant.system_prompt_sections = [{ title = "x" }]',
        ".jp/config.toml:1: `assistant.system_prompt_sections.0`: has no `content` and is left out",
    ),
    "a model that only we know": (
        'assistant.model.id = "lmstudio/x"',
        ".jp/config.toml:1: `assistant.model.id`: `lmstudio` is a provider of this server only: the `jp` command "
        "cannot read a file that names it (a conversation keeps it as `llamacpp`)",
    ),
}


@pytest.mark.parametrize("case", TOLERATED)
def test_anything_else_is_left_out_with_a_warning(world: Any, case: str):
    text, message = TOLERATED[case]
    world.workspace(text)
    assert warnings(world) == (message,)


def test_a_model_of_ours_in_a_named_file_of_the_workspace_is_noticed_too(world: Any):
    world.workspace('assistant.model.id = "compatible/x"', "role.toml")
    assert warnings(world, "role.toml")[0].startswith(
        "role.toml:1: `assistant.model.id`: `compatible` is a provider"
    )


def test_a_model_of_ours_in_the_users_own_file_is_no_reason_to_warn(world: Any):
    world.user('assistant.model.id = "local/x"')
    assert warnings(world) == ()


def test_a_model_that_is_not_set_is_the_embedded_one_or_both_ways_out(world: Any):
    world.default_model = ModelId("local", "smollm2-135m")
    resolved = world.settings().resolve([], None)
    assert resolved.model == ModelId("local", "smollm2-135m")
    assert resolved.partial["assistant"]["model"]["id"] == {"provider": "llamacpp", "name": "smollm2-135m"}
    world.default_model = None
    assert world.refusal() == (
        "no model is set: run `jp-lsp local install` for the small built-in one, which needs no key, or set "
        "`assistant.model.id` (or pass `--model`) to a vendor's model and the vendor's API key in the environment"
    )

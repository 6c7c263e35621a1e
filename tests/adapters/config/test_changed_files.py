"""Setting and unsetting keys in a file that the user picks (config-and-tools 1.11)."""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from jp_lsp.config.change_file import FileChange, Outcome, outcome_of, plan_change
from jp_lsp.config.file_edits import Express, SetKey, UnsetKey, Wish
from jp_lsp.config.target import find_target
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.refusal import Refusal


def plan(world: Any, target: str, *wishes: Wish | str) -> FileChange:
    """Work a change out; a text is an expression."""
    settings = world.settings()
    found = find_target(target, settings)
    text = found.path.read_bytes().decode() if found.exists else ""
    asked = [Express(each) if isinstance(each, str) else each for each in wishes]
    return plan_change(settings, found, text, asked)


def change(
    world: Any, target: str, *wishes: Wish | str, conversation: ConversationStream | None = None
) -> tuple[str, Outcome]:
    """Make a change, and give the file's text with what has come of it."""
    planned = plan(world, target, *wishes)
    planned.target.path.parent.mkdir(parents=True, exist_ok=True)
    planned.target.path.write_bytes(planned.after.encode())
    return planned.after, outcome_of(world.settings(), planned, conversation)


def refusal(world: Any, target: str, *wishes: Wish | str) -> str:
    with pytest.raises(Refusal) as caught:
        plan(world, target, *wishes)
    assert caught.value.error.code in {"invalid_params", "config_invalid", "no_workspace"}
    return caught.value.error.message


FILE = """\
# What we agreed on.
extends = ["base.toml"]  # first

[assistant]
name = "Ada"    # after the countess
system_prompt = "Be brief."

[assistant.request]
max_retries = 3
"""


def test_everything_else_stays_to_the_byte(world: Any) -> None:
    world.workspace(FILE)
    world.workspace("", ".jp/base.toml")
    text, outcome = change(world, "workspace", "assistant.name=Bo", UnsetKey("assistant.request.max_retries"))
    assert text == FILE.replace('"Ada"', '"Bo"').replace("max_retries = 3\n", "")
    name, retries = outcome.keys
    assert (name.explanation.key, name.explanation.value, name.state, name.own) == (
        "assistant.name",
        "Bo",
        "wins",
        "Bo",
    )
    assert str(name.explanation.origin) == ".jp/config.toml:5"
    assert (retries.explanation.value, retries.state, retries.explanation.origin.kind) == (
        5,
        "not set",
        "defaults",
    )


VALUES: dict[str, tuple[Wish | str, str]] = {
    "a text": ("user.name=Pixel", '[user]\nname = "Pixel"\n'),
    "a number": ("assistant.request.max_retries=7", "[assistant.request]\nmax_retries = 7\n"),
    "a switch": ("style.lock_wait.show=false", "[style.lock_wait]\nshow = false\n"),
    "a word": ("interrupt.streaming.action=abort", '[interrupt.streaming]\naction = "abort"\n'),
    "a fraction": (
        "assistant.model.parameters.temperature=1",
        "[assistant.model.parameters]\ntemperature = 1.0\n",
    ),
    "a model": ("assistant.model.id=openai/x", '[assistant.model]\nid = "openai/x"\n'),
    "a model of ours": ("assistant.model.id=lmstudio/x", '[assistant.model]\nid = "lmstudio/x"\n'),
    "thinking": (
        "assistant.model.parameters.reasoning=high",
        '[assistant.model.parameters]\nreasoning = { effort = "high" }\n',
    ),
    "a list": ("editor.envs=A, B", '[editor]\nenvs = ["A", "B"]\n'),
    "an item more": ("config_load_paths+=roles", 'config_load_paths = ["roles"]\n'),
    "a list of tables": (
        "assistant.instructions+=Tone",
        '[assistant]\ninstructions = [{ title = "Tone" }]\n',
    ),
    "a prompt": ("assistant.system_prompt=Hi", '[assistant]\nsystem_prompt = "Hi"\n'),
    "more of a prompt": (
        "assistant.system_prompt+=Hi",
        '[assistant]\nsystem_prompt = { value = "Hi", strategy = "append" }\n',
    ),
    "an entry of a map": ("providers.llm.aliases.q=openai/x", '[providers.llm.aliases]\nq = "openai/x"\n'),
    "an unknown parameter": (
        "assistant.model.parameters.seed:=1",
        "[assistant.model.parameters]\nseed = 1\n",
    ),
    "free JSON": ('template.values.x:={"a":[1]}', "[template.values]\nx = { a = [1] }\n"),
    "a duration": ("assistant.request.cache=1h", '[assistant.request]\ncache = "1h"\n'),
    "a table, field by field": (
        'style.lock_wait:={"show":true,"delay_secs":2}',
        "[style.lock_wait]\nshow = true\ndelay_secs = 2\n",
    ),
    "an object of all": ('{"user":{"name":"x"}}', '[user]\nname = "x"\n'),
    "a typed value": (SetKey("editor.envs", ["A"]), '[editor]\nenvs = ["A"]\n'),
    "a typed table": (
        SetKey("assistant.model.parameters.reasoning", {"effort": "low"}),
        '[assistant.model.parameters]\nreasoning = { effort = "low" }\n',
    ),
    "a name with a dot": (
        SetKey('providers.llm.aliases."a.b"', "openai/x"),
        '[providers.llm.aliases]\n"a.b" = "openai/x"\n',
    ),
    "a file to extend": (SetKey("extends", ["x.toml"]), 'extends = ["x.toml"]\n'),
    "many lines": (
        SetKey("assistant.system_prompt", "one\ntwo"),
        '[assistant]\nsystem_prompt = """\none\ntwo"""\n',
    ),
}


@pytest.mark.parametrize("case", VALUES)
def test_a_file_that_is_not_there_is_made(world: Any, case: str) -> None:
    wish, wanted = VALUES[case]
    assert plan(world, "user_global", wish).after == wanted


@pytest.mark.parametrize("case", VALUES)
def test_what_is_set_is_what_the_file_then_says(world: Any, case: str) -> None:
    """In each format; and once more changes nothing, but where something is added."""
    wish, wanted = VALUES[case]
    world.user(wanted, "config.toml")
    path = world.user_config / "config.toml"
    expected = world.settings().sources()[0].steps[0].partial
    path.unlink()
    for extension in ("json", "json5", "yaml"):
        empty = path.with_suffix(f".{extension}")
        empty.write_text("")
        change(world, "user_global", wish)
        (step,) = world.settings().sources()[0].steps
        assert step.origin.path == empty
        assert step.partial == expected
        empty.unlink()


ADDED: dict[str, tuple[str, str, str]] = {
    "to a list": (
        '[editor]\nenvs = ["A"]  # mine\n',
        "editor.envs+=B",
        '[editor]\nenvs = ["A", "B"]  # mine\n',
    ),
    "to tables": (
        '[[assistant.instructions]]\ntitle = "A"\n\n[user]\nname = "x"\n',
        "assistant.instructions+=B",
        '[[assistant.instructions]]\ntitle = "A"\n\n[[assistant.instructions]]\ntitle = "B"\n\n[user]\nname = "x"\n',
    ),
    "to a list that says how it is merged": (
        'assistant.instructions = { value = [{ title = "A" }], strategy = "replace" }\n',
        "assistant.instructions+=B",
        'assistant.instructions = { value = [{ title = "A" }, { title = "B" }], strategy = "replace" }\n',
    ),
    "to a text": (
        'assistant.system_prompt = "A"\n',
        "assistant.system_prompt+=B",
        'assistant.system_prompt = "AB"\n',
    ),
    "to a text that says how it is merged": (
        'assistant.system_prompt = { value = "A", strategy = "prepend" }\n',
        "assistant.system_prompt+=B",
        'assistant.system_prompt = { value = "AB", strategy = "prepend" }\n',
    ),
    "to such a text among comments": (
        '[assistant.system_prompt] # p\nvalue = "A" # v\nstrategy = "append" # s\n',
        "assistant.system_prompt+=B",
        '[assistant.system_prompt] # p\nvalue = "AB" # v\nstrategy = "append" # s\n',
    ),
    "to a text that is not there yet": (
        '[assistant.system_prompt]\nseparator = "line" # s\n',
        "assistant.system_prompt+=B",
        '[assistant.system_prompt]\nseparator = "line" # s\nvalue = "B"\n',
    ),
    "to a map": (
        'conversation.labels = { a = "1" }\n',
        'conversation.labels:+={"b":"2"}',
        'conversation.labels = { a = "1", b = "2" }\n',
    ),
    "in place of a map": (
        'conversation.labels = { a = "1" }\n',
        'conversation.labels:={"b":"2"}',
        'conversation.labels = { b = "2" }\n',
    ),
    "in place of a map in dotted keys": (
        'inherit = true\nproviders.llm.aliases.a = "openai/a"\nproviders.llm.aliases.b = "openai/b"\n',
        'providers.llm.aliases:={"c":"openai/c"}',
        'inherit = true\nproviders.llm.aliases = { c = "openai/c" }\n',
    ),
    "a choice that is a word only in an expression": (
        "",
        "assistant.tool_choice=true",
        '[assistant]\ntool_choice = "required"\n',
    ),
    "a field of one item": (
        '[[assistant.instructions]]\ntitle = "A"\n',
        "assistant.instructions.0.title=B",
        '[[assistant.instructions]]\ntitle = "B"\n',
    ),
    "a field of a short form": (
        'assistant.model.id = "openai/x"\n',
        "assistant.model.id.name=y",
        'assistant.model.id = { provider = "openai", name = "y" }\n',
    ),
    "a key under another spelling": (
        '[providers.mcp.s]\ntype = "stdio"\ncommand = "c"\nargs = ["a"]\n',
        "providers.mcp.s.arguments=b",
        '[providers.mcp.s]\ntype = "stdio"\ncommand = "c"\nargs = ["b"]\n',
    ),
    "nothing": ("user.name = 'x'\n", "user.name:=null", ""),
}


@pytest.mark.parametrize("case", ADDED)
def test_an_expression_is_about_what_the_file_has(world: Any, case: str) -> None:
    text, expression, wanted = ADDED[case]
    world.user(text)
    assert plan(world, "user_global", expression).after == wanted


MCP_SERVER = '[providers.mcp.s]\ntype = "stdio"\ncommand = "c"\n'
LOCAL_TOOL = '[conversation.tools.t]\nsource = "local"\ncommand = "c"\n'
FOREIGN_WORDS: dict[str, tuple[str, Wish | str, str]] = {
    "a key as assignments have it": (
        MCP_SERVER,
        "providers.mcp.s.args=b",
        MCP_SERVER + 'arguments = ["b"]\n',
    ),
    "the same, to add to": (MCP_SERVER, "providers.mcp.s.env+=V", MCP_SERVER + 'variables = ["V"]\n'),
    "such a key in an object": (
        "",
        'providers.mcp.s:={"type":"stdio","command":"c","args":["a"],"env":["V"]}',
        MCP_SERVER + 'arguments = ["a"]\nvariables = ["V"]\n',
    ),
    "in a map": (
        "",
        SetKey("providers.mcp", {"s": {"type": "stdio", "command": "c", "args": ["a"]}}),
        MCP_SERVER + 'arguments = ["a"]\n',
    ),
    "in an item": (
        "",
        SetKey("conversation.attachments", [{"kind": "cmd", "path": "x"}]),
        '[[conversation.attachments]]\ntype = "cmd"\npath = "x"\n',
    ),
    "in an item that is added": (
        'conversation.attachments = ["file:a"]\n',
        'conversation.attachments:+=[{"kind":"cmd","path":"x"}]',
        'conversation.attachments = ["file:a", { type = "cmd", path = "x" }]\n',
    ),
    "in an item of a list that says how to merge": (
        "",
        SetKey("conversation.attachments", {"value": [{"kind": "cmd", "path": "x"}], "strategy": "replace"}),
        '[conversation.attachments]\nstrategy = "replace"\n\n'
        '[[conversation.attachments.value]]\ntype = "cmd"\npath = "x"\n',
    ),
    "an effort alone": (
        "",
        "assistant.model.parameters.reasoning=high",
        '[assistant.model.parameters]\nreasoning = { effort = "high" }\n',
    ),
    "an effort in tokens": (
        "",
        SetKey("assistant.model.parameters", {"reasoning": 2048}),
        "[assistant.model.parameters]\nreasoning = { effort = { absolute = 2048 } }\n",
    ),
    "a word for reasoning that it knows": (
        "",
        "assistant.model.parameters.reasoning=off",
        '[assistant.model.parameters]\nreasoning = "off"\n',
    ),
    "a title alone": (
        "",
        'assistant.instructions:=["Tone"]',
        '[[assistant.instructions]]\ntitle = "Tone"\n',
    ),
    "a switch for a choice": (
        "",
        SetKey("assistant.tool_choice", value=False),
        '[assistant]\ntool_choice = "none"\n',
    ),
    "names of a map that look like such a key": (
        LOCAL_TOOL,
        'conversation.tools.t.options:={"args":{"kind":"x"}}',
        LOCAL_TOOL + 'options = { args = { kind = "x" } }\n',
    ),
}


@pytest.mark.requirement("G18")
@pytest.mark.parametrize("case", FOREIGN_WORDS)
def test_a_file_is_written_in_words_of_the_command_line_tool(world: Any, case: str) -> None:
    """We read more than it does, and it refuses a whole file for one word (config-and-tools 1.6, 3.3)."""
    text, wish, wanted = FOREIGN_WORDS[case]
    world.user(text)
    after = plan(world, "user_global", wish).after
    assert (tomllib.loads(after), after.startswith(text)) == (tomllib.loads(wanted), wanted.startswith(text))


BAD: dict[str, tuple[Wish | str, str]] = {
    "a misspelt key": ("assistant.nme=x", "`assistant.nme`: unknown key; did you mean `assistant.name`?"),
    "a misspelt typed key": (
        SetKey("assistant.nme", "x"),
        "`assistant.nme`: unknown key; did you mean `assistant.name`?",
    ),
    "a key that is unset and unknown": (
        UnsetKey("asistant.name"),
        "`asistant`: unknown key; did you mean `assistant`?",
    ),
    "a part of a value": (
        SetKey("assistant.name.x", "y"),
        "`assistant.name.x`: unknown key; `assistant.name` is a value without parts",
    ),
    "a wrong word": (
        SetKey("interrupt.streaming.action", "halt"),
        "`interrupt.streaming.action`: expected one of `prompt`, `continue`, `stop`, `abort`, `reply`, got `halt`",
    ),
    "a wrong type": (
        SetKey("assistant.request.max_retries", "many"),
        "`assistant.request.max_retries`: expected a whole number from 0 to 4294967295, got `many`",
    ),
    "a text that is no number": (
        "assistant.request.max_retries=many",
        "`assistant.request.max_retries`: type error: expected a whole number from 0 to 4294967295, got `many`",
    ),
    "an item that is not there": (
        SetKey("assistant.instructions.3.title", "x"),
        "`assistant.instructions.3`: unknown index; the file has 0 items there, with numbers from 0",
    ),
    "a value that breaks a rule": (
        "assistant.request.stream_idle_timeout_secs=5",
        "`assistant.request.stream_idle_timeout_secs`: must be 0 or at least 10, got 5",
    ),
    "an alias of nothing": (
        "assistant.model.id=fats",
        "`assistant.model.id`: `fats` is neither a known alias (did you mean `fast`?) nor "
        "`provider/name` with one of `anthropic`, `cerebras`, `compatible`, `deepseek`, `google`, `llamacpp`, "
        "`lmstudio`, `local`, `ollama`, `openai`, `openrouter`, `xai`",
    ),
    "a file": ("roles/dev", "`roles/dev`: a file is not copied into another one; name it in `extends`"),
    "a password": (
        SetKey("providers.llm.ollama.base_url", "http://me:pass@localhost"),
        "this address has a password in it, which does not belong into a file of the workspace; choose "
        "`user_workspace` or `user_global`",
    ),
    "null in TOML": (
        "template.values.x:=null",
        ".jp/config.toml: TOML has no null; take the key away instead",
    ),
}


@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize("case", BAD)
def test_a_key_or_value_that_is_wrong_changes_nothing(world: Any, case: str, exists: bool) -> None:
    world.user('providers.llm.aliases.fast = "openai/x"')
    if exists:
        world.workspace("\n")
    wish, message = BAD[case]
    found = refusal(world, "workspace", "user.name=fine", wish)
    assert re.sub(r"^\.jp/config\.toml:\d+: ", "", found) == message
    assert (world.root / ".jp" / "config.toml").exists() is exists


def test_what_was_wrong_before_is_no_reason_to_refuse(world: Any) -> None:
    world.workspace("[assistant]\nnme = 1\n")
    text, outcome = change(world, "workspace", "assistant.name=x")
    assert text == '[assistant]\nnme = 1\nname = "x"\n'
    assert [problem.key for problem in outcome.problems if problem.severity == "error"] == ["assistant.nme"]


def test_a_file_that_cannot_be_read_is_left_alone(world: Any) -> None:
    world.workspace("a = = b\n")
    assert (
        refusal(world, "workspace", "user.name=x")
        == ".jp/config.toml:1: not valid TOML: Invalid value; mend it first"
    )


def test_the_answer_says_who_has_more_weight(world: Any) -> None:
    world.environ["JP_CFG_ASSISTANT_NAME"] = "Env"
    world.workspace('user.name = "w"', ".jp.toml")
    _, outcome = change(world, "workspace", "assistant.name=Bo", "user.name=x", "editor.envs=A")
    shadows = {each.explanation.key: (each.state, str(each.explanation.origin)) for each in outcome.keys}
    assert shadows == {
        "assistant.name": ("shadowed", "JP_CFG_ASSISTANT_NAME"),
        "user.name": ("shadowed", ".jp.toml:1"),
        "editor.envs": ("wins", ".jp/config.toml:8"),
    }


@pytest.mark.requirement("G10")
def test_a_conversation_that_hides_the_change_is_named(world: Any) -> None:
    world.workspace('assistant.name = "old"')
    stream = ConversationStream.new(Timestamp(0), world.settings().resolve([], None).partial)
    _, outcome = change(world, "workspace", "assistant.name=new", conversation=stream)
    (key,) = outcome.keys
    assert (key.state, key.explanation.value) == ("shadowed", "old")
    assert key.explanation.origin is not None
    assert key.explanation.origin.kind == "conversation"


# ----------------------------------------------------------------------------------------------- which file


def test_a_layer_is_called_as_explain_calls_it(world: Any) -> None:
    world.cwd = world.root / "src"
    world.cwd.mkdir()
    paths = {
        "user_global": world.user_config / "config.toml",
        "workspace": world.root / ".jp" / "config.toml",
        "cwd": world.root / "src" / ".jp.toml",
        "user_workspace": world.user_workspace / "config.toml",
    }
    for word, path in paths.items():
        text, outcome = change(world, word, "user.name=x")
        assert path.read_text() == text
        assert [each.state for each in outcome.keys] == ["wins"]
        path.unlink()


def test_a_layer_that_is_written_in_another_format_stays_in_it(world: Any) -> None:
    world.workspace("user:  # you\n  name: x\n", ".jp/config.yaml")
    text, _ = change(world, "workspace", "user.name=Pixel", "assistant.name=Bo")
    assert text == "user:  # you\n  name: Pixel\nassistant:\n  name: Bo\n"


@pytest.mark.parametrize("word", ["personas/dev", "dev", ".jp/config/personas/dev.toml"])
def test_a_persona_is_changed_by_name_or_path(world: Any, word: str) -> None:
    world.workspace('config_load_paths = [".jp/config", ".jp/config/personas"]')
    path = world.workspace("# The developer.\n", ".jp/config/personas/dev.toml")
    text, outcome = change(world, word, "assistant.name=Dev")
    assert (text, path.read_text()) == ('# The developer.\n\n[assistant]\nname = "Dev"\n',) * 2
    assert outcome.expression is not None
    assert world.settings().resolve([outcome.expression], None).assistant_name == "Dev"
    assert [each.state for each in outcome.keys] == ["wins"]


def test_a_file_that_a_layer_extends(world: Any) -> None:
    world.workspace('extends = ["config.d/*.toml"]')
    path = world.workspace('assistant.name = "x"\n', ".jp/config.d/a.toml")
    _, outcome = change(world, path.as_uri(), "assistant.name=Bo")
    assert [(each.state, each.explanation.value) for each in outcome.keys] == [("wins", "Bo")]
    assert outcome.expression is None


def test_a_file_of_the_users_that_is_extended_from_anywhere(world: Any, tmp_path: Path) -> None:
    world.user('extends = ["../shared/base.toml"]')
    path = tmp_path / "home" / "shared" / "base.toml"
    path.parent.mkdir()
    path.write_text("")
    change(world, str(path), "assistant.name=Bo")
    assert world.settings().resolve([], None).assistant_name == "Bo"


def test_a_file_that_nothing_reads_says_so(world: Any) -> None:
    world.workspace("", ".jp/config.d/a.toml")
    _, outcome = change(world, ".jp/config.d/a.toml", "assistant.name=Bo")
    assert [each.state for each in outcome.keys] == ["unread"]
    assert outcome.unread is not None
    assert outcome.unread.startswith("nothing reads this file")


def test_a_layer_that_is_sealed_off_says_so(world: Any) -> None:
    world.workspace("inherit = false")
    _, outcome = change(world, "cwd", "assistant.name=Bo")
    assert outcome.unread == "nothing reads this file: `inherit` is false in .jp/config.toml"


REFUSED: dict[str, tuple[str, str]] = {
    "any other file": (
        "notes.toml",
        "`notes.toml` is no file that configuration is read from",
    ),
    "an absolute path": (
        "/etc/other.toml",
        "`/etc/other.toml` is no file that configuration is read from; `jp/config/list` names those",
    ),
    "a URI": ("file:///etc/other.toml", "`/etc/other.toml` is no file that configuration is read from"),
    "no name": ("", "say which file: `user_global`, `workspace`, `cwd`, `user_workspace`, a path or a name"),
    "another format of a place": (
        ".jp/config.yaml",
        "`.jp/config.toml` is there already, and only one of the two would be read",
    ),
    "a link out of the workspace": (
        "cwd",
        "`.jp.toml` is a link that leads out of the workspace; change `/etc/hosts.toml` itself",
    ),
    "a folder": (".jp/folder.toml", "`.jp/folder.toml` is no file"),
}


@pytest.mark.parametrize("name", ["project", "linked"])
def test_a_link_into_the_users_own_configuration_is_not_followed(world: Any, name: str) -> None:
    """Nor is it where the workspace was opened through a link itself, however its files are named then."""
    own = world.user("")
    (world.root / ".jp.toml").symlink_to(own)
    real = world.root / ".jp.toml"
    world.root = world.cwd = _opened_through(world.root, name)
    for word in ("cwd", real.as_uri(), (world.root / ".jp.toml").as_uri()):
        assert refusal(world, word, "user.name=x").endswith(
            f"is a link that leads out of the workspace; change `{own}` itself"
        )


@pytest.mark.parametrize("name", ["project", "linked"])
def test_no_password_gets_into_a_workspace_that_was_opened_through_a_link(world: Any, name: str) -> None:
    world.root = world.cwd = _opened_through(world.root, name)
    address = SetKey("providers.llm.ollama.base_url", "http://me:pass@localhost")
    assert refusal(world, "workspace", address).startswith("this address has a password in it")


def _opened_through(root: Path, name: str) -> Path:
    link = root.with_name(name)
    if link != root:
        link.symlink_to(root)
    return link


@pytest.mark.parametrize("case", REFUSED)
def test_only_configuration_is_changed(world: Any, case: str) -> None:
    word, message = REFUSED[case]
    world.workspace("")
    world.workspace("", "notes.toml")
    (world.root / ".jp.toml").symlink_to("/etc/hosts.toml")
    (world.root / ".jp" / "folder.toml").mkdir()
    assert refusal(world, word, "user.name=x") == message


def test_a_name_of_two_files_is_ambiguous(world: Any) -> None:
    world.workspace('config_load_paths = ["roles"]')
    world.workspace("", "roles/dev.toml")
    world.user("", "config/roles/dev.toml")
    assert refusal(world, "dev", "user.name=x").startswith("this name stands for several files (")


def test_the_file_behind_a_link_of_the_users_is_changed(world: Any, tmp_path: Path) -> None:
    real = tmp_path / "home" / "dotfiles.toml"
    real.parent.mkdir(exist_ok=True)
    real.write_text("# kept elsewhere\n")
    world.user_config.mkdir(parents=True)
    (world.user_config / "config.toml").symlink_to(real)
    change(world, "user_global", "user.name=x")
    assert real.read_text() == '# kept elsewhere\n\n[user]\nname = "x"\n'
    assert (world.user_config / "config.toml").is_symlink()


# -------------------------------------------------------------------------------------------------- trust


def questions(world: Any, target: str, *wishes: Wish | str) -> Sequence[str]:
    return change(world, target, *wishes)[1].questions


SERVER = 'providers.mcp.s:={"type":"stdio","command":"run-me"}'


def test_a_program_in_the_workspace_is_asked_about_and_one_of_the_users_is_not(world: Any) -> None:
    """What is set is trusted no more than what was written by hand (10.4)."""
    assert questions(world, "workspace", SERVER) == (".jp/config.toml:1: run-me",)
    (world.root / ".jp" / "config.toml").unlink()
    assert questions(world, "user_global", SERVER) == ()


def test_an_address_in_the_workspace_is_asked_about(world: Any) -> None:
    (question,) = questions(world, "workspace", "providers.llm.openai.base_url=https://elsewhere.example")
    assert "elsewhere.example" in question


def test_trust_that_was_given_does_not_cover_what_is_set_later(world: Any) -> None:
    world.workspace('[providers.mcp.s]\ntype = "stdio"\ncommand = "old"\n')
    trusted = world.settings().resolve([], None).trust_hash
    change(world, "workspace", "providers.mcp.s.command=new")
    assert world.settings().resolve([], None).trust_hash != trusted

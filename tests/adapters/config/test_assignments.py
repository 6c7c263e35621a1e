"""The `--cfg` expression language (config-and-tools 1.6)."""

from collections.abc import Callable
from typing import Any

import pytest

from jp_lsp.config.assign import AssignmentError, assign_change
from jp_lsp.config.expression import Assignment, Expression, ExpressionError, FileReference, parse_expression
from jp_lsp.config.layer import Change, Origin
from jp_lsp.config.problem import Report
from jp_lsp.config.read import read_table
from jp_lsp.config.schema import SCHEMA
from jp_lsp.config.value import EMPTY, Partial
from jp_lsp.config.write import write_table

ORIGIN = Origin("request", "--cfg")


def assigned(*expressions: str, to: Partial = EMPTY) -> Partial:
    for text in expressions:
        expression = parse_expression(text)
        assert isinstance(expression, Assignment)
        change = Change(ORIGIN, expression.key, expression.value, expression.is_json, expression.merges)
        to = assign_change(to, change)
    return to


def written(*expressions: str, to: Partial = EMPTY) -> Any:
    return write_table(SCHEMA, assigned(*expressions, to=to))


def at(tree: Any, key: str) -> Any:
    for name in key.split("/"):
        tree = tree[int(name)] if isinstance(tree, list) else tree[name]
    return tree


def error_of(*expressions: str, to: Partial = EMPTY) -> str:
    with pytest.raises(AssignmentError) as caught:
        assigned(*expressions, to=to)
    return str(caught.value)


CLASSES: dict[str, Expression] = {
    "@x=y": FileReference("x=y"),
    "@{x": FileReference("{x"),
    "@NONE": FileReference("NONE"),
    "./NONE": FileReference("./NONE"),
    "none": FileReference("none"),
    "roles/reviewer": FileReference("roles/reviewer"),
    "a.toml": FileReference("a.toml"),
    '{"user": {"name": "a=b"}}': Assignment("", {"user": {"name": "a=b"}}, is_json=True),
    "user.name=a=b": Assignment("user.name", "a=b"),
    "user.name=": Assignment("user.name", ""),
    'user.name:="a"': Assignment("user.name", "a", is_json=True),
    "editor.envs+=a": Assignment("editor.envs", "a", merges=True),
    'editor.envs:+=["a"]': Assignment("editor.envs", ["a"], is_json=True, merges=True),
    'editor.envs+:=["a"]': Assignment("editor.envs", ["a"], is_json=True, merges=True),
    "x::=1": Assignment("x:", 1, is_json=True),
}


@pytest.mark.parametrize("text", CLASSES)
def test_an_argument_is_classified(text: str):
    assert parse_expression(text) == CLASSES[text]


NO_EXPRESSIONS = {
    "NONE": "`NONE` is a reserved word that this version cannot follow yet; for a file of that name write `@NONE` "
    "or `./NONE`",
    "WORKSPACE": "`WORKSPACE` is a reserved word that this version cannot follow yet; for a file of that name write "
    "`@WORKSPACE` or `./WORKSPACE`",
    "=x": "unable to parse key-value pair `=x`; write `<key>=<value>`, `<key>:=<json>`, `<key>+=<value>`, "
    "`<key>:+=<json>`",
    ":+=x": "unable to parse key-value pair `:+=x`; write `<key>=<value>`, `<key>:=<json>`, `<key>+=<value>`, "
    "`<key>:+=<json>`",
    "@": "a file needs a name; write `@name`, or an assignment as `<key>=<value>`, `<key>:=<json>`, "
    "`<key>+=<value>`, `<key>:+=<json>`",
    "": "a file needs a name; write `@name`, or an assignment as `<key>=<value>`, `<key>:=<json>`, "
    "`<key>+=<value>`, `<key>:+=<json>`",
}


@pytest.mark.parametrize("text", NO_EXPRESSIONS)
def test_an_argument_that_says_nothing_is_refused(text: str):
    with pytest.raises(ExpressionError) as caught:
        parse_expression(text)
    assert str(caught.value) == NO_EXPRESSIONS[text]


BAD_JSON = ["{", "user.name:={", "user.name:=NaN", "user.name:=" + "[" * 100_000, "x:=1" + "0" * 5000]


@pytest.mark.parametrize("text", BAD_JSON)
def test_bad_json_is_a_parse_error(text: str):
    with pytest.raises(AssignmentError, match=r"parse error: .* is not JSON"):
        parse_expression(text)


# One accepted and one rejected example for each row of the conversion table.
CONVERSIONS: dict[str, tuple[str, str, object]] = {
    "string as is": ("assistant.name= a ", "assistant/name", " a "),
    "string may be empty": ("assistant.name=", "assistant/name", ""),
    "string from json": ('assistant.name:="a"', "assistant/name", "a"),
    "bool": ("style.code.color=false", "style/code/color", False),
    "bool from json": ("style.code.color:=false", "style/code/color", False),
    "u32": ("assistant.request.max_retries=3", "assistant/request/max_retries", 3),
    "u32 from json": ("assistant.request.max_retries:=4294967295", "assistant/request/max_retries", 4294967295),
    "float": ("assistant.model.parameters.temperature=1", "assistant/model/parameters/temperature", 1.0),
    "float from json": ("assistant.model.parameters.top_p:=0.5", "assistant/model/parameters/top_p", 0.5),
    "float from text in json": ('assistant.model.parameters.top_p:="0.5"', "assistant/model/parameters/top_p", 0.5),
    "enum": ("interrupt.streaming.action=stop", "interrupt/streaming/action", "stop"),
    "enum from json": ('interrupt.streaming.action:="stop"', "interrupt/streaming/action", "stop"),
    "enum with a second spelling": ("style.code.file_link=true", "style/code/file_link", "full"),
    "enable": (
        "conversation.tools.t.enable=explicit",
        "conversation/tools/t/enable",
        {"state": False, "allow_toggle": "if_named"},
    ),
    "enable from json": (
        "conversation.tools.t.enable:=true",
        "conversation/tools/t/enable",
        {"state": True, "allow_toggle": "any"},
    ),
    "enable as a table": ('conversation.tools.t.enable:={"state":false}', "conversation/tools/t/enable", {"state": False}),
    "a part of enable": ("conversation.tools.t.enable.state=false", "conversation/tools/t/enable", {"state": False}),
    "cache": ("assistant.request.cache=long", "assistant/request/cache", "long"),
    "cache short": ("assistant.request.cache=short", "assistant/request/cache", True),
    "cache off": ("assistant.request.cache:=false", "assistant/request/cache", False),
    "cache for a time": ("assistant.request.cache=90s", "assistant/request/cache", "1m 30s"),
    "list of strings": ("editor.envs= a , ,b", "editor/envs", ["a", "b"]),
    "empty list": ("editor.envs=", "editor/envs", []),
    "list from json": ('editor.envs:=["a,b"]', "editor/envs", ["a,b"]),
    "list from text in json": ('editor.envs:="a,b"', "editor/envs", ["a", "b"]),
    "list of tables": (
        "assistant.instructions=Tone,Style",
        "assistant/instructions",
        [{"title": "Tone"}, {"title": "Style"}],
    ),
    "sections": ("assistant.system_prompt_sections=Hi", "assistant/system_prompt_sections", [{"content": "Hi"}]),
    "attachments": ("conversation.attachments=file:a,cmd:date", "conversation/attachments", ["file:a", "cmd:date"]),
    "list of tables from json": (
        'conversation.attachments:=["file:a",{"type":"cmd","path":"date"}]',
        "conversation/attachments",
        ["file:a", {"type": "cmd", "path": "date"}],
    ),
    "nested table": ('style.lock_wait:={"show":false}', "style/lock_wait", {"show": False}),
    "map of tables": (
        'providers.llm.aliases:={"a":"openai/x"}',
        "providers/llm/aliases",
        {"a": {"provider": "openai", "name": "x"}},
    ),
    "entry of a map": (
        "providers.mcp.s.command=x",
        "providers/mcp/s/command",
        "x",
    ),
    "labels": ("conversation.labels.a=b", "conversation/labels", {"a": "b"}),
    "labels as a whole": ('conversation.labels:={"a":"b"}', "conversation/labels", {"a": "b"}),
    "labels that say how to merge": (
        'conversation.labels:={"value":{"a":"b"},"strategy":"keep"}',
        "conversation/labels",
        {"value": {"a": "b"}, "strategy": "keep"},
    ),
    "a list that says how to merge": (
        'conversation.attachments:={"value":["file:a"],"dedup":true}',
        "conversation/attachments",
        {"value": ["file:a"], "strategy": "append", "dedup": True, "discard_when_merged": False},
    ),
    "options": ("conversation.tools.t.options.x:=[1]", "conversation/tools/t/options/x", [1]),
    "parameters of a tool": (
        'conversation.tools.t.parameters:={"p":{"type":"string"}}',
        "conversation/tools/t/parameters",
        {"p": {"type": "string"}},
    ),
    "questions of a tool": (
        'conversation.tools.t.questions:={"q":{"answer":null}}',
        "conversation/tools/t/questions",
        {"q": {"answer": None}},
    ),
    "model id": ("assistant.model.id=openai/a/b", "assistant/model/id", {"provider": "openai", "name": "a/b"}),
    "alias": ("assistant.model.id=fast", "assistant/model/id", "fast"),
    "reasoning word": ("assistant.model.parameters.reasoning=high", "assistant/model/parameters/reasoning", {"effort": "high"}),
    "reasoning number": (
        "assistant.model.parameters.reasoning.effort=2048",
        "assistant/model/parameters/reasoning",
        {"effort": {"absolute": 2048}},
    ),
    "reasoning off": ("assistant.model.parameters.reasoning=off", "assistant/model/parameters/reasoning", "off"),
    "an unknown parameter": ("assistant.model.parameters.seed:=7", "assistant/model/parameters/other", {"seed": 7}),
    "an unknown parameter as text": ("assistant.model.parameters.seed=7", "assistant/model/parameters/other", {"seed": "7"}),
    "a part of an unknown parameter": (
        "assistant.model.parameters.a.b:=1",
        "assistant/model/parameters/other",
        {"a": {"b": 1}},
    ),
    "tool choice": ("assistant.tool_choice:=true", "assistant/tool_choice", "required"),
    "tool choice as text": ("assistant.tool_choice=false", "assistant/tool_choice", "none"),
    "prompt": ("assistant.system_prompt=Hi", "assistant/system_prompt", "Hi"),
    "command": ("conversation.tools.t.command=a b", "conversation/tools/t/command", "a b"),
    "a part of a command": ("conversation.tools.t.command.program=a", "conversation/tools/t/command", {"program": "a"}),
    "duration": ("style.typewriter.text_delay=1500us", "style/typewriter/text_delay", "1ms 500us"),
    "colour": ("style.inline_code.background=12", "style/inline_code/background", 12),
    "reasoning display": ("style.reasoning.display=80", "style/reasoning/display", 80),
    "results": ("conversation.tools.*.style.inline_results=5", "conversation/tools/*/style/inline_results", {"truncate": {"lines": 5}}),
    "template value": ("template.values.x.y=1", "template/values/x", {"y": "1"}),
    "another spelling of arguments": ("providers.mcp.s.args=a", "providers/mcp/s/arguments", ["a"]),
    "another spelling of variables": ("providers.mcp.s.env=A", "providers/mcp/s/variables", ["A"]),
    "another spelling of checksum": ("providers.mcp.s.binary_checksum.value=ab", "providers/mcp/s/checksum", {"value": "ab"}),
    "another spelling of type": (
        'conversation.attachments:=[{"kind":"cmd","path":"x"}]',
        "conversation/attachments",
        [{"type": "cmd", "path": "x"}],
    ),
    "a whole object": ('{"user":{"name":"x"}}', "user/name", "x"),
}  # fmt: skip


@pytest.mark.parametrize("case", CONVERSIONS)
def test_a_value_is_converted_to_what_the_key_takes(case: str):
    expression, key, expected = CONVERSIONS[case]
    found = at(written(expression), key)
    assert found == expected
    assert type(found) is type(expected)


REJECTED: dict[str, str] = {
    "assistant.name:=1": "assistant.name: type error: expected text, got 1",
    "style.code.color=yes": "style.code.color: type error: expected `true` or `false`, got `yes`",
    "style.code.color:=1": "style.code.color: type error: expected true or false, got 1",
    "assistant.request.max_retries=-1": "assistant.request.max_retries: type error: expected a whole number from 0 to "
    "4294967295, got -1",
    "assistant.request.max_retries=1.5": "assistant.request.max_retries: type error: expected a whole number from 0 to "
    "4294967295, got `1.5`",
    "assistant.request.max_retries:=4294967296": "assistant.request.max_retries: type error: expected a whole number "
    "from 0 to 4294967295, got 4294967296",
    "assistant.request.max_retries:=true": "assistant.request.max_retries: type error: expected a whole number from 0 "
    "to 4294967295, got true",
    "assistant.model.parameters.temperature:=1": "assistant.model.parameters.temperature: type error: expected a "
    "number with a fraction, such as 1.0, or text, got 1",
    "assistant.model.parameters.temperature=warm": "assistant.model.parameters.temperature: type error: expected a "
    "number, got `warm`",
    "interrupt.streaming.action=pause": "interrupt.streaming.action: type error: expected one of `prompt`, `continue`, "
    "`stop`, `abort`, `reply`, got `pause`",
    "conversation.tools.t.enable=perhaps": "conversation.tools.t.enable: type error: expected true, false, `explicit`, "
    "`always`, or a table with `state` and `allow_toggle`, got `perhaps`",
    'conversation.tools.t.enable:={"status":true}': "conversation.tools.t.enable.status: unknown key; did you mean "
    "`conversation.tools.t.enable.state`?",
    "assistant.request.cache:=7": "assistant.request.cache: type error: expected true, false, `short`, `long`, `off` "
    "or a duration, got 7",
    "editor.envs:=[1]": "editor.envs.0: type error: expected text, got 1",
    "editor.envs:=1": "editor.envs: type error: expected a list, or text, got 1",
    "conversation.attachments=no-url": "conversation.attachments: type error: expected a URL, or a table with `type` "
    "and `path`, got `no-url`",
    "style.lock_wait=1": "style.lock_wait: type error: expected a JSON object, got `1`",
    "providers.llm.aliases=x": "providers.llm.aliases: type error: expected a JSON object, got `x`",
    "conversation.tools.t.parameters.p.type=string": "conversation.tools.t.parameters.p.type: unknown key: "
    "`conversation.tools.t.parameters` is assigned as a whole, as JSON: `conversation.tools.t.parameters:={...}`",
    "conversation.tools.t.questions.q.answer=1": "conversation.tools.t.questions.q.answer: unknown key: "
    "`conversation.tools.t.questions` is assigned as a whole, as JSON: `conversation.tools.t.questions:={...}`",
    "assistant.nme=x": "assistant.nme: unknown key; did you mean `assistant.name`?",
    "assistant.zzz=x": "assistant.zzz: unknown key; known here: `assistant.name`, `assistant.system_prompt`, "
    "`assistant.system_prompt_sections`, `assistant.instructions`, `assistant.tool_choice`, `assistant.model`, "
    "`assistant.request`",
    "extends=a.toml": "extends: unknown key; known here: `inherit`, `config_load_paths`, `assistant`, `conversation`, "
    "`style`, `interrupt`, `editor`, `template`, `providers`, `plugins`, `user`",
    "assistant.name.first=x": "assistant.name.first: unknown key: `assistant.name` is a value without parts",
    "assistant.system_prompt.value=x": "assistant.system_prompt.value: unknown key: only the whole of "
    "`assistant.system_prompt` can be assigned",
    "assistant.instructions.0.title=x": "assistant.instructions.0: unknown index 0; the list has 0 items",
    "assistant.instructions.first.title=x": "assistant.instructions.first: unknown key: `assistant.instructions` is a "
    "list; its items have numbers from 0",
    "assistant.model.id=opnai/x": "assistant.model.id: type error: expected a provider, one of `anthropic`, "
    "`cerebras`, `compatible`, `deepseek`, `google`, `llamacpp`, `lmstudio`, `local`, `ollama`, `openai`, "
    "`openrouter`, `xai` (did you mean `openai`?), got `opnai`",
    "assistant.model.id=openai/a b": "assistant.model.id: type error: expected a model name of letters, digits and "
    "`_ . : / ~ -`, got `a b`",
    "assistant.model.parameters.reasoning=hgh": "assistant.model.parameters.reasoning: type error: expected `off`, "
    "`auto`, an effort (one of `none`, `auto`, `xlow`, `low`, `medium`, `high`, `xhigh`, `max`, or a number of "
    "tokens) or a table with `effort`, got `hgh`",
    "conversation.tools.t.command=a 'b": "conversation.tools.t.command: type error: expected a command line in which "
    "every quotation ends, got `a 'b`",
    """editor.cmd:="vi 'x\"""": "editor.cmd: type error: expected a command line in which every quotation ends, got `vi 'x`",
    "conversation.tools.t.style.parameters=fmt 'x": "conversation.tools.t.style.parameters: type error: expected a command "
    "line in which every quotation ends, got `fmt 'x`",
    "conversation.tools.t.source=mcp": "conversation.tools.t.source: type error: expected a source that names its "
    "server, such as `mcp.SERVER`, got `mcp`",
    "conversation.tools.t.source=npm.x": "conversation.tools.t.source: type error: expected `builtin`, `local` or "
    "`mcp.SERVER`, each with an optional `.TOOL`, got `npm.x`",
    "style.typewriter.text_delay=3 parsecs": "style.typewriter.text_delay: type error: expected a duration such as "
    "`3ms` or `1h 30m`, got `3 parsecs`",
    'conversation.attachments:=[{"type":"cmd","path":"x","params":{"a":1}}]': "conversation.attachments.0.params.a: "
    "type error: expected text, or a list of texts, got 1",
    "conversation.tools.t.type=x": "conversation.tools.t.type: unknown key; known here: ",
}


@pytest.mark.parametrize("expression", REJECTED)
def test_a_value_that_does_not_fit_is_an_error_that_names_key_and_kind(expression: str):
    message = error_of(expression)
    assert message == REJECTED[expression] or (
        REJECTED[expression].endswith(": ") and message.startswith(REJECTED[expression])
    )


def tree_of(raw: Any) -> Partial:
    report = Report()
    tree = read_table(SCHEMA, raw, report)
    assert report.findings == []
    return tree


FMT = tree_of(
    {"conversation": {"tools": {"fmt": {"source": "local", "command": "fmt", "summary": "Formats."}}}}
)


@pytest.mark.requirement("F38")
def test_an_object_is_assigned_field_by_field_and_null_clears():
    first = written('conversation.tools.fmt:={"run":"unattended"}', to=FMT)
    assert at(first, "conversation/tools/fmt") == {
        "source": "local", "command": "fmt", "summary": "Formats.", "run": "unattended",
    }  # fmt: skip
    second = written(
        'conversation.tools.fmt:={"run":"unattended"}', 'conversation.tools.fmt:={"summary":null}', to=FMT
    )
    assert at(second, "conversation/tools/fmt") == {"source": "local", "command": "fmt", "run": "unattended"}


@pytest.mark.requirement("F38")
def test_a_map_is_replaced_as_a_whole_or_extended():
    aliases = tree_of({"providers": {"llm": {"aliases": {"a": "openai/x"}}}})
    replaced = written('providers.llm.aliases:={"b":"openai/y"}', to=aliases)
    extended = written('providers.llm.aliases:+={"b":"openai/y"}', to=aliases)
    assert list(at(replaced, "providers/llm/aliases")) == ["b"]
    assert list(at(extended, "providers/llm/aliases")) == ["a", "b"]


@pytest.mark.requirement("F38")
def test_a_scalar_in_place_of_an_object_is_a_type_error_that_names_the_key():
    assert error_of("conversation.tools.fmt:=1", to=FMT) == (
        "conversation.tools.fmt: type error: expected a JSON object, got 1"
    )


CLEARED: dict[str, str] = {
    "a scalar": "assistant.name:=null",
    "a list": "editor.envs:=null",
    "a table": "style.lock_wait:=null",
    "an entry of a map": "providers.llm.aliases.a:=null",
    "a union": "assistant.model.parameters.reasoning:=null",
    "a prompt": "assistant.system_prompt:=null",
    "within an object": '{"assistant":{"name":null}}',
}


@pytest.mark.parametrize("case", CLEARED)
def test_null_clears_any_optional_key(case: str):
    held = tree_of(
        {
            "assistant": {"name": "x", "system_prompt": "p", "model": {"parameters": {"reasoning": "off"}}},
            "editor": {"envs": ["a"]},
            "style": {"lock_wait": {"show": False}},
            "providers": {"llm": {"aliases": {"a": "b"}}},
        }
    )
    changed = written(CLEARED[case], to=held)
    assert changed != write_table(SCHEMA, held)
    assert len(str(changed)) < len(str(write_table(SCHEMA, held)))


def test_null_is_a_value_of_free_json():
    assert at(written("template.values.x:=null"), "template/values") == {"x": None}


@pytest.mark.requirement("G5")
def test_trap_05_setting_a_list_replaces_what_lies_below_and_merging_appends(
    world: Any, value_of: Callable[..., Any]
):
    world.workspace('[[assistant.instructions]]\ntitle = "Old"\n')
    assert [item["title"] for item in value_of("assistant.instructions")] == ["Old"]
    assert [item["title"] for item in value_of("assistant.instructions", "assistant.instructions=New")] == [
        "New"
    ]
    both = value_of("assistant.instructions", "assistant.instructions+=New")
    assert [item["title"] for item in both] == ["Old", "New"]
    world.workspace('[[assistant.instructions]]\ntitle = "Added"\n', ".jp.toml")
    assert [item["title"] for item in value_of("assistant.instructions")] == ["Old", "Added"]


@pytest.mark.parametrize(
    ("dedup", "added", "replaced"),
    [
        ("true", ["file:a", "file:b"], ["file:c"]),
        ("false", ["file:a", "file:b", "file:a"], ["file:c", "file:c"]),
    ],
)
def test_what_a_file_says_about_doubles_holds_for_assignments(
    world: Any, value_of: Callable[..., Any], dedup: str, added: list[str], replaced: list[str]
):
    world.workspace(f'conversation.attachments = {{ value = ["file:a"], dedup = {dedup} }}')
    key = "conversation.attachments"

    def items(*overrides: str) -> object:
        value = value_of(key, *overrides)
        return value["value"] if isinstance(value, dict) else value

    assert items(f"{key}+=file:b,file:a") == added
    assert items(f"{key}=file:c,file:c") == replaced
    assert items(f"{key}=file:a", f"{key}+=file:b", f"{key}+=file:a") == added


def test_one_item_of_a_list_can_be_changed():
    held = tree_of({"assistant": {"instructions": [{"title": "a"}, {"title": "b"}]}})
    changed = written("assistant.instructions.1.title=Tone", "assistant.instructions.0.position:=-3", to=held)
    assert at(changed, "assistant/instructions") == [{"title": "a", "position": -3}, {"title": "Tone"}]
    assert error_of("assistant.instructions.2.title=x", to=held) == (
        "assistant.instructions.2: unknown index 2; the list has 2 items"
    )


def test_merging_into_a_prompt_adds_to_it():
    held = tree_of({"assistant": {"system_prompt": "a"}})
    assert at(written("assistant.system_prompt+=b", to=held), "assistant/system_prompt") == "ab"
    paragraph = '{"value":"b","strategy":"append","separator":"paragraph"}'
    assert (
        at(written(f"assistant.system_prompt:={paragraph}", to=held), "assistant/system_prompt") == "a\n\nb"
    )


def test_assigning_one_field_of_reasoning_starts_from_nothing():
    held = tree_of(
        {"assistant": {"model": {"parameters": {"reasoning": {"effort": "high", "exclude": True}}}}}
    )
    changed = written("assistant.model.parameters.reasoning.effort=low", to=held)
    assert at(changed, "assistant/model/parameters/reasoning") == {"effort": "low"}


def test_a_dotted_name_is_reached_by_the_object_form():
    changed = written('conversation.tools:={"my.tool":{"run":"skip"}}', to=FMT)
    assert list(at(changed, "conversation/tools")) == ["fmt", "my.tool"]


@pytest.mark.requirement("G41")
def test_trap_41_a_number_out_of_range_is_not_cut():
    assert "expected a whole number from 0 to 4294967295, got 3000000000000" in error_of(
        "assistant.request.max_retries:=3000000000000"
    )


def test_order_matters_and_files_and_assignments_interleave(world: Any, value_of: Callable[..., Any]):
    world.workspace('config_load_paths = ["cfg"]')
    world.workspace('assistant.name = "from file"', "cfg/reviewer.toml")
    assert value_of("assistant.name", "reviewer", "assistant.name=x") == "x"
    assert value_of("assistant.name", "assistant.name=x", "reviewer") == "from file"


def test_a_wrong_argument_applies_none_and_all_wrong_ones_are_named(world: Any):
    message = world.refusal("assistant.name=x", "assistant.nme=y", "editor.envs:=1", "NONE")
    assert message == (
        "The configuration has 3 problems:\n"
        "- --cfg NONE: `NONE` is a reserved word that this version cannot follow yet; for a file of that name write "
        "`@NONE` or `./NONE`\n"
        "- --cfg assistant.nme=y: `assistant.nme`: unknown key; did you mean `assistant.name`?\n"
        "- --cfg editor.envs:=1: `editor.envs`: type error: expected a list, or text, got 1"
    )


@pytest.mark.requirement("R284")
def test_request_overrides_are_applied_once(world: Any, value_of: Callable[..., Any]):
    world.workspace('editor.envs = ["A"]')
    assert value_of("editor.envs", "editor.envs+=B") == ["A", "B"]
    settings = world.settings()
    for _ in range(3):
        partial: Any = settings.resolve(["editor.envs+=B"], None).partial
        assert partial["editor"]["envs"] == ["A", "B"]

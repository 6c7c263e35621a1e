"""From entries under `conversation.tools` to the tools that a query offers (config-and-tools 4)."""

from typing import Any

import pytest

from jp_lsp.ports.settings import QuerySettings
from jp_lsp.tools.builtin import BUILTIN_TOOLS
from jp_lsp.tools.definition import NamedTool, Parameter, ToolDefinition
from jp_lsp.tools.spec import BuiltinSource, Command, LocalSource, McpSource, ToolSpec

LOCAL = 'source = "local"\ncommand = "run {{tool}}"\n'


def resolved(world: Any, text: str, *overrides: str) -> QuerySettings:
    world.workspace(text)
    found = world.settings().resolve(overrides, None)
    assert isinstance(found, QuerySettings)
    return found


def tool(world: Any, text: str, name: str = "x") -> ToolSpec:
    found = resolved(world, f"[conversation.tools.{name}]\n{text}")
    assert found.warnings == ()
    return next(spec for spec in found.tools if spec.name == name)


def names(world: Any, text: str, *overrides: str) -> list[str]:
    return [spec.name for spec in resolved(world, text, *overrides).tools]


# ------------------------------------------------------------------------------------------------ sources

SOURCES = {
    "local": LocalSource("x", Command("run", ("{{tool}}",))),
    "local.other": LocalSource("other", Command("run", ("{{tool}}",))),
    "mcp.notes": McpSource("notes", "x"),
    "mcp.notes.find.by.tag": McpSource("notes", "find.by.tag"),
}


@pytest.mark.requirement("R226", "R306")
@pytest.mark.parametrize("source", SOURCES)
def test_a_source_says_who_runs_the_tool_and_what_it_is_called_there(world: Any, source: str):
    found = tool(world, f'source = "{source}"\ncommand = "run {{{{tool}}}}"')
    assert (found.name, found.source) == ("x", SOURCES[source])


COMMANDS = {
    "\"run 'two words' 3\"": Command("run", ("two words", "3")),
    '{ program = "a b" }': Command("a b"),
    '{ program = "a", args = ["b c", ""] }': Command("a", ("b c", "")),
    '{ program = "a | b", args = ["c"], shell = true }': Command("a | b", ("c",), shell=True),
}


@pytest.mark.parametrize("written", COMMANDS)
def test_commands_are_lines_or_tables(world: Any, written: str):
    found = tool(world, f'source = "local"\nrun = "ask"\ncommand = {written}')
    assert found.source == LocalSource("x", COMMANDS[written])


BROKEN = {
    LOCAL.replace("run {{tool}}", "a 'b"): "command`: cannot be split into words: no closing quotation; "
    "the tool is left out",
    'source = "local"': "command`: is missing; the tool is left out",
    'source = "builtin"': "source`: there is no built-in tool of that name; did you mean "
    + ", ".join(f"`{name}`" for name in BUILTIN_TOOLS)
    + "?; the tool is left out",
    LOCAL + 'style.parameters = "a \'b"': "style.parameters`: cannot be split into words: "
    "no closing quotation; the tool is left out",
}


@pytest.mark.parametrize("entry", BROKEN)
def test_an_entry_that_makes_no_tool_is_left_out_with_its_place(world: Any, entry: str):
    found = resolved(world, f'[conversation.tools.y]\nsource = "mcp.s"\n[conversation.tools.x]\n{entry}\n')
    assert [spec.name for spec in found.tools] == ["y", "describe_tools"]
    (warning,) = found.warnings
    assert warning.startswith(".jp/config.toml:")
    assert warning.endswith(f": `conversation.tools.x.{BROKEN[entry]}")


def test_a_broken_entry_that_is_off_is_nobodys_concern(world: Any):
    assert resolved(world, '[conversation.tools.x]\nsource = "local"\nenable = false\n').warnings == ()


def test_a_slip_in_the_name_of_a_built_in_tool_is_found(world: Any):
    found = resolved(world, '[conversation.tools.ask_users]\nsource = "builtin"\n')
    assert "did you mean `ask_user`" in found.warnings[0]


# -------------------------------------------------------------------------------------------- definitions


@pytest.mark.requirement("R238", "R275")
def test_a_definition_keeps_texts_order_and_nesting(world: Any):
    found = tool(
        world,
        LOCAL
        + """
summary = "Short."
description = "Long."
examples = "Like so."
options = { depth = 2, words = ["a"] }
[conversation.tools.x.parameters.second]
type = ["string", "null"]
default = "d"
summary = "s"
description = "l"
examples = "e"
[conversation.tools.x.parameters.first]
type = "array"
required = true
enum = ["a", 1]
items = { type = "object", properties = { z = { type = "integer", required = true }, a = { type = "string" } } }
""",
    )
    assert found.definition == ToolDefinition(
        "x",
        {
            "second": Parameter(("string", "null"), default="d", summary="s", description="l", examples="e"),
            "first": Parameter(
                "array",
                required=True,
                enum=("a", 1),
                items=Parameter(
                    "object",
                    properties={"z": Parameter("integer", required=True), "a": Parameter("string")},
                ),
            ),
        },
        "Short.",
        "Long.",
        examples="Like so.",
    )
    assert list(found.definition.parameters) == ["second", "first"]
    assert found.options == {"depth": 2, "words": ["a"]}
    assert found.access is None
    assert found.access_error is None


@pytest.mark.requirement("G29")
def test_a_parameter_without_type_leaves_the_servers_in_place(world: Any):
    found = tool(world, 'source = "mcp.s"\nparameters.tags = { enum = ["a"] }')
    assert found.definition.parameters == {"tags": Parameter(None, enum=("a",))}


def test_items_of_what_is_no_list_are_doubtful(world: Any):
    text = f"[conversation.tools.x]\n{LOCAL}parameters.p = {{ type = 'string', items = {{ type = 'string' }} }}\n"
    assert resolved(world, text).warnings == (
        ".jp/config.toml:4: `conversation.tools.x.parameters.p`: describes `items`, but its type is not `array`",
    )


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("t {{ tool.name }}", "{{"),
        ("t {{tool.arguments.a | upper}}", "{{tool.arguments.a"),
        ("t {% if x %}", "{%"),
    ],
)
@pytest.mark.requirement("G23")
def test_trap_23_an_expression_that_is_cut_by_a_blank_is_noticed(world: Any, command: str, word: str):
    found = resolved(world, f'[conversation.tools.x]\nsource = "local"\ncommand = "{command}"\n')
    assert found.warnings == (
        f".jp/config.toml:3: `conversation.tools.x.command`: the word `{word}` is half an expression, because command "
        "lines are split at blanks first; write it without blanks, such as `{{tool.name}}`, or put it in quotes",
    )
    assert found.tools[0].name == "x"


@pytest.mark.requirement("G22")
def test_trap_22_a_shell_that_runs_unasked_is_noticed_and_runs_all_the_same(world: Any):
    text = "[conversation.tools.x]\nsource = 'local'\ncommand = { program = 'a', shell = true }\n"
    assert resolved(world, f"{text}run = 'ask'").warnings == ()
    found = resolved(world, f"{text}run = 'unattended'")
    assert found.warnings == (
        ".jp/config.toml:3: `conversation.tools.x.command`: runs through a shell without asking; set `run` to `ask` "
        "if a model should not decide that",
    )
    assert found.tools[0].policy.run_mode == "unattended"


# ------------------------------------------------------------------------------------------ on and off

TWO = f"[conversation.tools.a]\n{LOCAL}[conversation.tools.b]\n{LOCAL}"
SWITCHES: dict[str, tuple[str, list[str], list[str]]] = {
    "nothing says anything": ("", ["a", "b"], []),
    "all are off": ("'*'.enable = false", [], ["a", "b"]),
    "one is off": ("b.enable = false", ["a"], ["b"]),
    "one is on where all are off": ("'*'.enable = false\nb.enable = true", ["b"], ["a"]),
    "only when named": ("b.enable = 'explicit'", ["a"], ["b"]),
    "fields are inherited one by one": (
        "'*'.enable = { state = false, allow_toggle = 'never' }\nb.enable = { allow_toggle = 'any' }",
        [],
        ["b"],
    ),
    "trap 20: a short word also unlocks": (
        "'*'.enable = { state = false, allow_toggle = 'never' }\nb.enable = true",
        ["b"],
        [],
    ),
}


@pytest.mark.parametrize("case", SWITCHES)
def test_tools_are_on_off_or_locked(world: Any, case: str):
    text, on, idle = SWITCHES[case]
    world.workspace(f"[conversation.tools]\n{text}", ".jp.toml")
    found = resolved(world, TWO)
    assert [spec.name for spec in found.tools if spec.name != "describe_tools"] == on
    assert [spec.name for spec in found.idle_tools if spec.name not in BUILTIN_TOOLS] == idle


def test_tools_keep_the_order_of_the_configuration(world: Any):
    world.user(f"[conversation.tools.z]\n{LOCAL}[conversation.tools.m]\n{LOCAL}")
    assert names(world, f"[conversation.tools.a]\n{LOCAL}[conversation.tools.m]\nenable = true\n") == [
        "z",
        "m",
        "a",
        "describe_tools",
    ]


# ------------------------------------------------------------------------------------------------ choice


@pytest.mark.requirement("R238", "R239")
@pytest.mark.parametrize(
    ("written", "choice"),
    [
        ("'auto'", "auto"),
        ("'none'", "none"),
        ("'required'", "required"),
        ("true", "required"),
        ("false", "none"),
        ("'b'", NamedTool("b")),
    ],
)
def test_the_choice_is_a_strategy_or_a_tool(world: Any, written: str, choice: object):
    found = resolved(world, f"assistant.tool_choice = {written}\n{TWO}")
    assert found.tool_choice == choice


@pytest.mark.requirement("R239")
def test_a_tool_that_is_off_is_offered_when_it_is_chosen(world: Any):
    world.workspace("assistant.tool_choice = 'b'\nconversation.tools.b.enable = false", ".jp.toml")
    found = resolved(world, f"{TWO}[conversation.tools.c]\n{LOCAL}")
    assert [spec.name for spec in found.tools] == ["a", "c", "b", "describe_tools"]
    assert "b" not in [spec.name for spec in found.idle_tools]


UNKNOWN = {
    "fs_raed": "tool choice `fs_raed` does not match any enabled tools; did you mean `fs_read`?",
    "zzz": "tool choice `zzz` does not match any enabled tools; there are "
    + ", ".join(f"`{name}`" for name in sorted({"fs_read", *BUILTIN_TOOLS} - {"describe_tools"})),
}


@pytest.mark.parametrize("choice", UNKNOWN)
def test_an_unknown_tool_is_refused_with_what_was_meant(world: Any, choice: str):
    world.workspace(f"assistant.tool_choice = '{choice}'\n[conversation.tools.fs_read]\n{LOCAL}")
    assert world.refusal() == f".jp/config.toml:1: `assistant.tool_choice`: {UNKNOWN[choice]}"


def test_a_tool_that_is_locked_off_can_never_be_chosen(world: Any):
    world.workspace(
        "assistant.tool_choice = 'x'\n[conversation.tools.x]\n"
        f"{LOCAL}enable = {{ state = false, allow_toggle = 'never' }}\n"
    )
    assert "`x` is locked off and can never be offered" in world.refusal()


def test_a_required_tool_must_be_there(world: Any):
    world.workspace("assistant.tool_choice = 'required'")
    assert world.refusal().endswith("tool choice `required` needs a tool, and none is enabled")


# ---------------------------------------------------------------------------------------- built-in tools


def test_describe_tools_joins_where_there_is_something_to_describe(world: Any):
    assert names(world, "") == []
    found = resolved(world, TWO)
    ours = found.tools[-1]
    assert (ours.name, ours.source) == ("describe_tools", BuiltinSource("describe_tools"))
    assert ours.definition == BUILTIN_TOOLS["describe_tools"].definition
    assert ours.policy.run_mode == "unattended"
    assert found.display.tool_style("describe_tools").is_hidden
    assert not found.display.tool_style("a").is_hidden


@pytest.mark.requirement("R276")
@pytest.mark.parametrize(
    ("config", "spoken"),
    [
        ("", "message"),
        ("[conversation.tools.tell_user]\nenable = true\nstyle.hidden = true\n", "message"),
        ('[conversation.tools.tell_user]\nsource = "builtin"\n', "message"),
        ('[conversation.tools.tell_user]\nsource = "local"\ncommand = "notify"\n', None),
    ],
    ids=["not configured", "hidden", "named", "a command of the user's own"],
)
def test_the_built_in_tool_that_tells_speaks_whatever_its_style(world: Any, config: str, spoken: str | None):
    assert resolved(world, config).display.tool_style("tell_user").spoken == spoken


def test_describe_tools_is_on_whatever_is_said_of_all_tools(world: Any):
    text = f"[conversation.tools.'*']\nenable = 'explicit'\nrun = 'skip'\n[conversation.tools.a]\n{LOCAL}enable = true\n"
    found = resolved(world, text)
    assert [spec.name for spec in found.tools] == ["a", "describe_tools"]
    assert found.tools[1].policy.run_mode == "unattended"


@pytest.mark.parametrize(
    ("entry", "there"),
    [
        ("source = 'builtin'\nenable = false", []),
        ("source = 'builtin'\nrun = 'ask'", ["describe_tools"]),
        ("source = 'local'\ncommand = 'mine'", ["describe_tools"]),
    ],
)
@pytest.mark.requirement("G56")
def test_trap_56_the_users_own_describe_tools_takes_the_place_of_ours(
    world: Any, entry: str, there: list[str]
):
    found = resolved(world, f"{TWO}[conversation.tools.describe_tools]\n{entry}\n")
    assert [spec.name for spec in found.tools][2:] == there
    assert not found.display.tool_style("describe_tools").is_hidden
    if there:
        assert found.tools[2].policy.run_mode == "ask"


def test_a_describe_tools_of_the_users_own_is_a_tool_like_any_other(world: Any):
    text = "[conversation.tools.describe_tools]\nsource = 'local'\ncommand = 'mine'\n"
    assert names(world, text) == ["describe_tools"]


OTHERS = [name for name in BUILTIN_TOOLS if name != "describe_tools"]


@pytest.mark.requirement("R330")
@pytest.mark.parametrize("name", OTHERS)
def test_other_built_in_tools_are_off_and_switched_on_by_name(world: Any, name: str):
    assert names(world, "") == []
    for text, overrides in [
        (f"conversation.tools.{name}.enable = true", ()),
        (f"conversation.tools.{name}.source = 'builtin'", (f"conversation.tools.{name}.enable=true",)),
        ("", (f"conversation.tools.{name}.enable=true",)),
        ("", (f"assistant.tool_choice={name}",)),
    ]:
        found = resolved(world, text, *overrides)
        assert [spec.name for spec in found.tools] == [name, "describe_tools"]
        assert found.tools[0].source == BuiltinSource(name)
        assert found.tools[0].definition == BUILTIN_TOOLS[name].definition
        assert found.warnings == ()
    assert names(world, f"conversation.tools.{name}.run = 'ask'") == []


@pytest.mark.parametrize("name", OTHERS)
def test_those_that_only_talk_need_no_approval_and_the_editors_do(world: Any, name: str):
    found = resolved(world, f"[conversation.tools]\n{name}.enable = true\n")
    wanted = "ask" if name.startswith("editor_") else "unattended"
    assert found.tools[0].policy.run_mode == wanted
    assert (
        resolved(world, f"[conversation.tools]\n{name} = {{ enable = true, run = 'edit' }}\n")
        .tools[0]
        .policy.run_mode
        == "edit"
    )


def test_a_switched_on_tool_of_ours_can_be_stored_and_read_by_others(world: Any):
    found = resolved(world, "conversation.tools.ask_user.enable = true")
    stored: Any = found.partial
    assert stored["conversation"]["tools"]["ask_user"]["source"] == "builtin"

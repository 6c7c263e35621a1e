"""How calls of tools are treated and shown: modes, questions, limits, styles (config-and-tools 2.4, pipeline 3)."""

from typing import Any

import pytest

from jp_lsp.config.server_settings import ServerSettings, ToolLimits, read_server_settings
from jp_lsp.ports.settings import QuerySettings
from jp_lsp.render.options import ToolStyle
from jp_lsp.tools.spec import AssistantTarget, Command, QuestionPolicy, ToolPolicy

ENTRY = "[conversation.tools.x]\nsource = 'local'\ncommand = 'run'\n"
REFERENCE_CANCELLATION = (
    "This tool request was intentionally rejected by the user. Please evaluate and either ask the user why "
    "it was rejected, or infer the reason by looking at the historical messages in the conversation."
)


def resolved(world: Any, own: str = "", shared: str = "") -> QuerySettings:
    world.workspace(f"[conversation.tools.'*']\n{shared}\n{ENTRY}{own}\n")
    found = world.settings().resolve([], None)
    assert isinstance(found, QuerySettings)
    return found


def policy(world: Any, own: str = "", shared: str = "") -> ToolPolicy:
    return resolved(world, own, shared).tools[0].policy


@pytest.mark.requirement("R112", "R113", "R99")
def test_without_any_setting_a_call_is_asked_for_and_its_result_delivered(world: Any):
    assert policy(world) == ToolPolicy(cancellation=REFERENCE_CANCELLATION)
    assert policy(world).run_mode == "ask"
    assert policy(world).result_mode == "unattended"


@pytest.mark.requirement("R99", "R317")
@pytest.mark.parametrize("mode", ["ask", "unattended", "edit", "skip"])
def test_a_mode_of_the_tool_counts_before_the_shared_one(world: Any, mode: str):
    assert policy(world, shared=f"run = '{mode}'\nresult = '{mode}'").run_mode == mode
    assert policy(world, shared=f"run = '{mode}'\nresult = '{mode}'").result_mode == mode
    other = policy(world, "run = 'skip'\nresult = 'edit'", f"run = '{mode}'\nresult = '{mode}'")
    assert (other.run_mode, other.result_mode) == ("skip", "edit")


FORMATS = {
    ("", "run = 'unattended'"): True,
    ("", "run = 'ask'"): False,
    ("run = 'edit'", "run = 'unattended'"): False,
    ("format = 'unattended'", "run = 'ask'"): True,
    ("", "run = 'ask'\nformat = 'unattended'"): True,
    ("format = 'ask'", "run = 'unattended'\nformat = 'unattended'"): False,
}


@pytest.mark.parametrize(("own", "shared"), FORMATS)
def test_a_formatter_runs_unasked_as_the_call_does_unless_said_otherwise(world: Any, own: str, shared: str):
    assert policy(world, own, shared).formats_unasked == FORMATS[own, shared]


def test_the_answer_to_a_cancelled_call_can_be_set(world: Any):
    assert policy(world, shared="cancellation_response = 'all'").cancellation == "all"
    assert (
        policy(world, "cancellation_response = 'own'", "cancellation_response = 'all'").cancellation == "own"
    )


# ------------------------------------------------------------------------------------------------ questions


@pytest.mark.requirement("R276", "R115")
def test_questions_say_who_answers_or_what(world: Any):
    found = policy(
        world,
        """
[conversation.tools.x.questions]
plain = {}
sure = { target = "user", answer = false }
name = { answer = "yes" }
model = { target = "assistant" }
other = { target = { system_prompt = "Be brief.", model = { id = "openai/small" }, tool_choice = "none" } }
""",
    ).questions
    assert found["plain"] == QuestionPolicy()
    assert found["sure"] == QuestionPolicy("user", has_answer=True, answer=False)
    # Trap 60: whether it fits is known when the tool asks; here it is passed on as it is.
    assert found["name"] == QuestionPolicy("user", has_answer=True, answer="yes")
    assert found["model"] == QuestionPolicy(AssistantTarget())
    target = found["other"].target
    assert isinstance(target, AssistantTarget)
    assert target.overrides["model"] == {
        "id": {"provider": "openai", "name": "small"},
        "parameters": {"stop_words": [], "other": {}},
    }
    assert (target.overrides["system_prompt"], target.overrides["tool_choice"]) == ("Be brief.", "none")


# ---------------------------------------------------------------------------- limits of the server's settings

LIMITS: dict[str, tuple[dict[str, ToolLimits], tuple[float, int, bool]]] = {
    "nothing": ({}, (0.0, 262_144, False)),
    "of the tool": ({"x": ToolLimits(None, 5, 10, exclusive_run=True)}, (5.0, 10, True)),
    "of all tools": ({"*": ToolLimits(None, 7, 20, exclusive_run=True)}, (7.0, 20, True)),
    "one by one": (
        {
            "x": ToolLimits(timeout_secs=0, exclusive_run=False),
            "*": ToolLimits(None, 7, 20, exclusive_run=True),
        },
        (0.0, 20, False),
    ),
    "of another tool": ({"y": ToolLimits(None, 5, 10)}, (0.0, 262_144, False)),
}


@pytest.mark.parametrize("case", LIMITS)
def test_limits_come_from_the_servers_settings(world: Any, case: str):
    tools, (timeout, size, alone) = LIMITS[case]
    world.server = ServerSettings(tools=tools)
    found = policy(world)
    assert (found.timeout, found.size_threshold, found.runs_alone) == (timeout, size, alone)


DETACHED: dict[str, tuple[dict[str, Any], tuple[str, str, str]]] = {
    "nothing": ({}, ("deny", "deny", "deny")),
    "one word for all": ({"x": "auto"}, ("auto", "auto", "auto")),
    "by kind": ({"x": {"run": "defer", "tool": "defaults"}}, ("defer", "deny", "defaults")),
    "shared by kind": ({"*": {"deliver": "auto"}}, ("deny", "auto", "deny")),
    "the tool's word before the shared kind": (
        {"x": "defer", "*": {"run": "auto"}},
        ("defer", "defer", "defer"),
    ),
    "the tool's kind, then the shared word": (
        {"x": {"run": "auto"}, "*": "defaults"},
        ("auto", "defaults", "defaults"),
    ),
}


@pytest.mark.requirement("D14")
@pytest.mark.parametrize("case", DETACHED)
def test_what_happens_when_nobody_can_be_asked(world: Any, case: str):
    tools, wanted = DETACHED[case]
    sent = {"conversation": {"tools": {name: {"detached": value} for name, value in tools.items()}}}
    read = read_server_settings(sent)
    assert read.warnings == ()
    world.server = read.settings
    found = policy(world)
    assert (found.detached_run, found.detached_deliver, found.detached_tool) == wanted


def test_a_policy_that_is_none_is_told_and_left_out(world: Any):
    sent: Any = {"conversation": {"tools": {"x": {"detached": "allow"}, "y": {"detached": {"run": "yes"}}}}}
    read = read_server_settings(sent)
    words = "`deny`, `auto`, `defaults`, `defer`"
    assert read.warnings == (
        f"The setting `jp.conversation.tools.x.detached` is not used: expected one of {words}, got `allow`.",
        f"The setting `jp.conversation.tools.y.detached.run` is not used: expected one of {words}, got `yes`.",
    )
    world.server = read.settings
    assert policy(world).detached_run == "deny"


# ---------------------------------------------------------------------------------------------------- styles


def style(world: Any, own: str = "", shared: str = "") -> ToolStyle:
    return resolved(world, own, shared).display.tool_style("x")


def test_styles_have_their_documented_defaults(world: Any):
    assert style(world) == ToolStyle()


def test_every_style_is_read(world: Any):
    found = style(
        world,
        "style = { hidden = true, inline_results = 3, results_file_link = 'osc8', parameters = 'function_call', "
        "error = { inline_results = 'full', results_file_link = 'off' } }",
    )
    assert found == ToolStyle(
        is_hidden=True,
        parameters="function_call",
        inline_results=3,
        results_file_link="osc8",
        error_inline_results="full",
        error_results_file_link="off",
    )


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("true", "full"),
        ("false", "off"),
        ("0", 0),
        ("{ truncate = { lines = 4 } }", 4),
        ("{ truncate = {} }", 10),
    ],
)
def test_how_much_of_a_result_is_shown(world: Any, written: str, wanted: object):
    assert style(world, shared=f"style.inline_results = {written}").inline_results == wanted


@pytest.mark.requirement("G21")
def test_trap_21_a_tools_own_style_takes_the_place_of_the_shared_one_as_a_whole(world: Any):
    shared = "style = { inline_results = 'full', parameters = 'off' }"
    assert style(world, shared=shared) == ToolStyle(inline_results="full", parameters="off")
    assert style(world, "style = { hidden = true }", shared) == ToolStyle(is_hidden=True)


@pytest.mark.parametrize("where", ["own", "shared"])
@pytest.mark.requirement("G59")
def test_a_formatter_is_part_of_the_style_and_run_by_the_policy(world: Any, where: str):
    found = resolved(world, **{where: "style.parameters = 'fmt {{tool}}'"})
    assert found.tools[0].policy.formatter == Command("fmt", ("{{tool}}",))
    assert found.display.tool_style("x").parameters == "custom"
    assert resolved(world, "style.parameters = 'json'").tools[0].policy.formatter is None

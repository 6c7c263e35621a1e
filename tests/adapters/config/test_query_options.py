"""The values that a query is run with (ports.settings)."""

from dataclasses import replace
from typing import Any

import pytest

from jp_lsp.config.server_settings import InterruptSettings, RenderSettings, ServerSettings
from jp_lsp.conversation.thread import Section
from jp_lsp.ports.provider import CachePolicy, Effort, ModelId, ModelParameters
from jp_lsp.ports.settings import ReasoningSummarySettings, StreamGuards
from jp_lsp.render.options import DisplayOptions, ReasoningDisplay
from jp_lsp.turn.options import InterruptOptions, RetryPolicy


def resolved(world: Any, text: str = "") -> Any:
    world.workspace(text)
    return world.settings().resolve([], None)


@pytest.mark.requirement("R305")
def test_without_configuration_everything_has_its_documented_default(world: Any):
    found = resolved(world)
    assert found.model == ModelId("anthropic", "some-model")
    assert found.parameters == ModelParameters()
    assert found.retry == RetryPolicy()
    assert found.guards == StreamGuards()
    assert found.interrupt == InterruptOptions()
    assert replace(found.display, tools={}) == DisplayOptions(reasoning_background="236")
    assert found.system_prompt == "You are a helpful assistant."
    assert (found.sections, found.assistant_name, found.user_name) == ((), None, None)
    assert (found.lock_timeout, found.start_local, found.warnings) == (10.0, False, ())


@pytest.mark.requirement("R61", "R305")
def test_every_option_follows_its_key(world: Any):
    world.server = ServerSettings(
        InterruptSettings(turn_action="prompt", on_dismiss="continue", cancel_action="abort"),
        render=RenderSettings("raw", "keep_sgr", "blank"),
    )
    found = resolved(
        world,
        """
[assistant]
name = "Pixel"
system_prompt = ""
[assistant.model]
id = "openai/a/b"
[assistant.model.parameters]
max_tokens = 5
temperature = 1
top_p = 0.5
top_k = 3
stop_words = ["x"]
reasoning = { effort = "max" }
seed = 9
[assistant.request]
max_retries = 0
base_backoff_ms = 250
max_backoff_secs = 2
stream_idle_timeout_secs = 0
max_response_bytes = 10
cache = "long"
[interrupt]
escalation_cooldown_secs = 0
streaming.action = "abort"
tool_call.action = "restart"
[style]
reasoning = { display = 80, background = "#00ff00", extend_across_tool_calls = false }
tool_call.show = false
lock_wait.timeout_secs = 3
[conversation]
start_local = true
[user]
name = "Quill"
""",
    )
    assert found.model == ModelId("openai", "a/b")
    assert found.parameters == ModelParameters(
        max_tokens=5, reasoning=Effort("max"), temperature=1.0, top_p=0.5, top_k=3, stop_words=("x",),
        other={"seed": 9}, cache=CachePolicy(3600),
    )  # fmt: skip
    assert found.retry == RetryPolicy(0, 0.25, 2.0)
    assert found.guards == StreamGuards(0.0, 10)
    assert found.interrupt == InterruptOptions(
        "abort", "restart", gap="prompt", on_dismiss="continue", cooldown=0.0, cancel_means="abort"
    )
    assert replace(found.display, tools={}) == DisplayOptions(
        ReasoningDisplay("truncate", 80), "blank", extend_reasoning_across_tools=False,
        reasoning_background="#00ff00", granularity="raw", show_tool_calls=False, control_sequences="keep_sgr",
    )  # fmt: skip
    assert (found.system_prompt, found.assistant_name, found.user_name) == (None, "Pixel", "Quill")
    assert (found.lock_timeout, found.start_local) == (3.0, True)


REASONING: dict[str, object] = {
    '"off"': "off",
    '"auto"': "auto",
    '"high"': Effort("high"),
    '"none"': Effort("none"),
    "2048": Effort(2048),
    "{ effort = { absolute = 7 } }": Effort(7),
    "{ effort = 7 }": Effort(7),
    "{ exclude = true }": Effort("medium", exclude=True),
}


@pytest.mark.parametrize("text", REASONING)
def test_reasoning(world: Any, text: str):
    found = resolved(world, f"assistant.model.parameters.reasoning = {text}")
    assert found.parameters.reasoning == REASONING[text]


DISPLAYS: dict[str, ReasoningDisplay] = {
    '"full"': ReasoningDisplay("hidden"),
    '"hidden"': ReasoningDisplay("hidden"),
    '"summary"': ReasoningDisplay("hidden"),
    "80": ReasoningDisplay("hidden"),
    '"static"': ReasoningDisplay("static"),
    '"progress"': ReasoningDisplay("progress"),
    '"timer"': ReasoningDisplay("timer"),
}


@pytest.mark.parametrize("display", DISPLAYS)
def test_excluded_reasoning_is_shown_in_no_form_that_says_what_it_is(world: Any, display: str):
    """That the model thinks may still be seen (3.3)."""
    text = f"style.reasoning.display = {display}\nassistant.model.parameters.reasoning.exclude = "
    excluded = resolved(world, text + "true")
    assert (excluded.display.reasoning, excluded.reasoning_summary) == (DISPLAYS[display], None)
    shown = resolved(world, text + "false")
    assert shown.display.reasoning.mode == ("truncate" if display == "80" else display.strip('"'))
    assert (shown.reasoning_summary is not None) == (display == '"summary"')


CACHES = {"true": 300, "false": 0, '"short"': 300, '"off"': 0, '"long"': 3600, '"90s"': 90, '"2h"': 7200}


@pytest.mark.parametrize("text", CACHES)
def test_cache(world: Any, text: str):
    assert resolved(world, f"assistant.request.cache = {text}").parameters.cache == CachePolicy(CACHES[text])


@pytest.mark.parametrize("mode", ["hidden", "full", "summary", "static", "progress", "timer"])
def test_reasoning_display(world: Any, mode: str):
    assert resolved(world, f'style.reasoning.display = "{mode}"').display.reasoning == ReasoningDisplay(mode)  # type: ignore[arg-type]


@pytest.mark.requirement("R44")
def test_sections_and_instructions_are_one_list_in_the_order_of_positions(world: Any):
    found = resolved(
        world,
        '''
[[assistant.system_prompt_sections]]
content = "later"
tag = "t"
title = "T"
position = 5

[[assistant.system_prompt_sections]]
content = "middle"

[[assistant.instructions]]
title = "How"
description = """
Read this.
"""
items = ["One.", """
Two
lines.
"""]
examples = ["Plain.", { good = "g", bad = "b", reason = "r" }, { good = "g1\\ng2", bad = "b" }]

[[assistant.instructions]]
title = "First"
items = ["x"]
position = -1
''',
    )
    assert found.sections == (
        Section("- x", "instruction", "First", -1),
        Section("middle"),
        Section(
            "Read this.\n\n- One.\n- Two\n  lines.\n\n## Examples\n\nPlain.\n\nGood: g\nBad: b\nReason: r\n\n"
            "Good:\ng1\ng2\nBad: b",
            "instruction",
            "How",
        ),
        Section("later", "t", "T", 5),
    )


def test_an_instruction_of_a_title_alone_is_empty(world: Any):
    assert resolved(world, '[[assistant.instructions]]\ntitle = "T"\n').sections == (
        Section("", "instruction", "T"),
    )


THINKING = 'style.reasoning.display = "summary"\n'


@pytest.mark.requirement("R201")
@pytest.mark.parametrize(
    ("text", "model", "parameters"),
    [
        (
            f'{THINKING}assistant.model.parameters = {{ max_tokens = 9, reasoning = "auto" }}',
            None,
            ModelParameters(max_tokens=9, reasoning="off", cache=CachePolicy(0)),
        ),
        (
            f'{THINKING}[style.reasoning.summary_model]\nid = "ollama/small"\nparameters.temperature = 0.5',
            ModelId("ollama", "small"),
            ModelParameters(temperature=0.5, cache=CachePolicy(0)),
        ),
    ],
    ids=["the assistant's own, without thinking", "one that is named"],
)
def test_who_sums_up_what_the_model_thinks(
    world: Any, text: str, model: ModelId | None, parameters: ModelParameters
):
    found = resolved(world, text)
    assert found.reasoning_summary == ReasoningSummarySettings(model or found.model, parameters)


def test_thinking_that_is_shown_is_not_summed_up(world: Any):
    assert resolved(world, '[style.reasoning.summary_model]\nid = "ollama/small"').reasoning_summary is None

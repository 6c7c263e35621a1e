"""The rules by which conversations are made shorter, as the driver gets them (config-and-tools 2.3)."""

from typing import Any

import pytest

from jp_lsp.conversation.compact import TurnsWanted
from jp_lsp.conversation.directive import OmitToolCalls, StripReasoning, StripToolCalls
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.conversation.turn_bounds import AtTurn, BehindLast, Bound, KeptTime, KeptTurns
from jp_lsp.ports.compaction import CompactionRule, SummaryWish
from jp_lsp.ports.provider import ModelId, ModelParameters

ONE = (KeptTurns(1),)
ENDS = TurnsWanted(ONE, ONE)
STRIP = CompactionRule(ENDS, StripReasoning(), StripToolCalls(-1, -1))


@pytest.mark.requirement("R281")
@pytest.mark.parametrize(
    ("toml", "rules"),
    [
        ("", (STRIP,)),
        ("rules = []", ()),
        ("[[rules]]\nreasoning = 'strip'", (CompactionRule(ENDS, StripReasoning()),)),
        ("[[rules]]\ntool_calls = 'sreq'", (CompactionRule(ENDS, tool_calls=StripToolCalls(-1, None)),)),
        (
            "[[rules]]\ntool_calls = 'strip-responses'\n[[rules]]\ntool_calls = 'o'",
            (
                CompactionRule(ENDS, tool_calls=StripToolCalls(None, -1)),
                CompactionRule(ENDS, tool_calls=OmitToolCalls()),
            ),
        ),
        (
            "[[rules]]\nkeep_first = 0\nkeep_last = 5\ntool_calls = 'strip'",
            (
                CompactionRule(
                    TurnsWanted((KeptTurns(0),), (KeptTurns(5),)), tool_calls=StripToolCalls(-1, -1)
                ),
            ),
        ),
        ("[[rules]]\nkeep_first = 2", (CompactionRule(TurnsWanted((KeptTurns(2),), ONE)),)),
    ],
)
def test_rules(world: Any, toml: str, rules: tuple[CompactionRule, ...]) -> None:
    """Traps 14 and 15: a rule of the user's takes the default rule's place, and its bounds are filled in each."""
    text = toml.replace("[[rules]]", "[[conversation.compaction.rules]]")
    world.workspace(text if text != toml else f"[conversation.compaction]\n{toml}\n")
    assert world.settings().resolve([], None).compaction == rules


@pytest.mark.parametrize(
    ("value", "first", "last"),
    [
        ("3", KeptTurns(3), KeptTurns(3)),
        ("'4'", KeptTurns(4), KeptTurns(4)),
        ("'@3'", AtTurn(3), AtTurn(3)),
        ("'-2'", AtTurn(-2), KeptTurns(2)),
        ("-2", AtTurn(-2), KeptTurns(2)),
        ("'1h 30m'", KeptTime(5_400_000_000_000), KeptTime(5_400_000_000_000)),
        ("'last'", BehindLast(), BehindLast()),
        ("'last-compaction'", BehindLast(), BehindLast()),
    ],
)
def test_bounds_of_a_rule(world: Any, value: str, first: Bound, last: Bound) -> None:
    world.workspace(f"[[conversation.compaction.rules]]\nkeep_first = {value}\nkeep_last = {value}\n")
    (rule,) = world.settings().resolve([], None).compaction
    assert rule.turns == TurnsWanted((first,), (last,))


@pytest.mark.parametrize(
    ("toml", "wish"),
    [
        ("", SummaryWish(None, ModelParameters(temperature=0.5))),
        (
            "instructions = 'Be brief.'\ncontext = 'tests'",
            SummaryWish(None, ModelParameters(temperature=0.5), "Be brief.", "tests"),
        ),
        ("context = { a = 1 }", SummaryWish(None, ModelParameters(temperature=0.5), context='{"a": 1}')),
        (
            "model = { id = 'small', parameters = { max_tokens = 7 } }",
            SummaryWish(ModelId("ollama", "tiny"), ModelParameters(max_tokens=7)),
        ),
        ("model = { id = 'ollama/other' }", SummaryWish(ModelId("ollama", "other"), ModelParameters())),
    ],
)
def test_summaries(world: Any, toml: str, wish: SummaryWish) -> None:
    """A model that is named has its own parameters; else the assistant's are used."""
    (rule,) = rules_of(world, toml)
    assert rule.summary == wish


def test_a_summary_without_wishes_is_kept_by_a_conversation(world: Any) -> None:
    (rule,) = rules_of(world, "")
    stream = ConversationStream.new(Timestamp(0), world.settings().resolve([], None).partial)
    world.workspace("")
    assert world.settings().resolve([], stream).compaction == (rule,)


def test_a_model_that_nobody_knows_is_a_problem_of_the_rule_alone(world: Any) -> None:
    (rule,) = rules_of(world, "model = { id = 'smal' }")
    assert rule.summary == SummaryWish(
        problem="`smal` is neither a known alias (did you mean `small`?) nor `provider/name` with one of "
        "`anthropic`, `cerebras`, `compatible`, `deepseek`, `google`, `llamacpp`, "
        "`lmstudio`, `local`, `ollama`, `openai`, `openrouter`, `xai`"
    )


def rules_of(world: Any, summary: str) -> tuple[CompactionRule, ...]:
    world.workspace(
        "[assistant.model.parameters]\ntemperature = 0.5\n"
        "[providers.llm.aliases]\nsmall = 'ollama/tiny'\n"
        "[[conversation.compaction.rules]]\n[conversation.compaction.rules.summary]\n" + summary + "\n"
    )
    return world.settings().resolve([], None).compaction  # type: ignore[no-any-return]

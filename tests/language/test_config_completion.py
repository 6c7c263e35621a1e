"""What is offered in a configuration file; `|` is the cursor."""

import pytest

from jp_lsp.language.completion import Known, Offer, complete_at
from tests.language.documents import at_cursor, completed

KNOWN = Known(
    values=lambda: {
        "conversation": {"tools": {"*": {"run": "ask"}, "read": {"summary": "Reads."}, "odd.name": {}}},
        "providers": {
            "mcp": {"git": {}},
            "llm": {"aliases": {"fast": {"provider": "anthropic", "name": "tiny"}}},
        },
    },
    models=lambda: (Offer("anthropic/tiny", "Tiny"), Offer("openai/big")),
    files=lambda: (Offer("personas/dev.toml", "Dev"),),
)


@pytest.mark.parametrize(
    ("marked", "label", "expected"),
    [
        ("|", "inherit", "inherit = "),
        ("|", "assistant", "assistant"),
        ("inh|", "inherit", "inherit = "),
        ("inh| = true", "inherit", "inherit = true"),
        ("[|", "assistant", "[assistant"),
        ("[assi|]", "assistant", "[assistant]"),
        ("[assistant.mo|]\n", "model", "[assistant.model]\n"),
        ("[[assistant.|", "instructions", "[[assistant.instructions"),
        ("[[ext|]]", "extends", "[[extends]]"),
        ("[[assi|]]", "assistant", "[[assistant]]"),  # on the way to a list of tables
        ("[assistant]\n[assistant.|]", "model", "[assistant]\n[assistant.model]"),
        ("[assistant]\nmodel = { 'i| }", "id", "[assistant]\nmodel = { 'id' =  }"),
        ('assistant."na| # x\n', "name", 'assistant."name" =  # x\n'),
        ("[assistant]\nna|\n[style]\n", "name", "[assistant]\nname = \n[style]\n"),
        ("assistant.|", "name", "assistant.name = "),
        ("[assistant]\nmodel = { i| }", "id", "[assistant]\nmodel = { id =  }"),
        ("[[assistant.instructions]]\n|", "title", "[[assistant.instructions]]\ntitle = "),
        ("[assistant]\nsystem_prompt = { | }", "strategy", "[assistant]\nsystem_prompt = { strategy =  }"),
        ("[conversation.tools.|]", "read", "[conversation.tools.read]"),
        ("[conversation.tools.|]", "odd.name", '[conversation.tools."odd.name"]'),
        ("[conversation.tools.x]\nru|", "run", "[conversation.tools.x]\nrun = "),
        ("[providers.mcp.git]\nty|", "type", "[providers.mcp.git]\ntype = "),
        ("inherit = |", "false", "inherit = false"),
        ("style.reasoning.display = |", "summary", 'style.reasoning.display = "summary"'),
        ('style.reasoning.display = "su|"', "summary", 'style.reasoning.display = "summary"'),
        ('style.reasoning.display = "su| # x', "summary", 'style.reasoning.display = "summary" # x'),
        ("assistant.model.id = |", "openai/big", 'assistant.model.id = "openai/big"'),
        ('assistant.model.id = "|"', "fast", 'assistant.model.id = "fast"'),
        ("assistant.model.id = { provider = | }", "xai", 'assistant.model.id = { provider = "xai" }'),
        ('assistant.tool_choice = "|', "read", 'assistant.tool_choice = "read"'),
        ("conversation.tools.x.source = |", "mcp.git", 'conversation.tools.x.source = "mcp.git"'),
        ("extends = [|]", "personas/dev.toml", 'extends = ["personas/dev.toml"]'),
        ('extends = ["a", "p|"]', "personas/dev.toml", 'extends = ["a", "personas/dev.toml"]'),
        ("extends = [{ path = | }]", "personas/dev.toml", 'extends = [{ path = "personas/dev.toml" }]'),
        ("broken = [\n[assistant]\nna|", "name", "broken = [\n[assistant]\nname = "),
    ],
)
def test_is_offered(marked: str, label: str, expected: str) -> None:
    assert completed(marked, label, KNOWN) == expected


@pytest.mark.parametrize(
    ("suffix", "marked", "label", "expected"),
    [
        (".json", '{"assistant": {"na|}}', "name", '{"assistant": {"name": }}'),
        (".json5", "{assistant: {'na|}} // x", "name", "{assistant: {'name': }} // x"),
        (".yaml", "assistant: { 'na| }", "name", "assistant: { 'name':  }"),
        (
            ".yaml",
            'assistant: { model: { id: "an| } }',
            "openai/big",
            'assistant: { model: { id: "openai/big" } }',
        ),
    ],
)
def test_quotes_that_are_not_closed_yet_take_nothing_behind_the_cursor(
    suffix: str, marked: str, label: str, expected: str
) -> None:
    assert completed(marked, label, KNOWN, suffix) == expected


@pytest.mark.parametrize(
    ("marked", "label", "expected"),
    [
        ("? assi|", "assistant", "? assistant"),
        ("? |\n:\n  name: x\n", "assistant", "? assistant\n:\n  name: x\n"),
        ("assistant:\n  ? na|\n", "name", "assistant:\n  ? name\n"),
        ("style:\n  ? reasoning\n  : dis|\n", "display", "style:\n  ? reasoning\n  : display: \n"),
        ("? inherit\n: |\n", "false", "? inherit\n: false\n"),
    ],
)
def test_a_key_behind_a_question_mark_has_its_value_below(marked: str, label: str, expected: str) -> None:
    assert completed(marked, label, KNOWN, ".yaml") == expected


@pytest.mark.parametrize(
    ("marked", "label"),
    [
        ("[assistant]\nname = 'x'\n|", "name"),  # it is there already
        ("[assistant.|]", "name"),  # no table
        ("[|]", "extends"),  # a list, which a header with one bracket cannot begin
        ("[assistant.instructions.|]", "value"),
        ("[[|]]", "editor"),  # a table with no list of tables in it
        ("[[assistant.|]]", "request"),
        ("|\n[assistant]\nname = 'x'\n", "assistant"),  # TOML has no table in two places
        ("[assistant]\n|\n[[assistant.instructions]]\n", "instructions"),
        ("# |", "inherit"),
        ("inherit = true |", "true"),
        ("[nowhere]\n|", "name"),
        ('assistant.tool_choice = "|"', "*"),
        ("[assistant]\nname = |", "true"),
    ],
)
def test_is_not_offered(marked: str, label: str) -> None:
    assert completed(marked, label, KNOWN) is None


def test_says_what_it_is() -> None:
    document, offset = at_cursor("[assistant.request]\nmax_re|")
    (found,) = (each for each in complete_at(document, offset, KNOWN) if each.label == "max_retries")
    assert found.documentation == "How often a failed request is tried again; 0 for never.\n\nDefault: `5`"
    assert found.detail == "a whole number from 0 to 4294967295"

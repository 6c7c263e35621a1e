"""Settings in the document of a query: what is offered, and the expressions that changes become."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.config.assign import parse_json
from jp_lsp.config.document import read_document, write_document
from jp_lsp.config.expression import Assignment, parse_expression
from jp_lsp.config.value import Partial
from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.refusal import Refusal

MODEL = ModelId("test", 'odd"name')


def tree(reasoning: object) -> Partial:
    return {"assistant": {"model": {"parameters": {"reasoning": reasoning}}}}  # type: ignore[dict-item]


@pytest.mark.requirement("R235")
@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({}, '# parameters.reasoning = "auto"'),
        (tree("off"), 'parameters.reasoning = "off"'),
        (
            tree({"effort": "high", "exclude": True}),
            'parameters.reasoning = { effort = "high", exclude = true }',
        ),
        (tree({"effort": {"absolute": 5}}), "parameters.reasoning = { effort = { absolute = 5 } }"),
    ],
)
def test_model_and_reasoning_are_offered(settings: Partial, line: str) -> None:
    text = write_document(MODEL, settings)
    assert text == f'[assistant.model]\nid = "test/odd\\"name"\n{line}\n'
    assert 'assistant.model.id:="test/odd\\"name"' in read_document(text)


@pytest.mark.parametrize(
    ("text", "expressions"),
    [
        ("", ()),
        ("# nothing", ()),
        ('a.b = 1\n[c]\nd = "ä"\ne = true', ("a.b:=1", 'c.d:="ä"', "c.e:=true")),
        ("a = [1, { b = 2.5 }]", ('a:=[1, {"b": 2.5}]',)),
        ('[a]\n"b.c" = 1\nd = 2', ('a:={"b.c": 1, "d": 2}',)),
        ("a = {}", ("a:={}",)),
    ],
)
def test_each_value_becomes_an_expression(text: str, expressions: tuple[str, ...]) -> None:
    assert read_document(text) == expressions


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = ", "this is no TOML: Invalid value (at end of document)"),
        ("a = 2024-01-01", "this is no TOML: `a` cannot be 2024-01-01"),
        ("[a]\nb = [nan]", "this is no TOML: `a.b` cannot be nan"),
        ('"a.b" = 1', "this is no TOML: the key 'a.b' is no setting"),
    ],
)
def test_what_is_no_setting_is_refused(text: str, message: str) -> None:
    with pytest.raises(Refusal) as refusal:
        read_document(text)
    assert (refusal.value.error.code, refusal.value.error.message) == ("config_invalid", message)


@given(st.text(alphabet="ab.=[]{}\"'1\n #,", max_size=60))
def test_any_text_becomes_expressions_or_is_refused(text: str) -> None:
    try:
        expressions = read_document(text)
    except Refusal:
        return
    for expression in expressions:
        key, _, value = expression.partition(":=")
        assert parse_expression(expression) == Assignment(key, parse_json(key, value), is_json=True)

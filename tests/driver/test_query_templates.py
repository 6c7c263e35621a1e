"""Queries that are templates (config-and-tools 7.4)."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.driver.query_template import render_query
from jp_lsp.driver.runner import Refused
from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.settings import QuerySettings
from tests.support.fakes import lines
from tests.support.query_world import NEW, world
from tests.support.turns import done, message

VALUES: JsonObject = {"file": "main.py", "deep": {"items": (1, 2), "yes": True, "none": None}, "count": 3}


@pytest.mark.requirement("R221", "R234")
@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("nothing to fill in", "nothing to fill in"),
        ("Review {{ file }}.\n", "Review main.py.\n"),
        ("{{ deep.yes }} {{ deep.none }} {{ count + 1 }}", "true none 4"),
        ("{% for i in deep['items'] %}{{ loop.index }}:{{ i }} {% endfor %}", "1:1 2:2 "),
        ("{% if deep.gone %}there{% else %}gone{% endif %}", "gone"),
        ("{{ deep.gone is defined }}", "false"),
        ("{{ deep.gone | default('x') }}", "x"),
        ("{% set a = 1 %}{{ a }}{{ range(2) | list }}", "1[0, 1]"),
        ("{{ file | upper }}{# a comment #}", "MAIN.PY"),
        ("{{ '<&>' }}", "<&>"),
        ("{{ deep | tojson }}", '{"items": [1, 2], "yes": true, "none": null}'),
        ("{{ [count] | tojson(indent=2) }}", "[\n  3\n]"),
        ("\ud83d\ude00 {{ count }} \ud800", "\U0001f600 3 \ufffd"),
    ],
)
def test_values_are_filled_in(text: str, rendered: str) -> None:
    assert render_query(text, VALUES) == rendered


@pytest.mark.requirement("R234")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ x }}", "Undefined template variable: x. Set `template.values.x`."),
        ("{% if x %}{% endif %}{{ file }}", "Undefined template variable: x. Set `template.values.x`."),
        ("{{ b }}{{ a.c }}", "Undefined template variables: a, b. Set `template.values.a`."),
        ("{{ deep.gone }}", "The template cannot be filled in: line 1: undefined value: `deep.gone` is undefined"),
        ("\n\n{{ file", "The template cannot be filled in: line 3: syntax error: unexpected end of input, "
                         "expected end of variable block"),
        ("{% include 'other' %}", "The template cannot be filled in: line 1: template not found: tried to include "
                                  "non-existing template 'other'"),
        ("{{ file | nope }}", "The template cannot be filled in: line 1: unknown filter: filter nope is unknown"),
        ("{{ file.__class__ }}", "The template cannot be filled in: line 1: undefined value: `file.__class__` "
                                 "is undefined"),
        ("{{ 'x' * 10000000000 }}", "The template cannot be filled in: line 1: engine ran out of fuel"),
    ],
)  # fmt: skip
def test_what_cannot_be_filled_in_is_said(text: str, message: str) -> None:
    with pytest.raises(Refusal) as refusal:
        render_query(text, VALUES)
    error = refusal.value.error
    assert (error.code, error.origin, error.message) == ("invalid_params", "template", message)


def test_a_template_changes_no_values() -> None:
    values: JsonObject = {"a": {"b": [1]}}
    render_query("{{ a.b.append(2) }}{{ a.clear() }}", values)
    assert values == {"a": {"b": [1]}}


@given(st.text(alphabet="{}%#x .|()[]'a\n", max_size=30))
def test_any_text_is_filled_in_or_refused(text: str) -> None:
    with contextlib.suppress(Refusal):
        assert isinstance(render_query(text, {"x": {"a": [1]}}), str)


SETTINGS = QuerySettings(ModelId("test", "big"), {"assistant": {}}, template_values={"file": "main.py"})


@pytest.mark.anyio
@pytest.mark.requirement("R234")
async def test_the_filled_in_text_is_what_is_asked_and_stored() -> None:
    async with world([message("ok"), done()], settings=SETTINGS) as here:
        result = await here.answer(here.ask("# Look at {{ file }}", is_template=True))
        assert lines(here.store, NEW) == ["turn", "user: # Look at main.py", "message: ok"]
        assert here.store.stored[NEW].title == "Look at main.py"
        assert result.draft is None


@pytest.mark.anyio
async def test_without_the_wish_braces_are_only_text() -> None:
    async with world([message("ok"), done()], settings=SETTINGS) as here:
        await here.answer(here.ask("{{ file }}"))
        assert lines(here.store, NEW)[1] == "user: {{ file }}"


@pytest.mark.anyio
@pytest.mark.requirement("R234", "R344")
async def test_an_unknown_name_begins_no_turn_and_keeps_the_text() -> None:
    async with world(settings=SETTINGS) as here:
        runner = here.ask("Look at {{ fiel }}", is_template=True)
        await runner.finished.wait()
        assert isinstance(runner.outcome, Refused)
        assert runner.outcome.draft == "Look at {{ fiel }}"
        assert here.store.stored == {}
        assert here.store.drafts == {NEW: "Look at {{ fiel }}"}
        assert here.provider is not None
        assert here.provider.requests == []


@pytest.mark.parametrize(
    ("text", "rendered"),
    [("{{ 'a\n\nb\n' | indent(2) }}", "a\n\n  b"), ("{{ 'a\n\nb' | indent(1, true, true) }}", " a\n \n b")],
)
def test_a_text_is_indented(text: str, rendered: str) -> None:
    assert render_query(text, {}) == rendered


@pytest.mark.parametrize(
    "text",
    [
        "{{ 'x' | indent(9999999999, true) }}",
        "{{ '{:>9999999999}'.format(1) }}",
        "{{ [1] | tojson(indent=9999999999) }}",
    ],
)
def test_no_template_fills_the_memory(text: str) -> None:
    with pytest.raises(Refusal, match=r"^The template cannot be filled in: "):
        render_query(text, {})

"""Values that were asked for with a schema (query pipeline 5.7)."""

import pytest

from jp_lsp.render.chunk import Retract, Structured
from jp_lsp.render.transcript import transcript
from tests.support.view import Watcher


def started() -> Watcher:
    watcher = Watcher()
    watcher.begin()
    return watcher


@pytest.mark.requirement("F25", "R191")
def test_a_value_at_the_end_of_a_turn_is_in_a_closed_fence() -> None:
    watcher = started()
    watcher.value('{"ok"', ":true}")
    watcher.see(watcher.view.structured_flushed())
    watcher.end()
    watcher.begin("next", 2)
    watcher.end()
    assert transcript(watcher.chunks) == (
        '## User\n\ngo\n\n## Assistant\n\n`````json\n{"ok":true}\n`````\n\n## User\n\nnext'
    )


@pytest.mark.requirement("F25")
def test_a_value_that_was_not_completed_is_closed_at_the_end_of_the_turn() -> None:
    watcher = started()
    watcher.value('{"ok"')
    watcher.end()
    assert watcher.text == '`````json\n{"ok"\n`````'


@pytest.mark.requirement("F25", "R191")
def test_two_values_have_two_fences_and_text_stands_outside() -> None:
    watcher = started()
    for text in ("1", "[2]"):
        watcher.value(text)
        watcher.see(watcher.view.structured_flushed())
    watcher.message("end")
    watcher.end()
    assert watcher.text == "`````json\n1\n`````\n\n`````json\n[2]\n`````\n\nend"
    assert [chunk.part for chunk in watcher.durable if isinstance(chunk, Structured)] == [
        *("open", "more", "close"),
        *("open", "more", "close"),
    ]


@pytest.mark.requirement("R225")
def test_text_is_shown_as_it_arrives_and_white_space_around_it_is_not() -> None:
    watcher = started()
    watcher.value("", "  \n")
    assert watcher.text == "## User\n\ngo"
    watcher.value(" {\n")
    assert watcher.text == "`````json\n{"
    watcher.value(' "a": ', "1\n", "}", "\n\n")
    assert watcher.text == '`````json\n{\n "a": 1\n}'
    watcher.see(watcher.view.structured_flushed())
    assert watcher.text == '`````json\n{\n "a": 1\n}\n`````'
    assert watcher.view.structured_flushed() == []


def test_white_space_without_end_is_no_work() -> None:
    watcher = started()
    watcher.value("{")
    sent = len(watcher.chunks)
    watcher.value(*[" \n"] * 50_000)
    assert len(watcher.chunks) == sent
    watcher.value("}")
    assert len(watcher.text) == len("`````json\n{}") + 100_000


@pytest.mark.requirement("F25")
def test_a_retracted_value_goes_back_to_its_opening_fence() -> None:
    watcher = started()
    watcher.message("Here:")
    watcher.value('{"a": 1, ')
    assert watcher.text == 'Here:\n\n`````json\n{"a": 1,'
    watcher.retract_value()
    assert watcher.text == "Here:"
    watcher.value('{"b": 2}')
    watcher.see(watcher.view.structured_flushed())
    watcher.end()
    assert watcher.text == 'Here:\n\n`````json\n{"b": 2}\n`````'


def test_a_value_that_is_retracted_first_of_all_keeps_its_header() -> None:
    watcher = started()
    watcher.value("{")
    watcher.retract_value()
    assert watcher.chunks[-2:] == [Structured("\n{", "more"), Retract(5, "restart")]
    watcher.value("[]")
    watcher.end()
    assert transcript(watcher.chunks) == "## User\n\ngo\n\n## Assistant\n\n`````json\n[]\n`````"


def test_a_completed_value_is_not_retracted() -> None:
    watcher = started()
    watcher.value("1")
    watcher.see(watcher.view.structured_flushed())
    assert watcher.view.retract_structured(1) == []


@pytest.mark.requirement("R191")
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"ok": True, "list": [1, {}]}, '{\n  "ok": true,\n  "list": [\n    1,\n    {}\n  ]\n}'),
        ('{"a": 1', '{"a": 1'),
        (None, "null"),
        ([], "[]"),
        (0, "0"),
    ],
)
def test_a_stored_value_is_pretty_and_a_string_is_raw(data: object, expected: str) -> None:
    watcher = started()
    watcher.see(watcher.view.structured_value(data))  # type: ignore[arg-type]
    watcher.end()
    assert watcher.text == f"`````json\n{expected}\n`````"

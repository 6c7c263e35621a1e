"""Labels in the older and in the newer form of the metadata."""

import pytest

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.conversation.labels import change_labels, read_labels
from jp_lsp.conversation.metadata_edit import ChangeLabels


def add(**labels: str) -> ChangeLabels:
    return ChangeLabels(labels)


@pytest.mark.parametrize(
    ("stored", "change", "expected"),
    [
        ({}, add(area="auth"), {"area": "auth"}),
        # a value takes the place of the one before, and keys are sorted
        ({"wip": "", "area": "auth"}, add(area="ui"), {"area": "ui", "wip": ""}),
        ({"b": "1", "a": "2", "B": "3"}, ChangeLabels(removed=("a", "none")), {"B": "3", "b": "1"}),
        ({"a": "1", "b": "2"}, ChangeLabels({"c": "3"}, clears=True), {"c": "3"}),
        ({"a": "1"}, ChangeLabels({"a": ""}, removed=("a",)), {"a": ""}),
        ({"a": "1"}, ChangeLabels(), {"a": "1"}),
    ],
)
@pytest.mark.requirement("C66")
def test_the_older_form_has_one_value_for_each_label(
    stored: JsonObject, change: ChangeLabels, expected: JsonObject
) -> None:
    changed = change_labels(stored, change, newer_format=False)
    assert changed == expected
    assert list(changed) == list(expected)


@pytest.mark.parametrize(
    ("stored", "change", "expected"),
    [
        ({"area": "auth"}, add(area="ui"), {"area": ["auth", "ui"]}),
        ({"area": ["auth", "ui"]}, add(area="auth"), {"area": ["auth", "ui"]}),
        # a bare label gives way to a value, and never joins one
        ({"wip": [""]}, add(wip="soon"), {"wip": ["soon"]}),
        ({"wip": ["soon"]}, add(wip=""), {"wip": ["soon"]}),
        ({}, add(wip=""), {"wip": [""]}),
        # an empty list is no label
        ({"gone": [], "kept": ["x"]}, ChangeLabels(), {"kept": ["x"]}),
    ],
)
def test_the_newer_form_keeps_all_values(
    stored: JsonObject, change: ChangeLabels, expected: JsonObject
) -> None:
    assert change_labels(stored, change, newer_format=True) == expected


@pytest.mark.requirement("C66")
def test_lists_stay_lists_where_the_newer_form_is_not_asked_for() -> None:
    changed = change_labels({"a": ["1"], "b": "2"}, add(b="3"), newer_format=False)
    assert changed == {"a": ["1"], "b": ["2", "3"]}


def test_both_forms_are_read() -> None:
    assert read_labels({"a": "1", "b": ["2", "3"], "c": ""}) == {"a": ("1",), "b": ("2", "3"), "c": ("",)}

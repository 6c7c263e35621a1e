"""Properties that hold for any configuration (config-and-tools 10.2, tests 5 and 6)."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jp_lsp.config.complete import complete
from jp_lsp.config.delta import changed_paths, compute_change
from jp_lsp.config.kind import FreeJson, Kind, Leaf, ListOf, MapOf, Misfit, Table, Text, Variant, entry_kind
from jp_lsp.config.problem import Report
from jp_lsp.config.read import read_member, read_table
from jp_lsp.config.resolve import complete_configuration
from jp_lsp.config.schema import SCHEMA
from jp_lsp.config.snapshot import from_stored, to_stored
from jp_lsp.config.stored import read_stored
from jp_lsp.config.value import ABSENT, Partial

POOL: tuple[Any, ...] = (
    True, False, 0, 1, 7, 60, 1000, 0.5, 2.0, "a", "b", "", "3ms", "2h", "#aabbcc", "openai/x", "local", "mcp.s",
    "file:a", "cmd:b", "-2", "@3", "string", ["integer", "null"],
)  # fmt: skip
NAMES = ("a", "b", "x.y", "fs_read")
FREE = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["a", "append", 0.5]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["value", "strategy", "k"]), inner, max_size=2)
    ),
    max_leaves=5,
)
# Never part of what a conversation stores (1.8).
NOT_STORED = {"inherit", "extends", "default_id"}


def fits(leaf: Leaf, value: Any) -> bool:
    try:
        leaf.read(value)
    except Misfit:
        return False
    return True


def complete_item(kind: Kind) -> Callable[[Any], str]:
    """Tell items apart as they are once they are complete."""

    def completed(item: Any) -> str:
        value = read_member(kind, item, Report())
        return "" if value is ABSENT else repr(complete(kind, value))

    return completed


GENERATORS: dict[tuple[int, int], st.SearchStrategy[Any]] = {}


def raw(kind: Kind, depth: int = 0) -> st.SearchStrategy[Any]:
    """Generate what a file could hold for a key."""
    known = (id(kind), depth)
    if known not in GENERATORS:
        GENERATORS[known] = generator(kind, depth)
    return GENERATORS[known]


def generator(kind: Kind, depth: int) -> st.SearchStrategy[Any]:
    match kind:
        case Leaf():
            return st.sampled_from([value for value in (*POOL, *kind.words) if fits(kind, value)])
        case Text():
            return st.sampled_from(["a", "b", {"value": "c", "strategy": "append", "separator": "line"}])
        case FreeJson():
            return FREE
        case ListOf():
            items = st.lists(raw(kind.item, depth + 1), max_size=3)
            if kind.rule != "mergeable":
                return items
            # One layer may hold an item twice although it asks for no doubles (1.9 B); no delta can say that.
            distinct = st.lists(raw(kind.item, depth + 1), max_size=3, unique_by=complete_item(kind.item))
            return items | st.builds(
                lambda value, dedup: {"value": value, "dedup": dedup}, distinct, st.booleans()
            )
        case MapOf():
            names = st.sampled_from([*NAMES, *kind.special])
            chosen = st.lists(names, max_size=2, unique=True)
            return chosen.flatmap(
                lambda found: st.fixed_dictionaries(
                    {name: raw(entry_kind(kind, name), depth + 1) for name in found}
                )
            )
        case Variant():
            return raw(kind.scalar) | raw(kind.table, depth + 1)
        case Table():
            if depth > 7:
                return st.just({})
            required = {name: key.kind for name, key in kind.keys.items() if key.required}
            optional = sorted(
                name for name, key in kind.keys.items() if not key.required and name not in NOT_STORED
            )
            chosen = st.lists(st.sampled_from(optional), max_size=3, unique=True) if optional else st.just([])
            return chosen.flatmap(
                lambda found: st.fixed_dictionaries(
                    {
                        **{name: raw(inner, depth + 1) for name, inner in required.items()},
                        **{name: raw(kind.keys[name].kind, depth + 1) for name in found},
                    }
                )
            )


def complete_tree(value: Any) -> Partial:
    tree, _ = complete_configuration(read_table(SCHEMA, value, Report()))
    return from_stored(to_stored(tree))


CONFIGURATIONS = raw(SCHEMA).map(complete_tree)


@given(CONFIGURATIONS)
def test_what_is_written_reads_back_the_same(tree: Partial):
    written = to_stored(tree)
    assert to_stored(from_stored(written)) == written
    assert from_stored(json.loads(json.dumps(written))) == tree
    report = Report()
    read_table(SCHEMA, written, report)
    assert [finding for finding in report.findings if finding.severity == "error"] == []


@given(CONFIGURATIONS)
def test_no_difference_is_no_delta(tree: Partial):
    stored = read_stored(to_stored(tree), ())
    change = compute_change(stored, tree)
    assert (change.delta, change.unsets, change.lost) == ({}, (), ())


@given(CONFIGURATIONS, CONFIGURATIONS)
def test_a_delta_in_the_newer_format_leads_from_any_configuration_to_any_other(old: Partial, new: Partial):
    base = to_stored(old)
    change = compute_change(read_stored(base, (), newer_format=True), new)
    assert change.lost == ()
    again = complete_configuration(read_stored(base, [Stored(change.delta, change.unsets)]).tree)[0]
    assert to_stored(again) == to_stored(new)


@given(CONFIGURATIONS, CONFIGURATIONS)
def test_a_delta_in_the_present_format_misses_only_what_it_says(old: Partial, new: Partial):
    base = to_stored(old)
    change = compute_change(read_stored(base, ()), new)
    assert change.unsets == ()
    again = from_stored(to_stored(complete_configuration(read_stored(base, [Stored(change.delta)]).tree)[0]))
    missed = {".".join(map(str, path)) for path in changed_paths(SCHEMA, again, new)}
    assert missed == set(change.lost)


class Stored:
    def __init__(self, delta: Any, unsets: tuple[str, ...] = ()) -> None:
        self.delta = delta
        self.unsets = unsets
        self.is_reset = False


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(sorted({*SCHEMA.keys, "id", "value", "strategy", "tools", "model", "*", "fs"})),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(sorted(SCHEMA.keys)), ANY_JSON, max_size=4), raw(SCHEMA))
def test_whatever_a_file_holds_the_rest_is_usable(wild: dict[str, Any], tame: dict[str, Any]):
    for value in (wild, {**tame, **wild}):
        tree, _ = complete_configuration(read_table(SCHEMA, value, Report()))
        assert from_stored(to_stored(tree))["assistant"]
        json.dumps(to_stored(tree))


def test_the_generator_reaches_what_matters():
    """Guards the properties above: a generator of empty configurations would prove nothing."""
    seen: set[str] = set()

    @given(CONFIGURATIONS, CONFIGURATIONS)
    @settings(max_examples=150, database=None, derandomize=True)
    def collect(old: Partial, new: Partial):
        for path in changed_paths(SCHEMA, old, new):
            seen.add(str(path[0]))
            seen.add(".".join(map(str, path[:2])))

    collect()
    assert {"conversation.tools", "providers.llm", "template", "style", "plugins"} <= seen


@pytest.mark.parametrize("value", [None, True, 1, "x", []])
def test_a_table_in_place_of_another_value_is_reported(value: Any):
    report = Report()
    assert read_table(SCHEMA, {"assistant": value}, report) == {}
    assert len(report.findings) == (0 if value is None else 1)

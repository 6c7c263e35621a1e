"""How two layers meet, for every kind of value (config-and-tools 1.9)."""

from typing import Any

import pytest

from jp_lsp.config.complete import complete_table
from jp_lsp.config.merge import merge_tables
from jp_lsp.config.problem import Report
from jp_lsp.config.read import read_table
from jp_lsp.config.schema import SCHEMA
from jp_lsp.config.value import EMPTY, MergedList, Partial, value_at
from jp_lsp.config.write import write_table


def tree_of(raw: Any) -> Partial:
    report = Report()
    tree = read_table(SCHEMA, raw, report)
    assert report.findings == []
    return tree


def nested(key: str, value: object) -> dict[str, Any]:
    for name in reversed(key.split("/")):
        value = {name: value}
    assert isinstance(value, dict)
    return value


def merged(*layers: Any) -> Partial:
    tree = EMPTY
    for layer in layers:
        tree = merge_tables(SCHEMA, tree, tree_of(layer))
    return tree


def check(key: str, layers: list[object], expected: object) -> None:
    """Merge layers that have one key each, fill the gaps, and compare in the form of stored files."""
    written: Any = write_table(
        SCHEMA, complete_table(SCHEMA, merged(*(nested(key, value) for value in layers)))
    )
    for name in key.split("/"):
        written = written.get(name)
    if isinstance(written, dict) and "discard_when_merged" in written:
        written = written["value"]
    assert written == expected


PROMPT = "assistant/system_prompt"
SECTIONS = "assistant/system_prompt_sections"
FS = "conversation/tools/t/access/fs"


def section(text: str) -> dict[str, object]:
    return {"content": text, "position": 0}


A, B, C = section("a"), section("b"), section("c")

CASES: dict[str, tuple[str, list[object], object]] = {
    "a scalar replaces": ("assistant/name", ["a", "b"], "b"),
    "an enumeration replaces": ("interrupt/streaming/action", ["stop", "abort"], "abort"),
    "null is no change (trap 38)": ("assistant/name", ["a", None], "a"),
    "a table is merged key by key": (
        "style/lock_wait",
        [{"show": False}, {"delay_secs": 7}],
        {"show": False, "delay_secs": 7, "interval_ms": 100, "timeout_secs": 10},
    ),
    "a map keeps the order of entries": (
        "providers/llm/aliases",
        [{"b": "openai/x", "a": "openai/y"}, {"c": "openai/z", "b": "google/x"}],
        {
            "b": {"provider": "google", "name": "x"},
            "a": {"provider": "openai", "name": "y"},
            "c": {"provider": "openai", "name": "z"},
        },
    ),
    "ids of the same shape are merged": (
        "assistant/model/id",
        [{"provider": "openai", "name": "a"}, {"name": "b"}],
        {"provider": "openai", "name": "b"},
    ),
    "an alias replaces an id": ("assistant/model/id", ["openai/a", "fast"], "fast"),
    "reasoning of another shape replaces": (
        "assistant/model/parameters/reasoning",
        [{"exclude": True}, "off"],
        "off",
    ),
    "reasoning of the same shape is merged": (
        "assistant/model/parameters/reasoning",
        [{"exclude": True}, {"effort": "low"}],
        {"effort": "low", "exclude": True},
    ),
    "one type and many": (
        "conversation/tools/t/parameters/p/type",
        ["string", ["string", "null"]],
        ["string", "null"],
    ),
    "a command's arguments are replaced": (
        "conversation/tools/t/command",
        [{"program": "p", "args": ["a"]}, {"args": ["b"]}],
        {"program": "p", "args": ["b"], "shell": False},
    ),
    "a command of another shape replaces (trap 37)": (
        "conversation/tools/t/command",
        ["a b", {"args": ["c"]}],
        {"args": ["c"], "shell": False},
    ),
    "a plain list is replaced": ("conversation/tools/t/parameters/p/enum", [[1], [2]], [2]),
    "load paths append": ("config_load_paths", [["a"], ["b", "a"]], ["a", "b", "a"]),
    "beta headers append": ("providers/llm/anthropic/beta_headers", [["a"], ["a"]], ["a", "a"]),
    "editors append": ("editor/envs", [["a"], ["b"]], ["a", "b"]),
    "stop words append": ("assistant/model/parameters/stop_words", [["a"], ["b"]], ["a", "b"]),
    "arguments of a server append": ("providers/mcp/s/arguments", [["a"], ["b"]], ["a", "b"]),
    "variables of a server append": ("providers/mcp/s/variables", [["A"], ["B"]], ["A", "B"]),
    "sections of an inquiry append": (
        "conversation/inquiry/assistant/system_prompt_sections",
        [[A], [B]],
        [A, B],
    ),
    "a bare prompt replaces": (PROMPT, ["a", "b"], "b"),
    "a prompt appends": (PROMPT, ["a", {"value": "b", "strategy": "append"}], "ab"),
    "a prompt appends with a separator": (
        PROMPT,
        ["a", {"value": "b", "strategy": "append", "separator": "paragraph"}],
        "a\n\nb",
    ),
    "a prompt prepends with a space": (
        PROMPT,
        ["a", {"value": "b", "strategy": "prepend", "separator": "space"}],
        "b a",
    ),
    "a prompt prepends with a line": (
        PROMPT,
        ["a", {"value": "b", "strategy": "prepend", "separator": "line"}],
        "b\na",
    ),
    "a table without strategy appends (trap 11)": (PROMPT, ["a", {"value": "b"}], "ab"),
    "a discarded prompt gives way": (
        PROMPT,
        [
            {"value": "a", "strategy": "append", "discard_when_merged": True},
            {"value": "b", "strategy": "append"},
        ],
        "b",
    ),
    "a manner without a text changes nothing": (PROMPT, ["a", {"strategy": "append"}], "a"),
    "nor where it would take the place of what gives way": (
        PROMPT,
        [{"value": "a", "discard_when_merged": True}, {"strategy": "replace"}],
        "a",
    ),
    "a bare list appends": (SECTIONS, [[A], [B]], [A, B]),
    "a list prepends": (SECTIONS, [[A], {"value": [B], "strategy": "prepend"}], [B, A]),
    "a list replaces": (SECTIONS, [[A], {"value": [B], "strategy": "replace"}], [B]),
    "a list replaces by nothing": (SECTIONS, [[A], {"strategy": "replace"}], []),
    "a list is deduplicated": (SECTIONS, [[A], {"value": [B, A], "dedup": True}], [A, B]),
    "so are the items of a file above which there is no other": (
        SECTIONS,
        [{"value": [A, B, A], "dedup": True}],
        [A, B],
    ),
    "deduplication is sticky": (SECTIONS, [{"value": [A], "dedup": True}, [B], [A]], [A, B]),
    "deduplication can be switched off": (
        SECTIONS,
        [{"value": [A], "dedup": True}, {"value": [B], "dedup": False}, [A]],
        [A, B, A],
    ),
    "inherit is no opinion": (
        SECTIONS,
        [{"value": [A], "dedup": True}, {"value": [A], "dedup": "inherit"}],
        [A],
    ),
    "unset is not the same as the default": (
        SECTIONS,
        [[{"content": "a"}], {"value": [A], "dedup": True}],
        [A, A],
    ),
    "a discarded list gives way": (SECTIONS, [{"value": [A], "discard_when_merged": True}, [B]], [B]),
    "rules of access append": (FS, [[{"path": "a"}], [{"path": "b"}]], [{"path": "a"}, {"path": "b"}]),
    "labels are merged deeply": (
        "conversation/labels",
        [{"a": {"value": "1", "run": "deny"}}, {"a": {"value": "2"}, "b": "3"}],
        {"a": {"value": "2", "apply_on": {"new": True, "fork": False}, "run": "deny"}, "b": "3"},
    ),
    "labels replace": (
        "conversation/labels",
        [{"a": "1"}, {"value": {"b": "2"}, "strategy": "replace"}],
        {"value": {"b": "2"}, "strategy": "replace"},
    ),
    "labels keep": (
        "conversation/labels",
        [{"a": "1"}, {"value": {"a": "2", "b": "3"}, "strategy": "keep"}],
        {"value": {"a": "1", "b": "3"}, "strategy": "keep"},
    ),
    "labels merge shallowly": (
        "conversation/labels",
        [{"a": {"value": "1", "run": "deny"}}, {"value": {"a": {"value": "2"}}, "strategy": "merge"}],
        {
            "value": {"a": {"value": "2", "apply_on": {"new": True, "fork": False}, "run": "ask"}},
            "strategy": "merge",
        },
    ),
    "a label called value is a label": ("conversation/labels", [{"value": "1"}], {"value": "1"}),
    "free objects are merged deeply": (
        "template/values/x",
        [{"a": {"b": 1}}, {"a": {"c": 2}}],
        {"a": {"b": 1, "c": 2}},
    ),
    "free arrays replace": ("template/values/x", [[1], [2]], [2]),
    "free arrays append when told to": (
        "template/values/x",
        [[1], {"value": [2], "strategy": "append"}],
        [1, 2],
    ),
    "free arrays prepend when told to": (
        "template/values/x",
        [[1], {"value": [2], "strategy": "prepend"}],
        [2, 1],
    ),
    "a change of type replaces": ("template/values/x", [{"a": 1}, "b"], "b"),
    "an annotation alone is taken away (trap 13)": (
        "conversation/tools/t/options/x",
        [{"value": [1], "strategy": "append"}],
        [1],
    ),
    "unknown parameters are replaced, not merged": (
        "assistant/model/parameters",
        [{"seed": {"a": 1}}, {"seed": {"b": 2}}],
        {"stop_words": [], "other": {"seed": {"b": 2}}},
    ),
    "what a file extends is decided below": ("extends", [["a"], ["b"]], ["a"]),
}


@pytest.mark.requirement("G11", "G13", "G37", "G38")
@pytest.mark.parametrize("case", CASES)
def test_layers_meet_by_the_rule_of_the_key(case: str):
    check(*CASES[case])


def test_a_tools_style_is_merged_but_shadows_the_shared_one_as_a_whole():
    """Trap 21: fields that the tool's own style leaves out have the documented defaults."""
    shared = {"style": {"inline_results": "full"}}
    tool = {"source": "local", "style": {"hidden": True}}
    tree = complete_table(SCHEMA, merged({"conversation": {"tools": {"*": shared, "t": tool}}}))
    style = value_at(tree, ("conversation", "tools", "t", "style"))
    assert isinstance(style, dict)
    assert (style["hidden"], style["inline_results"]) == (True, {"truncate": {"lines": 10}})


@pytest.mark.requirement("G12")
def test_trap_12_a_list_that_gives_way_stays_when_nothing_comes():
    first = nested(SECTIONS, {"value": [A], "discard_when_merged": True})
    tree = merged(first, {"assistant": {"name": "x"}})
    held = value_at(tree, ("assistant", "system_prompt_sections"))
    assert isinstance(held, MergedList)
    assert held.items == ({"content": "a", "position": 0},)


@pytest.mark.requirement("G14")
def test_trap_14_no_example_instruction_but_the_default_prompt_and_rule():
    tree = complete_table(SCHEMA, EMPTY)
    written: Any = write_table(SCHEMA, tree)
    assert written["assistant"]["instructions"] == []
    assert written["assistant"]["system_prompt"] == "You are a helpful assistant."
    assert written["conversation"]["compaction"]["rules"] == [
        {"keep_first": 1, "keep_last": 1, "reasoning": "strip", "tool_calls": "strip"}
    ]


def test_the_default_rule_is_gone_when_a_layer_has_none():
    check("conversation/compaction/rules", [[]], [])


@pytest.mark.requirement("G15")
def test_trap_15_documented_defaults_hold_inside_entries():
    raw = {
        "providers": {"mcp": {"s": {"type": "stdio", "command": "c"}}},
        "conversation": {
            "labels": {"l": {"value": "x", "apply_on": {}}},
            "inquiry": {"assistant": {"request": {"max_retries": 1}}},
        },
    }
    written: Any = write_table(SCHEMA, complete_table(SCHEMA, merged(raw)))
    assert written["providers"]["mcp"]["s"]["startup_timeout_secs"] == 60
    assert written["conversation"]["labels"]["l"]["apply_on"] == {"new": True, "fork": False}
    request = written["conversation"]["inquiry"]["assistant"]["request"]
    assert request == {
        "max_retries": 1, "base_backoff_ms": 1000, "max_backoff_secs": 60, "stream_idle_timeout_secs": 60,
        "max_response_bytes": 0, "cache": True,
    }  # fmt: skip


def test_the_result_keeps_the_manner_of_the_higher_side():
    replaced = {"value": [B], "strategy": "replace"}
    kept = value_at(
        merged(nested(SECTIONS, [A]), nested(SECTIONS, replaced)), ("assistant", "system_prompt_sections")
    )
    lost = value_at(
        merged(nested(SECTIONS, replaced), nested(SECTIONS, [A])), ("assistant", "system_prompt_sections")
    )
    assert isinstance(kept, MergedList)
    assert isinstance(lost, MergedList)
    assert (kept.position, lost.position) == ("replace", None)


@pytest.mark.requirement("R283")
def test_merging_changes_neither_side():
    lower = tree_of({"assistant": {"system_prompt_sections": [A]}, "template": {"values": {"x": {"a": [1]}}}})
    higher = tree_of({"assistant": {"system_prompt_sections": [B]}, "template": {"values": {"x": {"b": 2}}}})
    before = (repr(lower), repr(higher))
    merge_tables(SCHEMA, lower, higher)
    assert (repr(lower), repr(higher)) == before

"""Merging against a plain model, for every kind of value of config-and-tools 1.9.

The model works on what files hold, with nothing of the program: a value per layer goes in, the value of all
comes out. Layers are made of files, which are folded among themselves first.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.config.complete import complete_table
from jp_lsp.config.explain import explain_path
from jp_lsp.config.fold import OUR_ORDER, fold
from jp_lsp.config.layer import FILE_KINDS, Layer, Origin, Source, Step
from jp_lsp.config.merge import merge_tables
from jp_lsp.config.problem import Report
from jp_lsp.config.read import read_table
from jp_lsp.config.resolve import resolve
from jp_lsp.config.schema import SCHEMA
from jp_lsp.config.value import ABSENT, EMPTY, Partial, value_at, without_manner
from jp_lsp.config.write import write_table

Merge = Callable[[Any, Any], Any]
NOTHING = object()
"""A file that does not mention the key."""


# ------------------------------------------------------------------------------------------------- the model


def replaced(lower: Any, higher: Any) -> Any:
    return higher


def appended(lower: Any, higher: Any) -> Any:
    return [*lower, *higher]


def lowest(lower: Any, higher: Any) -> Any:
    return lower


def by_field(fields: dict[str, Merge]) -> Merge:
    def merge(lower: Any, higher: Any) -> Any:
        merged = dict(lower)
        for name, value in higher.items():
            merged[name] = fields.get(name, replaced)(lower[name], value) if name in lower else value
        return merged

    return merge


def by_entry(entry: Merge) -> Merge:
    def merge(lower: Any, higher: Any) -> Any:
        return {
            name: entry(lower[name], higher[name])
            if name in lower and name in higher
            else higher.get(name, lower.get(name))
            for name in [*lower, *(each for each in higher if each not in lower)]
        }

    return merge


def of_one_shape(merge: Merge) -> Merge:
    def either(lower: Any, higher: Any) -> Any:
        return merge(lower, higher) if isinstance(lower, dict) and isinstance(higher, dict) else higher

    return either


def texts(lower: Any, higher: Any) -> Any:
    """A bare text replaces; what says nothing of its strategy appends (trap 11)."""
    below = lower if isinstance(lower, dict) else {"value": lower, "strategy": "replace"}
    above = higher if isinstance(higher, dict) else {"value": higher, "strategy": "replace"}
    if below.get("discard_when_merged"):
        return higher
    between = {"none": "", "space": " ", "line": "\n", "paragraph": "\n\n"}[above.get("separator", "none")]
    match above.get("strategy", "append"):
        case "append":
            text = below["value"] + between + above["value"]
        case "prepend":
            text = above["value"] + between + below["value"]
        case _:
            text = above["value"]
    return {"strategy": "append", **above, "value": text}


def lists(lower: Any, higher: Any) -> Any:
    """An array appends; the result has the manner of the higher side, and what was said of doubles travels on."""
    below = lower if isinstance(lower, dict) else {"value": lower}
    above = higher if isinstance(higher, dict) else {"value": higher}
    dedup = above.get("dedup", "inherit")
    if dedup == "inherit":
        dedup = below.get("dedup", "inherit")
    kept = [] if below.get("discard_when_merged") else items_of(below)
    more = items_of(above)
    match above.get("strategy"):
        case "replace":
            items = more
        case "prepend":
            items = more + kept
        case _:
            items = kept + more
    if dedup is True:
        items = distinct(items)
    manner = {name: above[name] for name in ("strategy", "discard_when_merged") if name in above}
    return {"value": items, **manner, "dedup": dedup}


def is_annotated(value: Any) -> bool:
    return isinstance(value, dict) and {"value", "strategy"} <= set(value)


def maps(lower: Any, higher: Any) -> Any:
    below = {} if is_annotated(lower) and lower.get("discard_when_merged") else entries_of(lower)
    above = entries_of(higher)
    match higher["strategy"] if is_annotated(higher) else "deep_merge":
        case "replace":
            merged = above
        case "keep":
            merged = {**below, **{name: entry for name, entry in above.items() if name not in below}}
        case "merge":
            merged = {**below, **above}
        case _:
            merged = by_entry(of_one_shape(by_field({})))(below, above)
    if not is_annotated(higher):
        return merged
    return {**higher, "value": merged}


def free(lower: Any, higher: Any) -> Any:
    def array(value: Any) -> bool:
        return (
            isinstance(value, dict)
            and set(value) == {"value", "strategy"}
            and isinstance(value["value"], list)
        )

    below = lower["value"] if array(lower) else lower
    if array(higher):
        if not isinstance(below, list) or higher["strategy"] == "replace":
            return higher["value"]
        both = [below, higher["value"]]
        first, second = both if higher["strategy"] == "append" else reversed(both)
        return first + second
    if isinstance(below, dict) and isinstance(higher, dict):
        return by_entry(free)(below, higher)
    return higher


def same(value: Any) -> Any:
    return value


def text_of(value: Any) -> Any:
    return value["value"] if isinstance(value, dict) else value


def items_of(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    items = value.get("value", [])
    return distinct(items) if value.get("dedup") is True else items


def entries_of(value: Any) -> Any:
    return value["value"] if is_annotated(value) else value


def plain_free(value: Any) -> Any:
    if isinstance(value, dict):
        if set(value) == {"value", "strategy"} and isinstance(value["value"], list):
            return [plain_free(item) for item in value["value"]]
        return {name: plain_free(member) for name, member in value.items()}
    return [plain_free(item) for item in value] if isinstance(value, list) else value


# ------------------------------------------------------------------------------------- the kinds of values


@dataclass(frozen=True)
class KindOfValue:
    """A key, what files may hold for it, how the model merges that, and what it comes to."""

    key: str
    values: st.SearchStrategy[Any]
    merge: Merge
    final: Callable[[Any], Any] = same


WORDS = st.sampled_from(["a", "b", "c"])
FEW = st.lists(WORDS, max_size=3)
NAMES = st.sampled_from(["x", "y", "z"])
POSITIONS = st.sampled_from(["append", "prepend", "replace"])
FLAG = st.booleans()
SECTION = st.builds(lambda text: {"content": text, "position": 0}, WORDS)


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A table that may lack any of its keys."""
    return st.fixed_dictionaries({}, optional=fields)


def mergeable(item: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    items = st.lists(item, max_size=3)
    dedup = st.sampled_from([True, False, "inherit"])
    return items | some(value=items, strategy=POSITIONS, dedup=dedup, discard_when_merged=FLAG)


JSON = st.recursive(
    st.sampled_from([None, True, 0, "a"]) | st.lists(st.integers(0, 2), max_size=2),
    lambda inner: (
        st.dictionaries(NAMES, inner, max_size=2)
        | st.fixed_dictionaries({"value": st.lists(st.integers(0, 2), max_size=2), "strategy": POSITIONS})
    ),
    max_leaves=4,
)
MODEL = st.sampled_from(["fast", "slow"]) | st.sampled_from(["openai/m", "google/n"]).map(
    lambda text: dict(zip(("provider", "name"), text.split("/"), strict=True))
)
ENTRIES = st.dictionaries(NAMES, WORDS, max_size=2)
TOOL = some(run=st.sampled_from(["ask", "unattended"]), summary=WORDS)

KINDS: dict[str, KindOfValue] = {
    "a text": KindOfValue("assistant/name", WORDS, replaced),
    "a word": KindOfValue("assistant/tool_choice", st.sampled_from(["auto", "none"]), replaced),
    "a number": KindOfValue("assistant/request/max_retries", st.integers(0, 9), replaced),
    "a switch": KindOfValue("style/lock_wait/show", FLAG, replaced),
    "a table": KindOfValue(
        "style/lock_wait",
        some(show=FLAG, delay_secs=st.integers(0, 9), timeout_secs=st.integers(0, 9)),
        by_field({}),
        lambda value: {"show": True, "delay_secs": 1, "interval_ms": 100, "timeout_secs": 10, **value},
    ),
    "an optional table": KindOfValue(
        "conversation/title/generate/model/parameters",
        some(max_tokens=st.integers(1, 9), stop_words=FEW),
        by_field({"stop_words": appended}),
        lambda value: {"stop_words": [], "other": {}, **value},
    ),
    "a map of tables": KindOfValue(
        "conversation/tools", st.dictionaries(NAMES, TOOL, max_size=3), by_entry(by_field({}))
    ),
    "a map of unions": KindOfValue(
        "providers/llm/aliases",
        st.dictionaries(NAMES, MODEL, max_size=3),
        by_entry(of_one_shape(by_field({}))),
    ),
    "a model": KindOfValue("assistant/model/id", MODEL, of_one_shape(by_field({}))),
    "thinking": KindOfValue(
        "assistant/model/parameters/reasoning",
        st.sampled_from(["off", "auto"]) | some(effort=st.sampled_from(["low", "high"]), exclude=FLAG),
        of_one_shape(by_field({})),
        lambda value: {"effort": "medium", "exclude": False, **value} if isinstance(value, dict) else value,
    ),
    "a command": KindOfValue(
        "conversation/tools/t/command",
        WORDS | some(program=WORDS, args=FEW, shell=FLAG),
        of_one_shape(by_field({})),
        lambda value: {"args": [], "shell": False, **value} if isinstance(value, dict) else value,
    ),
    "one type or many": KindOfValue(
        "conversation/tools/t/parameters/p/type",
        st.sampled_from(["string", "integer"]) | st.just(["string", "null"]),
        replaced,
    ),
    "a list without a rule": KindOfValue(
        "conversation/tools/t/parameters/p/enum", st.lists(WORDS, max_size=2), replaced
    ),
    **{
        f"an appending list ({key})": KindOfValue(key, FEW, appended)
        for key in (
            "config_load_paths",
            "editor/envs",
            "providers/llm/anthropic/beta_headers",
            "assistant/model/parameters/stop_words",
            "providers/mcp/s/arguments",
            "providers/mcp/s/variables",
        )
    },
    "sections of an inquiry": KindOfValue(
        "conversation/inquiry/assistant/system_prompt_sections", st.lists(SECTION, max_size=2), appended
    ),
    "what is extended": KindOfValue("extends", FEW, lowest),
    "a mergeable text": KindOfValue(
        "assistant/system_prompt",
        WORDS
        | st.fixed_dictionaries(
            {"value": WORDS},
            optional={
                "strategy": POSITIONS,
                "separator": st.sampled_from(["none", "space", "line", "paragraph"]),
                "discard_when_merged": FLAG,
            },
        ),
        texts,
        text_of,
    ),
    "sections": KindOfValue("assistant/system_prompt_sections", mergeable(SECTION), lists, items_of),
    "instructions": KindOfValue(
        "assistant/instructions",
        mergeable(st.builds(lambda text: {"title": text, "position": 0, "items": [], "examples": []}, WORDS)),
        lists,
        items_of,
    ),
    "attachments": KindOfValue(
        "conversation/attachments", mergeable(st.sampled_from(["file:a", "file:b"])), lists, items_of
    ),
    "rules of access": KindOfValue(
        "conversation/tools/t/access/fs",
        mergeable(st.builds(lambda path: {"path": path}, WORDS)),
        lists,
        items_of,
    ),
    "labels": KindOfValue(
        "conversation/labels",
        ENTRIES
        | st.fixed_dictionaries(
            {"value": ENTRIES, "strategy": st.sampled_from(["deep_merge", "merge", "keep", "replace"])},
            optional={"discard_when_merged": FLAG},
        ),
        maps,
        entries_of,
    ),
    "free JSON": KindOfValue("template/values/v", JSON, free, plain_free),
    "options of a tool": KindOfValue("conversation/tools/t/options/o", JSON, free, plain_free),
    "unknown parameters": KindOfValue(
        "assistant/model/parameters/other",
        st.dictionaries(NAMES, JSON, max_size=2),
        by_entry(replaced),
    ),
}


# -------------------------------------------------------------------------------------------- the properties


def tree_of(key: str, value: Any) -> Partial:
    if value is NOTHING:
        return EMPTY
    names = key.split("/")
    if names[-1] == "other":
        names.pop()  # unknown parameters stand beside the others
    for name in reversed(names):
        value = {name: value}
    report = Report()
    tree = read_table(SCHEMA, value, report)
    assert [finding for finding in report.findings if finding.severity == "error"] == []
    return tree


def merged(trees: Sequence[Partial]) -> Partial:
    return functools.reduce(functools.partial(merge_tables, SCHEMA), trees, EMPTY)


def modelled(merge: Merge, values: Sequence[Any]) -> Any:
    said = [value for value in values if value is not NOTHING]
    return functools.reduce(merge, said) if said else NOTHING


def shown(key: str, tree: Partial) -> Any:
    complete = without_manner(complete_table(SCHEMA, tree))
    assert isinstance(complete, dict)
    value: Any = write_table(SCHEMA, complete)
    for name in key.split("/"):
        value = value.get(name, {})  # an empty table is left out
    if key == "conversation/tools":
        del value["*"]
    return value


@pytest.mark.requirement("R324")
@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_layers_of_files_merge_as_the_model_says(kind: str, data: st.DataObject) -> None:
    case = KINDS[kind]
    layers = data.draw(
        st.lists(st.lists(case.values | st.just(NOTHING), min_size=1, max_size=3), min_size=1, max_size=4)
    )
    wanted = modelled(case.merge, [modelled(case.merge, files) for files in layers])
    tree = merged([merged([tree_of(case.key, value) for value in files]) for files in layers])
    if wanted is not NOTHING:
        found = shown(case.key, tree)
        assert found == case.final(wanted)
        assert "map" not in kind or list(found) == list(wanted)  # entries keep their order
    else:
        assert tree == EMPTY


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_a_layer_that_is_silent_changes_nothing(kind: str, data: st.DataObject) -> None:
    """Wherever it lies, and whatever lists and texts around it say of being merged (trap 12)."""
    case = KINDS[kind]
    trees = [tree_of(case.key, value) for value in data.draw(st.lists(case.values, min_size=1, max_size=3))]
    at = data.draw(st.integers(0, len(trees)))
    assert merged([*trees[:at], EMPTY, *trees[at:]]) == merged(trees)


def sources_of(key: str, layers: Sequence[Sequence[Any]]) -> list[Source]:
    made: list[Source] = []
    for index, (kind, files) in enumerate(zip(FILE_KINDS, layers, strict=False)):
        steps = tuple(
            Step(Origin(kind, f"{index}.{number}"), tree_of(key, value)) for number, value in enumerate(files)
        )
        made.append(Layer(Origin(kind, str(index)), steps))
    return made


def distinct(value: Any) -> Any:
    """Leave doubles out: that there are none may be all that a shadowed file asks for."""
    if not isinstance(value, list):
        return value
    return [item for index, item in enumerate(value) if item not in value[:index]]


@pytest.mark.requirement("R285")
@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_what_explain_calls_shadowed_has_no_part_in_the_value(kind: str, data: st.DataObject) -> None:
    """The value is what resolving gives; without the files that are shadowed it is the same."""
    case = KINDS[kind]
    layers = data.draw(
        st.lists(st.lists(case.values | st.just(NOTHING), min_size=1, max_size=2), min_size=1, max_size=4)
    )
    sources = sources_of(case.key, layers)
    path = tuple(case.key.split("/"))
    explanation = explain_path(path, sources, OUR_ORDER, resolve(sources).tree)
    shadowed = {each.origin.name for each in explanation.shadowed}
    kept = [
        Layer(source.origin, tuple(step for step in source.steps if step.origin.name not in shadowed))
        for source in sources
        if isinstance(source, Layer)
    ]
    assert distinct(shown(case.key, fold(kept).tree)) == distinct(shown(case.key, fold(sources).tree))
    told = {
        each.origin.name for each in explanation.contributions if each.state in {"wins", "adds", "shadowed"}
    }
    assert told == {
        step.origin.name
        for source in sources
        if isinstance(source, Layer)
        for step in source.steps
        if value_at(step.partial, path) is not ABSENT
    }

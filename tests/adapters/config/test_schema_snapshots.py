"""The key tree against the reference's own lists of fields and defaults (config-and-tools 10.2, 1)."""

import json
import re
from collections.abc import Mapping

import pytest

from jp_lsp.config.complete import complete_table
from jp_lsp.config.kind import Kind, ListOf, MapOf, Table, Variant
from jp_lsp.config.schema import SCHEMA, leaf_keys
from jp_lsp.config.value import ABSENT, MergedList
from jp_lsp.config.write import write_table
from tests.support.shared import shared_path

FIELDS = "app_config_fields.snap"
DEFAULTS = "partial_app_config_default_values.snap"


def snapshot(name: str) -> str:
    return (
        shared_path("real-workspace", "schema-snapshots", name).read_text(encoding="utf-8").split("---\n")[2]
    )


def test_the_keys_are_those_of_the_reference():
    theirs = set(re.findall(r'"([^"]+)"', snapshot(FIELDS)))
    assert {".".join(map(str, path)) for path, _ in leaf_keys()} == theirs


class DebugReader:
    """Reads Rust's debug form: `Name { field: value, }`, `Some( value, )`, lists, text and words."""

    TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[A-Za-z0-9_µ]+|[{}()\[\]:,]')

    def __init__(self, text: str) -> None:
        self.tokens = self.TOKEN.findall(text)
        self.at = 0

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    def members(self, close: str) -> list[object]:
        found: list[object] = []
        while self.tokens[self.at] != close:
            found.append(self.value())
            if self.tokens[self.at] == ",":
                self.at += 1
        self.at += 1
        return found

    def fields(self) -> dict[str, object]:
        found: dict[str, object] = {}
        while self.tokens[self.at] != "}":
            name = self.take()
            assert self.take() == ":"
            found[name] = self.value()
            if self.tokens[self.at] == ",":
                self.at += 1
        self.at += 1
        return found

    def value(self) -> object:
        token = self.take()
        if token.startswith('"'):
            return json.loads(token)
        if token == "[":
            return self.members("]")
        if token == "{":
            return self.fields()
        following = self.tokens[self.at] if self.at < len(self.tokens) else ""
        if following == "{":
            self.at += 1
            return self.fields()
        if following == "(":
            self.at += 1
            inner = self.members(")")
            return inner[0] if len(inner) == 1 else inner
        if token.isdecimal():
            return int(token)
        return {"None": None, "true": True, "false": False}.get(token, token)


# Ours differ in how a value is spelled, in what is set when nothing is (2, last column), and in an example
# that never takes effect (trap 14).
SPELLINGS = {"Osc8": "osc8", "Off": "off", "500µs": "500us", "0ns": "0s", "Strip": "strip"}
NOT_COMPARED = {("conversation", "labels"), ("assistant", "instructions")}


def theirs_at(tree: object, path: tuple[object, ...]) -> object:
    for segment in path:
        if not isinstance(tree, Mapping):
            return None
        if segment == "*":
            segment = "defaults"
        tree = tree.get(segment)
    return tree


def plain(value: object) -> object:
    if isinstance(value, Mapping) and "value" in value and "discard_when_merged" in value:
        return plain(value["value"])
    if isinstance(value, Mapping):
        return {name: plain(member) for name, member in value.items() if member is not None}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return SPELLINGS.get(value, value) if isinstance(value, str) else value


def defaults_of_the_reference() -> Mapping[str, object]:
    text = snapshot(DEFAULTS)
    tree = DebugReader(text[text.index("PartialAppConfig") :]).value()
    assert isinstance(tree, dict)
    return tree


def test_the_defaults_are_those_of_the_reference():
    theirs = defaults_of_the_reference()
    ours: dict[str, object] = {}
    expected: dict[str, object] = {}
    for path, key in leaf_keys():
        their_value = plain(theirs_at(theirs, path))
        if path in NOT_COMPARED or their_value in (None, {}) or isinstance(key.kind, MapOf):
            continue
        name = ".".join(map(str, path))
        expected[name] = their_value
        default = key.default
        if isinstance(default, MergedList):
            ours[name] = list(default.items)
        else:
            ours[name] = getattr(default, "text", default)
    assert expected["conversation.tools.*.cancellation_response"]
    assert len(expected) > 50
    assert ours == expected


def test_what_has_no_default_there_has_only_documented_ones_here():
    theirs = defaults_of_the_reference()
    only_ours = {
        ".".join(map(str, path)): key.default
        for path, key in leaf_keys()
        if key.default is not ABSENT
        and not isinstance(key.kind, MapOf)
        and theirs_at(theirs, path) in (None, [])
        and not isinstance(key.default, MergedList)
    }
    assert only_ours == {
        "assistant.tool_choice": "auto",
        "assistant.request.cache": True,
        "conversation.tools.*.result": "unattended",
        "conversation.tools.*.style.inline_results": {"truncate": {"lines": 10}},
        "conversation.tools.*.style.results_file_link": "full",
        "conversation.tools.*.style.parameters": "json",
        "conversation.start_local": False,
        "style.markdown.hr_style": "line",
        "style.reasoning.display": "full",
        "interrupt.streaming.action": "prompt",
        "interrupt.streaming.compose_in_editor": False,
        "interrupt.tool_call.action": "prompt",
        "interrupt.tool_call.compose_in_editor": False,
    }


def all_keys(kind: Kind, path: str = "", seen: frozenset[int] = frozenset()):
    if id(kind) in seen:
        return
    seen |= {id(kind)}
    match kind:
        case Table():
            for name, key in kind.keys.items():
                yield f"{path}.{name}", key
                yield from all_keys(key.kind, f"{path}.{name}", seen)
        case Variant():
            yield from all_keys(kind.table, path, seen)
        case MapOf():
            yield from all_keys(kind.entry, f"{path}.NAME", seen)
            for name, special in kind.special.items():
                yield from all_keys(special, f"{path}.{name}", seen)
        case ListOf():
            yield from all_keys(kind.item, f"{path}[]", seen)
        case _:
            return


def test_every_key_says_what_it_is_for():
    keys = list(all_keys(SCHEMA))
    assert len(keys) > 200
    assert [path for path, key in keys if not key.doc.endswith(".") or not key.doc[0].isupper()] == []


def test_a_configuration_from_nothing_is_complete_and_in_the_order_of_files():
    written = write_table(SCHEMA, complete_table(SCHEMA, {}))
    assert list(written) == [
        "config_load_paths", "extends", "assistant", "conversation", "style", "interrupt", "editor", "providers",
        "plugins",
    ]  # fmt: skip
    assert written["extends"] == ["config.d/**/*"]


@pytest.mark.shared
def test_the_defaults_were_read_whole():
    theirs = defaults_of_the_reference()
    assert set(theirs) == set(SCHEMA.keys)

"""The spellings that a file may use for a value, and the one form that is kept (config-and-tools 2, 4, 1.8)."""

from typing import Any

import pytest

from jp_lsp.config.complete import final_table
from jp_lsp.config.problem import Report
from jp_lsp.config.read import read_table
from jp_lsp.config.schema import SCHEMA
from jp_lsp.config.write import write_table

TOOL = "conversation/tools/t"
PARAMETER = f"{TOOL}/parameters/p"
RULE = "conversation/compaction/rules/0"


def nested(key: str, value: Any) -> Any:
    for name in reversed(key.split("/")):
        value = [value] if name == "0" else {name: value}
    return value


def read(key: str, value: Any) -> tuple[Any, list[str]]:
    report = Report()
    written: Any = write_table(SCHEMA, final_table(SCHEMA, read_table(SCHEMA, nested(key, value), report)))
    for name in key.split("/"):
        if isinstance(written, dict) and "discard_when_merged" in written:
            written = written["value"]
        if name == "0":
            written = written[0] if written else None
        else:
            written = written.get(name) if isinstance(written, dict) else None
    return written, [finding.text for finding in report.findings]


ON, OFF = {"state": True, "allow_toggle": "any"}, {"state": False, "allow_toggle": "any"}

KEPT: list[tuple[str, Any, Any]] = [
    (f"{TOOL}/enable", True, ON),
    (f"{TOOL}/enable", "on", ON),
    (f"{TOOL}/enable", "true", ON),
    (f"{TOOL}/enable", False, OFF),
    (f"{TOOL}/enable", "off", OFF),
    (f"{TOOL}/enable", "explicit", {"state": False, "allow_toggle": "if_named"}),
    (f"{TOOL}/enable", "always", {"state": True, "allow_toggle": "never"}),
    (f"{TOOL}/enable", {"allow_toggle": "if_named_or_group"}, {"allow_toggle": "if_named_or_group"}),
    (f"{TOOL}/source", "builtin.x", "builtin.x"),
    (f"{TOOL}/source", "mcp.server.a.b", "mcp.server.a.b"),
    (f"{TOOL}/style/inline_results", 3, {"truncate": {"lines": 3}}),
    (f"{TOOL}/style/inline_results", True, "full"),
    (f"{TOOL}/style/inline_results", {"truncate": {"lines": 4}}, {"truncate": {"lines": 4}}),
    (f"{TOOL}/style/results_file_link", False, "off"),
    (f"{TOOL}/style/parameters", "my-formatter {{tool}}", "my-formatter {{tool}}"),
    (f"{TOOL}/style/parameters", {"program": "f"}, {"program": "f"}),
    (f"{PARAMETER}/type", ["string", "null"], ["string", "null"]),
    (f"{PARAMETER}/enum", [1, "a", None], [1, "a", None]),
    (f"{PARAMETER}/items", {"type": "object", "properties": {"x": {"items": {"type": "string"}}}},
     {"type": "object", "properties": {"x": {"items": {"type": "string"}}}}),
    (f"{TOOL}/questions/q/target", "assistant", "assistant"),
    (f"{TOOL}/questions/q/target", {"model": {"id": "a"}}, {"model": {"id": "a"}}),
    (f"{TOOL}/options/x", None, None),
    ("assistant/tool_choice", True, "required"),
    ("assistant/tool_choice", False, "none"),
    ("assistant/tool_choice", "git_commit", "git_commit"),
    ("assistant/tool_choice", "true", "true"),
    ("assistant/model/id", "openrouter/a/b:c", {"provider": "openrouter", "name": "a/b:c"}),
    ("assistant/model/id", {"provider": "xai", "name": "g", "extra": 1}, {"provider": "xai", "name": "g"}),
    ("assistant/model/id", "compatible/x", {"provider": "llamacpp", "name": "x"}),
    ("assistant/model/parameters/temperature", 1, 1.0),
    ("assistant/request/cache", "short", True),
    ("assistant/request/cache", "off", False),
    ("assistant/request/cache", "3600s", "1h"),
    ("assistant/request/cache", {"secs": 90, "nanos": 0}, "1m 30s"),
    ("style/typewriter/text_delay", "0", "0s"),
    ("style/typewriter/text_delay", 5, "5ms"),
    ("style/typewriter/text_delay", {"secs": 1, "nanos": 500}, "1s 500ns"),
    ("style/typewriter/text_delay", "2 days 3hours", "2d 3h"),
    ("style/typewriter/text_delay", "7µs", "7us"),
    ("style/reasoning/display", 80, 80),
    ("style/reasoning/display", {"truncate": {"characters": 80}}, 80),
    ("style/reasoning/background", 255, 255),
    ("style/reasoning/background", "#A0b1C2", "#A0b1C2"),
    ("interrupt/streaming/compose_in_editor", True, True),
    ("interrupt/streaming/compose_in_editor", "always", "always"),
    (f"{RULE}/keep_first", 3, 3),
    (f"{RULE}/keep_first", -2, "-2"),
    (f"{RULE}/keep_first", "4", 4),
    (f"{RULE}/keep_last", "@5", "@5"),
    (f"{RULE}/keep_last", "2h", "2h"),
    (f"{RULE}/keep_last", "last-compaction", "last-compaction"),
    (f"{RULE}/tool_calls", "sres", "strip-responses"),
    (f"{RULE}/tool_calls", "o", "omit"),
    ("conversation/labels/l", {"value": {"cmd": "git branch"}, "run": "deny"}, {"value": {"cmd": "git branch"}, "run": "deny"}),
    ("conversation/attachments/0", {"kind": "cmd", "path": "x"}, {"type": "cmd", "path": "x"}),
    ("conversation/attachments/0", {"type": "cmd", "path": "x", "params": {"a": ["b"]}},
     {"type": "cmd", "path": "x", "params": {"a": ["b"]}}),
    ("providers/mcp/s/args", ["a"], None),
    ("providers/mcp/s/arguments", ["a"], ["a"]),
    ("editor/cmd", {"program": "vi", "shell": True}, {"program": "vi", "shell": True}),
]  # fmt: skip


@pytest.mark.parametrize(("key", "value", "expected"), KEPT)
def test_a_value_has_one_form(key: str, value: Any, expected: Any):
    found, problems = read(key, value)
    assert problems == []
    assert found == expected
    assert type(found) is type(expected)


DROPPED: list[tuple[str, Any, str]] = [
    ("assistant/name", 1, "expected text, got 1"),
    ("assistant/name", [], "expected text, got a list"),
    ("assistant/request/max_retries", True, "expected a whole number from 0 to 4294967295, got true"),
    ("assistant/request/max_retries", 1.0, "expected a whole number from 0 to 4294967295, got 1.0"),
    ("assistant/model/parameters/temperature", "warm", "expected a number, got `warm`"),
    ("assistant/model/parameters/temperature", 10**400, f"expected a finite number, got {str(10**400)[:76]} ..."),
    ("assistant/model/id", "", "expected `provider/name` or an alias, got ``"),
    ("assistant/model/id", 7, "expected `provider/name` or an alias, got 7"),
    ("assistant/model/parameters/reasoning", True, "expected `off`, `auto`, an effort (one of `none`, `auto`, `xlow`, "
     "`low`, `medium`, `high`, `xhigh`, `max`, or a number of tokens) or a table with `effort`, got true"),
    ("assistant/model/parameters/reasoning", [], "expected `off`, `auto`, an effort (one of `none`, `auto`, `xlow`, "
     "`low`, `medium`, `high`, `xhigh`, `max`, or a number of tokens) or a table with `effort`, got a list"),
    ("assistant/system_prompt", 1, "expected text, or a table with `value` and `strategy`, got 1"),
    ("assistant/system_prompt", {"value": 1}, "expected text as `value`, got 1"),
    ("assistant/system_prompt", {"value": "a", "strategy": "add"},
     "expected one of `append`, `prepend`, `replace`, got `add`"),
    ("assistant/system_prompt", {"value": "a", "sep": "line"},
     "unknown key; known here: `value`, `strategy`, `separator`, `discard_when_merged`"),
    ("assistant/system_prompt", {"value": "a", "discard_when_merged": 1}, "expected true or false, got 1"),
    ("conversation/attachments", "file:a", "expected a list, or a table with `value` and `strategy`, got `file:a`"),
    ("conversation/attachments", {"value": "file:a"}, "expected a list as `value`, got `file:a`"),
    ("conversation/attachments", {"value": [], "dedup": "yes"}, "expected true, false or `inherit`, got `yes`"),
    ("editor/envs", {"value": ["a"]}, "expected a list, got a table"),
    ("conversation/labels", {"value": 1, "strategy": "keep"}, "expected a table as `value`, got 1"),
    ("conversation/labels", 1, "expected a table, got 1"),
    (f"{PARAMETER}/type", [1], "expected a JSON type, or a list of them, got a list"),
    (f"{TOOL}/style/inline_results", "all", "expected `off`, `full`, true, false, or a number of lines, got `all`"),
    ("style/reasoning/display", "some", "expected one of `hidden`, `full`, `summary`, `static`, `progress`, `timer`, "
     "or a number of characters, got `some`"),
    ("style/reasoning/background", 256, "expected a colour from 0 to 255 or `#RRGGBB`, got 256"),
    ("style/typewriter/text_delay", "soon", "expected a duration such as `3ms` or `1h 30m`, got `soon`"),
    ("style/typewriter/text_delay", {"secs": -1, "nanos": 0}, "expected a duration such as `3ms` or `1h 30m`, got -1"),
    ("style/typewriter/text_delay", "999999999999999w", "expected a duration such as `3ms` or `1h 30m`, got "
     "`999999999999999w`"),
    (f"{RULE}/keep_first", "@0", "expected a number of turns, `@N`, `-N`, a duration, `last` or `last-compaction`, "
     "got `@0`"),
    (f"{RULE}/keep_first", True, "expected a number of turns, `@N`, `-N`, a duration, `last` or `last-compaction`, "
     "got true"),
    ("conversation/default_id", "", "expected `ask`, `last-activated`, `last-created`, `previous` or the id of a "
     "conversation, got ``"),
    ("extends", "a.toml", "expected a list, got `a.toml`"),
    ("providers/mcp/s/type", "http", "expected one of `stdio`, got `http`"),
    ("conversation", [], "expected a table, got a list"),
]  # fmt: skip


@pytest.mark.parametrize(("key", "value", "message"), DROPPED)
def test_a_value_that_does_not_fit_is_left_out_and_reported(key: str, value: Any, message: str):
    found, problems = read(key, value)
    assert problems == [message]
    if not isinstance(value, dict):
        assert found is None


def test_a_list_keeps_the_items_that_fit():
    report = Report()
    tree = read_table(SCHEMA, {"editor": {"envs": ["a", 1, "b"]}}, report)
    written: Any = write_table(SCHEMA, tree)
    assert written["editor"]["envs"] == ["a", "b"]
    assert [finding.path for finding in report.findings] == [("editor", "envs", 1)]


def test_another_spelling_of_a_key_is_kept_under_its_name():
    written: Any = write_table(
        SCHEMA, read_table(SCHEMA, {"providers": {"mcp": {"s": {"args": ["a"]}}}}, Report())
    )
    assert written["providers"]["mcp"]["s"] == {"arguments": ["a"]}

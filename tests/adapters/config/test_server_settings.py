"""Settings that the editor sends (query pipeline 0.4)."""

from pathlib import Path
from typing import Any

import pytest

from jp_lsp.config.server_settings import (
    HttpServer,
    InterruptSettings,
    LimitSettings,
    LocalSettings,
    PromptSettings,
    RenderSettings,
    ServerSettings,
    ShutdownSettings,
    ToolLimits,
    read_server_settings,
)

EVERYTHING: dict[str, Any] = {
    "interrupt": {
        "turn": {"action": "reply"},
        "on_dismiss": "continue",
        "menu_timeout_secs": 30,
        "progress_cancel": "press",
        "cancel_action": "abort",
    },
    "prompt": {"text_transport": "document", "save_commits": True, "max_actions": 3},
    "render": {
        "granularity": "raw",
        "control_sequences": "keep_sgr",
        "reasoning_separator": "none",
        "coalesce_ms": 0,
    },
    "shutdown": {"turn_secs": 1, "limit_secs": 2.5, "background_secs": 0},
    "limits": {"record_events": True, "tool_calls": 5, "cycles": 100},
    "trust": "always",
    "storage": {"newer_format": True},
    "layer_order": "conversation_wins",
    "local": {"model_path": "/models/a.gguf", "threads": 4},
    "lmstudio": {"base_url": "http://localhost:1"},
    "compatible": {"base_url": "http://localhost:2"},
    "mcp": {"http": {"s": {"url": "http://localhost:3", "bearer_token_env": "T", "optional": True}}},
    "conversation": {"tools": {"t": {"timeout_secs": 5, "size_threshold": 10, "detached": {"run": "auto"}}}},
}
READ = ServerSettings(
    InterruptSettings("reply", "continue", 30, "press", "abort"),
    PromptSettings("document", save_commits=True, max_actions=3),
    RenderSettings("raw", "keep_sgr", "none", 0),
    ShutdownSettings(1.0, 2.5, 0.0),
    LimitSettings(record_events=True, tool_calls=5, cycles=100),
    LocalSettings(Path("/models/a.gguf"), 4),
    "always",
    "conversation_wins",
    newer_format=True,
    lmstudio_base_url="http://localhost:1",
    compatible_base_url="http://localhost:2",
    http_servers={"s": HttpServer("http://localhost:3", "T", optional=True, startup_timeout_secs=60)},
    tools={"t": ToolLimits({"run": "auto"}, 5, 10)},
)


def test_every_setting_is_read():
    assert read_server_settings(EVERYTHING).settings == READ
    assert read_server_settings({"jp": EVERYTHING}).settings == READ
    assert read_server_settings(EVERYTHING).warnings == ()


def dotted(value: Any, path: str = "") -> dict[str, Any]:
    if isinstance(value, dict) and path.count(".") < 2:
        return {
            name: leaf
            for key, member in value.items()
            for name, leaf in dotted(member, f"{path}{key}.").items()
        }
    return {path.rstrip("."): value}


def test_dotted_names_say_the_same():
    assert read_server_settings(dotted(EVERYTHING)).settings == READ


@pytest.mark.parametrize(
    "raw", [None, {}, [], "x", {"jp": None}, {"jp": {}}, {"trust": None}, {"lmstudio": {"base_url": ""}}]
)
def test_nothing_gives_the_defaults(raw: Any):
    read = read_server_settings(raw)
    assert read.settings == ServerSettings()
    assert read.warnings == ()


INVALID: dict[str, tuple[Any, str]] = {
    "a word that is none": (
        {"render": {"granularity": "lines", "coalesce_ms": 5}},
        "The setting `jp.render.granularity` is not used: expected one of `block`, `raw`, got `lines`.",
    ),
    "a number that is none": (
        {"limits": {"cycles": "many"}, "render": {"coalesce_ms": 5}},
        "The setting `jp.limits.cycles` is not used: expected a whole number from 0 to 4294967295, got `many`.",
    ),
    "a negative time": (
        {"shutdown": {"turn_secs": -1}, "render": {"coalesce_ms": 5}},
        "The setting `jp.shutdown.turn_secs` is not used: expected a number that is not negative, got -1.",
    ),
    "a table that is none": (
        {"interrupt": True, "render": {"coalesce_ms": 5}},
        "The setting `jp.interrupt` is not used: expected a table, got true.",
    ),
    "threads": (
        {"local": {"threads": 0}, "render": {"coalesce_ms": 5}},
        "The setting `jp.local.threads` is not used: expected a whole number from 1 to 1024, got 0.",
    ),
    "a server without address": (
        {"mcp": {"http": {"s": {}}}, "render": {"coalesce_ms": 5}},
        "The setting `jp.mcp.http.s` is not used: it has no `url`.",
    ),
    "a name with a slip": (
        {"rendr": {}, "render": {"coalesce_ms": 5}},
        "The setting `jp.rendr` is not a known key and is ignored; did you mean `render`?",
    ),
}


@pytest.mark.parametrize("case", INVALID)
def test_an_invalid_value_falls_back_and_is_reported_while_the_rest_holds(case: str):
    raw, warning = INVALID[case]
    read = read_server_settings(raw)
    assert read.settings == ServerSettings(render=RenderSettings(coalesce_ms=5))
    assert read.warnings == (warning,)


def test_settings_of_the_editors_own_are_none_of_our_business():
    assert read_server_settings({"server": {"path": "/x"}, "trace": "verbose"}).warnings == ()


def test_a_home_folder_is_expanded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", "/home/somebody")
    read = read_server_settings({"local": {"model_path": "~/a.gguf"}})
    assert read.settings.local.model_path == Path("/home/somebody/a.gguf")
    wrong = read_server_settings({"local": {"model_path": "~nobody-of-that-name/a.gguf"}})
    assert wrong.settings.local.model_path is None
    assert len(wrong.warnings) == 1

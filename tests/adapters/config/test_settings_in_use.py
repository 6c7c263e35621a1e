"""Every setting that is read has an effect: what the schemas offer is used somewhere, or stands below with a reason.

This looks at the program's text: for each field of the settings, whether any code outside of where it is made
reads an attribute of that name; for each key of `.jp` files, whether any code that makes settings of them names it.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path

from jp_lsp.config import server_settings
from jp_lsp.config.problem import dotted
from jp_lsp.config.schema import leaf_keys
from jp_lsp.ports.provider import ModelParameters
from jp_lsp.ports.providers import ProviderSettings
from jp_lsp.ports.settings import QuerySettings, StreamGuards
from jp_lsp.render.options import DisplayOptions, ReasoningDisplay, ToolStyle
from jp_lsp.tools.spec import ToolPolicy
from jp_lsp.turn.options import InterruptOptions, RetryPolicy, TurnOptions

ROOT = Path(server_settings.__file__).parents[1]
CONFIG = ROOT / "config"

SERVER_SECTIONS = (
    server_settings.InterruptSettings,
    server_settings.PromptSettings,
    server_settings.RenderSettings,
    server_settings.ShutdownSettings,
    server_settings.LimitSettings,
    server_settings.LocalSettings,
    server_settings.HttpServer,
    server_settings.ToolLimits,
    server_settings.ServerSettings,
)
HANDED_ON = (
    QuerySettings,
    StreamGuards,
    ModelParameters,
    ProviderSettings,
    DisplayOptions,
    ReasoningDisplay,
    ToolStyle,
    ToolPolicy,
    InterruptOptions,
    RetryPolicy,
    TurnOptions,
)

TERMINAL = (
    "for the terminal of another program; kept in conversations and otherwise ignored (config-and-tools 0)"
)
PACE = "states are shown at the server's own pace; the keys are for terminals that redraw (5.2)"

UNUSED_FIELDS: dict[str, str] = {}
"""Fields without effect, and why."""

UNUSED_KEYS: dict[str, str] = {
    "editor.envs": TERMINAL,
    "editor.inline": TERMINAL,
    "plugins.auto_install": TERMINAL,
    "plugins.shutdown_timeout_secs": TERMINAL,
    "style.code": TERMINAL,
    "style.lock_wait": PACE,
    "style.markdown": TERMINAL,
    "style.mcp_startup": PACE,
    "style.streaming.progress": PACE,
    "style.tool_call.preparing": PACE,
    "style.tool_call.progress": PACE,
    "style.typewriter": TERMINAL,
}
"""Keys without effect, or tables that have such keys, and why."""


@cache
def attributes(folder: Path, *without: Path) -> frozenset[str]:
    """The attributes that code reads, be it with a dot or in a pattern."""
    return frozenset(_attributes(folder, without))


def _attributes(folder: Path, without: tuple[Path, ...]) -> Iterator[str]:
    for path in folder.rglob("*.py"):
        if any(path.is_relative_to(each) for each in without):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                yield node.attr
            elif isinstance(node, ast.MatchClass):
                yield from node.kwd_attrs


@cache
def words() -> frozenset[str]:
    """The texts in code that makes settings of keys."""
    return frozenset(
        node.value
        for path in ROOT.rglob("*.py")
        if not path.name.startswith("keys_") and path != CONFIG / "schema.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def unused_fields(sections: Sequence[type], *makers: Path) -> set[str]:
    read = attributes(ROOT, *makers)
    return {
        f"{section.__name__}.{field.name}"
        for section in sections
        for field in fields(section)  # type: ignore[arg-type]  # all are dataclasses
        if field.name not in read
    }


def test_every_server_setting_and_all_that_is_made_of_settings_is_used() -> None:
    unused = unused_fields(SERVER_SECTIONS, CONFIG / "server_settings.py") | unused_fields(HANDED_ON, CONFIG)
    assert unused == set(UNUSED_FIELDS)


def test_every_key_of_a_file_is_used() -> None:
    unused = {dotted(path) for path, _ in leaf_keys() if path[-1] not in words()}
    excused = {
        name for name in unused if any(name == key or name.startswith(f"{key}.") for key in UNUSED_KEYS)
    }
    assert unused == excused
    idle = {key for key in UNUSED_KEYS if not any(f"{name}.".startswith(f"{key}.") for name in unused)}
    assert not idle, "these have an effect by now"


def test_a_setting_that_nobody_reads_is_found(tmp_path: Path) -> None:
    (tmp_path / "reader.py").write_text(
        "def read(options):\n    options.written = 1\n    match options:\n"
        "        case Options(matched=found):\n            return options.read\n",
        encoding="utf-8",
    )
    assert attributes(tmp_path) == {"matched", "read"}
    assert attributes(tmp_path, tmp_path / "reader.py") == frozenset()

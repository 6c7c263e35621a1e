"""Values that files may write in several ways: commands, switches, tool sources, display modes.

Each has one normal form, which is also the form of a conversation's files (config-and-tools 1.8, 4).
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from jp_lsp.config import duration
from jp_lsp.config.kind import FreeJson, Key, Leaf, ListOf, MapOf, Misfit, Table, Variant, has_only, map_of
from jp_lsp.config.scalars import boolean, choice, text, whole
from jp_lsp.config.value import MergedList, Value
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.tools.command_line import split_command


def table(keys: Mapping[str, Key]) -> Table:
    """Make a table that refuses unknown keys."""
    return Table(MappingProxyType(dict(keys)))


def option(kind: Table | Variant, doc: str) -> Key:
    """Make a key for a table that is only there when somebody sets it."""
    return Key(kind, doc)


def section(kind: Table, doc: str) -> Key:
    """Make a key for a table that is always there."""
    return Key(kind, doc, default={})


NO_ITEMS = MergedList()

# ---------------------------------------------------------------------------------------------- commands

_COMMAND_TABLE = table(
    {
        "program": Key(text(), "The program to start.", required=True),
        "args": Key(ListOf(text(), "replace"), "Its arguments.", default=MergedList((), "replace")),
        "shell": Key(boolean(), "Run it through a shell.", default=False),
    }
)


def command_line(expected: str) -> Leaf:
    """Make a leaf for a command line; one that cannot be split is refused in assignments only (4.4)."""
    line = text(expected)

    def assigned(raw: JsonValue) -> Value:
        value = line.read(raw)
        try:
            split_command(str(value))
        except ValueError as error:
            raise Misfit("a command line in which every quotation ends", raw) from error
        return value

    return Leaf(expected, line.read, assigned, assigned)


COMMAND = Variant(command_line("a command line, or a table with `program`"), _COMMAND_TABLE)
"""A command line that is split like a shell would, or a table."""

CHECKSUM = table(
    {
        "algorithm": Key(choice("sha256", "sha1"), "How the checksum was made.", required=True),
        "value": Key(text(), "The checksum in hexadecimal digits.", required=True),
    }
)

# ----------------------------------------------------------------------------------------------- enabling

_TOGGLES = ("any", "never", "if_named", "if_named_or_group")
_SWITCHES: Mapping[str | bool, tuple[bool, str]] = {
    True: (True, "any"),
    "on": (True, "any"),
    "true": (True, "any"),
    False: (False, "any"),
    "off": (False, "any"),
    "false": (False, "any"),
    "explicit": (False, "if_named"),
    "always": (True, "never"),
}
_SWITCH_EXPECTED = "true, false, `explicit`, `always`, or a table with `state` and `allow_toggle`"


def _read_switch(raw: JsonValue) -> Value:
    if not isinstance(raw, (bool, str)) or raw not in _SWITCHES:
        raise Misfit(_SWITCH_EXPECTED, raw)
    state, toggle = _SWITCHES[raw]
    return {"state": state, "allow_toggle": toggle}


ENABLE = Variant(
    Leaf(_SWITCH_EXPECTED, _read_switch, _read_switch, words=("true", "false", "explicit", "always")),
    table(
        {
            "state": Key(boolean(), "Whether the tool is offered."),
            "allow_toggle": Key(choice(*_TOGGLES), "What a request may change about it."),
        }
    ),
)
"""Whether a tool is on and who may change that (4.3); the short words set both fields."""

# --------------------------------------------------------------------------------------------- tool parts

_SOURCE_EXPECTED = "`builtin`, `local` or `mcp.SERVER`, each with an optional `.TOOL`"


def _read_source(raw: JsonValue) -> Value:
    if isinstance(raw, str):
        kind, _, rest = raw.partition(".")
        if kind in {"builtin", "local"} or (kind == "mcp" and rest.partition(".")[0]):
            return raw
        if kind == "mcp":
            raise Misfit("a source that names its server, such as `mcp.SERVER`", raw)
    raise Misfit(_SOURCE_EXPECTED, raw)


SOURCE = Leaf(_SOURCE_EXPECTED, _read_source, _read_source)


def _read_type(raw: JsonValue) -> Value:
    if isinstance(raw, str):
        return raw
    if isinstance(raw, list) and all(isinstance(item, str) for item in raw):
        return raw
    raise Misfit("a JSON type, or a list of them", raw)


TYPE = Leaf("a JSON type, or a list of them", _read_type, _read_type)


def _read_tool_choice(raw: JsonValue) -> Value:
    if isinstance(raw, bool):
        return "required" if raw else "none"
    if not isinstance(raw, str) or not raw:
        raise Misfit("`auto`, `none`, `required` or the name of a tool", raw)
    return raw


def _tool_choice_from_text(raw: str) -> Value:
    return _read_tool_choice({"true": True, "false": False}.get(raw, raw))


TOOL_CHOICE = Leaf(
    "`auto`, `none`, `required` or the name of a tool",
    _read_tool_choice,
    _tool_choice_from_text,
    words=("auto", "none", "required"),
)

# ------------------------------------------------------------------------------------------------- display

LINK = choice("full", "osc8", "off", also={True: "full", False: "off"})

_RESULTS_EXPECTED = "`off`, `full`, true, false, or a number of lines"


def _read_results(raw: JsonValue) -> Value:
    match raw:
        case "off" | "full":
            return raw
        case bool():
            return "full" if raw else "off"
        case int():
            return {"truncate": {"lines": whole().read(raw)}}
        case _:
            raise Misfit(_RESULTS_EXPECTED, raw)


def _results_from_text(raw: str) -> Value:
    if raw in {"true", "false"}:
        return _read_results(raw == "true")
    return _read_results(int(raw) if raw.isascii() and raw.isdecimal() and len(raw) < 11 else raw)


INLINE_RESULTS = Variant(
    Leaf(_RESULTS_EXPECTED, _read_results, _results_from_text, words=("off", "full")),
    table(
        {
            "truncate": option(
                table({"lines": Key(whole(), "How many lines to show.", default=10)}),
                "Show the first lines only.",
            )
        }
    ),
    fresh=True,
)

_MODES = ("hidden", "full", "summary", "static", "progress", "timer")
_MODE_EXPECTED = "one of " + ", ".join(f"`{mode}`" for mode in _MODES) + ", or a number of characters"


def _read_mode(raw: JsonValue) -> Value:
    if isinstance(raw, Mapping) and has_only(raw, "truncate"):
        raw = raw["truncate"]
    if isinstance(raw, Mapping) and has_only(raw, "characters"):
        raw = raw["characters"]
    if isinstance(raw, str) and raw in _MODES:
        return raw
    if isinstance(raw, int) and not isinstance(raw, bool):
        return whole().read(raw)
    raise Misfit(_MODE_EXPECTED, raw)


def _mode_from_text(raw: str) -> Value:
    return _read_mode(int(raw) if raw.isascii() and raw.isdecimal() and len(raw) < 11 else raw)


REASONING_DISPLAY = Leaf(_MODE_EXPECTED, _read_mode, _mode_from_text, words=_MODES)

COMPOSE = Leaf(
    "true, false, `always` or `never`",
    lambda raw: raw if isinstance(raw, bool) else choice("always", "never").read(raw),
    lambda raw: raw == "true" if raw in {"true", "false"} else choice("always", "never").read(raw),
    words=("true", "false", "always", "never"),
)

# ------------------------------------------------------------------------------------------------ requests

_CACHE_EXPECTED = "true, false, `short`, `long`, `off` or a duration"


def _read_cache(raw: JsonValue) -> Value:
    match raw:
        case bool():
            return raw
        case "short" | "true":
            return True
        case "off" | "false":
            return False
        case "long":
            return raw
        case str() if (normal := duration.normal(raw)) is not None:
            return normal
        case Mapping() if has_only(raw, "secs", "nanos"):
            return duration.duration().read(raw)
        case _:
            raise Misfit(_CACHE_EXPECTED, raw)


CACHE = Leaf(_CACHE_EXPECTED, _read_cache, _read_cache, words=("short", "long", "off"))

_BOUND_EXPECTED = "a number of turns, `@N`, `-N`, a duration, `last` or `last-compaction`"
_BOUND = re.compile(r"@[1-9]\d{0,8}\Z|-\d{1,9}\Z", re.ASCII)


def _read_bound(raw: JsonValue) -> Value:
    match raw:
        case bool():
            raise Misfit(_BOUND_EXPECTED, raw)
        case int():
            return whole().read(raw) if raw >= 0 else str(raw)
        case "last" | "last-compaction":
            return raw
        case str() if raw.isascii() and raw.isdecimal() and len(raw) < 11:
            return whole().read(int(raw))
        case str() if _BOUND.match(raw):
            return raw
        case str() if (normal := duration.normal(raw)) is not None:
            return normal
        case _:
            raise Misfit(_BOUND_EXPECTED, raw)


BOUND = Leaf(_BOUND_EXPECTED, _read_bound, _read_bound)

# --------------------------------------------------------------------------------------------- attachments

_ATTACHMENT_EXPECTED = "a URL, or a table with `type` and `path`"


def _is_url(raw: str) -> bool:
    return ":" in raw


def _read_parameter(raw: JsonValue) -> Value:
    if isinstance(raw, str) or (isinstance(raw, list) and all(isinstance(item, str) for item in raw)):
        return raw
    raise Misfit("text, or a list of texts", raw)


ATTACHMENT = Variant(
    text(_ATTACHMENT_EXPECTED, _is_url),
    table(
        {
            "type": Key(text(), "Which handler fetches it.", required=True, spellings=("kind",)),
            "path": Key(text(), "What to fetch.", required=True),
            "params": Key(
                map_of(Leaf("text, or a list of texts", _read_parameter, _read_parameter)),
                "Options of the handler.",
            ),
        }
    ),
)

JSON_MAP: MapOf = map_of(FreeJson())

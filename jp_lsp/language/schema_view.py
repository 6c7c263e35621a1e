"""The schema as somebody sees it who writes a file: what may stand at a place, and how it is described.

Beside the keys of the table itself, texts and lists may be written as tables that say how they are merged; those
tables are described here, since the schema has them only as a rule of reading.
"""

import json
from collections.abc import Mapping
from types import MappingProxyType

from jp_lsp.config.kind import (
    FreeJson,
    Key,
    Kind,
    Leaf,
    ListOf,
    MapOf,
    Table,
    Text,
    Variant,
    entry_kind,
    find_key,
)
from jp_lsp.config.model_id import MODEL_ID, PROVIDERS
from jp_lsp.config.read import POSITIONS
from jp_lsp.config.scalars import boolean, choice, text
from jp_lsp.config.schema import SCHEMA
from jp_lsp.config.value import ABSENT, SEPARATORS, Path
from jp_lsp.config.write import write
from jp_lsp.conversation.json_value import JsonValue

_SHOWN_DEFAULT = 200
_STRATEGY = Key(choice(*POSITIONS), "Where it goes among what lower layers say.")
_DISCARD = Key(boolean(), "Whether it gives way to any other value.")


def members(kind: Kind) -> Table | None:
    """Give the keys that a table at this place may have; `None` where no table with fixed keys may stand."""
    match kind:
        case Table():
            return kind
        case Variant():
            return kind.table
        case Text():
            return _MERGED_TEXT
        case ListOf(rule="mergeable"):
            return _merged_list(kind)
        case _:
            return None


def key_at(path: Path) -> Key | None:
    """Give the key that a path names; for an entry of a map or an item of a list, one that describes it."""
    kind: Kind = SCHEMA
    key = Key(SCHEMA, "The configuration.")
    for segment in path:
        match kind:
            case ListOf() if isinstance(segment, int):
                key = Key(kind.item, key.doc)
            case MapOf():
                key = Key(entry_kind(kind, str(segment)), key.doc)
            case FreeJson():
                key = Key(kind, key.doc)
            case _:
                table = members(kind)
                found = None if table is None else find_key(table, str(segment))
                if found is None:
                    return None
                key = found[1]
        kind = key.kind
    return key


def describe_kind(kind: Kind) -> str:
    """Say what may stand there."""
    match kind:
        case Leaf():
            return kind.expected
        case Table():
            return "a table"
        case MapOf():
            return "a table with names of your own"
        case ListOf(rule="mergeable"):
            return f"a list (each item: {describe_kind(kind.item)}), or a table with `value` and `strategy`"
        case ListOf():
            return f"a list (each item: {describe_kind(kind.item)})"
        case Text():
            return "text, or a table with `value` and `strategy`"
        case Variant():
            return f"{kind.scalar.expected}, or a table"
        case FreeJson():
            return "any value"


def describe_merging(kind: Kind) -> str | None:
    """Say how a list meets those of the layers below, where a file and an expression differ (trap 5)."""
    match kind:
        case ListOf(rule="append"):
            return "adds to the list of the layers below; `--cfg KEY=...` replaces it, `--cfg KEY+=...` adds"
        case ListOf(rule="mergeable"):
            return (
                "adds to the list of the layers below, unless its `strategy` says otherwise; `--cfg KEY=...` replaces "
                "it, `--cfg KEY+=...` adds"
            )
        case _:
            return None


def describe_default(key: Key) -> str | None:
    """Write the default; `None` where there is none worth saying."""
    if key.default is ABSENT or isinstance(key.kind, Table | MapOf):
        return None
    return show_value(write(key.kind, key.default))


def show_value(value: JsonValue) -> str:
    """Write a value on one line, cut where it is long."""
    written = json.dumps(value, ensure_ascii=False, default=str)
    return written if len(written) <= _SHOWN_DEFAULT else f"{written[: _SHOWN_DEFAULT - 2]} …"


def words_of(kind: Kind) -> tuple[tuple[str, bool], ...]:
    """Give the fixed values of a kind, each with whether it is text (and not true or false)."""
    match kind:
        case Leaf():
            words = kind.words
        case Variant() if kind is not MODEL_ID:
            words = kind.scalar.words
        case _:
            return ()
    if words or not isinstance(kind, Leaf):
        return tuple((word, word not in {"true", "false"}) for word in words)
    return (
        tuple((name, True) for name in PROVIDERS if name != "test") if kind.expected == "a provider" else ()
    )


def _merged_list(kind: ListOf) -> Table:
    keys: Mapping[str, Key] = {
        "value": Key(ListOf(kind.item, "replace"), "The items."),
        "strategy": _STRATEGY,
        "dedup": Key(
            choice("inherit", also={True: "inherit", False: "inherit"}),
            "Whether items that are there already are left out: true, false or `inherit`.",
        ),
        "discard_when_merged": _DISCARD,
    }
    return Table(MappingProxyType(dict(keys)))


_MERGED_TEXT = Table(
    MappingProxyType(
        {
            "value": Key(text(), "The text."),
            "strategy": _STRATEGY,
            "separator": Key(choice(*SEPARATORS), "What stands between the texts."),
            "discard_when_merged": _DISCARD,
        }
    )
)

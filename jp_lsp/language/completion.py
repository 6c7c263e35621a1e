"""What can be written at a place of a configuration file.

Keys come from the schema, less those that the table has already; names of tools, servers and the like from the
effective configuration; values from the fixed words of a key, and for models and files from what there is.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from jp_lsp.config.kind import FreeJson, Key, Kind, ListOf, MapOf, Table, Variant
from jp_lsp.config.model_id import MODEL_ID
from jp_lsp.config.shapes import SOURCE, TOOL_CHOICE
from jp_lsp.config.value import Path
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.language.findings import Replacement
from jp_lsp.language.place import KeyPlace, ValuePlace, place_at
from jp_lsp.language.schema_view import describe_default, describe_kind, key_at, members, words_of
from jp_lsp.language.toml_document import Document, read_toml

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_TOOLS: Path = ("conversation", "tools")
_SERVERS: Path = ("providers", "mcp")
_ALIASES: Path = ("providers", "llm", "aliases")
_ALL_TOOLS = "*"


@dataclass(frozen=True, slots=True)
class Offer:
    """Something that exists and can be named, with what there is to say about it."""

    name: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """What there is beside the file; each is a function, since most places need none of it.

    Attributes:
        values: the effective configuration.
        models: as `provider/name`.
        files: what can be extended, as a path relative to this file.
    """

    values: Callable[[], JsonObject] = dict
    models: Callable[[], Sequence[Offer]] = tuple
    files: Callable[[], Sequence[Offer]] = tuple


@dataclass(frozen=True, slots=True)
class Proposal:
    """Something to write."""

    label: str
    kind: Literal["key", "table", "word", "model", "name", "file"]
    edit: Replacement
    detail: str = ""
    documentation: str = ""


def complete_at(text: str, offset: int, known: Known) -> list[Proposal]:
    """Give what can be written at an offset, in the order in which it is to be shown."""
    document = read_toml(text)
    match place_at(document, offset):
        case KeyPlace() as place:
            return list(_keys(document, place, known))
        case ValuePlace() as place:
            return list(_values(place, known))
        case None:
            return []


def _keys(document: Document, place: KeyPlace, known: Known) -> Iterator[Proposal]:
    holder = key_at(place.table)
    if holder is None:
        return
    taken = _taken(document, place)
    for name, key, detail in _names(holder.kind, place.table, known):
        if name in taken or (place.is_header and not _has_header(key.kind)):
            continue
        is_table = isinstance(key.kind, Table | MapOf)
        written = name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)
        tail = "" if is_table or place.is_header or place.is_assigned else " = "
        yield Proposal(
            name,
            "table" if is_table else "key",
            Replacement(place.span, written + tail),
            detail or describe_kind(key.kind),
            _documentation(key),
        )


def _names(kind: Kind, path: Path, known: Known) -> Iterator[tuple[str, Key, str]]:
    """Give the names that may stand in a table: name, key, and what to say beside it."""
    if isinstance(kind, MapOf):
        for name, special in kind.special.items():
            yield name, Key(special, "What holds for all of them."), ""
        for name, value in _at(known.values(), path).items():
            if name not in kind.special:
                yield name, Key(kind.entry, _summary(value)), "known from the configuration"
        return
    table = members(kind)
    for name, key in table.keys.items() if table is not None else ():
        yield name, key, ""


def _taken(document: Document, place: KeyPlace) -> set[str]:
    """Give the names that the table has with a value, beside the one at the cursor."""
    depth = len(place.table)
    return {
        str(entry.path[depth])
        for entry in document.walk()
        if not entry.is_header
        and entry.equals is not None
        and len(entry.path) == depth + 1
        and entry.path[:depth] == place.table
        and entry.name_span != place.span
    }


def _has_header(kind: Kind) -> bool:
    if isinstance(kind, ListOf):
        return isinstance(kind.item, Table | Variant) or kind.rule == "mergeable"
    return isinstance(kind, MapOf | FreeJson) or members(kind) is not None


def _documentation(key: Key) -> str:
    default = describe_default(key)
    return key.doc if default is None else f"{key.doc}\n\nDefault: `{default}`"


def _values(place: ValuePlace, known: Known) -> Iterator[Proposal]:
    key = key_at(place.path)
    if key is None or (place.node is not None and place.node.kind != "scalar"):
        return
    for word, is_text in words_of(key.kind):
        written = json.dumps(word) if is_text else word
        yield Proposal(word, "word", Replacement(place.span, written), key.doc)
    for kind, offer in _offers(key.kind, place.path, known):
        written = json.dumps(offer.name, ensure_ascii=False)
        yield Proposal(offer.name, kind, Replacement(place.span, written), offer.detail)


def _offers(kind: Kind, path: Path, known: Known) -> Iterator[tuple[Literal["model", "name", "file"], Offer]]:
    if kind is MODEL_ID:
        for alias, model in _at(known.values(), _ALIASES).items():
            yield "name", Offer(alias, f"an alias of {_model_text(model)}")
        for listed in known.models():
            yield "model", listed
    elif kind is TOOL_CHOICE:
        for name, tool in _at(known.values(), _TOOLS).items():
            if name != _ALL_TOOLS:
                yield "name", Offer(name, _summary(tool))
    elif kind is SOURCE:
        for name in ("local", "builtin", *(f"mcp.{server}" for server in _at(known.values(), _SERVERS))):
            yield "name", Offer(name)
    elif path[0] == "extends" and (len(path) == 2 or path[2:] == ("path",)):
        for offer in known.files():
            yield "file", offer


def _at(values: JsonObject, path: Path) -> JsonObject:
    here: JsonValue = values
    for segment in path:
        here = here.get(str(segment)) if isinstance(here, Mapping) else None
    return here if isinstance(here, Mapping) else {}


def _summary(value: JsonValue) -> str:
    summary = value.get("summary") if isinstance(value, Mapping) else None
    return summary if isinstance(summary, str) else ""


def _model_text(value: JsonValue) -> str:
    if isinstance(value, Mapping):
        return f"{value.get('provider')}/{value.get('name')}"
    return str(value)

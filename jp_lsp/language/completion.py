"""What can be written at a place of a configuration file.

Keys come from the schema, less those that the table has already; names of tools, servers and the like from the
effective configuration; values from the fixed words of a key, and for models and files from what there is.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from jp_lsp.config.kind import FreeJson, Key, Kind, ListOf, MapOf, Table, Variant
from jp_lsp.config.model_id import MODEL_ID
from jp_lsp.config.shapes import SOURCE, TOOL_CHOICE
from jp_lsp.config.value import Path
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.language.document import Document, Entry, KeyPlace, ValuePlace
from jp_lsp.language.findings import Replacement
from jp_lsp.language.schema_view import (
    describe_default,
    describe_kind,
    describe_merging,
    key_at,
    members,
    words_of,
)

_TOOLS: Path = ("conversation", "tools")
_SERVERS: Path = ("providers", "mcp")
_ALIASES: Path = ("providers", "llm", "aliases")
_ALL_TOOLS = "*"

ProposalKind = Literal["key", "table", "word", "model", "name", "file"]


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
    """Something to write. It is found by what it writes, or by `search` where that says more."""

    label: str
    kind: ProposalKind
    edit: Replacement
    detail: str = ""
    documentation: str = ""
    search: str = ""


def complete_at(document: Document, offset: int, known: Known) -> list[Proposal]:
    """Give what can be written at an offset, in the order in which it is to be shown."""
    proposals: list[Proposal] = []
    for place in document.places_at(offset):
        if isinstance(place, KeyPlace):
            proposals += _keys(document, place, known)
        else:
            proposals += _values(document, place, known)
    return proposals


def _keys(document: Document, place: KeyPlace, known: Known) -> Iterator[Proposal]:
    holder = key_at(place.table)
    if holder is None:
        return
    taken = _taken(document, place)
    for name, key, detail in _names(document, holder.kind, place, known):
        if name in taken or (place.is_header and not _has_header(key.kind, is_list=place.is_list)):
            continue
        is_table = isinstance(key.kind, Table | MapOf)
        yield Proposal(
            name,
            "table" if is_table else "key",
            Replacement(place.span, document.write_key(name, place, is_table=is_table)),
            detail or describe_kind(key.kind),
            _documentation(key),
        )


def _names(document: Document, kind: Kind, place: KeyPlace, known: Known) -> Iterator[tuple[str, Key, str]]:
    """Give the names that may stand in a table: name, key, and what to say beside it."""
    if isinstance(kind, MapOf):
        for name, special in kind.special.items():
            yield name, Key(special, "What holds for all of them."), ""
        for name, value in _entries(document, known, place.table, besides=place.name).items():
            if name not in kind.special:
                yield name, Key(kind.entry, _summary(value)), "known from the configuration"
        return
    table = members(kind)
    for name, key in table.keys.items() if table is not None else ():
        yield name, key, ""


def _taken(document: Document, place: KeyPlace) -> set[str]:
    """Give the names that the table has with a value or, for a key, a header; not the one at the cursor."""
    depth = len(place.table)
    return {
        str(entry.path[depth])
        for entry in document.walk()
        if (entry.sign is not None or (entry.is_header and not place.is_header))
        and _is_said_of(entry, depth)
        and entry.path[:depth] == place.table
        and entry.name_span != place.span
    }


def _is_said_of(entry: Entry, depth: int) -> bool:
    """Tell whether an entry is about a name so deep, or is an item of the list there, and not about what is inside."""
    size = len(entry.path)
    return size == depth + 1 or (entry.is_header and size == depth + 2 and isinstance(entry.path[-1], int))


def _has_header(kind: Kind, *, is_list: bool) -> bool:
    """Tell whether a header may lead to it; one of a list of tables (`is_list`) also through what is around such."""
    match kind:
        case FreeJson():
            return True
        case ListOf():
            return isinstance(kind.item, Table | Variant) if is_list else kind.rule == "mergeable"
        case MapOf():
            return not is_list or _has_header(kind.entry, is_list=True)
        case _:
            table = members(kind)
            inner = () if table is None else table.keys.values()
            return any(not is_list or _has_header(key.kind, is_list=True) for key in inner)


def _documentation(key: Key) -> str:
    default, merging = describe_default(key), describe_merging(key.kind)
    more = [
        *([] if merging is None else [f"It {merging}."]),
        *([] if default is None else [f"Default: `{default}`"]),
    ]
    return "\n\n".join([key.doc, *more])


def _values(document: Document, place: ValuePlace, known: Known) -> Iterator[Proposal]:
    key = key_at(place.path)
    if key is None or (place.node is not None and place.node.kind != "scalar"):
        return
    there = document.text[place.span.start : place.span.end]
    for word, is_text in words_of(key.kind):
        written = document.write_text(word, there) if is_text else word
        yield Proposal(word, "word", Replacement(place.span, written), key.doc)
    for kind, offer in _offers(document, key.kind, place.path, known):
        written = document.write_text(offer.name, there)
        yield Proposal(offer.name, kind, Replacement(place.span, written), offer.detail)


def _offers(
    document: Document, kind: Kind, path: Path, known: Known
) -> Iterator[tuple[Literal["model", "name", "file"], Offer]]:
    if kind is MODEL_ID:
        for alias, model in _entries(document, known, _ALIASES).items():
            yield "name", Offer(alias, "an alias" if model is None else f"an alias of {_model_text(model)}")
        for listed in known.models():
            yield "model", listed
    elif kind is TOOL_CHOICE:
        for name, tool in _entries(document, known, _TOOLS).items():
            if name != _ALL_TOOLS:
                yield "name", Offer(name, _summary(tool))
    elif kind is SOURCE:
        for name in ("local", "builtin", *(f"mcp.{each}" for each in _entries(document, known, _SERVERS))):
            yield "name", Offer(name)
    elif path[0] == "extends" and (len(path) == 2 or path[2:] == ("path",)):
        for offer in known.files():
            yield "file", offer


def _entries(document: Document, known: Known, path: Path, besides: str = "") -> Mapping[str, JsonValue]:
    """Give the entries of a map: those of the configuration, and those of the text, which is newer, as `None`."""
    entries = dict(_at(known.values(), path))
    depth = len(path)
    for entry in document.walk():
        if (
            len(entry.path) > depth
            and entry.path[:depth] == path
            and (entry.is_header or entry.sign is not None)
        ):
            name = str(entry.path[depth])
            if name != besides:
                entries.setdefault(name, None)
    return entries


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

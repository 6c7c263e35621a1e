"""What somebody wants set, as edits of one file: a typed value, a `--cfg` expression, or a key to be unset.

Keys are looked up in the schema and in the file at once, because the file may spell them otherwise, or say more
about a list than its items. A value is written as it was given where a file may have it so, and else as the
schema writes it (config-and-tools 1.6, 1.11). What is set is the file's own value: a list in a file adds to
those of the layers below (trap 5). Words that only we understand are put into the command-line tool's (`file_form`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never, cast

from jp_lsp.config.assign import AssignmentError, assign_change
from jp_lsp.config.edit import AppendItems, Edit, RemoveValue, SetValue, data_after
from jp_lsp.config.expression import Assignment, ExpressionError, FileReference, parse_expression
from jp_lsp.config.file_form import file_form
from jp_lsp.config.free_json import merge_json
from jp_lsp.config.kind import (
    FreeJson,
    Kind,
    Leaf,
    ListOf,
    MapOf,
    Misfit,
    Table,
    Text,
    Variant,
    entry_kind,
    find_key,
)
from jp_lsp.config.layer import Change, Origin
from jp_lsp.config.problem import Report, dotted, nearest, undotted
from jp_lsp.config.read import is_list, read_member, read_table
from jp_lsp.config.schema import SCHEMA
from jp_lsp.config.value import ABSENT, Absent, Partial, Path, existing_path, index_of, same
from jp_lsp.config.write import write
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.ports.refusal import Refusal

_ORIGIN = Origin("request", "jp/config/set")


@dataclass(frozen=True, slots=True)
class SetKey:
    """Give a key a value in the form of a file."""

    key: str
    value: JsonValue


@dataclass(frozen=True, slots=True)
class Express:
    """Follow a `--cfg` expression."""

    text: str


@dataclass(frozen=True, slots=True)
class UnsetKey:
    """Take a key away."""

    key: str


Wish: TypeAlias = SetKey | Express | UnsetKey


@dataclass(frozen=True, slots=True)
class FileEdits:
    """Edits in their order, and the schema's paths of the keys that they are about."""

    edits: tuple[Edit, ...]
    keys: tuple[Path, ...]


def edits_for(wishes: Sequence[Wish], data: JsonObject, tree: Partial) -> FileEdits:
    """Say how a file must be changed.

    Args:
        wishes: what is wanted, in order.
        data: what the file holds.
        tree: the complete configuration, which knows names with dots in them.

    Raises:
        Refusal: there is no such key, or the value does not fit; says what is allowed.
    """
    edits: list[Edit] = []
    keys: dict[Path, None] = {}
    held: JsonValue = data
    for wish in wishes:
        assert isinstance(held, Mapping)
        for place, edit in _edits_of(wish, held, tree):
            keys[place.key] = None
            if edit is not None:
                edits.append(edit)
                held = data_after(held, edit)
    return FileEdits(tuple(edits), tuple(keys))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a key is, or would be: in the file (`path`) and in the schema (`key`).

    `value` is what the file holds, `ABSENT` for nothing. A short form on the way to it, such as a model id in
    one text, ends at `broken`; `base` is the table that it stands for.
    """

    path: Path
    key: Path
    kind: Kind
    value: "JsonValue | Absent"
    broken: Path | None = None
    base: JsonObject | None = None

    @property
    def held(self) -> JsonValue:
        """What the file holds, null for nothing."""
        return None if self.value is ABSENT else self.value

    @property
    def members(self) -> JsonObject:
        """The keys of a table, none of anything else."""
        return self.value if isinstance(self.value, Mapping) else {}

    @property
    def items(self) -> Sequence[JsonValue]:
        """The items of a list, none of anything else."""
        return cast("Sequence[JsonValue]", self.value) if isinstance(self.value, (list, tuple)) else ()


_Planned: TypeAlias = tuple[_Place, Edit | None]


def _edits_of(wish: Wish, data: JsonObject, tree: Partial) -> Iterator[_Planned]:
    match wish:
        case SetKey(key, value):
            place = _find(data, _split(key, data, tree))
            if value is None and not isinstance(place.kind, FreeJson):
                yield place, _removal(place)
                return
            report = Report(path=place.key)
            read_member(place.kind, value, report)
            for finding in report.findings:
                if finding.severity == "error":
                    raise _refused(dotted(finding.path), finding.text)
            yield place, _setting(place, value)
        case UnsetKey(key):
            place = _find(data, _split(key, data, tree))
            yield place, _removal(place)
        case Express(text):
            yield from _followed(text, data, tree)
        case _:
            assert_never(wish)


def _followed(text: str, data: JsonObject, tree: Partial) -> Iterator[_Planned]:
    try:
        expression = parse_expression(text)
        if isinstance(expression, FileReference):
            raise _refused(text, "a file is not copied into another one; name it in `extends`")
        change = Change(_ORIGIN, expression.key, expression.value, expression.is_json, expression.merges)
        assign_change(read_table(SCHEMA, data, Report()), change)
    except ExpressionError as error:
        raise Refusal("invalid_params", str(error), origin=text) from None
    except AssignmentError as error:
        raise _refused(error.key, error.text) from None
    place = _find(data, _split(expression.key, data, tree) if expression.key else ())
    yield from _assigned(data, place, expression)


def _assigned(data: JsonObject, place: _Place, said: Assignment) -> Iterator[_Planned]:
    """Follow an assignment that is known to be right."""
    kind, value = place.kind, said.value
    is_object = said.is_json and isinstance(value, Mapping)
    if said.is_json and value is None and not isinstance(kind, FreeJson):
        yield place, _removal(place)
        return
    match kind:
        case Table() if is_object:
            yield from _each(data, place, said)
        case Variant() if is_object and not kind.fresh and isinstance(place.value, Mapping):
            yield from _each(data, place, said)
        case MapOf() if is_object and (said.merges or not (kind.clears or kind.whole or kind.annotated)):
            yield from _each(data, place, said)
        case ListOf() if not is_object:
            items = _items(kind.item, said)
            yield place, _appending(place, kind, items) if said.merges else _setting(place, list(items))
        case Text() if said.merges and isinstance(value, str):
            yield place, _lengthening(place, value)
        case FreeJson():
            merged = merge_json(place.held, value) if said.merges and place.value is not ABSENT else value
            yield place, _setting(place, merged)
        case Leaf():
            yield place, _setting(place, _spelled(kind, kind, said))
        case Variant() if not is_object:
            yield place, _setting(place, _spelled(kind, kind.scalar, said))
        case Table() if kind.shorthand is not None:
            yield place, _setting(place, {kind.shorthand: value})
        case _:
            yield place, _setting(place, value)


def _each(data: JsonObject, place: _Place, said: Assignment) -> Iterator[_Planned]:
    for name, member in cast("JsonObject", said.value).items():
        inner = _find(data, (*place.key, name))
        yield from _assigned(data, inner, Assignment(said.key, member, is_json=True, merges=said.merges))


def _items(kind: Kind, said: Assignment) -> Iterator[JsonValue]:
    if not isinstance(said.value, str):
        yield from cast("Sequence[JsonValue]", said.value)
        return
    for part in said.value.split(","):
        if text := part.strip():
            match kind:
                case Leaf():
                    yield _spelled(kind, kind, Assignment(said.key, text))
                case Table() if kind.shorthand is not None:
                    yield {kind.shorthand: text}
                case _:
                    yield text


def _spelled(kind: Kind, leaf: Leaf, said: Assignment) -> JsonValue:
    """Write a value as it was given, where a file may have it so; a number, say, was text in an expression."""
    if not said.is_json:
        normal = leaf.from_text(cast("str", said.value))
    else:
        normal = (leaf.from_json or leaf.read)(said.value)
    try:
        if same(leaf.read(said.value), normal):
            return said.value
    except Misfit:
        pass
    return write(kind, normal)


def _lengthening(place: _Place, more: str) -> Edit:
    """Add to a text; one that the file does not have yet is added to those of the layers below."""
    match place.held:
        case str() as text:
            return _setting(place, text + more)
        case Mapping():
            held = place.members.get("value")
            return SetValue((*place.path, "value"), held + more if isinstance(held, str) else more)
        case _:
            return _setting(place, {"value": more, "strategy": "append"})


def _setting(place: _Place, value: JsonValue) -> Edit:
    value = file_form(place.kind, value)
    if place.broken is None:
        return SetValue(place.path, value)
    for name in reversed(place.path[len(place.broken) + 1 :]):
        value = {str(name): value}
    return SetValue(place.broken, {**(place.base or {}), str(place.path[len(place.broken)]): value})


def _appending(place: _Place, kind: ListOf, given: Iterable[JsonValue]) -> Edit:
    items = tuple(file_form(kind.item, item) for item in given)
    match place.held:
        case {"value": [*_]}:
            return AppendItems((*place.path, "value"), items)
        case held if is_list(held):
            return AppendItems(place.path, items)
        case {}:
            return SetValue((*place.path, "value"), list(items))
        case _:
            return _setting(place, list(items))


def _removal(place: _Place) -> Edit | None:
    return None if place.value is ABSENT or not place.path else RemoveValue(place.path)


# ------------------------------------------------------------------------------------------- finding a key


def _split(key: str, data: JsonObject, tree: Partial) -> Sequence[str | int]:
    """Split a key at its dots; names that have some are quoted, or known."""
    if '"' not in key:
        for known in (read_table(SCHEMA, data, Report()), tree):
            if (path := existing_path(known, key)) is not None:
                return path
    return undotted(key)


def _find(data: JsonObject, names: Sequence[str | int]) -> _Place:
    place = _Place((), (), SCHEMA, data)
    for name in names:
        place = _step(place, str(name))
    return place


def _step(place: _Place, name: str) -> _Place:
    kind = place.kind.table if isinstance(place.kind, Variant) else place.kind
    match kind:
        case Table():
            return _into_table(_opened(place, kind), kind, name)
        case MapOf():
            is_annotated = kind.annotated and {"value", "strategy"} <= place.members.keys()
            around = _child(place, "value", place.key, kind) if is_annotated else _opened(place, kind)
            return _child(around, name, (*place.key, name), entry_kind(kind, name))
        case ListOf():
            around = _child(place, "value", place.key, kind) if place.members else place
            count = len(around.items)
            index = index_of(name)
            if index is None or index >= count:
                what = f"the file has {count} items there, with numbers from 0"
                raise _refused(dotted((*place.key, name)), f"unknown index; {what}")
            return _Place((*around.path, index), (*place.key, index), kind.item, around.items[index])
        case FreeJson():
            return _child(_opened(place, kind), name, (*place.key, name), kind)
        case _:
            raise _refused(
                dotted((*place.key, name)), f"unknown key; `{dotted(place.key)}` is a value without parts"
            )


def _into_table(place: _Place, table: Table, name: str) -> _Place:
    found = find_key(table, name)
    if found is None and table.unknown == "collect":
        return _child(place, name, (*place.key, name), FreeJson(deep=False))
    if found is None:
        meant = nearest(name, table.keys)
        known = ", ".join(f"`{dotted((*place.key, key))}`" for key in table.keys)
        hint = f"known here: {known}" if meant is None else f"did you mean `{dotted((*place.key, meant))}`?"
        raise _refused(dotted((*place.key, name)), f"unknown key; {hint}")
    proper, key = found
    spellings = (each for each in (proper, *key.spellings) if each in place.members)
    return _child(place, next(spellings, proper), (*place.key, proper), key.kind)


def _opened(place: _Place, kind: Kind) -> _Place:
    """Note where a short form stands for the table that is stepped into."""
    if (
        place.value is ABSENT
        or isinstance(place.value, Mapping)
        or place.broken is not None
        or not place.path
    ):
        return place
    base: JsonValue = None
    if not (isinstance(place.kind, Variant) and place.kind.fresh):
        base = cast("JsonValue", read_member(place.kind, place.held, Report()))
    return _Place(place.path, place.key, kind, ABSENT, place.path, base if isinstance(base, Mapping) else {})


def _child(place: _Place, name: str, key: Path, kind: Kind) -> _Place:
    value = place.members.get(name, ABSENT)
    return _Place((*place.path, name), key, kind, value, place.broken, place.base)


def _refused(key: str, text: str) -> Refusal:
    return Refusal("invalid_params", f"`{key}`: {text}" if key else text, origin=key or None)

"""The path that a dotted key means: names may have dots in them, and there are several spellings."""

from collections.abc import Sequence

from jp_lsp.config.fold import layer_partial
from jp_lsp.config.kind import FreeJson, Kind, ListOf, MapOf, Table, Variant, entry_kind, find_key
from jp_lsp.config.layer import Layer, Source
from jp_lsp.config.problem import dotted, nearest, undotted
from jp_lsp.config.schema import SCHEMA, leaf_keys
from jp_lsp.config.value import ABSENT, Partial, Path, existing_path, index_of, value_at
from jp_lsp.ports.refusal import Refusal


def find_path(key: str, sources: Sequence[Source], resolved: Partial) -> Path:
    """Split a key by what there is: names of tools and other entries may have dots in them, quoted or not.

    Raises:
        Refusal: there is no such key.
    """
    trees = [resolved, *(layer_partial(source) for source in sources if isinstance(source, Layer))]
    for tree in trees:
        if (path := existing_path(tree, key)) is not None:
            return path
    if key and (path := _proper_path(undotted(key), resolved)) is not None:
        return path
    meant = nearest(key, (dotted(known) for known, _ in leaf_keys()))
    hint = "" if meant is None else f"; did you mean `{meant}`?"
    raise Refusal("invalid_params", f"`{key}`: unknown key{hint}", origin=key)


def kind_at(path: Path) -> Kind | None:
    """Give the kind of value that a path leads to; `None` where there is no such key."""
    kind: Kind = SCHEMA
    for segment in path:
        table = kind.table if isinstance(kind, Variant) else kind
        match table:
            case Table() if (found := find_key(table, str(segment))) is not None:
                kind = found[1].kind
            case MapOf():
                kind = entry_kind(table, str(segment))
            case ListOf() if isinstance(segment, int):
                kind = table.item
            case FreeJson():
                kind = table
            case _:
                return None
    return kind


def _proper_path(names: Sequence[str], resolved: Partial) -> Path | None:
    """Find what names mean in the schema, whichever spelling they have; an index must be that of an item."""
    path: Path = ()
    for name in names:
        kind = kind_at(path)
        table = kind.table if isinstance(kind, Variant) else kind
        if isinstance(table, Table) and (found := find_key(table, name)) is not None:
            path = (*path, found[0])
        elif isinstance(table, Table) and table.unknown == "collect":
            path = (*path, "other", name)
        elif isinstance(table, ListOf) and (index := index_of(name)) is not None:
            path = (*path, index)
            if value_at(resolved, path) is ABSENT:
                return None
        else:
            path = (*path, name)
        if kind_at(path) is None:
            return None
    return path

"""Settings in a query document: `cfg` takes expressions such as `assistant.name=Ada`, with keys as files have them."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from jp_lsp.config.kind import MapOf, Table
from jp_lsp.config.problem import dotted
from jp_lsp.config.schema import SCHEMA
from jp_lsp.config.value import Path
from jp_lsp.language.hover import Subject, describe
from jp_lsp.language.positions import Span
from jp_lsp.language.schema_view import describe_kind, key_at, members, words_of

_EXPRESSION = re.compile(r"(?P<key>[A-Za-z0-9_.*-]*)(?P<sign>[:+]?=)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SettingOffer:
    """How an expression may go on, from its begin; one that ends with `.` or `=` is not whole yet."""

    text: str
    takes: str
    documentation: str


def complete_expression(written: str, entries: Callable[[Path], Sequence[str]]) -> Iterator[SettingOffer]:
    """Offer keys, or the values of a key that has been written.

    Args:
        written: the expression up to the cursor.
        entries: gives the names in a table whose names are the user's own.
    """
    found = _EXPRESSION.match(written)
    if found is None or (found["sign"] is None and found.end() < len(written)):
        return
    path: Path = tuple(found["key"].split("."))
    if found["sign"] is None:
        yield from _keys(path[:-1], entries)
    elif (key := key_at(path)) is not None:
        begin = written[: found.end()]
        for word, _ in words_of(key.kind):
            yield SettingOffer(f"{begin}{word}", describe_kind(key.kind), key.doc)


def describe_expression(expression: str) -> str | None:
    """Describe the key that an expression is about; `None` if it is about none."""
    found = _EXPRESSION.match(expression)
    if found is None or found["sign"] is None:
        return None
    path: Path = tuple(found["key"].split("."))
    key = key_at(path)
    return None if key is None else describe(Subject(path, key, Span(0, 0)), None)


def _keys(above: Path, entries: Callable[[Path], Sequence[str]]) -> Iterator[SettingOffer]:
    around = key_at(above) if above else None
    kind = SCHEMA if around is None else around.kind
    if above and around is None:
        return
    table = members(kind)
    names = entries(above) if isinstance(kind, MapOf) else () if table is None else tuple(table.keys)
    for name in names:
        key = key_at((*above, name))
        if key is None or dotted((name,)) != name:
            continue
        is_table = isinstance(key.kind, Table | MapOf)
        text = dotted((*above, name))
        yield SettingOffer(f"{text}{'.' if is_table else '='}", describe_kind(key.kind), key.doc)

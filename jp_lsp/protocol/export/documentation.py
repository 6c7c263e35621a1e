"""Finds the sentences that stand under fields and type names in the protocol's modules.

Python throws those strings away, and keeping them on the models would cost every start of the server. So
they are read from the source when types are exported, and only then.
"""

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from types import ModuleType

from pydantic import BaseModel
from typing_extensions import TypeAliasType


def field_documentation(model: type[BaseModel]) -> Mapping[str, str]:
    """Give the documentation of a model's fields, inherited ones included, by the name on the wire."""
    found: dict[str, str] = {}
    for owner in reversed(model.__mro__):
        if issubclass(owner, BaseModel) and owner.__module__.startswith("jp_lsp."):
            found |= _classes(owner.__module__).get(owner.__name__, {})
    return {field.alias or name: found[name] for name, field in model.model_fields.items() if name in found}


def model_documentation(model: type[BaseModel]) -> str:
    """Give the documentation of a model."""
    return inspect.cleandoc(model.__doc__ or "")


def named_types(modules: Sequence[ModuleType]) -> Mapping[str, str]:
    """Give the documentation of the named types (`TypeAliasType`) that these modules define, by name."""
    return {
        name: text
        for module in modules
        for name, text in _documented(_tree(module.__name__).body)
        if isinstance(getattr(module, name, None), TypeAliasType)
    }


@cache
def _classes(module: str) -> Mapping[str, Mapping[str, str]]:
    return {
        node.name: dict(_documented(node.body))
        for node in _tree(module).body
        if isinstance(node, ast.ClassDef)
    }


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(inspect.getsource(sys.modules[module]))


def _documented(body: Sequence[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Pair each assigned name with the string that follows its assignment."""
    for statement, following in pairwise(body):
        match statement, following:
            case (
                ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, inspect.cleandoc(text)
            case _:
                pass

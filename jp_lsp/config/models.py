"""Where models are named in a configuration, and what their aliases stand for (config-and-tools 3.1, 3.2)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from jp_lsp.config.model_id import OUR_PROVIDERS, PROVIDERS, STORED_PROVIDER
from jp_lsp.config.problem import Finding, nearest
from jp_lsp.config.value import ABSENT, MaybeValue, Partial, Path, Value, entries_of, value_at, with_value

MAIN_MODEL: Path = ("assistant", "model", "id")
ALIASES: Path = ("providers", "llm", "aliases")

_ANY: Final = None
_Position: TypeAlias = tuple[str | None, ...]
# Rules of compaction name models too; those are looked up when a rule is followed (3.2).
_POSITIONS: tuple[_Position, ...] = (
    ("assistant", "model", "id"),
    ("conversation", "title", "generate", "model", "id"),
    ("conversation", "inquiry", "assistant", "model", "id"),
    ("style", "reasoning", "summary_model", "id"),
    ("conversation", "tools", _ANY, "questions", _ANY, "target", "model", "id"),
)


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A model that an alias does not lead to."""

    path: Path
    text: str


def model_paths(tree: Partial) -> Iterator[Path]:
    """Give the way to each model that a tree names, beside aliases."""
    for position in _POSITIONS:
        yield from _expand(tree, position, ())


def _expand(value: Value, position: _Position, path: Path) -> Iterator[Path]:
    if not position:
        yield path
        return
    members = entries_of(value)
    wanted = position[0]
    for name in tuple(members) if wanted is None else (wanted,):
        if name in members:
            yield from _expand(members[name], position[1:], (*path, name))


def resolve_models(tree: Partial) -> tuple[Partial, tuple[Unresolved, ...]]:
    """Put `{provider, name}` in place of every alias; what leads nowhere stays and is reported."""
    aliases = entries_of(value_at(tree, ALIASES))
    unresolved: list[Unresolved] = []
    places = [*model_paths(tree), *((*ALIASES, name) for name in aliases)]
    for path in places:
        try:
            model = resolve_alias(value_at(tree, path), aliases)
        except LookupError as error:
            unresolved.append(Unresolved(path, str(error.args[0])))
            continue
        tree = with_value(tree, path, model)
    return tree, tuple(unresolved)


def resolve_alias(value: MaybeValue, aliases: Mapping[str, Value]) -> Value:
    """Follow a chain of aliases to its model.

    Raises:
        LookupError: it ends nowhere, or never; says how.
    """
    chain: list[str] = []
    while isinstance(value, str):
        if value in chain:
            raise LookupError(f"model alias cycle detected: {' -> '.join([*chain, value])}")
        chain.append(value)
        if value not in aliases:
            raise LookupError(_not_a_model(value, aliases))
        value = aliases[value]
    model = entries_of(value)
    if {"provider", "name"} <= model.keys():
        return {"provider": model["provider"], "name": model["name"]}
    raise LookupError("a model needs both a provider and a name")


def _not_a_model(name: str, aliases: Mapping[str, Value]) -> str:
    meant = nearest(name, aliases)
    hint = "" if meant is None else f" (did you mean `{meant}`?)"
    providers = ", ".join(f"`{provider}`" for provider in PROVIDERS if provider != "test")
    return f"`{name}` is neither a known alias{hint} nor `provider/name` with one of {providers}"


def own_models(tree: Partial) -> Iterator[Finding]:
    """Notice models in a file that only we understand; the command-line tool cannot read such a file."""
    places = [*model_paths(tree), *((*ALIASES, name) for name in entries_of(value_at(tree, ALIASES)))]
    for path in places:
        provider = entries_of(value_at(tree, path)).get("provider", ABSENT)
        if provider in OUR_PROVIDERS:
            text = (
                f"`{provider}` is a provider of this server only: the `jp` command cannot read a file that "
                f"names it (a conversation keeps it as `{STORED_PROVIDER}`)"
            )
            yield Finding(path, text, "warning")

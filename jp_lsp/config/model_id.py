"""Model ids and reasoning as configuration files write them (config-and-tools 3.1, 3.3).

In normal form a model is `{provider, name}`, an alias is text. Three providers are ours alone: `lmstudio`,
`compatible` (any other server that speaks the same protocol) and `local`. The command-line tool refuses
what it does not know, so in a conversation's files all three are `llamacpp`; who really answers is found
out when the files are read.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from jp_lsp.config.kind import Key, Leaf, Misfit, Table, Variant, has_only
from jp_lsp.config.problem import nearest
from jp_lsp.config.scalars import boolean, text, whole
from jp_lsp.config.value import Value
from jp_lsp.conversation.json_value import JsonValue

PROVIDERS = (
    "anthropic",
    "cerebras",
    "compatible",
    "deepseek",
    "google",
    "llamacpp",
    "lmstudio",
    "local",
    "ollama",
    "openai",
    "openrouter",
    "test",
    "xai",
)
OUR_PROVIDERS = frozenset({"compatible", "lmstudio", "local"})
STORED_PROVIDER = "llamacpp"

_NAME = re.compile(r"[A-Za-z0-9_.:/~-]+\Z", re.ASCII)
_NAME_EXPECTED = "a model name of letters, digits and `_ . : / ~ -`"
_EFFORTS = ("none", "auto", "xlow", "low", "medium", "high", "xhigh", "max")
_EFFORT_EXPECTED = "one of " + ", ".join(f"`{word}`" for word in _EFFORTS) + ", or a number of tokens"


def _read_provider(raw: JsonValue) -> Value:
    if isinstance(raw, str) and raw in PROVIDERS:
        return raw
    known = ", ".join(f"`{name}`" for name in PROVIDERS if name != "test")
    meant = nearest(raw, PROVIDERS) if isinstance(raw, str) else None
    hint = "" if meant is None else f" (did you mean `{meant}`?)"
    raise Misfit(f"a provider, one of {known}{hint}", raw)


def _is_name(name: str) -> bool:
    return _NAME.match(name) is not None


def _read_id(raw: JsonValue) -> Value:
    if not isinstance(raw, str) or not raw:
        raise Misfit("`provider/name` or an alias", raw)
    provider, slash, name = raw.partition("/")
    if not slash:
        return raw
    if not _is_name(name):
        raise Misfit(_NAME_EXPECTED, name)
    return {"provider": _read_provider(provider), "name": name}


def stored_model(value: Value) -> Value:
    """Give the form of a model id for a conversation's files."""
    if isinstance(value, Mapping) and value.get("provider") in OUR_PROVIDERS:
        return {**value, "provider": STORED_PROVIDER}
    return value


MODEL_ID = Variant(
    Leaf("`provider/name` or an alias", _read_id, _read_id),
    Table(
        MappingProxyType(
            {
                "provider": Key(Leaf("a provider", _read_provider, _read_provider), "The vendor or server."),
                "name": Key(text(_NAME_EXPECTED, _is_name), "The vendor's name of the model."),
            }
        ),
        unknown="ignore",
    ),
    stored=stored_model,
)
"""A model, as `provider/name` or as a table, or an alias that `providers.llm.aliases` explains."""


def _read_effort(raw: JsonValue) -> Value:
    if isinstance(raw, str) and raw in _EFFORTS:
        return raw
    if isinstance(raw, Mapping) and has_only(raw, "absolute"):
        raw = raw["absolute"]
    if isinstance(raw, int) and not isinstance(raw, bool):
        return {"absolute": whole().read(raw)}
    raise Misfit(_EFFORT_EXPECTED, raw)


def _effort_from_text(raw: str) -> Value:
    return _read_effort(int(raw) if raw.isascii() and raw.isdecimal() and len(raw) < 11 else raw)


EFFORT = Leaf(_EFFORT_EXPECTED, _read_effort, _effort_from_text, words=_EFFORTS)


def _read_reasoning(raw: JsonValue) -> Value:
    """Read the short forms; a bare effort is accepted in files too, unlike the reference (trap 18)."""
    if isinstance(raw, str) and raw in {"off", "auto"}:
        return raw
    if isinstance(raw, str) or (isinstance(raw, int) and not isinstance(raw, bool)):
        try:
            return {"effort": _effort_from_text(str(raw))}
        except Misfit:
            pass
    raise Misfit(f"`off`, `auto`, an effort ({_EFFORT_EXPECTED}) or a table with `effort`", raw)


REASONING = Variant(
    Leaf("`off`, `auto` or an effort", _read_reasoning, _read_reasoning, words=("off", *_EFFORTS)),
    Table(
        MappingProxyType(
            {
                "effort": Key(
                    EFFORT, "How much the model may think, as a word or in tokens.", default="medium"
                ),
                "exclude": Key(
                    boolean(), "Let the model think without sending what it thought.", default=False
                ),
            }
        )
    ),
    fresh=True,
)
"""How much a model thinks; assigning one field starts from nothing."""

"""How conversations are made shorter: `conversation.compaction`, as the driver needs it (config-and-tools 2.3)."""

import json
from collections.abc import Mapping
from typing import cast

from jp_lsp.config import duration, options
from jp_lsp.config.models import ALIASES, resolve_alias
from jp_lsp.config.value import ABSENT, MaybeValue, MergedList, Partial, entries_of, value_at
from jp_lsp.conversation.compact import TurnsWanted
from jp_lsp.conversation.directive import OmitToolCalls, StripReasoning, StripToolCalls
from jp_lsp.conversation.turn_bounds import AtTurn, BehindLast, Bound, KeptTime, KeptTurns
from jp_lsp.ports.compaction import CompactionRule, SummaryWish

_TOOL_CALLS: Mapping[MaybeValue, StripToolCalls | OmitToolCalls] = {
    "strip": StripToolCalls(-1, -1),
    "strip-requests": StripToolCalls(-1, None),
    "strip-responses": StripToolCalls(None, -1),
    "omit": OmitToolCalls(),
}

_KEPT_UNLESS_SAID = 1
"""Turns at each end; the defaults of list items are not filled in where settings are resolved."""


def compaction_rules(tree: Partial) -> tuple[CompactionRule, ...]:
    """Build the rules, in order; each makes one compaction.

    A model that an alias does not lead to is a problem only of whoever follows the rule.
    """
    rules = value_at(tree, ("conversation", "compaction", "rules"))
    return tuple(
        _rule(tree, entries_of(rule)) for rule in (rules.items if isinstance(rules, MergedList) else ())
    )


def _rule(tree: Partial, rule: Partial) -> CompactionRule:
    return CompactionRule(
        TurnsWanted(
            (_bound(rule.get("keep_first", _KEPT_UNLESS_SAID)),),
            (_end(_bound(rule.get("keep_last", _KEPT_UNLESS_SAID))),),
        ),
        StripReasoning() if rule.get("reasoning") == "strip" else None,
        _TOOL_CALLS.get(rule.get("tool_calls", ABSENT)),
        summary=_summary(tree, entries_of(rule["summary"])) if "summary" in rule else None,
    )


def _bound(value: MaybeValue) -> Bound:
    match value:
        case int():
            return KeptTurns(value)
        case "last" | "last-compaction":
            return BehindLast()
        case str() if value.startswith("@"):
            return AtTurn(int(value[1:]))
        case str() if value.startswith("-"):
            return AtTurn(int(value))
        case _:
            return KeptTime(duration.parse(cast("str", value)) or 0)


def _end(bound: Bound) -> Bound:
    """`-N` names a turn from the end, and as an end that is: all but the last N."""
    return KeptTurns(-bound.number) if isinstance(bound, AtTurn) and bound.number < 0 else bound


def _summary(tree: Partial, wish: Partial) -> SummaryWish:
    instructions, context = wish.get("instructions"), wish.get("context")
    if context is not None and not isinstance(context, str):
        context = json.dumps(context, ensure_ascii=False)
    texts = cast("str | None", instructions), context
    if "model" not in wish:
        return SummaryWish(None, options.main_parameters(tree), *texts)
    table = entries_of(wish["model"])
    parameters = options.parameters(table, {})
    try:
        model = resolve_alias(table.get("id", ABSENT), entries_of(value_at(tree, ALIASES)))
    except LookupError as error:
        return SummaryWish(None, parameters, *texts, problem=str(error.args[0]))
    return SummaryWish(options.model_id(model), parameters, *texts)

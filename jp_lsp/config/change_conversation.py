"""Changing what a conversation keeps of its settings: the delta that is appended to it (config-and-tools 1.11).

What is wanted is said as for a query, so aliases are looked up and files can be applied by name. Only what that
changes is stored: what files have come to say since the conversation began is not made its own in passing. A key
can be taken away where the conversation's files can say so, which is a matter of their form (conversation format 3.12).
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from jp_lsp.config.change_file import KeyOutcome
from jp_lsp.config.delta import changed_paths, compute_change
from jp_lsp.config.explain import explain_path
from jp_lsp.config.explanation import Contribution
from jp_lsp.config.file_edits import Express, SetKey, UnsetKey, Wish
from jp_lsp.config.fold import REFERENCE_ORDER, in_order
from jp_lsp.config.problem import errors_in, refusal
from jp_lsp.config.resolve import complete_configuration, resolve
from jp_lsp.config.schema import SCHEMA
from jp_lsp.config.settings import WorkspaceSettings
from jp_lsp.config.snapshot import from_stored, to_stored
from jp_lsp.config.stored import stored_settings
from jp_lsp.config.value import Partial, Path, existing_path, value_at, with_value
from jp_lsp.conversation.directive import ConfigDelta
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.ports.refusal import Refusal


@dataclass(frozen=True, slots=True)
class PlannedDelta:
    """What a conversation is to keep from now on, `None` where it does already, and the keys that this is about."""

    delta: ConfigDelta | None
    keys: tuple[Path, ...]


def plan_conversation_change(
    settings: WorkspaceSettings, stream: ConversationStream, wishes: Sequence[Wish]
) -> PlannedDelta:
    """Say what must be appended to a conversation.

    Raises:
        Refusal: a key or value is wrong, or a conversation's file cannot say it.
    """
    overrides = [text for wish in wishes if (text := _expression(wish)) is not None]
    unset = dict(_unset(settings, stream, wishes))
    cleared = _without(stream, tuple(unset))
    known = set(settings.problems((), stream))
    if wrong := [each for each in errors_in(settings.problems(overrides, cleared)) if each not in known]:
        raise refusal(wrong)
    stored = stored_settings(cleared)
    wanted = _kept(complete_configuration(stored.tree)[0])
    before, after = _resolved(settings, (), cleared), _resolved(settings, overrides, cleared)
    changed = tuple(changed_paths(SCHEMA, before, after))
    for path in changed:
        wanted = with_value(wanted, path, value_at(after, path))
    change = compute_change(stored, wanted)
    if change.lost:
        listed = ", ".join(f"`{key}`" for key in change.lost)
        raise _impossible(f"a conversation's file cannot keep this change of {listed}")
    keys = tuple(dict.fromkeys((*unset.values(), *changed)))
    return PlannedDelta(replace(change, unsets=(*unset, *change.unsets)).to_record(), keys)


def conversation_outcome(
    settings: WorkspaceSettings, stream: ConversationStream, change: PlannedDelta
) -> tuple[KeyOutcome, ...]:
    """Say what holds in a conversation that was changed."""
    sources = settings.sources((), stream)
    resolved = resolve(sources).tree
    found: list[KeyOutcome] = []
    for path in change.keys:
        explanation = explain_path(path, sources, settings.order, resolved)
        own = next((each for each in explanation.contributions if each.origin.kind == "conversation"), None)
        match own:
            case Contribution(state="wins" | "adds" | "shadowed" as state, value=value):
                found.append(KeyOutcome(explanation, value, state))
            case _:
                found.append(KeyOutcome(explanation, None, "not set"))
    return tuple(found)


def _expression(wish: Wish) -> str | None:
    """Say as an expression what is to be set."""
    match wish:
        case Express(text):
            return text
        case SetKey(key, value) if value is not None:
            return f"{key}:={json.dumps(value)}"
        case SetKey() | UnsetKey():
            return None


def _unset(
    settings: WorkspaceSettings, stream: ConversationStream, wishes: Sequence[Wish]
) -> Iterator[tuple[str, Path]]:
    """Give the keys that lose the value which the conversation has for them.

    Raises:
        Refusal: there is no such key, or the conversation's files have no words for it.
    """
    stored = stored_settings(stream)
    for wish in wishes:
        match wish:
            case UnsetKey(key) | SetKey(key, None):
                settings.explain(key, (), stream)
                if not stored.newer_format:
                    raise _impossible(
                        f"`{key}` cannot be taken away from a conversation whose files are of the older form: "
                        "they only say what is set; give it another value"
                    )
                if (path := existing_path(stored.tree, key)) is not None:
                    yield key, path
            case _:
                pass


def _without(stream: ConversationStream, unsets: Sequence[str]) -> ConversationStream:
    """Give the conversation as it is without some of its values."""
    if not unsets:
        return stream
    cleared = stream.copy()
    cleared.append_config_delta({}, stream.created_at, unsets)
    return cleared


def _resolved(settings: WorkspaceSettings, overrides: Sequence[str], stream: ConversationStream) -> Partial:
    """Resolve in the order that decides what is written."""
    return _kept(resolve(in_order(settings.sources(overrides, stream), REFERENCE_ORDER)).tree)


def _kept(tree: Partial) -> Partial:
    """Give a tree as it is once it was stored."""
    return from_stored(to_stored(tree))


def _impossible(text: str) -> Refusal:
    return Refusal("invalid_params", text, origin="the conversation")

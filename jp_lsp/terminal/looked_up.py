"""What was looked up, as lines for people: conversations, models, settings."""

import json
from collections.abc import Iterator, Sequence

from jp_lsp.protocol.configuration import (
    ConfigContribution,
    ConfigExplainResult,
    ConfigExplanation,
    ConfigGetResult,
    ConfigListResult,
    ConfigPlace,
    ConfigProblem,
    ConfigSetResult,
)
from jp_lsp.protocol.conversation import ConversationListResult, ConversationSummary
from jp_lsp.protocol.model import ListedModel, ModelListResult
from jp_lsp.terminal.width import fit, text_width
from jp_lsp.terminal.words import plain_line

_WIDEST_CELL = 72
_SILENT = frozenset({"not set", "not found", "skipped"})


def conversations(result: ConversationListResult) -> Sequence[str]:
    """Write one line for each conversation, the latest first."""
    if not result.conversations:
        return ["There are no such conversations."]
    return _table([_conversation(each) for each in result.conversations])


def _conversation(conversation: ConversationSummary) -> Sequence[str]:
    facts = [
        *(["pinned"] if conversation.pinned_at is not None else []),
        *(["archived"] if conversation.archived else []),
        *(["local"] if conversation.local else []),
        *(["busy"] if conversation.busy else []),
        *([f"until {_minute(conversation.expires_at)}"] if conversation.expires_at is not None else []),
        *(f"{label.key}={label.value}" if label.value else label.key for label in conversation.labels),
        *([f"damaged: {conversation.problem}"] if conversation.problem is not None else []),
    ]
    title = plain_line(conversation.title or "(untitled)")
    return conversation.conversation, _minute(conversation.last_activated_at), title, ", ".join(facts)


def models(result: ModelListResult) -> Sequence[str]:
    """Write one line for each model, and below them what is missing."""
    lines = _table([_model(model) for model in result.models])
    listed = {model.id for model in result.models}
    elsewhere = [alias for alias in result.aliases if alias.model not in listed]
    if elsewhere:
        lines += ["", "Aliases of models that no vendor listed:"]
        lines += _table([(f"  {alias.name}", alias.model) for alias in elsewhere])
    if not result.models:
        lines += ["No model can be asked here; `jp-lsp doctor` says what is missing."]
    return [*lines, *(f"{notice.level}: {plain_line(notice.text)}" for notice in result.notices)]


def _model(model: ListedModel) -> Sequence[str]:
    facts = [
        *(["in use"] if model.effective else []),
        *([f"also called {', '.join(model.aliases)}"] if model.aliases else []),
        *([f"{model.context_window:,} tokens"] if model.context_window is not None else []),
        *(["deprecated"] if model.deprecated else []),
    ]
    return model.id, plain_line(model.display_name or ""), ", ".join(facts)


def config_values(result: ConfigGetResult) -> Sequence[str]:
    """Write a value as JSON, and what is wrong."""
    return [json.dumps(result.value, ensure_ascii=False, indent=2), *map(_problem, result.problems)]


def config_files(result: ConfigListResult) -> Sequence[str]:
    """Write one line for each file that can be applied by name."""
    if not result.files:
        return ["No file can be applied by name; `config_load_paths` says where such files are."]
    rows = [
        (each.expression, each.group or "", plain_line(each.title or ""), plain_line(each.description or ""))
        for each in result.files
    ]
    problems = [f"error: {each.name}: {each.problem}" for each in result.files if each.problem is not None]
    return [*_table(rows), *problems]


def config_outcomes(result: ConfigSetResult) -> Sequence[str]:
    """Write what was changed, and what holds now."""
    did = {"file": "Changed", "document": "Changed, and not saved yet:", "nothing": "Nothing to change in"}
    lines = [f"{did[result.written]} {result.name}"]
    for each in result.settings:
        lines.append(f"{each.key} = {_json(each.value)}  {_place(each.place)}")
        if each.state == "shadowed":
            lines.append(f"  the file says {_json(each.own)}, but {_place(each.place)} has more weight")
    if result.expression is not None:
        lines.append(f"This holds for queries with `--cfg {result.expression}`.")
    if result.unread is not None:
        lines.append(f"warning: {result.unread}")
    lines += [f"The next query will ask whether you trust {each}" for each in result.questions]
    return [*lines, *(_problem(each) for each in result.problems if each.severity != "hint")]


def explanations(result: ConfigExplainResult) -> Sequence[str]:
    """Write each setting with every layer's word, the one that counts first."""
    lines = [
        line for each in result.settings for line in _explanation(each, is_only=len(result.settings) == 1)
    ]
    return [*lines, *(_problem(each) for each in result.problems if each.severity != "hint")]


def _explanation(explanation: ConfigExplanation, *, is_only: bool) -> Iterator[str]:
    yield f"{explanation.key} = {_json(explanation.value)}"
    if explanation.place.layer == "defaults":
        yield f"  default  {explanation.place.name}"
    for said in reversed(explanation.contributions):
        if is_only or said.state not in _SILENT:
            yield f"  {_contribution(said)}"
    for item in explanation.items:
        more = " (once more)" if item.duplicate else ""
        yield f"  - {_json(item.value)}  {_place(item.place)}{more}"
    for note in explanation.notes:
        yield f"  note: {note}"
    if explanation.without_conversation is not None:
        yield f"  without the conversation it would be {_json(explanation.without_conversation)}"


def _contribution(said: ConfigContribution) -> str:
    words = [said.state, _place(said.place)]
    if said.state not in _SILENT and said.value is not None:
        words.append(_json(said.value))
    if said.reason is not None:
        words.append(f"({said.reason})")
    return "  ".join(words)


def _place(place: ConfigPlace) -> str:
    return place.name if place.line is None else f"{place.name}:{place.line}"


def _problem(problem: ConfigProblem) -> str:
    where = [] if problem.place is None else [_place(problem.place)]
    key = [] if problem.key is None else [f"`{problem.key}`"]
    return f"{problem.severity}: {': '.join([*where, *key, problem.text])}"


def _json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _WIDEST_CELL else f"{text[: _WIDEST_CELL - 1]}…"


def _minute(time: str) -> str:
    """Write RFC 3339 as people read it."""
    return time[:16].replace("T", " ")


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Write rows with their columns below each other."""
    cut = [[fit(cell, _WIDEST_CELL) for cell in row] for row in rows]
    widths = [max(map(text_width, column)) for column in zip(*cut, strict=True)]
    return [
        "  ".join(
            cell + " " * (width - text_width(cell)) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in cut
    ]

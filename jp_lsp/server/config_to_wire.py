"""Settings as the JSON that editors are promised; see `to_wire` for the rules."""

from collections.abc import Sequence

from jp_lsp.config.change_file import KeyOutcome
from jp_lsp.config.explanation import Contribution, Explanation, Item
from jp_lsp.config.layer import Origin
from jp_lsp.config.named_list import NamedConfiguration
from jp_lsp.config.problem import Problem
from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.render.text import clean, clean_line
from jp_lsp.server.configuration_changes import Changed


def config_values(value: JsonValue, problems: Sequence[Problem]) -> JsonObject:
    """Give the result of `jp/config/get`."""
    return {**_present(value=value), "problems": [_problem(problem) for problem in problems]}


def config_explanations(
    explanations: Sequence[Explanation], order: Sequence[str], problems: Sequence[Problem]
) -> JsonObject:
    """Give the result of `jp/config/explain`."""
    return {
        "order": list(order),
        "settings": [_explanation(each) for each in explanations],
        "problems": [_problem(problem) for problem in problems],
    }


def config_changed(changed: Changed) -> JsonObject:
    """Give the result of `jp/config/set`."""
    target, outcome = changed.change.target, changed.outcome
    return {
        "name": clean_line(target.name),
        "uri": target.path.as_uri(),
        "written": changed.written,
        "settings": [_outcome(each) for each in outcome.keys],
        **_present(expression=outcome.expression, unread=outcome.unread),
        "questions": [clean(each) for each in outcome.questions],
        "problems": [_problem(problem) for problem in outcome.problems],
    }


def conversation_changed(
    conversation: ConversationId, outcomes: Sequence[KeyOutcome], *, is_changed: bool
) -> JsonObject:
    """Give the result of `jp/config/set` for what a conversation keeps."""
    return {
        "name": f"conversation {conversation}",
        "uri": f"jp://{conversation}",
        "written": "file" if is_changed else "nothing",
        "settings": [_outcome(each) for each in outcomes],
        "questions": [],
        "problems": [],
    }


def _outcome(outcome: KeyOutcome) -> JsonObject:
    explanation = outcome.explanation
    return {
        "key": clean_line(explanation.key),
        **_present(value=explanation.value),
        "place": _place(explanation.origin),
        "state": outcome.state,
        **_present(own=outcome.own),
    }


def named_configurations(files: Sequence[NamedConfiguration]) -> JsonObject:
    """Give the result of `jp/config/list`."""
    return {"files": [_named(each) for each in files]}


def _explanation(explanation: Explanation) -> JsonObject:
    return {
        "key": clean_line(explanation.key),
        **_present(value=explanation.value),
        "place": _place(explanation.origin),
        "contributions": [_contribution(each) for each in explanation.contributions],
        "items": [_item(each) for each in explanation.items],
        "notes": [clean(note) for note in explanation.notes],
        **_present(withoutConversation=explanation.without_conversation),
    }


def _contribution(said: Contribution) -> JsonObject:
    reason = None if said.reason is None else clean(said.reason)
    return {
        "place": _place(said.origin),
        "state": said.state,
        **_present(value=said.value, reason=reason),
    }


def _item(item: Item) -> JsonObject:
    return {**_present(value=item.value), "place": _place(item.origin), "duplicate": item.is_duplicate}


def _place(origin: Origin) -> JsonObject:
    return {
        "layer": origin.kind,
        "name": clean_line(origin.name),
        **_present(uri=None if origin.path is None else origin.path.absolute().as_uri(), line=origin.line),
    }


def _problem(problem: Problem) -> JsonObject:
    return {
        "severity": problem.severity,
        "text": clean(problem.text),
        **_present(
            key=clean_line(problem.key) or None,
            place=None if problem.origin is None else _place(problem.origin),
        ),
    }


def _named(file: NamedConfiguration) -> JsonObject:
    texts = {
        "group": file.group,
        "title": file.title,
        "description": file.description,
    }
    return {
        "name": clean_line(file.name),
        "expression": file.expression,
        **{name: clean_line(text) for name, text in texts.items() if text is not None},
        "uris": [path.absolute().as_uri() for path in file.paths],
        **_present(problem=None if file.problem is None else clean(file.problem)),
    }


def _present(**fields: JsonValue) -> dict[str, JsonValue]:
    return {name: field for name, field in fields.items() if field is not None}

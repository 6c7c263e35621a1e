"""What a setting means and what it is now, as Markdown for a hover."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from jp_lsp.config.about_file import OF_EACH_FILE
from jp_lsp.config.explanation import DEFAULTS, Explanation
from jp_lsp.config.kind import Key
from jp_lsp.config.model_id import MODEL_ID
from jp_lsp.config.problem import dotted
from jp_lsp.config.value import Path
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.language.document import Document, KeyPlace
from jp_lsp.language.model_facts import model_facts
from jp_lsp.language.positions import Span
from jp_lsp.language.schema_view import describe_default, describe_kind, describe_merging, key_at, show_value
from jp_lsp.ports.provider import ModelDetails, ModelId
from jp_lsp.render.tool import code_span

_MOST_PLACES = 8


@dataclass(frozen=True, slots=True)
class Subject:
    """What a hover is about."""

    path: Path
    key: Key
    span: Span


def subject_at(document: Document, offset: int) -> Subject | None:
    """Find the setting at an offset, by its name or its value."""
    for place in document.places_at(offset):
        if place.span.start == place.span.end or (isinstance(place, KeyPlace) and not place.name):
            continue
        if (key := key_at(place.path)) is not None:
            return Subject(place.path, key, place.span)
    return None


def describe(subject: Subject, explanation: Explanation | None, models: Sequence[ModelDetails] = ()) -> str:
    """Describe a setting; without an explanation, or of what each file has for itself, what it is now stays unsaid.

    `models` are those that are known by now: where the setting names one of them, what is known of it is told too.
    """
    lines = [f"**{code_span(dotted(subject.path))}**", "", subject.key.doc, ""]
    lines.append(f"- takes {describe_kind(subject.key.kind)}")
    if (merging := describe_merging(subject.key.kind)) is not None:
        lines.append(f"- {merging}")
    if (default := describe_default(subject.key)) is not None:
        lines.append(f"- default: {code_span(default)}")
    if explanation is not None and subject.path[0] not in OF_EACH_FILE:
        lines += _now(explanation)
        lines += _facts_of_model(explanation.value, models) if subject.key.kind is MODEL_ID else ()
    return "\n".join(lines)


def _facts_of_model(value: JsonValue, models: Sequence[ModelDetails]) -> Iterator[str]:
    if isinstance(value, Mapping):
        model = ModelId(str(value.get("provider")), str(value.get("name")))
        for details in models:
            if details.id == model:
                yield from model_facts(details)


def _now(explanation: Explanation) -> Sequence[str]:
    if explanation.value is None:
        return ["- not set"]
    origin = explanation.origin
    source = "by default" if origin == DEFAULTS else f"from {code_span(str(origin))}"
    lines = [f"- now: {code_span(show_value(explanation.value))}, {source}"]
    said = [each for each in explanation.contributions if each.state in {"adds", "shadowed"}]
    for each in reversed(said[-_MOST_PLACES:]):
        if each.origin == origin:
            continue
        manner = "adds" if each.state == "adds" else "has no effect"
        value = "" if each.value is None else f": {code_span(show_value(each.value))}"
        lines.append(f"- {code_span(str(each.origin))} {manner}{value}")
    lines += [f"- {note}" for note in explanation.notes]
    return lines

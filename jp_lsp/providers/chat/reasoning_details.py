"""Reasoning with its signatures, as OpenRouter passes it on from other vendors (providers 6.7).

Each detail has a form (`format`) that names the vendor behind it. What must be replayed is kept under the very
keys that the direct adapters use, so a conversation can move from one to the other; a note beside it says where
in the details it came from, so that they can be put together again.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.providers.untrusted import as_list, as_object, as_text, pick

NOTE_KEY = "openrouter_metadata"
_COPIES = "reasoning.summary"
_PLACE = ("id", "index")


@dataclass(frozen=True, slots=True)
class _Form:
    """A kind of detail that is kept: its type and format, the member that counts, and the key it is stored under."""

    type: str
    format: str
    member: str
    key: str


_FORMS = (
    _Form("reasoning.encrypted", "openai-responses-v1", "data", "openai_encrypted_content"),
    _Form("reasoning.encrypted", "anthropic-claude-v1", "data", "anthropic_redacted_thinking"),
    _Form("reasoning.text", "anthropic-claude-v1", "signature", "anthropic_thinking_signature"),
    _Form("reasoning.text", "google-gemini-v1", "signature", "google_thought_signature"),
)
_BY_KIND: Mapping[tuple[str, str], _Form] = {(form.type, form.format): form for form in _FORMS}
_BY_KEY: Mapping[str, _Form] = {form.key: form for form in _FORMS}


def read_details(value: JsonValue) -> Mapping[str, JsonValue] | None:
    """Give what of the details is to be stored; `None` when they say nothing beyond the plain text."""
    details = [as_object(item) for item in as_list(value)]
    own = [detail for detail in details if detail.get("type") != _COPIES]
    if not own:
        return None
    metadata: dict[str, JsonValue] = {}
    notes: list[JsonValue] = []
    for detail in own:
        form = _BY_KIND.get((as_text(detail.get("type")), as_text(detail.get("format"))))
        if form is None or not isinstance(kept := detail.get(form.member), str):
            continue  # a format that we do not know, or text whose signature is still to come
        metadata[form.key] = kept
        notes.append({**_place(detail), "field": form.key})
    if notes:
        metadata[NOTE_KEY] = notes
    return metadata


def _place(detail: JsonObject) -> dict[str, JsonValue]:
    return {name: value for name, value in pick(detail, _PLACE).items() if value is not None}


def written_details(text: str, metadata: JsonObject) -> list[JsonValue]:
    """Put the details of a stored thought together again; none where it did not come through here."""
    details: list[JsonValue] = []
    for value in as_list(metadata.get(NOTE_KEY)):
        note = as_object(value)
        form = _BY_KEY.get(as_text(note.get("field")))
        if form is None or not (kept := as_text(metadata.get(form.key))):
            continue
        detail: dict[str, JsonValue] = {"type": form.type, "format": form.format, form.member: kept}
        if form.type == "reasoning.text":
            detail["text"] = text
        details.append({**detail, **pick(note, _PLACE)})
    return details

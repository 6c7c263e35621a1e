"""`metadata.json`: a conversation's title and times (conversation format 3.2).

The parsed object is kept, with every field that we do not know; a file that did not change is written back as
it was read.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never, cast

from jp_lsp.conversation import json_text, shape
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.conversation.labels import Labels, change_labels, in_order, read_labels
from jp_lsp.conversation.metadata_edit import (
    Activate,
    ChangeLabels,
    MetadataEdit,
    SetArchived,
    SetExpiry,
    SetPin,
    SetTitle,
)
from jp_lsp.conversation.timestamp import Timestamp

_FIELDS = ("title", "last_activated_at", "pinned_at", "archived_at", "expires_at", "labels")


class MetadataError(ValueError):
    """The file is not what the format says; the message names the field."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """The fields of the file; `text` is how it is written."""

    fields: JsonObject
    text: str
    last_activated_at: Timestamp
    title: str | None = None
    pinned_at: Timestamp | None = None
    archived_at: Timestamp | None = None
    expires_at: Timestamp | None = None

    @classmethod
    def new(cls, last_activated_at: Timestamp) -> "Metadata":
        """Make the metadata of a new conversation."""
        return _from_fields({"last_activated_at": str(last_activated_at)})

    @classmethod
    def parse(cls, text: str) -> "Metadata":
        """Read the file; what no file can hold is mended, and so will be written (trap 18).

        Raises:
            MetadataError: it is no JSON object, lacks `last_activated_at`, has a field of the wrong type,
                or gives a known field twice, which other readers refuse.
        """
        try:
            fields = _read_fields(text)
            if json_text.has_surrogates(text, fields):
                return _from_fields(cast(JsonObject, json_text.without_surrogates(fields)))
            if text.count("[") + text.count("{") > json_text.DEEPEST:
                json_text.to_text(fields)  # what we could not write again, no other program reads
            return _from_fields(fields, text)
        except ValueError as error:
            raise MetadataError(f"metadata.json: {error}") from error

    def with_title(self, title: str | None) -> "Metadata":
        """Give the metadata with another title; `None` removes it, an empty one is a title."""
        return self if title == self.title else self._with("title", title)

    def with_activation(self, at: Timestamp) -> "Metadata":
        """Give the metadata with another time of last activation."""
        return self._with("last_activated_at", str(at))

    def with_expiry(self, at: Timestamp | None) -> "Metadata":
        """Give the metadata with another earliest time of removal; `None` for never."""
        return self if at == self.expires_at else self._with("expires_at", None if at is None else str(at))

    def edited(self, edit: MetadataEdit, *, newer_format: bool = False) -> "Metadata":
        """Give the metadata with a change that the user wants.

        With `newer_format` labels are written as lists; where they are lists already, they are in any case.
        """
        match edit:
            case SetTitle(title):
                return self.with_title(title)
            case SetPin(at, wanted):
                is_pinned = self.pinned_at is None if wanted is None else wanted
                return self._with_time("pinned_at", at if is_pinned else None)
            case SetExpiry(at):
                return self.with_expiry(at)
            case ChangeLabels():
                labels = change_labels(self._stored_labels, edit, newer_format=newer_format)
                return self if labels == self._stored_labels else self._with("labels", labels or None)
            case Activate(at):
                return self.with_activation(at)
            case SetArchived(at):
                return self._with_time("archived_at", at)
            case _:
                assert_never(edit)

    @property
    def labels(self) -> Labels:
        """The values of each label."""
        return read_labels(self._stored_labels)

    @property
    def _stored_labels(self) -> JsonObject:
        return shape.mapping(self.fields, "labels") if "labels" in self.fields else {}

    def forked(self, at: Timestamp) -> "Metadata":
        """Give the metadata of a copy that is made now: title, labels and pin stay, the rest begins anew."""
        return self.with_activation(at).with_expiry(None)._with("archived_at", None)

    def _with_time(self, name: str, at: Timestamp | None) -> "Metadata":
        is_same = at is None and self.fields.get(name) is None
        return self if is_same else self._with(name, None if at is None else str(at))

    def _with(self, name: str, value: JsonValue) -> "Metadata":
        """Change one field: known ones stand in the format's order, unknown ones behind them as read."""
        changed = {**self.fields, name: value}
        labels = cast(JsonObject, changed.get("labels") or {})
        changed["labels"] = in_order(labels) or None  # none are not written
        known = {field: changed[field] for field in _FIELDS if changed.get(field) is not None}
        return _from_fields(known | {field: item for field, item in changed.items() if field not in _FIELDS})


def _from_fields(fields: JsonObject, text: str | None = None) -> Metadata:
    last_activated_at = _time(fields, "last_activated_at")
    if last_activated_at is None:
        raise shape.ShapeError("'last_activated_at' is missing")
    _check_labels(fields)
    return Metadata(
        fields=fields,
        text=json_text.to_text(fields) + "\n" if text is None else text,
        last_activated_at=last_activated_at,
        title=shape.optional_text(fields, "title"),
        pinned_at=_time(fields, "pinned_at"),
        archived_at=_time(fields, "archived_at"),
        expires_at=_time(fields, "expires_at"),
    )


def _time(fields: JsonObject, name: str) -> Timestamp | None:
    if (text := shape.optional_text(fields, name)) is None:
        return None
    try:
        return Timestamp.parse(text)
    except (ValueError, OverflowError) as error:
        raise shape.ShapeError(f"{name!r}: {error}") from error


def _check_labels(fields: JsonObject) -> None:
    """Labels are texts, or lists of texts in the newer form; null is refused."""
    if "labels" not in fields:
        return
    for key, label in shape.mapping(fields, "labels").items():
        values = label if isinstance(label, list) else [label]
        if not all(isinstance(value, str) for value in values):
            raise shape.ShapeError(f"label {key!r} must be a string or a list of strings")


def _read_fields(text: str) -> JsonObject:
    """Parse the object itself with a look at repeated fields, everything below it as usual."""
    repeated: set[str] = set()

    def collect(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
        names = [name for name, _ in pairs]
        repeated.clear()  # the outermost object is finished last
        repeated.update(name for name in _FIELDS if names.count(name) > 1)
        return dict(pairs)

    json_text.from_text(text)
    fields = cast(JsonValue, json.loads(text, object_pairs_hook=collect))
    if not isinstance(fields, Mapping):
        raise shape.ShapeError(f"must hold an object, not {shape.name_of(fields)}")
    if repeated:
        raise shape.ShapeError(f"{min(repeated)!r} is there twice")
    return fields

"""Labels of a conversation as its metadata hold them (conversation format 3.2, 7.9).

The older form has one text for each label, the newer one a list. The newer one is written only where it is
wanted or there already, because older readers refuse the whole file for it (trap 66).
"""

from collections.abc import Mapping, Sequence

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.conversation.metadata_edit import ChangeLabels

Labels = Mapping[str, tuple[str, ...]]
"""The values of each label, in the order in which they were given; a bare label has one empty value."""


def read_labels(stored: JsonObject) -> Labels:
    """Read either form; what is no text is left out."""
    return {key: _values(value) for key, value in stored.items()}


def change_labels(stored: JsonObject, change: ChangeLabels, *, newer_format: bool) -> JsonObject:
    """Give the labels with a change, sorted as the file wants them.

    In the older form a value takes the place of the one before, in the newer one it joins them.
    """
    is_newer = newer_format or any(isinstance(value, list) for value in stored.values())
    labels = {} if change.clears else dict(read_labels(stored))
    for key in change.removed:
        labels.pop(key, None)
    for key, value in change.added.items():
        labels[key] = _joined(labels.get(key, ()), value) if is_newer else (value,)
    return in_order(
        {key: list(values) if is_newer else values[0] for key, values in labels.items() if values}
    )


def in_order(stored: JsonObject) -> JsonObject:
    """Sort labels as the file wants them: by the bytes of their keys."""
    return dict(sorted(stored.items(), key=lambda item: item[0].encode("utf-8", "replace")))


def _joined(present: Sequence[str], value: str) -> tuple[str, ...]:
    """Add a value; an empty one stands only where there is no other, and none is there twice."""
    values = dict.fromkeys((*present, value))
    real = tuple(each for each in values if each)
    return real or ("",)


def _values(value: JsonValue) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(item for item in items if isinstance(item, str))

"""What `conversation.attachments` asks for, and the layer for what a query names itself (config-and-tools 1.10, 6.1)."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path as FilePath
from typing import cast

from jp_lsp.config.keys_conversation import CONVERSATION
from jp_lsp.config.layer import Layer, Origin, Step
from jp_lsp.config.value import MergedList, Partial, Path, Value, entries_of, value_at
from jp_lsp.config.write import write
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.ports.attachment import AttachmentEntry

ATTACHMENTS: Path = ("conversation", "attachments")


def attachment_entries(tree: Partial) -> Iterator[AttachmentEntry]:
    """Give all entries, in order."""
    held = value_at(tree, ATTACHMENTS)
    for item in held.items if isinstance(held, MergedList) else ():
        yield _entry(item)


def named_layer(urls: Sequence[str], document: FilePath | None = None) -> Layer:
    """Make the layer of what a query attaches; what is attached already stays where it is.

    Args:
        urls: the entries.
        document: the file that names them, if one does.
    """
    origin = Origin("request", "the query's attachments", document)
    partial: Partial = {"conversation": {"attachments": MergedList(tuple(urls))}}
    return Layer(origin, (Step(origin, partial),), skips_known=True)


def _entry(item: Value) -> AttachmentEntry:
    if isinstance(item, str):
        kind, _, path = item.partition(":")
        return AttachmentEntry(item, kind, path)
    table = entries_of(item)
    params = {name: _values(value) for name, value in entries_of(table.get("params", {})).items()}
    return AttachmentEntry(_as_text(item), str(table["type"]), str(table["path"]), params)


def _values(value: Value) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(cast("Sequence[str]", value))


def _as_text(item: Value) -> str:
    """Write a table as it stands in a conversation's files."""
    written = cast("Sequence[JsonValue]", write(CONVERSATION.keys["attachments"].kind, MergedList((item,))))
    return json.dumps(written[0], ensure_ascii=False)

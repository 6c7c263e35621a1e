"""Which conversations other programs have open (conversation format 1.10).

Each terminal session of the command-line tool keeps the history of its conversations in a file of its own.
We only look: what a session has in front of itself must not vanish. Files that make no sense say nothing.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import cast

from jp_lsp.conversation.ids import ConversationId, conversation_id

_LARGEST = 1 << 20
"""Bytes; a history is far smaller."""


def active_conversations(
    folder: Path, live: Collection[ConversationId], archived: Collection[ConversationId]
) -> set[ConversationId]:
    """Give what the sessions work with; `folder` holds their files."""
    active: set[ConversationId] = set()
    for path in sorted(folder.glob("*.json")):
        found = _active(_history(path), live, archived)
        if found is not None:
            active.add(found)
    return active


def _active(
    history: Iterator[ConversationId],
    live: Collection[ConversationId],
    archived: Collection[ConversationId],
) -> ConversationId | None:
    """Give the first that is live, the latest being first; an archived one ends the search."""
    for conversation in history:
        if conversation in live:
            return conversation
        if conversation in archived:
            return None
    return None


def _history(path: Path) -> Iterator[ConversationId]:
    try:
        if path.stat().st_size > _LARGEST:
            return
        content = cast(object, json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return
    history = cast(Mapping[str, object], content).get("history") if isinstance(content, Mapping) else None
    for item in cast(list[object], history) if isinstance(history, list) else ():
        number = cast(Mapping[str, object], item).get("id") if isinstance(item, Mapping) else None
        if isinstance(number, int) and not isinstance(number, bool):
            try:
                yield conversation_id(number)
            except ValueError:
                continue

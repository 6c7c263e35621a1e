"""What tells cheaply whether a conversation is still as it was: names, and the times of its files.

JP and git replace files, which gives them other times, or rename folders. Nothing is opened here, so thousands
of conversations are looked over in a moment.
"""

import os
from pathlib import Path

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.ports.upkeep import Mark
from jp_lsp.workspace.atomic import stamp_of
from jp_lsp.workspace.folders import MANAGED
from jp_lsp.workspace.paths import Roots


def marks_of(roots: Roots) -> dict[ConversationId, Mark]:
    """Mark every conversation; one that is both live and archived, which a crash can leave, is live."""
    marks: dict[ConversationId, Mark] = {}
    for is_archived in (True, False):
        found: dict[ConversationId, list[object]] = {}
        for root in roots.in_reading_order:
            partition = root.partition(is_archived=is_archived)
            for conversation, name in root.conversation_folders(is_archived=is_archived).items():
                found.setdefault(conversation, []).append((root.name, name, _stamps(partition, name)))
        marks.update({each: Mark(is_archived, tuple(states)) for each, states in found.items()})
    return marks


def _stamps(partition: Path, name: str) -> tuple[object, ...]:
    folder = f"{partition}{os.sep}{name}{os.sep}"
    return tuple(stamp_of(folder + file) for file in MANAGED)

"""What tells cheaply whether a conversation is still as it was: names, and the times of its files.

JP and git replace files, which gives them other times, or rename folders. Nothing is opened here, so thousands
of conversations are looked over in a moment.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias, cast

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.ports.upkeep import Mark
from jp_lsp.workspace.atomic import Stamp, glance
from jp_lsp.workspace.folders import MANAGED, RootName
from jp_lsp.workspace.paths import Roots

_Stamps: TypeAlias = tuple[Stamp | None, ...]
_State: TypeAlias = tuple[tuple[RootName, str, _Stamps], ...]
"""For each root that has the conversation: its name, that of the folder, and what is seen of the managed files."""


def marks_of(roots: Roots) -> dict[ConversationId, Mark]:
    """Mark every conversation; one that is both live and archived, which a crash can leave, is live."""
    marks: dict[ConversationId, Mark] = {}
    for is_archived in (True, False):
        found: dict[ConversationId, list[tuple[RootName, str, _Stamps]]] = {}
        for root in roots.in_reading_order:
            partition = root.partition(is_archived=is_archived)
            for conversation, name in root.conversation_folders(is_archived=is_archived).items():
                found.setdefault(conversation, []).append((root.name, name, _stamps(partition, name)))
        marks.update({each: Mark(is_archived, tuple(states)) for each, states in found.items()})
    return marks


def is_own(roots: Roots, conversation: ConversationId, before: Mark | None, after: Mark) -> bool:
    """Tell whether every file that is another one than before is the one that we wrote last.

    A whole copy of which we wrote nothing, such as one that came from the other root or from the trash, is ours as
    it is: whoever asks knows that we did something to the conversation.
    """
    earlier = _files(before)
    own = {root.name: root.own_writes.of(conversation) for root in roots.in_reading_order}

    def is_as_we_left_it(root: RootName, name: str, stamp: Stamp | None) -> bool:
        written = own[root].get(name)
        if stamp is not None and stamp == written:
            return True
        return stamp == earlier[root, name] if (root, name) in earlier else written is None

    return all(is_as_we_left_it(root, name, stamp) for (root, name), stamp in _files(after).items())


def _files(mark: Mark | None) -> Mapping[tuple[RootName, str], Stamp | None]:
    state = () if mark is None else cast(_State, mark.state)
    return {
        (root, name): stamp for root, _, stamps in state for name, stamp in zip(MANAGED, stamps, strict=True)
    }


def _stamps(partition: Path, name: str) -> _Stamps:
    folder = f"{partition}{os.sep}{name}{os.sep}"
    return tuple(glance(folder + file) for file in MANAGED)

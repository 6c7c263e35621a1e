"""Moves a conversation between the two places that it can be in (conversation format 1.4, 7.5).

Kept by the user alone, it is in the user's own folder and nowhere else; else the workspace has a copy too,
which others see. Before one copy goes, the other has all that was in it.
"""

from pathlib import Path

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.workspace.atomic import write_file
from jp_lsp.workspace.folders import BASE_CONFIG, EVENTS, METADATA, Root
from jp_lsp.workspace.metadata import Metadata
from jp_lsp.workspace.paths import Roots
from jp_lsp.workspace.placing import import_external, keep_replaced, move_others, place, remove_folder
from jp_lsp.workspace.reading import Reading, UnreadableError, read_conversation

_OTHER_FILES = (
    "the conversation is the user's alone now, and the user's folder has other files of these names"
)


def to_user(workspace: Root, silo: Root, conversation: ConversationId, now: Timestamp) -> None:
    """Bring everything to the user's folder, then take the workspace's copy away (trap 60).

    Raises:
        UnreadableError: its files cannot be read; nothing was changed.
        MetadataError: the same, of its metadata.
        OSError: the disk refused something.
    """
    reading = _read(Roots(workspace, silo), conversation)
    import_external(Roots(workspace, silo), conversation)
    kept = _write(silo, conversation, reading, now)
    for folder in workspace.folders_of(conversation):
        move_others(folder, kept)
        remove_folder(workspace, folder, _OTHER_FILES, now)


def to_workspace(workspace: Root, silo: Root, conversation: ConversationId, now: Timestamp) -> None:
    """Give the workspace a copy of the conversation; other files, such as drafts, stay with the user.

    Raises:
        UnreadableError: its files cannot be read; nothing was changed.
        MetadataError: the same, of its metadata.
        OSError: the disk refused something.
    """
    reading = _read(Roots(workspace, silo), conversation)
    import_external(Roots(workspace, silo), conversation)
    _write(workspace, conversation, reading, now)


def _read(roots: Roots, conversation: ConversationId) -> Reading:
    reading = read_conversation(roots, conversation)
    if reading is None:
        raise UnreadableError("its folder was moved away meanwhile")
    return reading


def _write(root: Root, conversation: ConversationId, reading: Reading, now: Timestamp) -> Path:
    """Write the files as they were read; files that are the same already are left alone.

    The metadata come last: a folder that a crash left half made is then in no list (as in a first save).
    """
    folder = place(root, conversation, Metadata.parse(reading.metadata).title, now)
    keep_replaced(root, folder, reading.events.encode(), now)
    for name, text in (
        (BASE_CONFIG, reading.base_config),
        (EVENTS, reading.events),
        (METADATA, reading.metadata),
    ):
        if text is not None:
            root.own_writes.note(conversation, name, write_file(folder / name, text.encode()))
    return folder

"""What is done to the content of conversations: exporting and editing them, and taking them back."""

from collections.abc import Sequence

from jp_lsp.conversation.amend import remove_turn, set_request
from jp_lsp.conversation.directory_name import directory_name
from jp_lsp.conversation.export import events_view
from jp_lsp.conversation.ids import deciseconds_of
from jp_lsp.conversation.json_text import to_text
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.driver.beside import beside_when_long
from jp_lsp.driver.shelf import activity_of
from jp_lsp.ports.upkeep import ConversationFacts
from jp_lsp.protocol.content import (
    ConversationEditParams,
    ConversationExportParams,
    ConversationRestoreParams,
    ConversationTrashParams,
)
from jp_lsp.render.text import clean_line
from jp_lsp.server import from_wire
from jp_lsp.server.conversation_to_wire import trashed_conversation
from jp_lsp.server.handlers.conversation import markdown_of
from jp_lsp.server.handlers.conversations import summary
from jp_lsp.server.refusals import refusals_answered
from jp_lsp.server.session import Session
from jp_lsp.server.viewed_turns import ViewedTurn, viewed_turns

_SUFFIX = {"markdown": "md", "json": "json"}


async def export(session: Session, params: ConversationExportParams) -> JsonObject:
    """Write a conversation down as one text.

    Raises:
        WireError: there is no such conversation, it cannot be read, or it has no such turn.
    """
    conversation = from_wire.conversation_id(params.conversation)
    with refusals_answered("jp/conversation/export"):
        facts = await session.workplace.upkeep().facts(conversation)
        if params.format == "json":  # needs no settings, which may be broken
            stream = (await session.workplace.surroundings().store.copy(conversation)).stream
            turns = await beside_when_long(len(stream), lambda: _chosen(stream, params))
            text = await beside_when_long(len(stream), lambda: _json_of(facts, turns))
        else:
            stored = await session.workplace.read(conversation)
            turns = await beside_when_long(len(stored.stream), lambda: _chosen(stored.stream, params))
            title = f"# {clean_line(facts.title)}\n\n" if facts.title else ""
            text = title + await markdown_of(stored, turns)
    name = f"{directory_name(conversation, facts.title)}.{_SUFFIX[params.format]}"
    return {"text": text, "name": name, "turns": len(turns)}


async def edit(session: Session, params: ConversationEditParams) -> JsonObject:
    """Give another text to what the user said in a turn, or remove the turn.

    Raises:
        WireError: there is no such conversation or turn, somebody has it, or the disk refused.
    """
    turn = params.turn - 1

    def change(stream: ConversationStream, now: Timestamp) -> None:
        if params.text is None:
            remove_turn(stream, turn)
        else:
            set_request(stream, turn, params.text)

    with refusals_answered("jp/conversation/edit"):
        conversation = from_wire.conversation_id(params.conversation)
        amended = await session.amender.amend(conversation, change, keeps_copy=True)
        copy: JsonObject = {} if amended.copy is None else {"copyUri": amended.copy}
        return {**await summary(session, amended.facts), **copy}


async def trash(session: Session, params: ConversationTrashParams) -> JsonObject:
    """List what can be taken back.

    Raises:
        WireError: there is no folder.
    """
    with refusals_answered("jp/conversation/trash"):
        found = await session.workplace.upkeep().trashed()
    return {"conversations": [trashed_conversation(each) for each in found]}


async def restore(session: Session, params: ConversationRestoreParams) -> JsonObject:
    """Take a removed conversation back.

    Raises:
        WireError: it is not in the trash, there is one of that id, somebody has it, or the disk refused.
    """
    with refusals_answered("jp/conversation/restore"):
        conversation = from_wire.conversation_id(params.conversation)
        return await summary(session, await session.caretaker.restore(conversation))


def _chosen(stream: ConversationStream, params: ConversationExportParams) -> list[ViewedTurn]:
    return viewed_turns(stream, params.turns, "jp/conversation/export", is_compacted=params.compacted)


def _json_of(facts: ConversationFacts, turns: Sequence[ViewedTurn]) -> str:
    return to_text(_view(facts, events_view(event for turn in turns for event in turn.events))) + "\n"


def _view(facts: ConversationFacts, events: Sequence[JsonValue]) -> JsonObject:
    """Give a conversation as other programs are shown it (conversation format 7.12)."""
    pinned: JsonObject = {} if facts.pinned_at is None else {"pinned_at": facts.pinned_at.rfc3339()}
    return {
        "id": str(deciseconds_of(facts.id)),
        "title": facts.title,
        "last_activated_at": activity_of(facts).rfc3339(),
        **pinned,
        "events_count": len(events),
        "events": list(events),
    }

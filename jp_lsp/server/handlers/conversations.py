"""What is done to whole conversations: listing, describing, making, naming, marking, moving, removing them.

Each handler reads the params, has one thing done, and gives the conversation as it is then.
"""

from collections.abc import Collection
from contextlib import suppress

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.conversation.metadata_edit import ChangeLabels
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.driver.caretaker import Copy, NewConversation
from jp_lsp.driver.describing import describe
from jp_lsp.driver.shelf import Wanted, choose
from jp_lsp.ports.upkeep import ConversationFacts
from jp_lsp.protocol.conversation import ConversationListParams
from jp_lsp.protocol.reading import InvalidParams
from jp_lsp.protocol.upkeep import (
    ConversationArchiveParams,
    ConversationExpiryParams,
    ConversationForkParams,
    ConversationLabelsParams,
    ConversationMoveParams,
    ConversationNewParams,
    ConversationParams,
    ConversationPinParams,
    ConversationRemoveParams,
    ConversationShowParams,
    ConversationTitleParams,
    ConversationUnarchiveParams,
    ConversationUseParams,
    NewLabel,
)
from jp_lsp.server import from_wire
from jp_lsp.server.conversation_to_wire import conversation_description, conversation_summary
from jp_lsp.server.refusals import refusals_answered
from jp_lsp.server.session import Session


async def list_conversations(session: Session, params: ConversationListParams) -> JsonObject:
    """List the conversations that are wanted; a folder that is no workspace yet has none.

    Raises:
        WireError: there is no folder, or it cannot be looked at.
    """
    with refusals_answered("jp/conversation/list"):
        upkeep = session.workplace.upkeep()
        every = await upkeep.list(is_archived=params.archived)
        held = await upkeep.held()
    chosen = choose(every, _wanted(params))
    return {
        "conversations": [
            session.listed.summary(
                facts, is_active=_is_active(session, facts), is_busy=_is_busy(session, facts, held)
            )
            for facts in chosen
        ]
    }


async def show(session: Session, params: ConversationShowParams) -> JsonObject:
    """Describe one conversation.

    Raises:
        WireError: there is none.
    """
    with refusals_answered("jp/conversation/show"):
        upkeep = session.workplace.upkeep()
        described = await describe(_id(params), session.workplace.surroundings, upkeep)
        is_busy = _is_busy(session, described.facts, await upkeep.held())
    is_active = _is_active(session, described.facts)
    return conversation_description(described, is_active=is_active, is_busy=is_busy)


async def new(session: Session, params: ConversationNewParams) -> JsonObject:
    """Make an empty conversation.

    Raises:
        WireError: the settings are not valid, or it could not be stored.
    """
    with refusals_answered("jp/conversation/new"):
        seconds = _seconds(params.expires, "jp/conversation/new")
        wanted = NewConversation(
            params.config, params.title, _labels(params.labels), seconds, is_local=params.local
        )
        return await summary(session, await session.caretaker.create(wanted))


async def use(session: Session, params: ConversationUseParams) -> JsonObject:
    """Choose where queries go that name no conversation.

    Raises:
        WireError: there is no such conversation.
    """
    with refusals_answered("jp/conversation/use"):
        return await summary(session, await session.caretaker.select(_id(params)))


async def fork(session: Session, params: ConversationForkParams) -> JsonObject:
    """Copy a conversation, or a part of it.

    Raises:
        WireError: there is no such conversation, or the copy could not be stored.
    """
    with refusals_answered("jp/conversation/fork"):
        wanted = Copy(
            "last" if params.conversation == "last" else from_wire.conversation_id(params.conversation),
            params.first_turns,
            params.last_turns,
            _moment(session, params.since, "since"),
            _moment(session, params.until, "until"),
            params.title,
            _labels(params.labels),
            is_selected=params.use,
            is_compacted=params.compact,
        )
        return await summary(session, await session.caretaker.copy(wanted))


async def title(session: Session, params: ConversationTitleParams) -> JsonObject:
    """Give another title, or none.

    Raises:
        WireError: there is no such conversation, somebody has it, or the disk refused.
    """
    with refusals_answered("jp/conversation/title"):
        return await summary(session, await session.caretaker.set_title(_id(params), params.title))


async def labels(session: Session, params: ConversationLabelsParams) -> JsonObject:
    """Add labels, and take some away.

    Raises:
        WireError: there is no such conversation, somebody has it, or the disk refused.
    """
    with refusals_answered("jp/conversation/labels"):
        edit = ChangeLabels(_labels(params.add), params.remove, clears=params.clear)
        return await summary(session, await session.caretaker.edit(_id(params), edit))


async def pin(session: Session, params: ConversationPinParams) -> JsonObject:
    """Pin or unpin.

    Raises:
        WireError: there is no such conversation, somebody has it, or the disk refused.
    """
    with refusals_answered("jp/conversation/pin"):
        return await summary(session, await session.caretaker.set_pin(_id(params), params.pinned))


async def expiry(session: Session, params: ConversationExpiryParams) -> JsonObject:
    """Say how long to keep it.

    Raises:
        WireError: there is no such conversation, somebody has it, or the disk refused.
    """
    with refusals_answered("jp/conversation/expiry"):
        seconds = _seconds(params.expires, "jp/conversation/expiry")
        return await summary(session, await session.caretaker.set_expiry(_id(params), seconds))


async def archive(session: Session, params: ConversationArchiveParams) -> JsonObject:
    """Take a conversation out of the lists.

    Raises:
        WireError: there is no such conversation, somebody has it, or the disk refused.
    """
    with refusals_answered("jp/conversation/archive"):
        return await summary(session, await session.caretaker.archive(_id(params)))


async def unarchive(session: Session, params: ConversationUnarchiveParams) -> JsonObject:
    """Put a conversation back into the lists.

    Raises:
        WireError: it is not in the archive, somebody has it, or the disk refused.
    """
    with refusals_answered("jp/conversation/unarchive"):
        return await summary(session, await session.caretaker.unarchive(_id(params)))


async def remove(session: Session, params: ConversationRemoveParams) -> JsonObject:
    """Move a conversation to the trash.

    Raises:
        WireError: there is no such conversation, somebody has it, or the disk refused.
    """
    with refusals_answered("jp/conversation/remove"):
        trash = await session.caretaker.remove(_id(params))
        return {"conversation": _id(params), "trash": list(trash)}


async def move(session: Session, params: ConversationMoveParams) -> JsonObject:
    """Keep a conversation for the user alone, or also in the workspace.

    Raises:
        WireError: there is no such conversation, somebody has it, or the disk refused.
    """
    with refusals_answered("jp/conversation/move"):
        facts = await session.caretaker.move(_id(params), is_local=params.local)
        return await summary(session, facts)


async def summary(session: Session, facts: ConversationFacts) -> JsonObject:
    """Give a conversation as lists show it."""
    held = await session.workplace.upkeep().held()
    return conversation_summary(
        facts, is_active=_is_active(session, facts), is_busy=_is_busy(session, facts, held)
    )


def _is_active(session: Session, facts: ConversationFacts) -> bool:
    return facts.id == session.host.used_last and not facts.is_archived


def _is_busy(session: Session, facts: ConversationFacts, held: Collection[ConversationId]) -> bool:
    return facts.id in held or session.host.holder(facts.id) is not None


def _id(params: ConversationParams) -> ConversationId:
    return from_wire.conversation_id(params.conversation)


def _seconds(expires: str | None, method: str) -> float | None:
    return None if expires is None else from_wire.duration(expires, method)


def _moment(session: Session, text: str | None, field: str) -> Timestamp | None:
    """Read a time, or how long ago it was.

    Raises:
        InvalidParams: it is neither.
    """
    if text is None:
        return None
    with suppress(ValueError, OverflowError):
        return Timestamp.parse(text)
    try:
        ago = from_wire.duration(text, "jp/conversation/fork", field)
    except InvalidParams:
        example = "'2026-10-05T21:09:27Z', or how long ago it was, such as '2h 30m'"
        problem = f"jp/conversation/fork: `{field}` must be a time such as {example}, not {text[:60]!r}"
        raise InvalidParams(problem) from None
    return Timestamp(session.workplace.clock.now().nanoseconds - round(ago * 1e9))


def _labels(labels: tuple[NewLabel, ...]) -> dict[str, str]:
    return {label.key: label.value for label in labels}


def _wanted(params: ConversationListParams) -> Wanted:
    return Wanted(
        params.archived,
        params.pinned,
        params.local,
        from_wire.wanted_labels(params.labels),
        params.title,
        params.limit,
    )

"""Settings and models: their values, where those come from, and what there is to choose from."""

import re
from collections.abc import Sequence

from anyio import to_thread

from jp_lsp.config.change_conversation import (
    PlannedDelta,
    conversation_outcome,
    plan_conversation_change,
)
from jp_lsp.config.explanation import Explanation
from jp_lsp.config.file_edits import Wish
from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.protocol.configuration import (
    ConfigExplainParams,
    ConfigGetParams,
    ConfigListParams,
    ConfigSetParams,
)
from jp_lsp.protocol.model import ModelListParams
from jp_lsp.server import from_wire
from jp_lsp.server.config_to_wire import (
    config_changed,
    config_explanations,
    config_values,
    conversation_changed,
    named_configurations,
)
from jp_lsp.server.model_to_wire import model_listing
from jp_lsp.server.refusals import refusals_answered
from jp_lsp.server.session import Session

_CONVERSATION = re.compile(r"jp-c[0-9]+(?:-.*)?", re.ASCII)


async def get(session: Session, params: ConfigGetParams) -> JsonObject:
    """Give the value of a setting, or of all.

    Raises:
        WireError: there is no such setting or conversation.
    """
    with refusals_answered("jp/config/get"):
        stream = await _stream(session, params.conversation)
        settings = session.workplace.configuration()
        problems = settings.problems(params.config, stream)
        if params.key is None:
            return config_values(settings.values(params.config, stream), problems)
        return config_values(settings.explain(params.key, params.config, stream).value, problems)


async def explain(session: Session, params: ConfigExplainParams) -> JsonObject:
    """Say of settings where their values come from.

    Raises:
        WireError: there is no such setting or conversation.
    """
    with refusals_answered("jp/config/explain"):
        stream = await _stream(session, params.conversation)
        settings = session.workplace.configuration()
        problems = settings.problems(params.config, stream)
        if params.key is not None:
            found: Sequence[Explanation] = [settings.explain(params.key, params.config, stream)]
        else:
            found = await to_thread.run_sync(lambda: settings.explain_all(params.config, stream))
        return config_explanations(found, settings.order, problems)


async def set_values(session: Session, params: ConfigSetParams) -> JsonObject:
    """Change a configuration file, or what a conversation keeps.

    Raises:
        WireError: there is no such file, key or conversation, or a value is wrong; nothing was written.
    """
    with refusals_answered("jp/config/set"):
        wishes = from_wire.config_wishes(params)
        if _CONVERSATION.fullmatch(params.target):
            return await _change_conversation(session, from_wire.conversation_id(params.target), wishes)
        stream = await _stream(session, params.conversation)
        return config_changed(await session.configuration_changes.make(params.target, wishes, stream))


async def _change_conversation(
    session: Session, conversation: ConversationId, wishes: Sequence[Wish]
) -> JsonObject:
    settings = session.workplace.configuration()
    planned: list[PlannedDelta] = []

    def change(stream: ConversationStream, now: Timestamp) -> None:
        planned[:] = [plan_conversation_change(settings, stream, wishes)]
        if (delta := planned[0].delta) is not None:
            stream.append_config_delta(delta.delta, now, delta.unsets)

    amended = await session.amender.amend(conversation, change, keeps_copy=False)
    outcomes = await to_thread.run_sync(conversation_outcome, settings, amended.stream, planned[0])
    return conversation_changed(conversation, outcomes, is_changed=planned[0].delta is not None)


async def list_named(session: Session, params: ConfigListParams) -> JsonObject:
    """List the files that can be applied by name."""
    return named_configurations(await to_thread.run_sync(session.workplace.configuration().named))


async def list_models(session: Session, params: ModelListParams) -> JsonObject:
    """List the models that can be asked.

    Raises:
        WireError: there is no such conversation.
    """
    with refusals_answered("jp/model/list"):
        stream = await _stream(session, params.conversation)
        names = session.workplace.configuration().model_names(params.config, stream)
        catalogue = session.workplace.models()
        return model_listing(await catalogue.list(names, vendor=params.vendor, is_fresh=params.refresh))


async def _stream(session: Session, conversation: str | None) -> ConversationStream | None:
    """Load the conversation whose settings are meant.

    Raises:
        Refusal: there is none, or it cannot be read.
    """
    if conversation is None:
        return None
    wanted = from_wire.conversation_id(conversation)
    await session.workplace.upkeep().facts(wanted)
    return (await session.workplace.surroundings().store.copy(wanted)).stream

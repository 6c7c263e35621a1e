"""Preparation: from what the client asked to a turn that may begin (query pipeline 1.4, Preparing).

Nothing here is stored. Whatever fails, fails before the conversation is touched, with a message that says
what to do.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace

import anyio

from jp_lsp.conversation.ids import ConversationId, created_at
from jp_lsp.conversation.incomplete import incomplete_turn
from jp_lsp.conversation.thread import Attachment, Section
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.driver.attaching import attach, read_names
from jp_lsp.driver.explaining import explain
from jp_lsp.driver.fork import open_fork
from jp_lsp.driver.live_questions import FrontendQuestions
from jp_lsp.driver.lock_wait import LockWait
from jp_lsp.driver.remembered import from_remembered
from jp_lsp.driver.request import request_to_ask
from jp_lsp.driver.structured import require_structured
from jp_lsp.driver.title_request import TitleFound, TitleWanted, decide_title
from jp_lsp.driver.tool_choice import with_query_choice
from jp_lsp.driver.trust import apply_trust, decide_trust
from jp_lsp.ports.attachment import Attachments
from jp_lsp.ports.clock import Clock
from jp_lsp.ports.frontend import Frontend
from jp_lsp.ports.provider import ModelDetails, ModelId, ModelParameters, Provider, ProviderError
from jp_lsp.ports.providers import Providers
from jp_lsp.ports.recording import Recordings
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.results import ResultFiles
from jp_lsp.ports.settings import QuerySettings, SettingsSource, StreamGuards
from jp_lsp.ports.store import ConversationStore, OpenConversation, StoreError
from jp_lsp.ports.toolset import Toolbox, Toolset
from jp_lsp.ports.trust import TrustStore
from jp_lsp.tools.choice import ImpossibleChoice, require_declared
from jp_lsp.tools.definition import ToolDefinition
from jp_lsp.tools.memory import MemoryLayer, ToolMemory
from jp_lsp.tools.usage import with_tool_usage
from jp_lsp.turn.inputs import PreparedTurn
from jp_lsp.turn.options import TurnOptions
from jp_lsp.turn.query import Query

_log = logging.getLogger(__name__)

MODEL_DETAILS_TIMEOUT = 5.0
"""Seconds to ask a vendor what its model can do; without an answer, nothing is known of it."""


@dataclass(frozen=True, slots=True)
class CycleParts:
    """What every request of the turn is made of, beside the stream."""

    provider: Provider
    model: ModelDetails
    parameters: ModelParameters
    guards: StreamGuards
    system_prompt: str | None
    sections: tuple[Section, ...]
    tools: tuple[ToolDefinition, ...] = ()
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class Preparation:
    """Everything that was found."""

    turn: PreparedTurn
    conversation: OpenConversation
    parts: CycleParts
    toolset: Toolset
    warnings: tuple[str, ...]
    around: "Surroundings"
    settings: QuerySettings
    title: TitleWanted | None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a query runs: the workspace's parts, each behind its port."""

    store: ConversationStore
    settings: SettingsSource
    providers: Providers
    clock: Clock
    toolbox: Toolbox
    trust: TrustStore
    session_memory: MemoryLayer
    attachments: Attachments
    workspace_id: str = ""
    root: str = ""
    recordings: Recordings | None = None
    results: ResultFiles | None = None


_NOT_BESIDE = frozenset({"conversation_busy", "conversation_unreadable"})
"""Refusals after which no draft is put beside the conversation: another query of ours is at work in it and clears
drafts, or it is damaged and stays as it is. The text comes back with the refusal all the same."""

Reserve = Callable[[ConversationId], None]
"""Claims a conversation for this query; raises `Refusal` while another query of ours has it."""


async def prepare(
    query: Query,
    around: Surroundings,
    frontend: Frontend,
    *,
    used_last: ConversationId | None,
    reserve: Reserve,
) -> Preparation:
    """Find and lock the conversation, resolve settings, and check the provider.

    Args:
        query: what was asked.
        around: the workspace.
        frontend: told how to show things.
        used_last: the conversation that this client used last, if any.
        reserve: claims the conversation.

    Raises:
        Refusal: the turn cannot begin.
    """
    _refuse_contradictions(query)
    named = await read_names(query.attachments, around.attachments)
    conversation: OpenConversation | None = None
    wanted: ConversationId | None = None
    try:
        if query.fork is not None:
            conversation = await open_fork(query.fork, around.store, is_stored=query.is_stored)
            reserve(conversation.id)
        elif (wanted := await _choose_conversation(query, around, used_last)) is not None:
            reserve(wanted)
            conversation = await _open(wanted, query, around, frontend)
            if conversation is not None:
                reserve(conversation.id)  # which is a copy's when that was chosen
        query = _with_switches(query, around, conversation)
        if conversation is None:
            settings = around.settings.resolve(query.overrides, None, named.entries)
            conversation = await around.store.create(
                settings.partial, local=settings.start_local, persist=query.is_stored
            )
            reserve(conversation.id)
            delta = None
        else:
            settings = around.settings.resolve(query.overrides, conversation.stream, named.entries)
            delta = around.settings.delta(conversation.stream, settings)
        if query.resume:
            _require_unfinished(conversation)
        request = request_to_ask(query, conversation.stream, settings.user_name)
        if query.expires_after is not None:
            conversation.set_expiry(_expiry(query.expires_after, conversation, around.clock))
        title = _decide_title(query, conversation, settings)
        frontend.configure(
            settings.display,
            conversation=conversation.id,
            model=str(settings.model),
            assistant=settings.assistant_name,
            user=settings.user_name,
        )
        settings = await _with_trust(settings, query, around, frontend)
        provider = around.providers.get(settings.model, settings.providers)
        details = ModelDetails(settings.model)
        if not query.explain:  # that sends nothing at all
            details = await model_details(provider, settings.model)
            await require_structured(request.schema, details)
        toolset = await _offer_tools(settings, query, around, frontend)
        attached = await attach(settings, named, around.attachments)
        memory = ToolMemory(around.session_memory, from_remembered(await conversation.remembered()))
        turn = PreparedTurn(
            conversation.id,
            conversation.stream,
            request,
            _options(query, settings, frontend),
            is_new=conversation.is_new,
            config_delta=delta,
            tool_choice=settings.tool_choice,
            tools=toolset.tools,
            memory=memory,
            is_resumed=query.resume,
            replaces=query.replay,
        )
    except BaseException as error:
        is_kept_off = isinstance(error, Refusal) and error.error.code in _NOT_BESIDE
        with anyio.CancelScope(shield=True):
            if query.is_stored and not is_kept_off:
                await _keep_text(query.text, conversation, wanted, around.store)
            if conversation is not None:
                await conversation.release()
        raise
    dropped = (f"Tool {name} is not offered: {reason}" for name, reason in toolset.dropped.items())
    parts = CycleParts(
        provider,
        details,
        settings.parameters,
        settings.guards,
        settings.system_prompt,
        with_tool_usage(settings.sections, toolset.tools.values()),
        tuple(spec.definition for spec in toolset.tools.values()),
        attached.items,
    )
    if query.explain:
        known = None if conversation.is_new and query.fork is None else conversation.stream
        origins = around.settings.origins(query.overrides, known, named.entries)
        explanation = explain(
            query,
            settings,
            conversation.stream,
            request,
            sections=parts.sections,
            toolset=toolset,
            attachments=attached.items,
            origins=origins,
        )
        turn = replace(turn, explanation=explanation)
    warnings = (*settings.warnings, *attached.warnings, *dropped)
    return Preparation(turn, conversation, parts, toolset, warnings, around, settings, title)


def _with_switches(query: Query, around: Surroundings, conversation: OpenConversation | None) -> Query:
    """Give the query with its switches of tools as the settings that they are."""
    stream = None if conversation is None else conversation.stream
    overrides = around.settings.switched(query.overrides, stream, query.tool_switches)
    return replace(query, overrides=tuple(overrides))


async def _keep_text(
    text: str,
    conversation: OpenConversation | None,
    wanted: ConversationId | None,
    store: ConversationStore,
) -> None:
    """Nothing came of the query: its text becomes a draft (7.3), and also comes back with the refusal."""
    if not text.strip():
        return
    try:
        if conversation is not None:
            await conversation.keep_draft(text)
        elif wanted is not None and await store.find(wanted):
            await store.keep_draft(wanted, text)
    except StoreError as error:
        _log.warning("the text of a query could not be kept as a draft: %s", error)


def _expiry(seconds: float, conversation: OpenConversation, clock: Clock) -> Timestamp:
    """Count from the birth of a new conversation, else from now (conversation format 7.2, 7.5)."""
    begin = created_at(conversation.id).nanoseconds if conversation.is_new else clock.now().nanoseconds
    return Timestamp(begin + round(seconds * 1e9))


def _decide_title(
    query: Query, conversation: OpenConversation, settings: QuerySettings
) -> TitleWanted | None:
    """Give the conversation its title if there is one to give; else tell whether a model is to make one."""
    if query.title is not None:
        conversation.set_title(query.title or None)
    match decide_title(query, conversation.title, settings.title):
        case TitleFound(title):
            conversation.suggest_title(title, conversation.title)
            return None
        case wanted:
            return wanted


def _require_unfinished(conversation: OpenConversation) -> None:
    if incomplete_turn(conversation.stream) is None:
        text = f"Conversation {conversation.id} has no unfinished turn to resume."
        raise Refusal("invalid_params", text)


async def _with_trust(
    settings: QuerySettings, query: Query, around: Surroundings, frontend: Frontend
) -> QuerySettings:
    """Take out what the workspace defines and the user does not trust; what the query chose comes first."""
    chosen = with_query_choice(settings, query.tool_choice)
    is_trusted = await decide_trust(
        chosen, around.trust, frontend, settings.trust_policy, is_interactive=query.interactive
    )
    return apply_trust(chosen, is_trusted=is_trusted)


async def _offer_tools(
    settings: QuerySettings, query: Query, around: Surroundings, frontend: Frontend
) -> Toolset:
    questions = FrontendQuestions(frontend, can_prompt=frontend.can_prompt and query.interactive)
    toolset = await around.toolbox.offer(settings.tools, settings.mcp_servers, around.root, questions)
    try:
        require_declared(settings.tool_choice, toolset.tools, toolset.dropped)
    except ImpossibleChoice as problem:
        raise Refusal("invalid_params", str(problem), origin="toolChoice") from None
    return toolset


def _options(query: Query, settings: QuerySettings, frontend: Frontend) -> TurnOptions:
    return TurnOptions(
        retry=settings.retry,
        interrupt=settings.interrupt,
        can_prompt=frontend.can_prompt and query.interactive,
        persist=query.is_stored,
        max_cycles=settings.max_cycles,
        max_tool_calls=settings.max_tool_calls,
    )


def _refuse_contradictions(query: Query) -> None:
    if query.resume and query.text.strip():
        text = "`resume` takes the unfinished turn up as it is; send the text without `resume` to go on from there"
        raise Refusal("invalid_params", text)
    if query.replay is not None and query.fork is not None and query.fork.keep_turns is not None:
        text = "`replay` counts the turns of the whole conversation, so `fork.keepTurns` must be left out"
        raise Refusal("invalid_params", text, origin="fork.keepTurns")


async def _choose_conversation(
    query: Query, around: Surroundings, used_last: ConversationId | None
) -> ConversationId | None:
    """Give the conversation to continue; `None` asks for a new one."""
    wanted = query.conversation
    if wanted is None and used_last is not None and await around.store.find(used_last):
        return used_last
    if wanted is None:
        wanted = _selector(around.settings.default_conversation(query.overrides))
    if wanted == "new":
        return None
    return await around.store.last() if wanted == "last" else wanted


def _selector(configured: str | None) -> ConversationId:
    """Read `conversation.default_id`; what needs a person to choose falls back to the last one."""
    if configured is None or not configured.startswith("jp-c"):
        return ConversationId("last")
    return ConversationId(configured)


async def _open(
    wanted: ConversationId, query: Query, around: Surroundings, frontend: Frontend
) -> OpenConversation | None:
    """Lock and load; `None` when another program has it and the user rather asks in a new one."""
    if not query.is_stored:
        return await around.store.copy(wanted)
    wait = LockWait(
        wanted,
        around.store,
        around.clock,
        frontend,
        patience=around.settings.lock_timeout(query.overrides),
        can_ask=frontend.can_prompt and query.interactive,
        may_be_new=not query.resume and query.replay is None,
    )
    return await wait.open()


async def model_details(provider: Provider, model: ModelId) -> ModelDetails:
    """Ask what the model can do. Not knowing never fails a query; the request itself will tell."""
    details: ModelDetails | None = None
    with anyio.move_on_after(MODEL_DETAILS_TIMEOUT):
        try:
            details = await provider.model_details(model.name)
        except ProviderError as error:
            _log.info("nothing is known of %s: %s", model, error)
    return details or ModelDetails(model)

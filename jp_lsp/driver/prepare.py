"""Preparation: from what the client asked to a turn that may begin (query pipeline 1.4, Preparing).

Nothing here is stored. Whatever fails, fails before the conversation is touched, with a message that says
what to do.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

import anyio
from anyio.lowlevel import checkpoint_if_cancelled

from jp_lsp.conversation.event import ChatRequest
from jp_lsp.conversation.ids import ConversationId, created_at
from jp_lsp.conversation.incomplete import incomplete_turn
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.driver.attaching import attach, read_names
from jp_lsp.driver.beside import beside_when_long, look_through
from jp_lsp.driver.compacting import CompactionWanted, add_compactions
from jp_lsp.driver.errands import Errand, run_together
from jp_lsp.driver.explaining import explain
from jp_lsp.driver.labelling import Labelling, applicable
from jp_lsp.driver.live_questions import FrontendQuestions
from jp_lsp.driver.model_details import model_details
from jp_lsp.driver.opening import choose_conversation, open_conversation
from jp_lsp.driver.preparation import CycleParts, EmptyQuery, Preparation, Surroundings
from jp_lsp.driver.query_document import read_document
from jp_lsp.driver.query_template import render_query
from jp_lsp.driver.query_writing import QueryWriting
from jp_lsp.driver.remembered import from_remembered
from jp_lsp.driver.request import request_to_ask
from jp_lsp.driver.structured import require_structured
from jp_lsp.driver.title_request import TitleFound, TitleWanted, decide_title
from jp_lsp.driver.tool_choice import with_query_choice
from jp_lsp.driver.trust import apply_trust, decide_trust
from jp_lsp.ports.attachment import NamedAttachments
from jp_lsp.ports.clock import Clock
from jp_lsp.ports.frontend import Frontend
from jp_lsp.ports.provider import ModelDetails
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.settings import QuerySettings
from jp_lsp.ports.store import ConversationStore, OpenConversation, StoreError
from jp_lsp.ports.toolset import Toolset
from jp_lsp.tools.choice import ImpossibleChoice, require_declared
from jp_lsp.tools.memory import ToolMemory
from jp_lsp.tools.usage import with_tool_usage
from jp_lsp.turn.inputs import PreparedTurn
from jp_lsp.turn.options import TurnOptions
from jp_lsp.turn.query import Query

_log = logging.getLogger(__name__)

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
    on_written: Callable[[str], None],
) -> Preparation:
    """Find and lock the conversation, resolve settings, ask for a missing text, and check the provider.

    Args:
        query: what was asked.
        around: the workspace.
        frontend: told how to show things.
        used_last: the conversation that this client used last, if any.
        reserve: claims the conversation.
        on_written: told of the text that the user was asked for.

    Raises:
        Refusal: the turn cannot begin.
        EmptyQuery: there is nothing to ask.
    """
    written = query.text

    def take_text(text: str) -> None:
        nonlocal written
        written = text
        on_written(text)

    _refuse_contradictions(query)
    if query.document is not None:
        around = replace(around, settings=around.settings.written_in(query.document))
    named = await read_names(query.attachments, around.attachments)
    conversation: OpenConversation | None = None
    wanted: ConversationId | None = None
    try:
        wanted = await choose_conversation(query, around, used_last)
        if wanted is not None:
            reserve(wanted)
        conversation = await open_conversation(wanted, query, around, frontend)
        known = None if conversation is None else conversation.stream
        query = _with_switches(query, around, known)
        settings = around.settings.resolve(query.overrides, known, named.entries)
        if conversation is None:
            conversation = await around.store.create(
                settings.partial, local=settings.start_local, persist=query.is_stored
            )
        reserve(conversation.id)  # which may be that of a copy
        _configure(frontend, conversation, settings)
        if query.needs_text:
            writing = QueryWriting(
                frontend,
                around.settings,
                lambda overrides: around.settings.resolve(overrides, known, named.entries),
                take_text,
            )
            query, settings = await writing.write(query, settings, conversation)
            _configure(frontend, conversation, settings)
        if query.is_template:
            query = replace(query, text=render_query(query.text, settings.template_values))
        if query.compacts and conversation.stream.turn_count:
            wanted_compaction = CompactionWanted(overrides=query.overrides, asks_no_model=query.explain)
            await add_compactions(conversation.stream, wanted_compaction, around)
        request = _request(query, conversation, settings)
        title = _set_metadata(query, conversation, settings, around.clock)
        delta = around.settings.delta(conversation.stream, settings)
        settings = await _with_trust(settings, query, around, frontend)
        left_out = await _label(query, conversation, settings, around, frontend, is_fork=known is not None)
        toolset, parts, warnings = await _find_parts(query, request, settings, named, around, frontend)
        await look_through(conversation.stream)
        turn = PreparedTurn(
            conversation.id,
            conversation.stream,
            request,
            _options(query, settings, frontend),
            is_new=conversation.is_new,
            config_delta=delta,
            tool_choice=settings.tool_choice,
            tools=toolset.tools,
            memory=ToolMemory(around.session_memory, from_remembered(await conversation.remembered())),
            is_resumed=query.resume,
            replaces=query.replay,
        )
        if query.explain:
            origins = around.settings.origins(query.overrides, known, named.entries)
            found = replace(turn, stream=turn.stream.copy())
            explanation = await beside_when_long(
                len(found.stream), lambda: explain(query, settings, found, parts, toolset, origins)
            )
            turn = replace(turn, explanation=explanation)
        await checkpoint_if_cancelled()  # what was waited for last may not have been cut short
    except BaseException as error:
        is_kept_off = isinstance(error, Refusal) and error.error.code in _NOT_BESIDE
        with anyio.CancelScope(shield=True):
            if query.is_stored and not is_kept_off:
                text = written or read_document(await frontend.unsent() or "").query
                await _keep_text(text, conversation, wanted, around.store)
            if conversation is not None:
                await conversation.release()
        raise
    warnings = (*warnings, *left_out)
    return Preparation(turn, conversation, parts, toolset, warnings, around, settings, title)


async def _find_parts(
    query: Query,
    request: ChatRequest,
    settings: QuerySettings,
    named: NamedAttachments,
    around: Surroundings,
    frontend: Frontend,
) -> tuple[Toolset, CycleParts, tuple[str, ...]]:
    """Find the model, the tools and the attachments, with what the user should know about them.

    A vendor is asked over a network, servers are started and files are read: none of it needs the others.
    """
    provider = around.providers.get(settings.model, settings.providers)

    async def find_model() -> ModelDetails:
        if query.explain:  # that sends nothing at all
            return ModelDetails(settings.model)
        details = await model_details(provider, settings.model)
        await require_structured(request.schema, details)
        return details

    model = Errand(find_model)
    tools = Errand(lambda: _offer_tools(settings, query, around, frontend))
    contents = Errand(lambda: attach(settings, named, around.attachments))
    await run_together([model, tools, contents])
    toolset, attached = tools.result, contents.result
    parts = CycleParts(
        provider,
        model.result,
        settings.parameters,
        settings.guards,
        settings.system_prompt,
        with_tool_usage(settings.sections, toolset.tools.values()),
        tuple(spec.definition for spec in toolset.tools.values()),
        attached.items,
    )
    dropped = (f"Tool {name} is not offered: {reason}" for name, reason in toolset.dropped.items())
    return toolset, parts, (*settings.warnings, *attached.warnings, *dropped)


def _with_switches(query: Query, around: Surroundings, stream: ConversationStream | None) -> Query:
    """Give the query with its switches of tools as the settings that they are."""
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


def _set_metadata(
    query: Query, conversation: OpenConversation, settings: QuerySettings, clock: Clock
) -> TitleWanted | None:
    """Give the conversation the expiry and the title that there are; else tell whether a model is to make one."""
    if query.expires_after is not None:
        conversation.set_expiry(_expiry(query.expires_after, conversation, clock))
    if query.title is not None:
        conversation.set_title(query.title or None)
    match decide_title(query, conversation.title, settings.title):
        case TitleFound(title):
            conversation.suggest_title(title, conversation.title)
            return None
        case wanted:
            return wanted


def _request(query: Query, conversation: OpenConversation, settings: QuerySettings) -> ChatRequest:
    if query.resume and incomplete_turn(conversation.stream) is None:
        text = f"Conversation {conversation.id} has no unfinished turn to resume."
        raise Refusal("invalid_params", text)
    request = request_to_ask(query, conversation.stream, settings.user_name)
    if not request.content.strip() and not (query.resume or query.explain):
        raise EmptyQuery
    return request


def _configure(frontend: Frontend, conversation: OpenConversation, settings: QuerySettings) -> None:
    frontend.configure(
        settings.display,
        conversation=conversation.id,
        model=str(settings.model),
        assistant=settings.assistant_name,
        user=settings.user_name,
    )


async def _with_trust(
    settings: QuerySettings, query: Query, around: Surroundings, frontend: Frontend
) -> QuerySettings:
    """Take out what the workspace defines and the user does not trust; what the query chose comes first."""
    chosen = with_query_choice(settings, query.tool_choice)
    is_trusted = await decide_trust(
        chosen, around.trust, frontend, settings.trust_policy, is_interactive=query.interactive
    )
    return apply_trust(chosen, is_trusted=is_trusted)


async def _label(
    query: Query,
    conversation: OpenConversation,
    settings: QuerySettings,
    around: Surroundings,
    frontend: Frontend,
    *,
    is_fork: bool,
) -> Sequence[str]:
    """Give a conversation that this query makes its labels, and say which could not be given."""
    if around.processes is None or not (conversation.is_new and query.is_stored):
        return ()
    can_ask = frontend.can_prompt and query.interactive
    labelling = Labelling(around.processes, around.root, frontend if can_ask else None)
    await labelling.label(conversation, applicable(settings.labels, is_fork=is_fork))
    return labelling.warnings


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

"""Preparation: from what the client asked to a turn that may begin (query pipeline 1.4, Preparing).

Nothing here is stored. Whatever fails, fails before the conversation is touched, with a message that says
what to do.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass

import anyio

from jp_lsp.conversation.event import ChatRequest
from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.incomplete import incomplete_turn
from jp_lsp.conversation.thread import Section
from jp_lsp.driver.audience import FrontendAudience
from jp_lsp.driver.remembered import from_remembered
from jp_lsp.driver.tool_choice import with_query_choice
from jp_lsp.driver.trust import apply_trust, decide_trust
from jp_lsp.ports.clock import Clock
from jp_lsp.ports.frontend import Frontend
from jp_lsp.ports.provider import ModelDetails, ModelId, ModelParameters, Provider, ProviderError
from jp_lsp.ports.providers import Providers
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.settings import QuerySettings, SettingsSource, StreamGuards
from jp_lsp.ports.store import ConversationStore, OpenConversation
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

LOCK_POLL_INTERVAL = 0.5
"""Seconds between two looks at a conversation that another program holds."""

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


@dataclass(frozen=True, slots=True)
class Preparation:
    """Everything that was found."""

    turn: PreparedTurn
    conversation: OpenConversation
    parts: CycleParts
    toolset: Toolset
    warnings: tuple[str, ...]
    around: "Surroundings"


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
    workspace_id: str = ""
    root: str = ""


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
    _refuse_what_is_not_offered(query)
    wanted = await _choose_conversation(query, around, used_last)
    conversation: OpenConversation | None = None
    try:
        if wanted is None:
            settings = around.settings.resolve(query.overrides, None)
            conversation = await around.store.create(
                settings.partial, local=settings.start_local, persist=query.persist
            )
            reserve(conversation.id)
            delta = None
        else:
            reserve(wanted)
            conversation = await _open(wanted, query, around)
            settings = around.settings.resolve(query.overrides, conversation.stream)
            delta = around.settings.delta(conversation.stream, settings)
        if query.resume:
            _require_unfinished(conversation)
        if query.title is not None:
            conversation.set_title(query.title or None)
        frontend.configure(
            settings.display,
            conversation=conversation.id,
            model=str(settings.model),
            assistant=settings.assistant_name,
            user=settings.user_name,
        )
        settings = await _with_trust(settings, query, around, frontend)
        provider = around.providers.get(settings.model, settings.providers)
        details = await _model_details(provider, settings.model)
        toolset = await _offer_tools(settings, query, around, frontend)
        memory = ToolMemory(around.session_memory, from_remembered(await conversation.remembered()))
        turn = PreparedTurn(
            conversation.id,
            conversation.stream,
            ChatRequest(query.text, query.schema, settings.user_name),
            _options(query, settings, frontend),
            is_new=conversation.is_new,
            config_delta=delta,
            tool_choice=settings.tool_choice,
            tools=toolset.tools,
            memory=memory,
            is_resumed=query.resume,
        )
    except BaseException:
        if conversation is not None:
            with anyio.CancelScope(shield=True):
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
    )
    return Preparation(turn, conversation, parts, toolset, (*settings.warnings, *dropped), around)


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
    audience = FrontendAudience(frontend, can_prompt=frontend.can_prompt and query.interactive)
    toolset = await around.toolbox.offer(settings.tools, settings.mcp_servers, around.root, audience)
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
        persist=query.persist,
        max_cycles=settings.max_cycles,
        max_tool_calls=settings.max_tool_calls,
    )


def _refuse_what_is_not_offered(query: Query) -> None:
    unsupported = {
        "fork": query.fork is not None,
        "replay": query.replay is not None,
        "explain": query.explain,
        "expires": query.expires_after is not None,
        "attachments": bool(query.attachments),
    }
    if query.resume and query.text.strip():
        text = "`resume` takes the unfinished turn up as it is; send the text without `resume` to go on from there"
        raise Refusal("invalid_params", text)
    for name, is_asked in unsupported.items():
        if is_asked:
            raise Refusal("invalid_params", f"`{name}` is not offered by this version of the server")


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


async def _open(wanted: ConversationId, query: Query, around: Surroundings) -> OpenConversation:
    """Lock and load; waits for another program to let go, within the configured time."""
    if not query.persist:
        return await around.store.copy(wanted)
    conversation = await around.store.open(wanted)
    if conversation is not None:
        return conversation
    lock_timeout = around.settings.lock_timeout(query.overrides) if query.interactive else 0.0
    waited = 0.0
    while waited < lock_timeout:
        await around.clock.sleep(LOCK_POLL_INTERVAL)
        waited += LOCK_POLL_INTERVAL
        conversation = await around.store.open(wanted)
        if conversation is not None:
            return conversation
    holder = await around.store.lock_holder(wanted) or "another program"
    text = f"Conversation {wanted} is in use by {holder}. Try again when it is done, or ask in a new one."
    raise Refusal("lock_timeout", text)


async def _model_details(provider: Provider, model: ModelId) -> ModelDetails:
    """Ask what the model can do. Not knowing never fails a query; the request itself will tell."""
    details: ModelDetails | None = None
    with anyio.move_on_after(MODEL_DETAILS_TIMEOUT):
        try:
            details = await provider.model_details(model.name)
        except ProviderError as error:
            _log.info("nothing is known of %s: %s", model, error)
    return details or ModelDetails(model)

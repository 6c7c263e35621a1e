"""Searches many conversations, one after the other, the most recently used ones first (conversation format 7.8).

At any time one conversation is looked at, and of that one entry is in memory, so that the size of a workspace
costs time only. What was found is handed on conversation by conversation.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.search import Hit, PatternError, SearchQuery, find
from jp_lsp.driver.shelf import Wanted, choose
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.upkeep import ConversationFacts, Found, Upkeep


@dataclass(frozen=True, slots=True)
class Searched:
    """What was found in one conversation; `problem` says why it could not be read to its end."""

    facts: ConversationFacts
    hits: tuple[Hit, ...]
    problem: str | None


async def search(
    upkeep: Upkeep,
    query: SearchQuery,
    wanted: Wanted,
    limit: int,
    within: frozenset[ConversationId] = frozenset(),
) -> AsyncGenerator[Searched]:
    """Give for each conversation what was found, until there are `limit` hits.

    `within` are the only conversations to look at; empty does not matter.

    Raises:
        Refusal: the pattern is none, or one of `within` is not there.
    """
    try:
        pattern = query.compiled()
    except PatternError as error:
        raise Refusal("invalid_params", f"`pattern`: {error}") from error
    chosen = choose(await upkeep.list(is_archived=wanted.is_archived), wanted)
    for missing in within - {facts.id for facts in chosen}:
        text = f"There is no conversation {missing} among those that are searched. It may have been archived or removed."
        raise Refusal("conversation_not_found", text)
    for facts in chosen:
        if within and facts.id not in within:
            continue
        hits: list[Hit] = []
        if "title" in query.scopes and (found := find(pattern, [facts.title or ""])) is not None:
            hits.append(Hit("title", *found))
        limit -= len(hits)
        searched = await upkeep.search(facts, query, limit) if limit else Found()
        limit -= len(searched.hits)
        yield Searched(facts, (*hits, *searched.hits), searched.problem)
        if not limit:
            return

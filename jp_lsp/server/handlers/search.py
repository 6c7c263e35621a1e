"""Searches conversations, and tells of hits as they are found."""

from contextlib import aclosing

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.conversation.search import SCOPES, SearchQuery
from jp_lsp.driver.searching import Searched
from jp_lsp.driver.searching import search as search_conversations
from jp_lsp.driver.shelf import Wanted
from jp_lsp.protocol.search import ConversationSearchParams
from jp_lsp.server import from_wire
from jp_lsp.server.conversation_to_wire import search_hit
from jp_lsp.server.refusals import refusals_answered
from jp_lsp.server.session import Session


async def search(session: Session, params: ConversationSearchParams) -> JsonObject:
    """Search; a cancelled request ends the search at once.

    Raises:
        WireError: the pattern is none, there is no folder, or a named conversation is not there.
    """
    query = SearchQuery(
        params.pattern, params.regex, params.case_sensitive, frozenset(params.scopes or SCOPES)
    )
    within: frozenset[ConversationId] = frozenset(map(from_wire.conversation_id, params.conversations))
    wanted = Wanted(params.archived, labels=from_wire.wanted_labels(params.labels))
    kept: list[JsonObject] = []
    found, searched = 0, 0
    unreadable: list[JsonObject] = []
    with refusals_answered("jp/conversation/search"):
        upkeep = session.workplace.upkeep()
        async with aclosing(
            search_conversations(upkeep, query, wanted, params.limit, within)
        ) as conversations:
            async for each in conversations:
                searched += 1
                found += len(each.hits)
                if each.problem is not None:
                    unreadable.append({"conversation": each.facts.id, "problem": each.problem})
                kept.extend(await _told(session, params.partial_result_token, each))
    return {
        "hits": kept,
        "found": found,
        "searched": searched,
        "more": found >= params.limit,
        "unreadable": unreadable,
    }


async def _told(session: Session, token: int | str | None, searched: Searched) -> list[JsonObject]:
    """Send the hits of a conversation at the client's pace; gives those that the answer must bring."""
    hits = [search_hit(searched.facts, hit) for hit in searched.hits]
    if token is None or not hits:
        return hits
    protocol = session.protocol
    protocol.notify_raw("$/progress", {"token": token, "value": {"hits": hits}})
    if protocol.out is not None:
        await protocol.out.drained()
    return []

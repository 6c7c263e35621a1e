"""Conversations as the JSON that editors are promised; see `to_wire` for the rules."""

from jp_lsp.conversation.directive import Compaction
from jp_lsp.conversation.ids import ConversationId, created_at
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.conversation.search import Hit
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.driver.describing import Content, Description
from jp_lsp.driver.shelf import activity_of
from jp_lsp.ports.upkeep import ConversationFacts, Trashed
from jp_lsp.render.text import clean, clean_line


def conversation_summary(facts: ConversationFacts, *, is_active: bool, is_busy: bool) -> JsonObject:
    """Give a conversation as lists show it."""
    return {
        "conversation": facts.id,
        **_present(title=None if facts.title is None else clean_line(facts.title)),
        "createdAt": created_at(facts.id).rfc3339(),
        "lastActivatedAt": activity_of(facts).rfc3339(),
        **_present(
            pinnedAt=_time(facts.pinned_at),
            archivedAt=_time(facts.archived_at),
            expiresAt=_time(facts.expires_at),
        ),
        "labels": [
            {"key": clean_line(key), "value": clean_line(value)}
            for key, values in facts.labels.items()
            for value in values
        ],
        "archived": facts.is_archived,
        "local": facts.presence == "user_local",
        "active": is_active,
        "busy": is_busy,
        **_present(problem=None if facts.problem is None else clean(facts.problem)),
    }


class ListedConversations:
    """The conversations of a client's lists: one that is the very same as in the list before is converted once.

    A list of thousands, which a tree asks for again and again, would keep the event loop busy otherwise.
    """

    def __init__(self) -> None:
        self._made: dict[ConversationId, tuple[ConversationFacts, bool, bool, JsonObject]] = {}

    def summary(self, facts: ConversationFacts, *, is_active: bool, is_busy: bool) -> JsonObject:
        """Give a conversation as lists show it."""
        known = self._made.get(facts.id)
        if known is not None and known[0] is facts and known[1] == is_active and known[2] == is_busy:
            return known[3]
        made = conversation_summary(facts, is_active=is_active, is_busy=is_busy)
        self._made[facts.id] = (facts, is_active, is_busy, made)
        return made


def conversation_description(described: Description, *, is_active: bool, is_busy: bool) -> JsonObject:
    """Give the result of `jp/conversation/show`."""
    content = described.content
    return {
        **conversation_summary(described.facts, is_active=is_active, is_busy=is_busy),
        **({} if content is None else _content(content)),
        **_present(
            draft=described.draft,
            folder=described.folder,
            unreadable=None if described.unreadable is None else clean(described.unreadable),
        ),
    }


def trashed_conversation(trashed: Trashed) -> JsonObject:
    """Give an item of `jp/conversation/trash`."""
    return {
        "conversation": trashed.id,
        **_present(title=None if trashed.title is None else clean_line(trashed.title)),
        "removedAt": trashed.removed_at.rfc3339(),
        "folders": list(trashed.folders),
    }


def search_hit(facts: ConversationFacts, hit: Hit) -> JsonObject:
    """Give a hit of `jp/conversation/search`."""
    return {
        "conversation": facts.id,
        **_present(
            title=None if facts.title is None else clean_line(facts.title),
            turn=None if hit.turn is None else hit.turn + 1,
            event=hit.position,
        ),
        "scope": hit.scope,
        "before": clean(hit.excerpt.before),
        "match": clean(hit.excerpt.match),
        "after": clean(hit.excerpt.after),
        "count": hit.count,
    }


def _content(content: Content) -> JsonObject:
    return {
        "turns": content.turns,
        "events": content.events,
        **_present(
            lastEventAt=_time(content.last_event_at),
            model=None if content.model is None else clean_line(str(content.model)),
        ),
        "attachments": [clean_line(attachment) for attachment in content.attachments],
        "compactions": [compaction_range(each) for each in content.compactions],
        "unfinished": content.is_unfinished,
    }


def compaction_range(compaction: Compaction) -> JsonObject:
    """Give which turns a compaction covers, and whether a summary takes their place."""
    return {
        "fromTurn": compaction.from_turn + 1,
        "toTurn": compaction.to_turn + 1,
        "summarized": compaction.summary is not None,
    }


def _time(at: Timestamp | None) -> str | None:
    return None if at is None else at.rfc3339()


def _present(**fields: JsonValue) -> dict[str, JsonValue]:
    return {name: field for name, field in fields.items() if field is not None}

"""A shelf over the store in memory that remembers what was done; what is held, a test says."""

from collections import deque
from collections.abc import Collection, Mapping, Sequence

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.metadata_edit import MetadataEdit
from jp_lsp.conversation.search import SearchQuery
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.upkeep import ConversationFacts, Found, HeldElsewhere, Mark, Trashed
from jp_lsp.workspace.memory import MemoryStore, StoredConversation


class FakeUpkeep:
    """Implements `Upkeep`. `archived` are in the archive; `troubles` are raised one after the other.

    `state` is what a conversation's files look like, `own` what they look like where we wrote them last.
    """

    def __init__(self, store: MemoryStore) -> None:
        self.store = store
        self.found: dict[ConversationId, Found] = {}
        self.state: dict[ConversationId, object] = {}
        self.own: dict[ConversationId, object] = {}
        self.done: list[tuple[object, ...]] = []
        self.removed: dict[ConversationId, StoredConversation] = {}
        self.archived: set[ConversationId] = set()
        self.troubles: deque[Refusal] = deque()

    def hold(self, conversation: ConversationId, times: int) -> None:
        """Let so many tries find the conversation in the hands of somebody else."""
        self.troubles.extend(HeldElsewhere(conversation, "process 7") for _ in range(times))

    async def list(self, *, is_archived: bool) -> Sequence[ConversationFacts]:
        return [
            await self.facts(each) for each in self.store.stored if (each in self.archived) is is_archived
        ]

    async def marks(self) -> Mapping[ConversationId, Mark]:
        return {each: Mark(each in self.archived, self.state.get(each)) for each in sorted(self.store.stored)}

    def is_own(self, conversation: ConversationId, before: Mark | None, after: Mark) -> bool:
        known = {None if before is None else before.state, self.own.get(conversation)}
        return after.state in known

    def places(self) -> Sequence[str]:
        return ()

    async def search(self, conversation: ConversationFacts, query: SearchQuery, limit: int) -> Found:
        found = self.found.get(conversation.id, Found())
        return Found(found.hits[:limit], found.problem)

    async def held(self) -> Collection[ConversationId]:
        return self.store.held

    async def facts(self, conversation: ConversationId) -> ConversationFacts:
        stored = self.store.stored.get(conversation)
        if stored is None:
            raise Refusal("conversation_not_found", f"There is no conversation {conversation}.")
        return ConversationFacts(
            conversation,
            "projected",
            conversation in self.archived,
            stored.title,
            stored.last_activated_at,
            expires_at=stored.expires_at,
        )

    async def folder(self, conversation: ConversationId) -> str | None:
        return None

    async def draft(self, conversation: ConversationId) -> str | None:
        return self.store.drafts.get(conversation)

    async def edit(self, conversation: ConversationId, edits: Sequence[MetadataEdit]) -> ConversationFacts:
        return await self._do("edit", conversation, *edits)

    async def archive(self, conversation: ConversationId) -> ConversationFacts:
        facts = await self._do("archive", conversation)
        self.archived.add(conversation)
        return facts

    async def unarchive(self, conversation: ConversationId) -> ConversationFacts:
        self.archived.discard(conversation)
        return await self._do("unarchive", conversation)

    async def remove(self, conversation: ConversationId) -> Sequence[str]:
        await self._do("remove", conversation)
        self.removed[conversation] = self.store.stored.pop(conversation)
        return [f"memory:/trash/{conversation}"]

    async def trashed(self) -> Sequence[Trashed]:
        return [
            Trashed(each, stored.title, stored.last_activated_at, (f"memory:/trash/{each}",))
            for each, stored in self.removed.items()
        ]

    async def restore(self, conversation: ConversationId) -> ConversationFacts:
        self.store.stored[conversation] = self.removed.pop(conversation)
        return await self._do("restore", conversation)

    async def relocate(self, conversation: ConversationId, *, is_local: bool) -> ConversationFacts:
        return await self._do("relocate", conversation, is_local)

    async def _do(self, *what: object) -> ConversationFacts:
        if self.troubles:
            raise self.troubles.popleft()
        self.done.append(what)
        return await self.facts(what[1])  # type: ignore[arg-type]  # always a conversation

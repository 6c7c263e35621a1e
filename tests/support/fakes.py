"""Fakes at the remaining ports: a conversation in memory, fixed settings, one provider."""

from collections.abc import Callable, Sequence

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.driver.prepare import Surroundings
from jp_lsp.ports.provider import ModelId, Provider
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.settings import QuerySettings
from jp_lsp.ports.store import StoreError
from tests.support.clock import FakeClock
from tests.support.turns import summary


class FakeConversation:
    """A conversation whose saves are kept as lists of lines; save number n fails if n is in `failing`."""

    def __init__(
        self, store: "FakeStore", id: ConversationId, stream: ConversationStream, *, is_new: bool
    ) -> None:
        self.id = id
        self.stream = stream
        self.is_new = is_new
        self._store = store

    async def save(self) -> None:
        self._store.save_count += 1
        if self._store.save_count in self._store.failing:
            raise StoreError("the disk is full")
        self._store.on_disk[self.id] = [summary(event) for event in self.stream.events()]
        self._store.streams[self.id] = self.stream.copy()

    async def save_recovery_copy(self) -> str:
        if self._store.recovery_fails:
            raise StoreError("no room anywhere")
        self._store.recovered = [summary(event) for event in self.stream.events()]
        return "file:///recovery/copy.json"

    async def discard(self) -> None:
        self._store.on_disk.pop(self.id, None)
        self._store.streams.pop(self.id, None)

    async def keep_draft(self, text: str) -> None:
        self._store.drafts[self.id] = text

    async def clear_draft(self) -> None:
        self._store.drafts.pop(self.id, None)

    async def release(self) -> None:
        self._store.locked.discard(self.id)


class FakeStore:
    """Conversations in memory; `locked_by_others` are held by another program."""

    def __init__(self) -> None:
        self.on_disk: dict[ConversationId, list[str]] = {}
        self.streams: dict[ConversationId, ConversationStream] = {}
        self.drafts: dict[ConversationId, str] = {}
        self.locked: set[ConversationId] = set()
        self.locked_by_others: set[ConversationId] = set()
        self.failing: set[int] = set()
        self.recovery_fails = False
        self.recovered: list[str] | None = None
        self.save_count = 0
        self._created = 0

    async def find(self, wanted: ConversationId) -> bool:
        return wanted in self.streams

    async def last(self) -> ConversationId | None:
        return next(reversed(self.streams), None)

    async def open(self, wanted: ConversationId) -> FakeConversation | None:
        if wanted not in self.streams:
            raise Refusal("conversation_not_found", f"there is no conversation {wanted}")
        if wanted in self.locked_by_others or wanted in self.locked:
            return None
        self.locked.add(wanted)
        return FakeConversation(self, wanted, self.streams[wanted].copy(), is_new=False)

    async def create(self, base_config: JsonObject, *, local: bool, persist: bool) -> FakeConversation:
        self._created += 1
        id = ConversationId(f"jp-c{self._created}")
        self.locked.add(id)
        return FakeConversation(self, id, ConversationStream.new(Timestamp(0), base_config), is_new=True)

    async def copy(self, wanted: ConversationId) -> FakeConversation:
        return FakeConversation(self, wanted, self.streams[wanted].copy(), is_new=False)

    async def lock_holder(self, wanted: ConversationId) -> str | None:
        return "process 4711"


class FakeSettings:
    """The same settings for every query."""

    def __init__(self, settings: QuerySettings | None = None) -> None:
        self.settings = settings or QuerySettings(ModelId("test", "big"), {"assistant": {}})
        self.default_id: str | None = None
        self.resolved = 0

    def default_conversation(self, overrides: Sequence[str]) -> str | None:
        return self.default_id

    def resolve(self, overrides: Sequence[str], conversation: ConversationStream | None) -> QuerySettings:
        self.resolved += 1
        if "bad" in overrides:
            raise Refusal("config_invalid", "`bad` is not a setting", origin="--cfg bad")
        return self.settings

    def delta(self, conversation: ConversationStream, settings: QuerySettings) -> JsonObject | None:
        return None


class FakeProviders:
    """One provider, or a refusal."""

    def __init__(self, provider: Provider | None) -> None:
        self._provider = provider

    def get(self, model: ModelId, settings: object) -> Provider:
        if self._provider is None:
            raise Refusal("provider_auth", "set TEST_API_KEY", origin="TEST_API_KEY")
        return self._provider


def surroundings(
    provider: Provider | None,
    store: FakeStore,
    clock: FakeClock,
    settings: FakeSettings | None = None,
) -> Callable[[], Surroundings]:
    """Plug fakes together as `app` plugs real parts."""
    around = Surroundings(store, settings or FakeSettings(), FakeProviders(provider), clock)
    return lambda: around

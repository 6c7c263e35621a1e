"""Fakes at the remaining ports: fixed settings, one provider; and a look into the store in memory."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from jp_lsp.conversation.ids import ConversationId, counting_event_ids, created_at
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.conversation.stored import load
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.driver.prepare import Surroundings
from jp_lsp.ports.provider import ModelId, Provider
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.settings import QuerySettings
from jp_lsp.tools.memory import MemoryLayer
from jp_lsp.workspace.memory import MemoryStore
from jp_lsp.workspace.trust import DiskTrustStore
from tests.support.clock import FakeClock
from tests.support.fake_toolbox import FakeToolbox
from tests.support.turns import summary


def lines(store: MemoryStore, conversation: ConversationId) -> list[str]:
    """What is stored of a conversation, one short line for each event."""
    stored = store.stored[conversation]
    stream = load(
        stored.events, stored.base_config, created_at=created_at(conversation), mint=counting_event_ids()
    )
    return [summary(event) for event in stream.events()]


class FakeSettings:
    """The same settings for every query."""

    def __init__(self, settings: QuerySettings | None = None) -> None:
        self.settings = settings or QuerySettings(ModelId("test", "big"), {"assistant": {}})
        self.default_id: str | None = None
        self.resolved = 0

    def default_conversation(self, overrides: Sequence[str]) -> str | None:
        return self.default_id

    def lock_timeout(self, overrides: Sequence[str]) -> float:
        return self.settings.lock_timeout

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
    store: MemoryStore,
    clock: FakeClock,
    settings: FakeSettings | None = None,
    toolbox: FakeToolbox | None = None,
) -> Callable[[], Surroundings]:
    """Plug fakes together as `app` plugs real parts."""
    around = Surroundings(
        store,
        settings or FakeSettings(),
        FakeProviders(provider),
        clock,
        toolbox or FakeToolbox(),
        DiskTrustStore(Path(os.devnull), Path("/project")),
        MemoryLayer(),
        "ws",
        "/project",
    )
    return lambda: around

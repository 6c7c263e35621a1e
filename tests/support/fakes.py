"""Fakes at the remaining ports: fixed settings, one provider; and a look into the store in memory."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from jp_lsp.conversation.directive import ConfigDelta
from jp_lsp.conversation.event import ConversationEvent
from jp_lsp.conversation.ids import ConversationId, counting_event_ids, created_at
from jp_lsp.conversation.stored import load
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.driver.preparation import Surroundings
from jp_lsp.ports.attachment import AttachmentEntry
from jp_lsp.ports.provider import ModelId, Provider
from jp_lsp.ports.recording import Recordings
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.results import ResultFiles
from jp_lsp.ports.settings import QuerySettings
from jp_lsp.tools.memory import MemoryLayer
from jp_lsp.tools.switches import ToolSwitch
from jp_lsp.turn.explanation import Place, ValueOrigin
from jp_lsp.workspace.memory import MemoryStore
from jp_lsp.workspace.trust import DiskTrustStore
from tests.support.clock import FakeClock
from tests.support.fake_attachments import FakeAttachments
from tests.support.fake_toolbox import FakeToolbox
from tests.support.streams import lines as lines_of


def stored_events(store: MemoryStore, conversation: ConversationId) -> Sequence[ConversationEvent]:
    """What is stored of a conversation."""
    stored = store.stored[conversation]
    stream = load(
        stored.events, stored.base_config, created_at=created_at(conversation), mint=counting_event_ids()
    )
    return stream.events()


def lines(store: MemoryStore, conversation: ConversationId) -> list[str]:
    """What is stored of a conversation, one short line for each event."""
    return lines_of(stored_events(store, conversation))


class FakeSettings:
    """The same settings for every query."""

    def __init__(self, settings: QuerySettings | None = None) -> None:
        self.settings = settings or QuerySettings(ModelId("test", "big"), {"assistant": {}})
        self.default_id: str | None = None
        self.resolved = 0

    def written_in(self, document: str) -> "FakeSettings":
        return self

    def default_conversation(self, overrides: Sequence[str]) -> str | None:
        return self.default_id

    def lock_timeout(self, overrides: Sequence[str]) -> float:
        return self.settings.lock_timeout

    def resolve(
        self,
        overrides: Sequence[str],
        conversation: ConversationStream | None,
        attachments: Sequence[str] = (),
    ) -> QuerySettings:
        self.resolved += 1
        if attachments:
            parted = [(url, *url.partition(":")) for url in attachments]
            entries = tuple(AttachmentEntry(url, kind, path) for url, kind, _, path in parted)
            return replace(self.settings, attachments=(*self.settings.attachments, *entries))
        if "bad" in overrides:
            raise Refusal("config_invalid", "`bad` is not a setting", origin="--cfg bad")
        return self.settings

    def origins(
        self,
        overrides: Sequence[str],
        conversation: ConversationStream | None,
        attachments: Sequence[str] = (),
    ) -> Sequence[ValueOrigin]:
        return [ValueOrigin("assistant.model.id", "test/big", (Place("workspace", ".jp/config.toml", 3),))]

    def switched(
        self,
        overrides: Sequence[str],
        conversation: ConversationStream | None,
        switches: Sequence[ToolSwitch],
    ) -> Sequence[str]:
        return overrides

    def write_document(self, settings: QuerySettings) -> str:
        return f"model = {settings.model}\n"

    def read_document(self, text: str) -> Sequence[str]:
        return tuple(line.replace(" = ", "=") for line in text.splitlines())

    def delta(self, conversation: ConversationStream, settings: QuerySettings) -> ConfigDelta | None:
        return None


class FakeProviders:
    """One provider for all models but the `others`, which are named; `None` is a refusal."""

    def __init__(self, provider: Provider | None, others: Mapping[str, Provider | None] = {}) -> None:
        self._provider = provider
        self._others = others

    def get(self, model: ModelId, settings: object) -> Provider:
        provider = self._others.get(model.name, self._provider)
        if provider is None:
            raise Refusal("provider_auth", "set TEST_API_KEY", origin="TEST_API_KEY")
        return provider


def surroundings(
    provider: Provider | None,
    store: MemoryStore,
    clock: FakeClock,
    settings: FakeSettings | None = None,
    toolbox: FakeToolbox | None = None,
    recordings: Recordings | None = None,
    attachments: FakeAttachments | None = None,
    others: Mapping[str, Provider | None] = {},
    results: ResultFiles | None = None,
) -> Callable[[], Surroundings]:
    """Plug fakes together as `app` plugs real parts."""
    around = Surroundings(
        store,
        settings or FakeSettings(),
        FakeProviders(provider, others),
        clock,
        toolbox or FakeToolbox(),
        DiskTrustStore(Path(os.devnull), Path("/project")),
        MemoryLayer(),
        attachments or FakeAttachments(),
        "ws",
        "/project",
        recordings,
        results,
    )
    return lambda: around

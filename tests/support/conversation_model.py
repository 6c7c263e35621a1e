"""A plain model of conversations and of what is done to them: what a workspace must hold, told without files.

Each operation says what a process does, and what becomes of the model; the operations of a test are compared
with the disk afterwards.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from jp_lsp.conversation.amend import remove_turn, set_request
from jp_lsp.conversation.compact import Policies, TurnsWanted, compact, remove_compactions
from jp_lsp.conversation.event import ChatRequest, ConversationEvent, MessageResponse, TurnStart
from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.metadata_edit import ChangeLabels, SetPin, SetTitle
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.store import OpenConversation
from jp_lsp.workspace.listing import Listing
from jp_lsp.workspace.operations import DiskOperations
from jp_lsp.workspace.store import DiskStore
from tests.support.streams import Raw, at, compaction, message, turn, user
from tests.support.workspaces import Place

Shelf = Literal["live", "archived", "trash"]


@dataclass(frozen=True, slots=True)
class Kept:
    """What is to be kept of one conversation; `entries` are texts of JSON."""

    shelf: Shelf
    entries: tuple[str, ...] = ()
    title: str | None = None
    labels: tuple[tuple[str, str], ...] = ()
    is_pinned: bool = False
    is_local: bool = False

    @property
    def raw(self) -> list[Raw]:
        return [json.loads(entry) for entry in self.entries]

    def holding(self, entries: list[Raw]) -> "Kept":
        return replace(self, entries=tuple(json.dumps(entry) for entry in entries))


World: TypeAlias = Mapping[ConversationId, Kept]


class Process:
    """One program that has the workspace open."""

    def __init__(self, place: Place) -> None:
        roots = place.open()
        self.now = place.clock
        self.store = DiskStore(roots, now=place.clock)
        self.shelf = DiskOperations(roots, Listing(roots), now=place.clock)


class Operation:
    """Something that is done to conversations.

    `run` does it and gives the id of a conversation that it made. `apply` gives the model afterwards; `None`
    where it must be refused.
    """

    async def run(self, process: Process) -> ConversationId | None:
        raise NotImplementedError

    def apply(self, world: World, made: ConversationId | None) -> World | None:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class _OfOne(Operation):
    """It is done to one conversation that must be on one shelf."""

    conversation: ConversationId

    def apply(self, world: World, made: ConversationId | None) -> World | None:
        kept = world[self.conversation]
        if kept.shelf != self.needs:
            return None
        return {**world, self.conversation: self.changed(kept)}

    @property
    def needs(self) -> Shelf:
        return "live"

    def changed(self, kept: Kept) -> Kept:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Title(_OfOne):
    title: str | None

    async def run(self, process: Process) -> None:
        await process.shelf.edit(self.conversation, [SetTitle(self.title)])

    def changed(self, kept: Kept) -> Kept:
        return replace(kept, title=self.title)


@dataclass(frozen=True, slots=True)
class Label(_OfOne):
    key: str
    value: str

    async def run(self, process: Process) -> None:
        await process.shelf.edit(self.conversation, [ChangeLabels({self.key: self.value})])

    def changed(self, kept: Kept) -> Kept:
        return replace(kept, labels=tuple(sorted({**dict(kept.labels), self.key: self.value}.items())))


@dataclass(frozen=True, slots=True)
class Pin(_OfOne):
    is_pinned: bool

    async def run(self, process: Process) -> None:
        await process.shelf.edit(self.conversation, [SetPin(process.now(), self.is_pinned)])

    def changed(self, kept: Kept) -> Kept:
        return replace(kept, is_pinned=self.is_pinned)


@dataclass(frozen=True, slots=True)
class Archive(_OfOne):
    async def run(self, process: Process) -> None:
        await process.shelf.archive(self.conversation)

    def changed(self, kept: Kept) -> Kept:
        return replace(kept, shelf="archived")


@dataclass(frozen=True, slots=True)
class Unarchive(_OfOne):
    async def run(self, process: Process) -> None:
        await process.shelf.unarchive(self.conversation)

    @property
    def needs(self) -> Shelf:
        return "archived"

    def changed(self, kept: Kept) -> Kept:
        return replace(kept, shelf="live")


@dataclass(frozen=True, slots=True)
class Remove(_OfOne):
    async def run(self, process: Process) -> None:
        await process.shelf.remove(self.conversation)

    def changed(self, kept: Kept) -> Kept:
        return replace(kept, shelf="trash")


@dataclass(frozen=True, slots=True)
class Restore(_OfOne):
    async def run(self, process: Process) -> None:
        await process.shelf.restore(self.conversation)

    @property
    def needs(self) -> Shelf:
        return "trash"

    def changed(self, kept: Kept) -> Kept:
        return replace(kept, shelf="live")


@dataclass(frozen=True, slots=True)
class Move(_OfOne):
    is_local: bool

    async def run(self, process: Process) -> None:
        await process.shelf.relocate(self.conversation, is_local=self.is_local)

    def changed(self, kept: Kept) -> Kept:
        return replace(kept, is_local=self.is_local)


@dataclass(frozen=True, slots=True)
class _Rework(_OfOne):
    """It changes what is in a conversation, as a query or an edit does: lock, load, change, save."""

    async def run(self, process: Process) -> None:
        opened = await process.store.open(self.conversation)
        if opened is None:
            raise Refusal("lock_timeout", "somebody has it")
        try:
            self.work(opened.stream)
            await opened.save()
        finally:
            await opened.release()

    def work(self, stream: ConversationStream) -> None:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Turn(_Rework):
    """A query's turn."""

    text: str

    def work(self, stream: ConversationStream) -> None:
        for kind in (TurnStart(), ChatRequest(self.text), MessageResponse(f"re: {self.text}")):
            stream.append(ConversationEvent(at(0), kind))

    def changed(self, kept: Kept) -> Kept:
        return kept.holding([*kept.raw, turn(), user(self.text), message(f"re: {self.text}")])


@dataclass(frozen=True, slots=True)
class EditRequest(_Rework):
    """The first request gets another text."""

    text: str

    def work(self, stream: ConversationStream) -> None:
        if stream.turn_count:
            set_request(stream, 0, self.text)

    def changed(self, kept: Kept) -> Kept:
        entries = kept.raw
        for entry in entries:
            if entry["type"] == "chat_request":
                entry["content"] = self.text
                break
        return kept.holding(entries)


@dataclass(frozen=True, slots=True)
class RemoveTurn(_Rework):
    """The first turn goes, and with it every compaction, as each reaches to it or behind it."""

    def work(self, stream: ConversationStream) -> None:
        if stream.turn_count:
            remove_turn(stream, 0)

    def changed(self, kept: Kept) -> Kept:
        entries = kept.raw
        starts = [place for place, entry in enumerate(entries) if entry["type"] == "turn_start"]
        if not starts:
            return kept
        stop = starts[1] if len(starts) > 1 else len(entries)
        return kept.holding([entry for entry in entries[stop:] if entry["type"] != "compaction"])


@dataclass(frozen=True, slots=True)
class Compact(_Rework):
    """A summary takes the place of all turns."""

    text: str

    def work(self, stream: ConversationStream) -> None:
        compact(stream, TurnsWanted(), Policies(self.text), at(0))

    def changed(self, kept: Kept) -> Kept:
        count = sum(entry["type"] == "turn_start" for entry in kept.raw)
        if not count:
            return kept
        return kept.holding([*kept.raw, compaction(0, count - 1, summary={"summary": self.text})])


@dataclass(frozen=True, slots=True)
class Reset(_Rework):
    """All compactions go."""

    def work(self, stream: ConversationStream) -> None:
        remove_compactions(stream, None)

    def changed(self, kept: Kept) -> Kept:
        return kept.holding([entry for entry in kept.raw if entry["type"] != "compaction"])


@dataclass(frozen=True, slots=True)
class New(Operation):
    is_local: bool

    async def run(self, process: Process) -> ConversationId:
        return await _stored(await process.store.create({}, local=self.is_local, persist=True))

    def apply(self, world: World, made: ConversationId | None) -> World | None:
        return world if made is None else {**world, made: Kept("live", is_local=self.is_local)}


@dataclass(frozen=True, slots=True)
class Fork(Operation):
    """A copy, with all turns or the last one."""

    source: ConversationId
    is_whole: bool = field(default=True)

    async def run(self, process: Process) -> ConversationId:
        keep = None if self.is_whole else 1
        return await _stored(await process.store.fork(self.source, keep_turns=keep, persist=True))

    def apply(self, world: World, made: ConversationId | None) -> World | None:
        source = world[self.source]
        if source.shelf == "trash":
            return None
        if made is None:
            return world
        entries = source.raw
        starts = [place for place, entry in enumerate(entries) if entry["type"] == "turn_start"]
        if not self.is_whole and len(starts) > 1:
            entries = [entry for entry in entries[starts[-1] :] if entry["type"] != "compaction"]
        return {**world, made: replace(source, shelf="live").holding(entries)}


async def _stored(conversation: OpenConversation) -> ConversationId:
    try:
        await conversation.save()
    finally:
        await conversation.release()
    return conversation.id

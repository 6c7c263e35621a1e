"""What a query's output looks like: for people, or as JSON for programs.

A presenter is told what happens and performs it on the way out. While the user types a line, nothing may be
drawn; what comes meanwhile waits. While a choice is open, text goes on above it.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.protocol.turn import QueryResult
from jp_lsp.terminal.explained import explained
from jp_lsp.terminal.operations import Level, Operation, Say, Write
from jp_lsp.terminal.painter import Output, Painter
from jp_lsp.terminal.screen import Screen, notice_line, read_chunk

TICK_SECONDS = 0.1
"""How often a presenter wants to look at the clock."""


class Stage:
    """The one place where operations become output.

    Args:
        painter: knows the terminal.
        write: the way out.
        has_room: waits until more may go out.
    """

    def __init__(
        self, painter: Painter, write: Callable[[Output], None], has_room: Callable[[], Awaitable[None]]
    ) -> None:
        self.painter = painter
        self.is_asking = False
        self.has_room = has_room
        self._write = write
        self._held: list[Operation] = []

    def perform(self, operations: Sequence[Operation]) -> None:
        """Do it now, or once the user has typed a line to its end."""
        if self._held or self.painter.is_typing:
            self._held += operations
            return
        for operation in operations:
            self.put(self.painter.paint(operation))

    def release(self) -> None:
        """Do what had to wait."""
        if not self.painter.is_typing:
            held, self._held = self._held, []
            self.perform(held)

    def put(self, outputs: Sequence[Output]) -> None:
        """Write what was painted."""
        for output in outputs:
            self._write(output)


class Presenter(Protocol):
    """How a query is shown."""

    @property
    def held_back(self) -> str:
        """Text of the answer that is not to be seen yet."""
        ...

    def began(self) -> None:
        """The query was sent."""

    def doing(self, words: str) -> None:
        """Something takes its time that the server cannot tell of."""

    def chunk(self, value: JsonObject) -> None:
        """A chunk came."""

    def tick(self) -> None:
        """Time passed."""

    def notice(self, level: Level, text: str) -> None:
        """The server has something to say beside the transcript."""

    def result(self, raw: JsonObject, result: QueryResult) -> None:
        """The query ended with a result, given as it came and as it was read."""

    def error(self, error: JsonObject) -> None:
        """The query ended with an error."""

    async def has_room(self) -> None:
        """Wait until more can be shown."""


class HumanPresenter:
    """Shows text."""

    def __init__(self, stage: Stage, screen: Screen, now: Callable[[], float]) -> None:
        self._stage = stage
        self._screen = screen
        self._now = now
        self._screen.began = now()

    @property
    def held_back(self) -> str:
        """See `Presenter`."""
        return self._screen.held_back

    def began(self) -> None:
        """See `Presenter`."""
        self._screen.began = self._now()

    def doing(self, words: str) -> None:
        """See `Presenter`."""
        self._screen.doing = words

    def chunk(self, value: JsonObject) -> None:
        """See `Presenter`."""
        chunk = read_chunk(value)
        if chunk is not None:
            self._stage.perform(self._screen.handle(chunk, self._now()))

    def tick(self) -> None:
        """See `Presenter`."""
        if not self._stage.is_asking:
            self._stage.perform(self._screen.tick(self._now()))

    def notice(self, level: Level, text: str) -> None:
        """See `Presenter`. Nothing is told twice."""
        self._stage.perform(self._screen.tell(level, text))

    def result(self, raw: JsonObject, result: QueryResult) -> None:
        """See `Presenter`."""
        self._stage.perform(self._screen.finish(result.text))
        if result.explanation is not None:
            self._stage.perform([Write(explained(result.explanation))])
        for notice in result.notices:
            self.notice(notice.level, notice.text)

    def error(self, error: JsonObject) -> None:
        """See `Presenter`."""
        self._stage.perform(self._screen.finish(""))

    async def has_room(self) -> None:
        """See `Presenter`."""
        await self._stage.has_room()


class JsonPresenter:
    """Passes everything on, one JSON object a line."""

    held_back = ""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def began(self) -> None:
        """See `Presenter`."""

    def doing(self, words: str) -> None:
        """See `Presenter`."""

    def chunk(self, value: JsonObject) -> None:
        """See `Presenter`."""
        self._line(value)

    def tick(self) -> None:
        """See `Presenter`."""

    def notice(self, level: Level, text: str) -> None:
        """See `Presenter`."""
        self._stage.perform([Say(notice_line(level, text), level)])

    def result(self, raw: JsonObject, result: QueryResult) -> None:
        """See `Presenter`."""
        self._line({"result": raw})

    def error(self, error: JsonObject) -> None:
        """See `Presenter`."""
        self._line({"error": error})

    async def has_room(self) -> None:
        """See `Presenter`."""
        await self._stage.has_room()

    def _line(self, value: JsonObject) -> None:
        self._stage.perform([Write(json.dumps(value) + "\n")])

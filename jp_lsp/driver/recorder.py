"""Records what happens to one query, beside it: the turn never waits for the file (query pipeline 7.6).

The core is handled by way of the recorder, which notes input, time and actions as they are. Making lines of
them and writing them is the work of a thread. Whatever goes wrong there ends the recording and nothing else.
"""

import logging
from collections.abc import Callable, Sequence

import anyio
from anyio import to_thread

from jp_lsp.ports.recording import RecordingFile, Recordings
from jp_lsp.tools.memory import MemoryLayer
from jp_lsp.turn.actions import Action
from jp_lsp.turn.coordinator import TurnCoordinator
from jp_lsp.turn.input_codec import frozen
from jp_lsp.turn.inputs import Input, Instant, Prepared
from jp_lsp.turn.recording import Handled, LineWriter

_log = logging.getLogger(__name__)

MOST_WAITING = 10_000
"""Inputs that may wait to be written; a disk that is slower than that is not waited for."""

MOST_BYTES = 67_108_864
"""Size at which a recording ends."""


class Recorder:
    """The recording of one query.

    Args:
        token: names the query.
        recordings: where it goes.
        jitter: what the core draws retry delays from.
    """

    def __init__(self, token: str, recordings: Recordings, jitter: Callable[[], float]) -> None:
        self.finished = anyio.Event()
        self._token = token
        self._begin = recordings.begin
        self._draw = jitter
        self._drawn: list[float] = []
        self._session: MemoryLayer | None = None
        self._known_session = MemoryLayer()
        self._writer = LineWriter(recordings.hide)
        self._file: RecordingFile | None = None
        self._size = 0
        self._waiting: list[Handled] = []
        self._news = anyio.Event()
        self._is_closed = False
        self._is_stopped = False
        self._is_cut = False

    def jitter(self) -> float:
        """Draw, and note what was drawn."""
        drawn = self._draw()
        self._drawn.append(drawn)
        return drawn

    def handle(self, core: TurnCoordinator, item: Input, now: Instant) -> Sequence[Action]:
        """Let the core handle an input, and note it.

        Raises:
            Exception: whatever the core raises; noted too.
        """
        if self._is_stopped:
            return core.handle(item, now)
        given = frozen(item)
        session = self._changed_session(item)
        self._drawn.clear()
        actions: Sequence[Action] = ()
        raised = None
        try:
            actions = core.handle(item, now)
        except Exception as error:
            raised = type(error).__name__
            raise
        finally:
            if self._session is not None:
                self._known_session = self._session.copy()
            self._note(Handled(given, now, tuple(actions), tuple(self._drawn), session, raised))
        return actions

    async def run(self) -> None:
        """Write until `close`, and what waits then."""
        try:
            while not self._is_closed:
                await self._news.wait()
                self._news = anyio.Event()
                await self._write_waiting()
        finally:
            with anyio.CancelScope(shield=True):
                await self._write_waiting()
                if self._file is not None:
                    await to_thread.run_sync(self._file.close)
            self.finished.set()

    def close(self) -> None:
        """Let `run` end once everything is written."""
        self._is_closed = True
        self._news.set()

    def _changed_session(self, item: Input) -> MemoryLayer | None:
        """Give what the session remembers if this turn does not know it yet: another turn was told."""
        if isinstance(item, Prepared) and item.turn.memory is not None:
            self._session = item.turn.memory.session
            return None  # it is in the input
        if self._session is None or self._session == self._known_session:
            return None
        return self._session.copy()

    def _note(self, handled: Handled) -> None:
        self._waiting.append(handled)
        self._is_stopped = len(self._waiting) >= MOST_WAITING
        self._news.set()

    async def _write_waiting(self) -> None:
        batch, self._waiting = self._waiting, []
        if not batch:
            return
        try:
            await to_thread.run_sync(self._write, batch)
        except Exception as error:
            _log.warning("query %s is not recorded any more: %s", self._token, error, exc_info=error)
            self._is_stopped = True
            self._waiting.clear()

    def _write(self, batch: Sequence[Handled]) -> None:
        if self._file is None:
            self._file = self._begin(self._token)
            _log.info("query %s is recorded in %s", self._token, self._file.name)
            self._append(self._file, self._writer.header(self._token))
        for handled in batch:
            if self._size > MOST_BYTES:
                break
            self._append(self._file, self._writer.line(handled))
        reason = self._reason_to_stop(len(batch))
        if reason is not None and not self._is_cut:
            self._is_stopped = self._is_cut = True
            self._append(self._file, self._writer.stopped(reason))

    def _reason_to_stop(self, waited: int) -> str | None:
        if self._size > MOST_BYTES:
            return f"it has more than {MOST_BYTES} bytes"
        return f"{waited} inputs waited to be written" if waited >= MOST_WAITING else None

    def _append(self, file: RecordingFile, line: str) -> None:
        file.write(line + "\n")
        self._size += len(line) + 1

"""One query's way to its client: what the turn shows becomes chunks, and the chunks become messages.

The frontend of a query (`ports.frontend`). Rendering is `TurnView`'s, numbering and pace are `ChunkQueue`'s,
questions are `PromptBroker`'s; here they are tied together.
"""

import time
from collections.abc import Callable

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.ports.frontend import TextPlace
from jp_lsp.render.chunk import Chunk, PromptClosed, Structured
from jp_lsp.render.options import DisplayOptions, Labels
from jp_lsp.server.chunk_queue import ChunkQueue, Way
from jp_lsp.server.chunk_to_wire import Origin, chunk_to_wire, prompt_open
from jp_lsp.server.prompts import Answer, Asker, Closing
from jp_lsp.server.session import Session
from jp_lsp.server.shown_to_chunks import ShownToChunks, arriving
from jp_lsp.server.work_done import WorkDoneProgress, agreed_token
from jp_lsp.tools.decision import Decision, DecisionId
from jp_lsp.turn import shown
from jp_lsp.turn.shown import Shown

DEFAULT_LABELS = Labels()


class Outbox:
    """Shows one query to one client.

    Args:
        session: the client.
        token: names the query.
        chunk_token: where chunks go as `$/progress`; without it they go as `jp/chunk` to clients that want
            them, else nowhere.
        is_stored: whether the query leaves anything on disk.
    """

    def __init__(
        self, session: Session, token: int | str, chunk_token: int | str | None, *, is_stored: bool
    ) -> None:
        self._session = session
        self._token = token
        self._chunk_token = chunk_token
        self._is_stored = is_stored
        self._conversation: str | None = None
        self._shows_prompt = False
        self._asked: set[DecisionId] = set()
        self._unsent: list[str] = []
        self._is_closed = False
        self._chunks = ShownToChunks(lambda: self._queue.next_seq, self._elapsed_ms)
        self._progress = WorkDoneProgress(session.protocol.notify_raw)
        self._progress_token: int | str | None = None
        out = session.protocol.out
        assert out is not None, "a request came over a connection"
        self._queue = ChunkQueue(Way(self._send, lambda: out.pending_bytes, out.drained))
        self._began = time.monotonic()

    @property
    def last_seq(self) -> int:
        """The number of the last chunk."""
        return self._queue.last_seq

    async def begin(self, work_done_token: int | str | None, cancel: Callable[[], None]) -> None:
        """Begin standard progress, on the client's token or on one that it agrees to.

        A client may take any time to agree, so nothing may wait for this.
        """
        token = await agreed_token(self._session, work_done_token, f"jp-progress-{self._token}")
        if token is None:
            return
        self._progress_token = token
        self._session.progress_cancels[token] = cancel
        self._progress.begin(token)

    def close(self) -> None:
        """Send what is left, and end the progress: the result comes next."""
        self._is_closed = True
        self._queue.close()
        self._progress.end()
        if self._progress_token is not None:
            self._session.progress_cancels.pop(self._progress_token, None)

    # The port.

    @property
    def can_prompt(self) -> bool:
        """Whether the client has not shown that it cannot."""
        return self._session.prompts.can_prompt

    @property
    def text_place(self) -> TextPlace | None:
        """Where the user can write a text."""
        return self._session.prompts.text_place

    def configure(
        self,
        display: DisplayOptions,
        *,
        conversation: str,
        model: str,
        assistant: str | None,
        user: str | None,
    ) -> None:
        """Take the settings of this query."""
        labels = Labels(user or DEFAULT_LABELS.user, assistant or DEFAULT_LABELS.assistant, model)
        self._chunks.configure(display, labels)
        self._queue.gather_for(display.gather_seconds)
        self._conversation = conversation

    async def ready(self) -> None:
        """Wait until the client has taken enough."""
        await self._queue.ready()

    def publish(self, what: Shown) -> None:
        """Show it."""
        match what:
            case shown.Status(detail=detail):
                self._progress.report(detail)
            case shown.PartArrived(part):
                self._progress.report(arriving(part))
            case shown.RetryScheduled(attempt, most, cause):
                self._progress.report(f"{cause}, retrying ({attempt}/{most})")
            case _:
                pass
        self._put(self._chunks.chunks(what))

    def tick(self) -> None:
        """Let indicators show how long the model has been thinking, and tools running (3.9)."""
        self._put(self._chunks.tick(shows_tools=not self._shows_prompt))

    def ask(self, decision: Decision, answer: Callable[[Answer], None]) -> None:
        """Put a question in the client's queue."""
        self._asked.add(decision.id)
        keeps = self._conversation is not None and self._is_stored
        conversation = ConversationId(self._conversation) if keeps and self._conversation else None
        asker = Asker(answer, self._prompt_shown, self._prompt_closed, self._keep_unsent, conversation)
        self._session.prompts.ask(decision, asker)

    def withdraw(self, decision: DecisionId, how: Closing) -> None:
        """Close a question."""
        self._session.prompts.withdraw(decision, how)

    async def unsent(self) -> str | None:
        """Give what the user had begun to write, once the closed questions are gone."""
        await self._session.prompts.wait_until_gone(self._asked)
        return "\n\n".join(self._unsent) or None

    # Chunks.

    def _put(self, chunks: list[Chunk]) -> None:
        for chunk in chunks:
            opens_value = isinstance(chunk, Structured) and chunk.part == "open"
            is_border = self._chunks.is_at_mark or opens_value
            self._queue.put(chunk, self._chunks.cycle, is_mergeable=not is_border)
            self._chunks.is_at_mark = False
            if opens_value:
                self._chunks.value_seq = self._queue.last_seq

    def _send(self, seq: int, cycle: int, chunk: Chunk) -> None:
        protocol = self._session.protocol
        value = chunk_to_wire(chunk, seq, Origin(self._token, self._conversation, cycle))
        if self._chunk_token is not None:
            protocol.notify_raw("$/progress", {"token": self._chunk_token, "value": value})
        elif self._session.capabilities.chunks:
            protocol.notify_raw("jp/chunk", value)

    def _prompt_shown(self, decision: Decision) -> None:
        self._shows_prompt = True
        self._put([prompt_open(decision)])
        self._queue.flush()  # a question must not overtake what it is about

    def _prompt_closed(self, decision: DecisionId, how: Closing) -> None:
        self._shows_prompt = False
        self._put([PromptClosed(decision, how)])

    async def _keep_unsent(self, text: str) -> None:
        """Take what the user was writing when the question ended. What comes behind the answer goes to the disk."""
        if not self._is_closed:
            self._unsent.append(text)
        elif self._conversation is not None and self._is_stored:
            await self._session.workplace.keep_draft(ConversationId(self._conversation), text)

    def _elapsed_ms(self) -> int:
        return int((time.monotonic() - self._began) * 1000)

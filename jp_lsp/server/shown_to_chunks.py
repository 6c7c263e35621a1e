"""What a turn shows, as chunks: the turn's words on one side, the renderer's on the other.

`turn` and `render` do not know each other. This is where they meet, for live output and for tests that
hold it against replay.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Literal, assert_never

from jp_lsp.conversation.event import ConversationEvent, StructuredResponse
from jp_lsp.render.chat import Mark, TurnView
from jp_lsp.render.chunk import DURABLE, Chunk, TokenUsage, ToolSource
from jp_lsp.render.options import DisplayOptions, Labels
from jp_lsp.server.tool_times import ToolTimes
from jp_lsp.tools.spec import BuiltinSource, McpSource
from jp_lsp.turn import shown
from jp_lsp.turn.shown import Shown
from jp_lsp.turn.stream_event import Part, TextPart, ToolCallArguments, ToolCallStart, Usage

Since = Literal["turn", "cycle", "attempt", "structured"]


class ShownToChunks:
    """Translates for one query.

    Args:
        next_seq: gives the number that the next chunk will have; retractions name it.
        elapsed_ms: gives the time since the query began.
    """

    def __init__(self, next_seq: Callable[[], int], elapsed_ms: Callable[[], int]) -> None:
        self.cycle = 0
        self.is_at_mark = False
        """Whether a retraction may begin at the next chunk, which then must not join the one before."""
        self.value_seq = 1
        """The number of the chunk that opened the structured value which is being written."""
        self._next_seq = next_seq
        self._elapsed_ms = elapsed_ms
        self._tool_times = ToolTimes()
        self._view = TurnView(DisplayOptions(), Labels())
        self._is_waiting = False
        self._marks: dict[Since, tuple[Mark, int]] = {}

    def configure(self, options: DisplayOptions, labels: Labels) -> None:
        """Show what comes from now on in another way."""
        self._view.configure(options, labels)

    def tick(self, *, shows_tools: bool) -> list[Chunk]:
        """Let time pass while the model thinks, and while tools run unless a question stands over them."""
        chunks = self._view.tick(self._elapsed_ms())
        if shows_tools:
            for what, elapsed_ms in self._tool_times.due(self._elapsed_ms()):
                chunks += self._tool_running(what, elapsed_ms)
        return chunks

    def chunks(self, what: Shown) -> list[Chunk]:
        """Give the chunks that show it."""
        match what:
            case shown.TurnBegan(index, request, reply_to):
                self._mark("turn")
                return self._view.turn_begin(index, request, reply_to=reply_to)
            case shown.AttemptBegan(cycle, attempt):
                self.cycle = cycle
                if attempt == 1:
                    self._mark("cycle")
                self._mark("attempt")
                return self._view.attempt_begin()
            case shown.PartArrived(part):
                return self._first_part(part) if self._is_waiting else self._part(part)
            case shown.ReasoningSummed(region, text):
                return self._view.reasoning_summary(region, text)
            case shown.EventStored(event):
                return self._event(event)
            case shown.CallShown():
                return self._call(what)
            case shown.RawArgumentsShown(name, arguments):
                return self._view.raw_arguments(name, arguments)
            case shown.ResultShown(call, content, is_error, decision, file):
                self._tool_times.ended(call)
                uri = None if file is None else Path(file).as_uri()
                return self._view.tool_result(call, content, is_error=is_error, decision=decision, uri=uri)
            case shown.ToolRunning():
                return self._tool_running(what, self._tool_times.note(what, self._elapsed_ms()))
            case shown.Paused():
                return self._view.pause()
            case shown.Resumed():
                return self._view.resume()
            case shown.Retracted(since, reason):
                return self._retract(since, reason)
            case shown.Status(phase, detail):
                self._is_waiting = phase == "waiting"
                return self._view.status(phase, detail, elapsed_ms=self._elapsed_ms())
            case shown.RetryScheduled(attempt, most, cause, delay):
                return self._view.retry(attempt, most, cause, int(delay * 1000))
            case shown.NoticeGiven(notice, is_durable):
                return self._view.notice(notice.level, notice.code, notice.text, is_durable=is_durable)
            case shown.TurnEnded(outcome, is_persisted, usage):
                tokens = None if usage is None else _tokens(usage)
                self._tool_times.clear()
                return self._view.turn_end(outcome.value, is_persisted=is_persisted, usage=tokens)
            case _:
                assert_never(what)

    def _first_part(self, part: Part) -> list[Chunk]:
        """Show that content arrives, where its first piece is held back: it may be a while until its block ends."""
        self._is_waiting = False
        chunks = self._part(part)
        if any(isinstance(chunk, DURABLE) for chunk in chunks):
            return chunks
        return chunks + self._view.status("streaming", arriving(part), elapsed_ms=self._elapsed_ms())

    def _part(self, part: Part) -> list[Chunk]:
        match part:
            case TextPart(kind=kind, text=text):
                return self._view.part(kind, text, elapsed_ms=self._elapsed_ms())
            case ToolCallStart(index, id, name):
                return self._view.tool_preparing(id or f"{name}_{index}", name, elapsed_ms=self._elapsed_ms())
            case ToolCallArguments():
                return []
            case _:
                assert_never(part)

    def _event(self, event: ConversationEvent) -> list[Chunk]:
        """Show what is only known when an event is complete; its text was shown as it came."""
        return self._view.structured_flushed() if isinstance(event.kind, StructuredResponse) else []

    def _call(self, call: shown.CallShown) -> list[Chunk]:
        source: ToolSource = "local"
        server = None
        if isinstance(call.source, McpSource):
            source, server = "mcp", call.source.server
        elif isinstance(call.source, BuiltinSource):
            source = "builtin"
        return self._view.tool_call(
            call.call,
            call.name,
            call.arguments,
            source=source,
            server=server,
            is_edited=call.is_edited,
            rendered=call.rendered,
        )

    def _tool_running(self, what: shown.ToolRunning, elapsed_ms: int) -> list[Chunk]:
        return self._view.tool_progress(
            what.call, what.name, elapsed_ms=elapsed_ms, message=what.message, percentage=what.percentage
        )

    def _mark(self, since: Since) -> None:
        self._marks[since] = (self._view.mark(), self._next_seq())
        self.is_at_mark = True

    def _retract(self, since: Since, reason: shown.RetractReason) -> list[Chunk]:
        if since == "structured":
            return self._view.retract_structured(self.value_seq)
        mark, seq = self._marks[since]
        return self._view.retract(mark, seq, reason)


def _tokens(usage: Usage) -> TokenUsage:
    return TokenUsage(usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.reasoning_tokens)


def arriving(part: Part) -> str:
    """Say what arrives, for a state (5.10)."""
    is_thought = isinstance(part, TextPart) and part.kind == "reasoning"
    return "thinking" if is_thought else "receiving response data"

"""ChatResponseRenderer: what a turn shows, as chunks (query pipeline 5).

`TurnView` is told what happens, in order, and answers with the chunks that show it. It has no clock, knows
no provider and no client, and what it writes does not depend on how text was cut into parts. So the same
object serves the live turn, where parts trickle in, and the replay of a stored one (`replay`).

The running text is the business of `flow`; here is what stands between and beside it: tools, notices,
states, and the way back when an attempt is retracted.
"""

from collections.abc import Callable
from dataclasses import dataclass

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.render.chunk import (
    DURABLE,
    Chunk,
    DurableNotice,
    Notice,
    Preview,
    RegionKind,
    Retract,
    RetractReason,
    Retry,
    Status,
    TokenUsage,
    ToolCall,
    ToolPreparing,
    ToolProgress,
    ToolResult,
    ToolSource,
    TurnBegin,
    TurnEnd,
)
from jp_lsp.render.flow import TextFlow, TextKind
from jp_lsp.render.json_display import compact, pretty
from jp_lsp.render.options import DisplayOptions, Labels
from jp_lsp.render.slots import Slots, tool_slot
from jp_lsp.render.text import clean, clean_line
from jp_lsp.render.tool import call_text, name_text, raw_arguments_text, result_text, spoken_text


@dataclass(frozen=True, slots=True)
class Mark:
    """A place to go back to, when what came after it is retracted."""

    flow: TextFlow


class TurnView:
    """Shows the turns of one query, one after the other.

    Every method gives the chunks to send, possibly none. `elapsed_ms` is the time since any fixed moment,
    such as the begin of the turn. Names and texts may come from anybody; they are cleaned here.
    """

    def __init__(self, options: DisplayOptions, labels: Labels) -> None:
        self._options = options
        self._labels = labels
        self._slots = Slots()
        self._flow = TextFlow(options, labels)

    def configure(self, options: DisplayOptions, labels: Labels) -> None:
        """Show the turns that begin from now on in another way."""
        self._options = options
        self._labels = labels

    # The turn and its borders.

    def turn_begin(
        self,
        index: int,
        request_text: str,
        *,
        reply_to: int | None = None,
        detail: str | None = None,
        author: str | None = None,
    ) -> list[Chunk]:
        """Open a turn with what the user said.

        Args:
            index: the turn's number in the conversation, from 1.
            request_text: what the user said.
            reply_to: the turn before it in the same query.
            detail: the turn's number and age, when it is shown again.
            author: who said it, when it is shown again; else the user of today.
        """
        self._flow.end_region()
        before = self._flow.take()
        self._flow = TextFlow(self._options, self._labels, self._flow.written)
        self._flow.add(*before, TurnBegin(index, reply_to, self._options.reasoning_background))
        if self._flow.reasoning.is_unknown:
            text = f"unknown reasoning display {self._options.reasoning.mode!r}: showing an indicator instead"
            self._flow.add(Notice("notice:reasoning_display", "warning", "reasoning_display", text))
        self._flow.request(request_text, detail, author)
        return self._send()

    def request(self, text: str, *, author: str | None = None) -> list[Chunk]:
        """Show that the user said something more within the turn, as old conversations have it."""
        self._flow.request(text, None, author)
        return self._send()

    def attempt_begin(self) -> list[Chunk]:
        """Note that a request goes out: what was being prepared in the last attempt is gone.

        Text that is held back is kept, since the next attempt goes on with it (5.5).
        """
        self._clear_where(lambda slot: slot == "reasoning" or slot.startswith("tool:"))
        return self._send()

    def turn_end(self, outcome: str, *, is_persisted: bool, usage: TokenUsage | None = None) -> list[Chunk]:
        """Show the rest and close the turn."""
        self._flow.end_region()
        self._flow.kind = None
        self._flow.add(TurnEnd(outcome, is_persisted, usage))
        chunks = self._send()
        self._slots.forget()
        return chunks

    # What the model says.

    def part(self, kind: TextKind, text: str, *, elapsed_ms: int = 0) -> list[Chunk]:
        """Show a piece of text; its kind alone decides whether it belongs to the text before it."""
        if text:
            self._clear("retry")
            self._flow.speak(kind, text, elapsed_ms)
        return self._send()

    def structured_flushed(self) -> list[Chunk]:
        """Close the fence of the value that was just completed."""
        if self._flow.kind == "structured":
            self._flow.end_region()
        return self._send()

    def structured_value(self, data: JsonValue) -> list[Chunk]:
        """Show a whole value; a string is one that was no JSON, so it is shown as it is."""
        text = data if isinstance(data, str) else pretty(data)
        return self.part("structured", text) + self.structured_flushed()

    def tick(self, elapsed_ms: int) -> list[Chunk]:
        """Let time pass while the model thinks."""
        if self._flow.kind == "reasoning" and (shown := self._flow.reasoning.elapse(elapsed_ms)) is not None:
            self._flow.add(shown)
        return self._send()

    def reasoning_summary(self, region_index: int, text: str) -> list[Chunk]:
        """Show the summary of a region of reasoning, which comes whenever it is ready."""
        slot = f"reasoning_summary:{region_index}"
        self._flow.add(Notice(slot, "info", "reasoning_summary", clean(text), region_index))
        return self._send()

    # Tools.

    def tool_preparing(self, call_id: str, name: str, *, elapsed_ms: int = 0) -> list[Chunk]:
        """Show that the model is writing a call."""
        name = clean_line(name)
        if self._shows_work(name):
            self._flow.add(ToolPreparing(tool_slot(call_id), name, elapsed_ms))
        return self._send()

    def tool_progress(
        self,
        call_id: str,
        name: str,
        *,
        elapsed_ms: int = 0,
        message: str | None = None,
        percentage: int | None = None,
    ) -> list[Chunk]:
        """Show that a tool is running."""
        name = clean_line(name)
        if self._shows_work(name):
            message = None if message is None else clean_line(message)
            self._flow.add(ToolProgress(tool_slot(call_id), name, elapsed_ms, message, percentage))
        return self._send()

    def tool_call(
        self,
        call_id: str,
        name: str,
        arguments: JsonValue,
        *,
        source: ToolSource = "local",
        server: str | None = None,
        is_edited: bool = False,
        rendered: str | None = None,
    ) -> list[Chunk]:
        """Show a call with its arguments; show it again with `is_edited` when the user changed them.

        `rendered` is what a formatter command made of the arguments. A call that only carries a message for the
        user is shown as that message.
        """
        flow = self._flow
        self._clear(tool_slot(call_id))
        # Text before a call must not stay behind, also when the call itself is not shown.
        flow.end_region()
        name = clean_line(name)
        style = self._options.tool_style(name)
        message = spoken_text(arguments, style)
        call = flow.tools.add(call_id, name, is_spoken=message is not None)
        if message is not None:
            flow.say(message)
        elif self._shows_tool(name):
            text = call_text(name, call.position, arguments, style.parameters, rendered)
            region = self._tool_region()
            md = flow.open("custom_call" if text.is_custom else "tool_call") + text.md
            flow.kind = "tool"
            flow.report_bidi(md)
            flow.add(ToolCall(md, call_id, name, compact(arguments), source, server, is_edited, region))
        return self._send()

    def tool_result(
        self,
        call_id: str,
        content: str,
        *,
        is_error: bool = False,
        decision: str | None = None,
        uri: str | None = None,
    ) -> list[Chunk]:
        """Show the answer to a call; `uri` is a file that holds all of it."""
        flow = self._flow
        self._clear(tool_slot(call_id))
        call = flow.tools.answer(call_id)
        name = "" if call is None else call.name
        is_acknowledgement = call is not None and call.is_spoken and not is_error
        if is_acknowledgement or not self._shows_tool(name):
            return self._send()
        flow.end_region()
        flow.kind = "tool"
        label = ""
        if call is not None and flow.tools.count > 1:
            label = name_text(name) + (f" ({call.position})" if call.position > 1 else "")
        text = result_text(label, content, self._options.tool_style(name), is_error=is_error, uri=uri)
        region = self._tool_region()
        md = flow.open("tool_result") + text.md if text.md else ""
        flow.report_bidi(md)
        flow.add(
            ToolResult(
                md,
                call_id,
                name,
                is_ok=not is_error,
                is_truncated=text.is_truncated,
                line_count=text.line_count,
                size=text.size,
                decision=None if decision is None else clean_line(decision),
                uri=uri,
                region=region,
            )
        )
        return self._send()

    # Beside the text.

    def pause(self) -> list[Chunk]:
        """Show what is held back while a menu is open, without ending anything (5.5)."""
        ahead = self._flow.copy()
        ahead.end_region()
        md = "".join(chunk.md for chunk in ahead.take() if isinstance(chunk, DURABLE))
        if md:
            self._flow.add(Preview(md))
        return self._send()

    def resume(self) -> list[Chunk]:
        """Remove the preview; the text goes on where it was."""
        self._clear("preview")
        return self._send()

    def status(self, phase: str, detail: str, *, elapsed_ms: int = 0) -> list[Chunk]:
        """Show where the turn stands; an empty detail removes it."""
        if detail:
            self._flow.add(Status(phase, clean_line(detail), elapsed_ms))
        else:
            self._clear("status")
        return self._send()

    def retry(self, attempt: int, max_attempts: int, cause: str, delay_ms: int) -> list[Chunk]:
        """Show that a request will be made again; removed by the first content."""
        self._flow.add(Retry(attempt, max_attempts, clean_line(cause), delay_ms))
        return self._send()

    def notice(self, level: str, code: str, text: str, *, is_durable: bool) -> list[Chunk]:
        """Show a sentence to the user; a durable one becomes part of the transcript."""
        text = clean(text).strip()
        if is_durable:
            self._flow.end_region()
            self._flow.kind = None
            md = self._flow.open("notice") + _quoted(level, text)
            self._flow.add(DurableNotice(md, level, code, text))
        else:
            self._flow.add(Notice(self._slots.for_notice(code, text), level, code, text))
        return self._send()

    def raw_arguments(self, name: str, arguments: JsonValue) -> list[Chunk]:
        """Show the arguments of a call once more, all of them and as JSON, beside what is stored of the turn."""
        self._flow.end_region()
        self._flow.kind = None
        md, text = raw_arguments_text(clean_line(name), arguments)
        md = self._flow.open("notice") + md
        self._flow.add(DurableNotice(md, "info", "raw_arguments", text))
        return self._send()

    # Going back.

    def mark(self) -> Mark:
        """Remember the view as it is, to come back to when what follows is retracted."""
        return Mark(self._flow.copy())

    def retract(self, mark: Mark, from_seq: int, reason: RetractReason) -> list[Chunk]:
        """Take back everything since `mark`; the first chunk after it had the number `from_seq`."""
        self._flow = mark.flow.copy()
        self._clear_where(
            lambda slot: slot in {"reasoning", "preview"} or slot.startswith(("tool:", "reasoning_summary:"))
        )
        self._flow.add(Retract(from_seq, reason))
        return self._send()

    def retract_structured(self, from_seq: int) -> list[Chunk]:
        """Take back the value that is being written; `from_seq` is the number of its opening fence."""
        flow = self._flow.value_mark
        return [] if flow is None else self.retract(Mark(flow), from_seq, "restart")

    def _tool_region(self) -> RegionKind | None:
        """Tell whether a call belongs to the thoughts before it (5.3)."""
        extends = self._options.extend_reasoning_across_tools and self._flow.reasoning.is_persistent
        return "reasoning" if extends and self._flow.spoke_last == "reasoning" else None

    def _shows_tool(self, name: str) -> bool:
        return self._options.show_tool_calls and not self._options.tool_style(name).is_hidden

    def _shows_work(self, name: str) -> bool:
        """Tell whether it is shown that a tool is being called; what only speaks is not seen working."""
        return self._shows_tool(name) and self._options.tool_style(name).spoken is None

    def _clear(self, slot: str) -> None:
        self._flow.add(*self._slots.clearing(slot))

    def _clear_where(self, is_meant: Callable[[str], bool]) -> None:
        self._flow.add(*self._slots.clearing_where(is_meant))

    def _send(self) -> list[Chunk]:
        return self._slots.send(self._flow.take())


def _quoted(level: str, text: str) -> str:
    """Write a notice as a quotation, so that it is not taken for what the model said."""
    return "\n".join(f"> {line}".rstrip() for line in f"**{level.capitalize()}:** {text}".split("\n"))

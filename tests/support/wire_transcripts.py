"""Turns of many kinds as the chunks that an editor gets, always the same to the byte.

The core's machine plays them by hand, the server's own translation makes the chunks; only time stands still.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from jp_lsp.conversation.ids import CallId
from jp_lsp.render.chunk import Chunk, PromptClosed, Structured
from jp_lsp.render.options import DisplayOptions, Labels, ReasoningDisplay
from jp_lsp.server.chunk_to_wire import Origin, chunk_to_wire, prompt_open
from jp_lsp.server.shown_to_chunks import ShownToChunks
from jp_lsp.tools.decision import Decision
from jp_lsp.tools.outcome import Failed
from jp_lsp.turn import actions
from jp_lsp.turn.inputs import Answered, TimerElapsed, ToolEnded, ToolProgressed
from jp_lsp.turn.stream_event import Flush, MaxTokens, Refused
from tests.support.calls import spec
from tests.support.turns import CONVERSATION, Desk, done, failure, message, reasoning, structured, tool_call

WireChunk = Mapping[str, Any]
ASKED = {name: spec(name) for name in ("look", "see")}
FREE = {name: spec(name, run_mode="unattended") for name in ("look", "see")}


def wire_chunks(desk: Desk, options: DisplayOptions | None = None) -> list[WireChunk]:
    """Give what a client gets of a turn; one question at a time is shown, as the server does it."""
    sent: list[WireChunk] = []
    translate = ShownToChunks(lambda: len(sent) + 1, lambda: 1500)
    translate.configure(options or DisplayOptions(), Labels("You", "Assistant", "test/big"))
    waiting: list[Decision] = []

    def send(chunks: list[Chunk]) -> None:
        for chunk in chunks:
            sent.append(chunk_to_wire(chunk, len(sent) + 1, Origin("t", CONVERSATION, translate.cycle)))
            if isinstance(chunk, Structured) and chunk.part == "open":
                translate.value_seq = len(sent)

    def close(id: str, how: Literal["answered", "superseded", "withdrawn"]) -> None:
        is_visible = waiting[0].id == id
        waiting[:] = [decision for decision in waiting if decision.id != id]
        if is_visible:
            send([PromptClosed(id, how)])
            if waiting:
                send([prompt_open(waiting[0])])

    for action in desk.log:
        match action:
            case actions.Publish(what):
                send(translate.chunks(what))
            case actions.Ask(decision):
                waiting.append(decision)
                if len(waiting) == 1:
                    send([prompt_open(decision)])
            case actions.Withdraw(id, how) if any(decision.id == id for decision in waiting):
                close(id, how)
            case _:
                pass
    return sent


def _plain() -> Desk:
    text = "# Title\n\nA paragraph with *life*.\n\n- one\n- two\n\n```python\nx = 1\ny = 2\n```\n\nEnd."
    return Desk().start("What is it?").says(message(text), Flush(0), done())


def _reasoning() -> Desk:
    events = reasoning("I think.\n\nStill."), Flush(0), message("So it is.", 1), Flush(1), done()
    return Desk().start("Why?").says(*events)


def _still_streaming() -> Desk:
    return Desk().start("Go on").says(reasoning("Hm."), Flush(0), message("First.\n\nSecond.\n\nThi", 1))


def _two_tools() -> Desk:
    desk = Desk().start("Look", tools=FREE)
    calls = *tool_call(1, "c1", "look", '{"path": "a.txt"}'), *tool_call(2, "c2", "see")
    desk.says(message("I look."), Flush(0), *calls, done())
    desk.feed(ToolProgressed(CallId("c1"), "half", 50))
    desk.tool_returns("c2", "two\nlines").tool_returns("c1", Failed("no such file"))
    return desk.says(message("Seen."), Flush(0), done())


def _approvals() -> Desk:
    calls = *tool_call(0, "c1", "look", '{"path": "a.txt"}'), *tool_call(1, "c2", "see")
    desk = Desk().start("Look", tools=ASKED).says(*calls, done())
    return _answer(_answer(desk, 0, "run").tool_returns("c1", "one"), 1, "skip").says(
        message("Fine."), done()
    )


def _approval_open() -> Desk:
    return Desk().start("Look", tools=ASKED).says(*tool_call(0, "c1", "look", '{"path": "a.txt"}'), done())


def _answer(desk: Desk, index: int, choice: str) -> Desk:
    return desk.feed(Answered(desk.asked[index].id, choice, None))


def _menu_open() -> Desk:
    return Desk().start("Tell").says(message("One.\n\nTwo is unfin")).press()


def _menu_continue() -> Desk:
    return _menu_open().choose("continue").says(message("ished."), Flush(0), done())


def _reply() -> Desk:
    return _menu_open().choose("reply").choose(text="Shorter").says(message("Short."), Flush(0), done())


def _abort() -> Desk:
    return _menu_open().choose("abort")


def _abort_second_cycle() -> Desk:
    desk = Desk().start("Look", tools=FREE)
    desk.says(message("I look."), Flush(0), *tool_call(1, "c1", "look"), done()).tool_returns("c1", "one")
    return desk.says(message("Second cycle.\n\nmore")).press().choose("abort")


def _retry() -> Desk:
    desk = Desk().start("Try").says(message("First half. "), failure("transient", "reset"))
    return desk.feed(TimerElapsed()).says(message("Second half."), Flush(0), done())


def _failed() -> Desk:
    return Desk().start("Try").says(message("Step one."), failure("auth", "The key is wrong."))


def _refused() -> Desk:
    return Desk().start("Try").says(message("Well"), done(Refused("cyber", "No.")))


def _truncated() -> Desk:
    return Desk().start("Long").says(message("So long"), Flush(0), done(MaxTokens()))


def _structured() -> Desk:
    return Desk().start("Data").says(structured('{"a": 1}'), Flush(0), done())


def _tool_stop() -> Desk:
    desk = Desk().start("Look", tools=FREE).says(*tool_call(0, "c1", "look"), done()).press().choose("stop")
    return desk.feed(ToolEnded(CallId("c1")))


TRANSCRIPTS: dict[str, tuple[Callable[[], Desk], DisplayOptions]] = {
    "plain": (_plain, DisplayOptions()),
    "plain_in_parts": (_plain, DisplayOptions(granularity="raw")),
    "reasoning": (_reasoning, DisplayOptions()),
    "reasoning_hidden": (_reasoning, DisplayOptions(reasoning=ReasoningDisplay("timer"))),
    "still_streaming": (_still_streaming, DisplayOptions()),
    "two_tools": (_two_tools, DisplayOptions()),
    "approvals": (_approvals, DisplayOptions()),
    "approval_open": (_approval_open, DisplayOptions()),
    "menu_open": (_menu_open, DisplayOptions()),
    "menu_continue": (_menu_continue, DisplayOptions()),
    "reply": (_reply, DisplayOptions()),
    "abort": (_abort, DisplayOptions()),
    "abort_second_cycle": (_abort_second_cycle, DisplayOptions()),
    "retry": (_retry, DisplayOptions()),
    "failed": (_failed, DisplayOptions()),
    "refused": (_refused, DisplayOptions()),
    "truncated": (_truncated, DisplayOptions()),
    "structured": (_structured, DisplayOptions()),
    "tool_stop": (_tool_stop, DisplayOptions()),
}

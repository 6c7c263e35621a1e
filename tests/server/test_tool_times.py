"""Tools that take a while show that they run (query pipeline 3.9)."""

import pytest

from jp_lsp.conversation.ids import CallId
from jp_lsp.render.chunk import Chunk, ToolProgress
from jp_lsp.server.shown_to_chunks import ShownToChunks
from jp_lsp.turn.outcome import Outcome
from jp_lsp.turn.shown import ResultShown, ToolRunning, TurnEnded

CALL = CallId("c1")


class Watch:
    """A query's view with a clock that the test moves."""

    def __init__(self) -> None:
        self.now_ms = 10_000
        self._seq = 0
        self.view = ShownToChunks(lambda: self._seq + 1, lambda: self.now_ms)

    def tick(self, after_ms: int, *, shows_tools: bool = True) -> list[tuple[int, str | None]]:
        self.now_ms += after_ms
        return progress(self.view.tick(shows_tools=shows_tools))


def progress(chunks: list[Chunk]) -> list[tuple[int, str | None]]:
    return [(chunk.elapsed_ms, chunk.message) for chunk in chunks if isinstance(chunk, ToolProgress)]


def running() -> Watch:
    watch = Watch()
    assert progress(watch.view.chunks(ToolRunning(CALL, "look"))) == [(0, None)]
    return watch


@pytest.mark.requirement("R95")
def test_a_tool_that_takes_a_while_shows_that_it_runs() -> None:
    watch = running()
    assert watch.tick(2900) == []
    assert watch.tick(100) == [(3000, None)]
    assert watch.tick(500) == [(3500, None)]


def test_what_it_told_last_is_shown_again() -> None:
    watch = running()
    watch.now_ms += 1000
    assert progress(watch.view.chunks(ToolRunning(CALL, "look", "half", 50))) == [(1000, "half")]
    assert watch.tick(2000) == [(3000, "half")]


def test_a_second_pass_begins_anew() -> None:
    watch = running()
    watch.now_ms += 5000
    assert progress(watch.view.chunks(ToolRunning(CALL, "look"))) == [(0, None)]
    assert watch.tick(1000) == []


def test_nothing_is_shown_over_a_question() -> None:
    watch = running()
    assert watch.tick(4000, shows_tools=False) == []
    assert watch.tick(500) == [(4500, None)]


@pytest.mark.parametrize("end", [ResultShown(CALL, "seen", False), TurnEnded(Outcome.STOPPED, True)])
def test_nothing_is_shown_of_a_tool_that_is_over(end: ResultShown | TurnEnded) -> None:
    watch = running()
    watch.view.chunks(end)
    assert watch.tick(9000) == []

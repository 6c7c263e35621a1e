"""How thoughts are shown (query pipeline 5.6)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.render.chunk import Notice, ReasoningIndicator, Text
from jp_lsp.render.options import DisplayOptions, ReasoningDisplay, ReasoningMode
from tests.support.view import Watcher


def watch(mode: ReasoningMode, limit: int = 100, *, shows_ephemeral: bool = True) -> Watcher:
    watcher = Watcher(
        DisplayOptions(reasoning=ReasoningDisplay(mode, limit), shows_ephemeral=shows_ephemeral)
    )
    watcher.begin()
    return watcher


def indicators(watcher: Watcher) -> list[ReasoningIndicator]:
    return [chunk for chunk in watcher.chunks if isinstance(chunk, ReasoningIndicator)]


@pytest.mark.requirement("R197")
def test_full_shows_all() -> None:
    watcher = watch("full")
    watcher.reasoning("I ", "think\n\n", "so")
    watcher.message("Yes")
    watcher.end()
    assert watcher.text == "I think\n\nso\n\n---\n\nYes"
    assert [chunk.region for chunk in watcher.durable if isinstance(chunk, Text)] == [
        "message",
        "reasoning",
        "reasoning",
        "message",
    ]
    assert indicators(watcher) == []


@pytest.mark.requirement("R196", "R187")
def test_hidden_shows_that_the_model_thinks_and_no_more() -> None:
    watcher = watch("hidden")
    watcher.message("Wait")
    watcher.reasoning("secret")
    assert watcher.text == "Wait"
    assert watcher.slots["status"].detail == "thinking"  # type: ignore[union-attr]
    watcher.reasoning(" secret")
    watcher.message("Yes\n\n")
    watcher.end()
    assert watcher.text == "Wait\n\nYes"
    assert "status" not in watcher.slots
    assert "secret" not in repr(watcher.chunks)
    assert indicators(watcher) == []


TRUNCATED = [
    ("below the limit", 5, ["abcd"], "abcd\n\n---\n\nM"),
    ("just the limit", 5, ["abcde"], "abcde\n\n---\n\nM"),
    ("one more", 5, ["abcde", "f"], "abcde\n\n...\n\n---\n\nM"),
    ("much more", 5, ["abcdefgh", "ijk", "\n\nl"], "abcde\n\n...\n\n---\n\nM"),
    ("code points", 2, ["é😀語"], "é😀\n\n...\n\n---\n\nM"),
    ("line ends count once", 4, ["a\r\nb", "\r", "\nc"], "a\nb\n\n...\n\n---\n\nM"),
    ("an open fence is closed", 8, ["```\nabcdef"], "`````\nabcd\n`````\n\n...\n\n---\n\nM"),
    ("nothing", 0, ["a"], "...\n\n---\n\nM"),
    ("less than nothing", -3, ["a"], "...\n\n---\n\nM"),
]


@pytest.mark.requirement("R198")
@pytest.mark.parametrize(
    ("limit", "parts", "expected"), [c[1:] for c in TRUNCATED], ids=[c[0] for c in TRUNCATED]
)
def test_truncate(limit: int, parts: list[str], expected: str) -> None:
    watcher = watch("truncate", limit)
    watcher.reasoning(*parts)
    watcher.message("M")
    watcher.end()
    assert watcher.text == expected


@pytest.mark.requirement("R198")
def test_the_limit_is_for_the_turn_and_a_retry_does_not_fill_it_up() -> None:
    """Trap 103; thoughts that come when it is spent show nothing, and no rule."""
    watcher = watch("truncate", 5)
    watcher.reasoning("abc")
    watcher.message("M\n\n")
    watcher.see(watcher.view.attempt_begin())
    watcher.reasoning("defg")
    watcher.message("N\n\n")
    watcher.reasoning("hij")
    watcher.message("O")
    watcher.end()
    assert watcher.text == "abc\n\n---\n\nM\n\nde\n\n...\n\n---\n\nN\n\nO"
    watcher.begin("again", 2)
    watcher.reasoning("klmno")
    watcher.end()
    assert watcher.text.endswith("klmno")


@pytest.mark.requirement("R198")
@given(st.lists(st.text("ab\n` \r", max_size=8), max_size=8), st.integers(0, 20))
def test_truncate_does_not_depend_on_the_cut(parts: list[str], limit: int) -> None:
    cut, whole = watch("truncate", limit), watch("truncate", limit)
    cut.reasoning(*parts)
    whole.reasoning("".join(parts))
    for watcher in (cut, whole):
        watcher.message("M")
        watcher.end()
    assert cut.text == whole.text


@pytest.mark.requirement("R199")
def test_progress_grows_with_each_part() -> None:
    watcher = watch("progress")
    watcher.reasoning("a", "b", "c")
    assert [indicator.ticks for indicator in indicators(watcher)] == [1, 2, 3]
    assert watcher.slots["reasoning"] == ReasoningIndicator("progress", 3)
    watcher.message("M")
    assert "reasoning" not in watcher.slots
    watcher.end()
    assert watcher.text == "M"


@pytest.mark.requirement("R200")
def test_static_shows_one_indicator_for_each_region() -> None:
    watcher = watch("static")
    watcher.reasoning("a", "b")
    watcher.message("M")
    watcher.reasoning("c", "d")
    watcher.end()
    assert [indicator.is_clear for indicator in indicators(watcher)] == [False, True, False, True]
    assert watcher.text == "M"


@pytest.mark.requirement("R200")
@pytest.mark.parametrize("mode", ["static", "progress", "timer", "summary"])
def test_a_client_without_states_gets_one_line(mode: ReasoningMode) -> None:
    watcher = watch(mode, shows_ephemeral=False)
    watcher.reasoning("a", "b")
    watcher.message("M")
    watcher.end()
    assert watcher.text == "reasoning...\n\nM"


def test_the_timer_starts_late_and_ticks_slowly() -> None:
    watcher = watch("timer")
    for moment in (1000, 1200, 1299):
        watcher.see(watcher.view.part("reasoning", "x", elapsed_ms=moment))
    assert indicators(watcher) == []
    watcher.see(watcher.view.part("reasoning", "x", elapsed_ms=1300))
    watcher.see(watcher.view.tick(1799))
    watcher.see(watcher.view.part("reasoning", "x", elapsed_ms=1799))
    watcher.see(watcher.view.tick(1800))
    assert [indicator.elapsed_ms for indicator in indicators(watcher)] == [300, 800]
    watcher.see(watcher.view.part("message", "M", elapsed_ms=2000))
    assert indicators(watcher)[-1].is_clear
    watcher.see(watcher.view.tick(9000))
    assert len(indicators(watcher)) == 3
    watcher.see(watcher.view.part("reasoning", "x", elapsed_ms=9000))
    watcher.see(watcher.view.tick(9300))
    assert indicators(watcher)[-1] == ReasoningIndicator("timer", 0, 300)


@pytest.mark.requirement("R201")
def test_a_summary_comes_whenever_it_is_ready_and_names_its_region() -> None:
    """Trap 110: it neither fails nor holds anything up."""
    watcher = watch("summary")
    watcher.reasoning("long ", "thought")
    assert watcher.slots["reasoning"] == ReasoningIndicator("static")
    assert watcher.view._flow.reasoning.region_count == 1
    watcher.message("The answer.\n\n")
    assert watcher.text == "The answer."
    watcher.reasoning("more")
    assert watcher.view._flow.reasoning.region_count == 2
    watcher.see(watcher.view.reasoning_summary(1, "It \x1b[31mthought."))
    notice = watcher.chunks[-1]
    assert isinstance(notice, Notice)
    assert (notice.code, notice.text, notice.region_index) == ("reasoning_summary", "It thought.", 1)
    watcher.end()
    assert watcher.text == "The answer."


@pytest.mark.requirement("R201")
def test_an_unknown_mode_counts_as_static_and_is_reported_once() -> None:
    watcher = watch("hologram")  # type: ignore[arg-type]
    watcher.reasoning("a", "b")
    watcher.message("M")
    watcher.end()
    notices = [chunk for chunk in watcher.chunks if isinstance(chunk, Notice)]
    assert [notice.code for notice in notices] == ["reasoning_display"]
    assert "hologram" in notices[0].text
    assert next(iter(indicators(watcher))).mode == "static"
    assert watcher.text == "M"

"""The painter: exact output for each operation, and nothing left on the screen but the text."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.terminal.operations import EndLine, HideStatus, Link, Operation, Say, ShowStatus, Write
from jp_lsp.terminal.painter import Look, Output, Painter
from tests.support.terminal_emulator import TerminalEmulator

PLAIN = Look(has_colour=False)
DUMB = Look(can_erase=False, has_colour=False)
PIPE = Look(is_answer_on_screen=False, is_aside_on_screen=False, shows_status=False, can_erase=False)
FILE = Look(is_answer_on_screen=False, has_colour=False)


def paint(look: Look, *operations: Operation, columns: int = 20) -> list[tuple[str, str]]:
    painter = Painter(look, columns)
    painted = [output for operation in operations for output in painter.paint(operation)]
    return join(painted)


def join(outputs: list[Output]) -> list[tuple[str, str]]:
    """Put together what goes to the same stream in a row."""
    return [
        (stream, "".join(output.text for output in group))
        for stream, group in itertools.groupby(outputs, lambda output: output.stream)
    ]


CASES = {
    "text is written as it comes": (
        PLAIN,
        [Write("Hel"), Write("lo\n")],
        [("answer", "Hello\n")],
    ),
    "a status at the margin is replaced and removed": (
        PLAIN,
        [ShowStatus("| 1 s"), ShowStatus("/ 2 s"), ShowStatus("/ 2 s"), HideStatus(), Write("Hi")],
        [("screen", "| 1 s\r\x1b[K/ 2 s\r\x1b[J"), ("answer", "Hi")],
    ),
    "a status below an unfinished line, and back into the line": (
        PLAIN,
        [Write("The answer"), ShowStatus("| 1 s"), Write(" is 42")],
        [("answer", "The answer"), ("screen", "\r\n| 1 s\r\x1b[J\x1b[A\x1b[11G"), ("answer", " is 42")],
    ),
    "below a line that is just full": (
        PLAIN,
        [Write("x" * 20), ShowStatus("| 1 s"), Write("y")],
        [("answer", "x" * 20), ("screen", "\r\n| 1 s\r\x1b[J"), ("answer", "y")],
    ),
    "a line that was full and is over does not end twice": (
        PLAIN,
        [Write("x" * 20), ShowStatus("| 1 s"), Write("\ny")],
        [("answer", "x" * 20), ("screen", "\r\n| 1 s\r\x1b[J"), ("answer", "y")],
    ),
    "a status is cut to the width": (
        PLAIN,
        [ShowStatus("s" * 30)],
        [("screen", "s" * 18 + "…")],
    ),
    "wide characters count twice": (
        PLAIN,
        [Write("日本"), ShowStatus("日" * 12), HideStatus()],
        [("answer", "日本"), ("screen", "\r\n" + "日" * 9 + "…\r\x1b[J\x1b[A\x1b[5G")],
    ),
    "nothing is drawn below an emoji that nobody can measure": (
        PLAIN,
        [Write("👩\u200d💻"), ShowStatus("| 1 s"), Write("\n"), ShowStatus("/ 2 s")],
        [("answer", "👩\u200d💻\n"), ("screen", "/ 2 s")],
    ),
    "a remark in the middle of a line takes a line of its own": (
        PLAIN,
        [Write("The an"), Say("warning: slow", "warning"), Write("swer")],
        [("answer", "The an"), ("aside", "\nwarning: slow\n"), ("answer", "swer")],
    ),
    "thoughts and tools are dimmed, line by line": (
        Look(),
        [Write("Hm.\nSo.", "thought"), Write("\n\nYes.")],
        [("answer", "\x1b[2mHm.\x1b[0m\n\x1b[2mSo.\x1b[0m\n\nYes.")],
    ),
    "remarks have the colour of their weight": (
        Look(),
        [Say("a"), Say("b", "warning"), Say("c", "error")],
        [("aside", "\x1b[2ma\x1b[0m\n\x1b[33mb\x1b[0m\n\x1b[31mc\x1b[0m\n")],
    ),
    "control sequences are taken out once more": (
        PLAIN,
        [Write("a\x1b[2Jb\x9b1mc\x07\rd\n"), Say("\x1b]0;x\x07")],
        [("answer", "a[2Jb1mcd\n"), ("aside", "]0;x\n")],
    ),
    "a link is the terminal's own": (
        Look(),
        [Write("see ", "tool"), Link("all", "file:///r", "tool"), ShowStatus("| 1 s"), Write("!")],
        [
            ("answer", "\x1b[2msee \x1b[0m\x1b]8;;file:///r\x1b\\\x1b[2mall\x1b[0m\x1b]8;;\x1b\\"),
            ("screen", "\r\n\x1b[2m| 1 s\x1b[0m\r\x1b[J\x1b[A\x1b[8G"),
            ("answer", "!"),
        ],
    ),
    "a link that no terminal would take is text": (
        PLAIN,
        [Link("a\x1b", "file:///r\x1b\\\x1b]8;;x y")],
        [("answer", "[a](file:///r\\]8;;x y)")],
    ),
    "a dumb terminal and a pipe get text for a link": (
        DUMB,
        [Link("all", "file:///r")],
        [("answer", "[all](file:///r)")],
    ),
    "a dumb terminal gets no status": (
        DUMB,
        [ShowStatus("| 1 s"), Write("Hi"), ShowStatus("| 1 s"), HideStatus(), EndLine()],
        [("answer", "Hi\n")],
    ),
    "a pipe gets the answer alone": (
        PIPE,
        [ShowStatus("| 1 s"), Write("Hi"), Say("note"), Write(" you"), EndLine(), EndLine()],
        [("answer", "Hi"), ("aside", "note\n"), ("answer", " you\n")],
    ),
    "thoughts beside a pipe go to standard error": (
        PIPE,
        [Write("Hm", "thought"), Write("Yes"), Write(", sure", "thought"), Say("note"), EndLine()],
        [("aside", "Hm"), ("answer", "Yes"), ("aside", ", sure\nnote\n"), ("answer", "\n")],
    ),
    "an answer in a file leaves the status on standard error alone": (
        FILE,
        [ShowStatus("| 1 s"), Write("Hi"), ShowStatus("/ 2 s"), EndLine()],
        [
            ("screen", "| 1 s"),
            ("answer", "Hi"),
            ("screen", "\r\x1b[K/ 2 s\r\x1b[J"),
            ("answer", "\n"),
        ],
    ),
    "the end of a line is written once": (
        PLAIN,
        [Write("Hi"), EndLine(), EndLine(), Write("\n"), EndLine()],
        [("answer", "Hi\n\n")],
    ),
}


@pytest.mark.requirement("R342")
@pytest.mark.parametrize(("look", "operations", "expected"), CASES.values(), ids=CASES)
def test_output(look: Look, operations: list[Operation], expected: list[tuple[str, str]]) -> None:
    assert paint(look, *operations) == expected


def screen_after(painter: Painter, outputs: list[Output]) -> str:
    terminal = TerminalEmulator(painter.columns)
    for output in outputs:
        terminal.feed(output.text)
    return terminal.text


def test_a_question_comes_below_the_text_and_goes_without_a_trace() -> None:
    painter = Painter(PLAIN, 30)
    outputs = painter.paint(Write("The answer"))
    outputs += painter.open_question("What next?", ["[c] Continue   [s] Stop"], "> ", is_typing=False)
    assert screen_after(painter, outputs) == "The answer\nWhat next?\n[c] Continue   [s] Stop\n>"

    outputs += painter.close_question(None)
    outputs += painter.paint(Write(" is 42."))
    assert screen_after(painter, outputs) == "The answer is 42."


def test_text_goes_on_above_an_open_question() -> None:
    painter = Painter(PLAIN, 30)
    outputs = painter.paint(Write("Let me"))
    outputs += painter.open_question("Run tool ls?", ["[n] Skip   [y] Run"], "> ", is_typing=False)
    outputs += painter.paint(Write(" look.\n"))
    outputs += painter.paint(ShowStatus("| never beside a question"))
    assert screen_after(painter, outputs) == "Let me look.\nRun tool ls?\n[n] Skip   [y] Run\n>"

    outputs += painter.close_question("Run tool ls? Run")
    outputs += painter.paint(Write("Done."))
    assert screen_after(painter, outputs) == "Let me look.\nRun tool ls? Run\nDone."


def test_a_question_that_is_wider_than_the_terminal_goes_without_a_trace() -> None:
    painter = Painter(PLAIN, 10)
    outputs = painter.paint(Write("abc"))
    outputs += painter.open_question("y" * 25, ["z" * 11, ""], "> ", is_typing=False)
    outputs += painter.close_question(None)
    outputs += painter.paint(Write("def"))
    assert screen_after(painter, outputs) == "abcdef"


def test_a_typed_answer_stays_and_text_goes_on_below_it() -> None:
    painter = Painter(PLAIN, 30)
    outputs = painter.paint(Write("The answer"))
    outputs += painter.open_question("Your reply", [], "> ", is_typing=True)
    assert painter.is_typing
    outputs.append(Output("screen", "shorter\n"))  # the terminal's own echo
    outputs += painter.leave_question(is_line_complete=True)
    outputs += painter.paint(Write("Yes."))
    assert not painter.is_typing
    assert screen_after(painter, outputs) == "The answer\nYour reply\n> shorter\nYes."


def test_a_question_that_is_withdrawn_while_somebody_types_leaves_the_line() -> None:
    painter = Painter(PLAIN, 30)
    outputs = painter.open_question("Your reply", [], "> ", is_typing=True)
    outputs.append(Output("screen", "sho"))
    outputs += painter.leave_question(is_line_complete=False)
    outputs += painter.paint(Write("Yes."))
    assert screen_after(painter, outputs) == "Your reply\n> sho\nYes."


def test_after_a_resize_nothing_is_guessed() -> None:
    painter = Painter(PLAIN, 20)
    outputs = painter.paint(Write("The answer"))
    painter.resize(30)
    assert painter.paint(ShowStatus("| 1 s")) == []

    outputs += painter.paint(Write(" is\n42"))
    outputs += painter.paint(ShowStatus("| 1 s"))
    painter.resize(40)
    removed = painter.paint(HideStatus())
    assert removed == [Output("screen", "\r\x1b[J")]
    assert screen_after(painter, outputs + removed) == "The answer is\n42"


def test_tidying_leaves_the_cursor_at_the_margin() -> None:
    painter = Painter(PLAIN, 20)
    outputs = painter.paint(Write("The answer"))
    outputs += painter.paint(ShowStatus("| 1 s"))
    outputs += painter.tidy()
    assert screen_after(painter, [*outputs, Output("screen", "$ ")]) == "The answer\n$"
    assert painter.tidy() == []


ACCENT = "\u0301"
# An accent that comes alone, after its letter filled a line and something was drawn below, is lost; no
# terminal lets the cursor go back to where it would combine.
TEXT = st.text(alphabet=f"ab \n日é{ACCENT}", max_size=30).filter(lambda text: not text.startswith(ACCENT))
STEP = st.one_of(
    TEXT.map(Write),
    st.text(alphabet="xyz本", max_size=40).map(ShowStatus),
    st.just(HideStatus()),
    st.just("question"),
)


@given(st.integers(4, 25), st.lists(STEP, max_size=20))
def test_whatever_comes_and_goes_only_the_text_stays(
    columns: int, steps: list[Write | ShowStatus | str]
) -> None:
    """Text with any number of statuses and questions in between looks like the text alone."""
    painter = Painter(PLAIN, columns)
    terminal, alone = TerminalEmulator(columns), TerminalEmulator(columns)
    for step in steps:
        if isinstance(step, str):
            outputs = painter.open_question("What next, please?", ["[c] Go"], "> ", is_typing=False)
            outputs += painter.close_question(None)
        else:
            outputs = painter.paint(step)
        for output in outputs:
            terminal.feed(output.text)
        if isinstance(step, Write):
            alone.feed(step.text)
    for output in painter.paint(HideStatus()):
        terminal.feed(output.text)
    assert terminal.lines == alone.lines

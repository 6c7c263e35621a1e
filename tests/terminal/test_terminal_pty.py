"""`jp-lsp query` on a real terminal: keys, menus, signals, and what the screen looks like then."""

import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.support.terminal_process import (
    ASKED,
    MENU,
    MENU_QUESTION,
    PtyClient,
    Scripted,
    Step,
    ask,
    closed,
    done,
    pressed,
    say,
    status,
    wait_until,
)

Make = Callable[[Sequence[Step]], Scripted]


def menu_opens() -> list[Step]:
    return [*pressed("menu", "interrupted_stream"), ask("d1", "menu", MENU_QUESTION, *MENU)]


def test_the_answer_is_shown_with_a_status_that_goes_away(scripted: Make) -> None:
    with PtyClient(
        scripted([ASKED, status("waiting for first tokens"), {"await": "jp/interrupt"}]).command("Why?"),
        Path.cwd(),
    ) as client:
        client.wait_for("waiting for first tokens")
        assert "⠋" <= client.screen[0] <= "⣿"

    steps = [
        ASKED,
        status("waiting for first tokens"),
        say("Hm.", "reasoning"),
        say("\n\n---\n\nBe"),
        say("cause."),
        done(usage={"inputTokens": 1204, "outputTokens": 18}),
    ]
    with PtyClient(scripted(steps).command("Why?"), Path.cwd()) as client:
        assert client.wait() == 0
        *shown, last = client.screen.split("\n")
        assert shown == ["Hm.", "", "---", "", "Because."]
        assert last.startswith("jp-c1 · 1,204 in, 18 out · ")
        assert client.mode == client.found


def test_colours_are_for_terminals_that_have_them(scripted: Make) -> None:
    steps = [ASKED, say("Hm.", "reasoning"), say("\n\nYes."), done()]
    for env, has_colour in [({"NO_COLOR": ""}, True), ({}, False), ({"NO_COLOR": "", "TERM": "dumb"}, False)]:
        with PtyClient(scripted(steps).command("Why?"), Path.cwd(), env=env) as client:
            assert client.wait() == 0
            assert ("\x1b[2mHm.\x1b[0m" in client.seen) is has_colour
            assert ("\x1b" in client.seen) <= (env.get("TERM") != "dumb")


@pytest.mark.requirement("S4", "R6", "R11", "R128", "R139")
def test_continue_takes_the_menu_away_and_the_text_goes_on(scripted: Make) -> None:
    steps = [
        ASKED,
        say("The answer"),
        *menu_opens(),
        {"await": "d1"},
        closed("d1", "answered"),
        say(" is 42."),
        done(),
    ]
    script = scripted(steps)
    with PtyClient(script.command("Why?"), Path.cwd()) as client:
        client.wait_for("The answer")
        client.type("\x03")
        client.wait_for("\n>")
        assert client.screen.split("\n") == [
            "The answer",
            MENU_QUESTION,
            "[c] Continue   [r] Reply   [s] Stop   [a] Abort (discard)",
            ">",
        ]
        client.type("c")
        assert client.wait() == 0
        assert client.lines == ["The answer is 42."]
    assert script.answers() == [{"action": "continue"}]
    assert script.messages("jp/interrupt") == [{"turn": "jp-terminal"}]


@pytest.mark.requirement("S4", "R136", "R137")
@pytest.mark.parametrize(
    ("key", "action", "outcome", "sentence"),
    [
        ("s", "stop", "stopped", "Stopped."),
        ("3", "stop", "stopped", "Stopped."),
        ("zqa", "abort", "aborted", "Discarded."),
    ],
)
def test_stop_and_abort(scripted: Make, key: str, action: str, outcome: str, sentence: str) -> None:
    script = scripted(
        [
            ASKED,
            say("The answer"),
            *menu_opens(),
            {"await": "d1"},
            closed("d1", "answered"),
            done(outcome=outcome),
        ]
    )
    with PtyClient(script.command("Why?"), Path.cwd()) as client:
        client.wait_for("The answer")
        client.type("\x03")
        client.wait_for("\n>")
        for one in key:  # what is on no button is passed over
            client.type(one)
        assert client.wait() == 0
        assert client.lines == ["The answer", sentence]
    assert script.answers() == [{"action": action}]


@pytest.mark.parametrize(
    ("key", "answer"), [("\r", {"action": "continue"}), ("\x1b", {"action": "continue"}), ("\x04", None)]
)
def test_other_keys_of_a_menu(scripted: Make, key: str, answer: dict[str, str] | None) -> None:
    script = scripted([ASKED, say("The answer"), *menu_opens(), {"await": "d1"}, done()])
    with PtyClient(script.command("Why?"), Path.cwd()) as client:
        client.wait_for("The answer")
        client.type("\x03")
        client.wait_for("\n>")
        client.type("\x1b[A")  # an arrow is no Escape
        client.type(key)
        assert client.wait() == 0
    assert script.answers() == [answer]


@pytest.mark.requirement("R138", "S24")
def test_reply_asks_for_a_line_and_shows_the_new_turn(scripted: Make) -> None:
    begin = {"chunk": {"type": "turn_begin", "class": "control", "turnIndex": 2, "replyTo": 1}}
    user = {"chunk": {"type": "role", "class": "durable", "md": "## me", "role": "user", "label": "me"}}
    assistant = {
        "chunk": {"type": "role", "class": "durable", "md": "## it", "role": "assistant", "label": "it"}
    }
    script = scripted(
        [
            ASKED, say("The long answer"), *menu_opens(), {"await": "d1"}, closed("d1", "answered"),
            ask("d2", "text", "Your reply"), {"await": "d2"}, closed("d2", "answered"),
            begin, user, say("\n\nshorter"), assistant, say("\n\n42."), done(),
        ]
    )  # fmt: skip
    with PtyClient(script.command("Why?"), Path.cwd(), env={"EDITOR": "true"}) as client:
        client.wait_for("The long answer")
        client.type("\x03")
        client.wait_for("\n>")
        client.type("r")
        client.wait_for("Your reply")
        client.wait_for("\n>")
        client.type("short\x7f\x7fhorter\n")
        assert client.wait() == 0
        assert client.lines == [
            "The long answer",
            "Your reply (a line; `e` alone opens your editor)",
            "> shohorter",
            "",
            "42.",
        ]
    assert script.answers() == [{"action": "reply"}, {"text": "shohorter"}]


@pytest.mark.requirement("S6", "R130", "R132")
def test_a_press_in_the_menu_ends_the_turn(scripted: Make) -> None:
    script = scripted(
        [
            ASKED,
            say("The answer"),
            *menu_opens(),
            *pressed("escalated"),
            closed("d1", "withdrawn"),
            {"await": "d1"},
            say(" is"),
            done(outcome="interrupted"),
        ]
    )
    with PtyClient(script.command("Why?"), Path.cwd()) as client:
        client.wait_for("The answer")
        client.type("\x03")
        client.wait_for("\n>")
        client.type("\x03")
        assert client.wait() == 130
        assert client.lines == ["The answer is", "Interrupted."]
        assert client.mode == client.found
    assert script.messages("jp/interrupt") == [{"turn": "jp-terminal"}] * 2
    assert script.answers() == [None]


@pytest.mark.requirement("R131")
def test_the_third_press_leaves_at_once(scripted: Make) -> None:
    script = scripted(
        [ASKED, say("The answer"), *menu_opens(), *pressed("escalated"), say(", ending"), {"deaf": True}]
    )
    with PtyClient(script.command("Why?"), Path.cwd()) as client:
        client.wait_for("The answer")
        client.type("\x03")
        client.wait_for("\n>")
        client.type("\x03")
        client.wait_for("ending")
        client.type("\x03")
        assert client.wait() == 130
        assert client.mode == client.found
    assert len(script.messages("jp/interrupt")) == 2


@pytest.mark.requirement("R131")
def test_three_presses_leave_a_server_that_does_not_answer(scripted: Make) -> None:
    steps = [
        ASKED,
        say("A"),
        {"await": "jp/interrupt"},
        say("B"),
        {"await": "jp/interrupt"},
        say("C"),
        {"deaf": True},
    ]
    with PtyClient(scripted(steps).command("Why?"), Path.cwd()) as client:
        for mark in "ABC":
            client.wait_for(mark)
            client.type("\x03")
        assert client.wait() == 130
        assert client.screen == "ABC"


@pytest.mark.requirement("R135")
def test_quit_leaves_at_once_and_gives_the_terminal_back(scripted: Make) -> None:
    with PtyClient(
        scripted([ASKED, say("The answer"), {"deaf": True}]).command("Why?"), Path.cwd()
    ) as client:
        client.wait_for("The answer")
        client.type("\x1c")
        assert client.wait() == 131
        assert client.mode == client.found


def test_without_a_text_it_is_asked_for(scripted: Make) -> None:
    script = scripted([ASKED, say("Because."), done()])
    with PtyClient(script.command(), Path.cwd()) as client:
        client.wait_for("What do you want to ask?")
        client.wait_for("\n>")
        client.type("Why?\n")
        assert client.wait() == 0
    assert script.messages("jp/query")[0]["text"] == "Why?"
    assert "interactive" not in script.messages("jp/query")[0]


@pytest.mark.requirement("R235")
def test_who_gives_no_text_is_not_asked_for_it_again(scripted: Make) -> None:
    script = scripted([ASKED, done()])
    with PtyClient(script.command(), Path.cwd()) as client:
        client.wait_for("What do you want to ask?")
        client.wait_for("\n>")
        client.type("\x04")
        assert client.wait() == 0
    (params,) = script.messages("jp/query")
    assert (params.get("text"), params["interactive"]) == (None, False)


def test_waiting_for_standard_input_is_told(scripted: Make) -> None:
    """Who forgot that something else holds the pipe open must not wonder what is going on."""
    script = scripted([ASKED, say("Because."), done()])
    read, write = os.pipe()
    try:
        with PtyClient(script.command("Why?"), Path.cwd(), stdin=read) as client:
            client.wait_for("reading standard input")
            os.write(write, b"x = 1")
            os.close(write)
            assert client.wait() == 0
            assert client.lines == ["Because."]
    finally:
        os.close(read)
    assert script.messages("jp/query")[0]["text"] == "Why?\n\nx = 1"


def test_a_dumb_terminal_is_asked_by_lines(scripted: Make) -> None:
    script = scripted(
        [
            ASKED,
            say("The answer"),
            *menu_opens(),
            {"await": "d1"},
            closed("d1", "answered"),
            say(" is 42."),
            done(),
        ]
    )
    with PtyClient(script.command("Why?"), Path.cwd(), env={"TERM": "dumb"}) as client:
        client.wait_for("The answer")
        client.signal(signal.SIGINT)
        client.wait_for("\n>")
        client.type("bogus\n")
        client.wait_for("is none of them")
        client.type("cont\n")
        assert client.wait() == 0
        assert "\x1b" not in client.seen
        assert client.lines[-1] == " is 42."
    assert script.answers() == [{"action": "continue"}]


def test_an_answer_into_a_pipe_leaves_the_terminal_to_whoever_reads_it(scripted: Make) -> None:
    """A pager may be at the other end: no status, and Ctrl+C stops without a menu."""
    script = scripted([ASKED, status("sending"), *pressed("action", action="stop"), done(outcome="stopped")])
    read, write = os.pipe()
    try:
        with PtyClient(script.command("Why?"), Path.cwd(), stdout=write) as client:
            os.close(write)
            wait_until(lambda: bool(script.messages("jp/query")))
            client.signal(signal.SIGINT)
            assert client.wait() == 130
            assert client.lines == ["Stopped."]
    finally:
        os.close(read)


def test_no_input_means_no_questions(scripted: Make) -> None:
    script = scripted([ASKED, done()])
    with PtyClient(script.command("--no-input", "Why?"), Path.cwd()) as client:
        assert client.wait() == 0
    assert script.messages("jp/query")[0]["interactive"] is False


def test_a_resize_does_not_break_the_text(scripted: Make) -> None:
    script = scripted(
        [
            ASKED,
            say("x" * 70),
            {"await": "jp/interrupt"},
            say("y" * 10 + "\n"),
            status("thinking"),
            {"await": "jp/interrupt"},
            say("end\n"),
            done(),
        ]
    )
    with PtyClient(script.command("Why?"), Path.cwd(), columns=40) as client:
        client.wait_for("x" * 30)
        client.resize(50)
        client.type("\x03")
        client.wait_for("yyyy")
        client.wait_for("thinking")
        client.type("\x03")
        assert client.wait() == 0
        assert client.lines == ["x" * 40, "x" * 30 + "y" * 10, "end"]


def test_suspended_and_continued(scripted: Make) -> None:
    """Ctrl+Z gives the terminal back; going on takes it again, with the question that was open."""
    script = scripted([ASKED, say("The answer"), *menu_opens(), {"await": "d1"}, done()])
    with PtyClient(script.command("Why?"), Path.cwd()) as client:
        client.wait_for("The answer")
        client.type("\x03")
        client.wait_for("\n>")
        taken = client.mode
        client.signal(signal.SIGTSTP)
        os.waitpid(client.process.pid, os.WUNTRACED)
        assert client.mode == client.found
        assert client.found != taken
        client.signal(signal.SIGCONT)
        wait_until(lambda: client.mode == taken)
        client.type("c")
        assert client.wait() == 0
    assert script.answers() == [{"action": "continue"}]

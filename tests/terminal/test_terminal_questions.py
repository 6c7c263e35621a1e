"""`jp-lsp query` on a real terminal: the server's questions, and how they are answered."""

import signal
import stat
import subprocess
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


APPROVAL = ask(
    "d1",
    "approval",
    "Run local tool ls?",
    ("skip", "Skip"),
    ("run", "Run"),
    detail="in \x1b[1m/tmp",
    callId="c1",
)


@pytest.mark.requirement("R3", "R329", "F39")
def test_an_approval_is_asked_while_the_answer_goes_on(scripted: Make) -> None:
    script = scripted(
        [
            ASKED,
            say("Let me"),
            APPROVAL,
            say(" look."),
            {"await": "d1"},
            closed("d1", "answered"),
            say("\n\nOK."),
            done(),
        ]
    )
    with PtyClient(script.command("Why?"), Path.cwd()) as client:
        client.wait_for("Let me look.")
        client.wait_for("\n>")
        assert client.screen.split("\n") == [
            "Let me look.",
            "Run local tool ls?",
            "in [1m/tmp",
            "[n] Skip   [y] Run",
            ">",
        ]
        client.type("y")
        assert client.wait() == 0
        assert client.lines == ["Let me look.", "Run local tool ls? Run", "", "OK."]
    assert script.answers() == [{"action": "run"}]


@pytest.mark.requirement("R330", "S14")
@pytest.mark.parametrize("key", ["\x1b", "\x04"])
def test_a_dismissed_approval_is_no_approval(scripted: Make, key: str) -> None:
    script = scripted([ASKED, APPROVAL, {"await": "d1"}, done()])
    with PtyClient(script.command("Why?"), Path.cwd()) as client:
        client.wait_for("\n>")
        client.type(key)
        assert client.wait() == 0
        assert client.lines == ["Run local tool ls? dismissed"]
    assert script.answers() == [None]


def test_a_question_that_is_pushed_aside_is_not_answered_by_that(scripted: Make) -> None:
    """The menu takes the place of an approval, which stays open and is asked again (4.6)."""
    script = scripted(
        [
            ASKED, APPROVAL, *pressed("menu"), closed("d1", "superseded"), ask("d2", "menu", MENU_QUESTION, *MENU),
            {"await": "d2"}, closed("d2", "answered"),
            {**APPROVAL, "as": "again"}, {"await": "again"}, closed("d1", "answered"), {"await": "d1"}, done(),
        ]
    )  # fmt: skip
    with PtyClient(script.command("Why?"), Path.cwd()) as client:
        client.wait_for("[y] Run")
        client.type("\x03")
        client.wait_for(MENU_QUESTION)
        assert "Run local tool" not in client.screen
        client.type("c")
        client.wait_for("[y] Run")
        client.type("n")
        assert client.wait() == 0
    # The menu first, then the second showing of the approval; only then its first one, which counts no more.
    assert script.answers() == [{"action": "continue"}, {"action": "skip"}, None]


def test_what_was_typed_before_a_question_is_not_its_answer(scripted: Make) -> None:
    script = scripted([ASKED, say("A"), {"await": "jp/interrupt"}, APPROVAL, {"await": "d1"}, done()])
    with PtyClient(script.command("Why?"), Path.cwd()) as client:
        client.wait_for("A")
        client.type("yyy")
        client.type("\x03")
        client.wait_for("[y] Run")
        assert script.answers() == []
        assert "yyy" not in client.screen
        client.type("n")
        client.wait()
    assert script.answers() == [{"action": "skip"}]


def test_a_secret_is_not_seen(scripted: Make) -> None:
    script = scripted([ASKED, ask("d1", "secret", "Password"), {"await": "d1"}, done()])
    with PtyClient(script.command("Why?"), Path.cwd(), env={"EDITOR": "true"}) as client:
        client.wait_for("Password\n>")
        client.type("s3cret\n")
        assert client.wait() == 0
        assert client.lines == ["Password", ">"]
        assert "s3cret" not in client.seen
    assert script.answers() == [{"text": "s3cret"}]


@pytest.mark.parametrize(
    ("typed", "answer"), [("\x04", None), ("\n", {"text": ""}), ("e?\n", {"text": "e?"})]
)
def test_lines(scripted: Make, typed: str, answer: dict[str, str] | None) -> None:
    script = scripted([ASKED, ask("d1", "text", "Name?", value="Ada"), {"await": "d1"}, done()])
    with PtyClient(script.command("Why?"), Path.cwd()) as client:
        client.wait_for("now: Ada\n>")
        client.type(typed)
        assert client.wait() == 0
    assert script.answers() == [answer]


def test_text_waits_while_somebody_types(scripted: Make) -> None:
    received = {"ask": "workspace/configuration", "params": {"items": []}, "as": "received"}
    script = scripted(
        [
            ASKED, ask("d1", "text", "Name?"), {"await": "jp/interrupt"}, say("Mean"), say("while."), received,
            {"await": "d1"}, done(),
        ]
    )  # fmt: skip
    with PtyClient(script.command("Why?"), Path.cwd()) as client:
        client.wait_for("\n>")
        client.type("Ad")
        client.wait_for("> Ad")
        client.signal(signal.SIGINT)
        wait_until(lambda: script.answers() == [[]])
        assert "Mean" not in client.screen
        client.type("a\n")
        assert client.wait() == 0
        assert client.lines[1:] == ["> Ada", "Meanwhile."]


@pytest.fixture
def editor(tmp_path: Path) -> Path:
    """An editor that appends a line, and shows that it has the terminal."""
    script = tmp_path / "editor.sh"
    script.write_text('#!/bin/sh\ntest -t 0 && test -t 1 && echo "world, $(cat "$1")" > "$1"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script


@pytest.mark.requirement("R334")
def test_an_editor_for_longer_texts(scripted: Make, editor: Path) -> None:
    script = scripted(
        [
            ASKED,
            ask("d1", "text", "Your reply"),
            {"await": "d1"},
            ask("d2", "edit", "Edit", value='{"a": 1}', language="json"),
            {"await": "d2"},
            done(),
        ]
    )
    with PtyClient(script.command("Why?"), Path.cwd(), env={"EDITOR": str(editor)}) as client:
        client.wait_for("\n>")
        client.type("e\n")
        assert client.wait() == 0
        assert client.mode == client.found
    assert script.answers() == [{"text": "world, "}, {"text": 'world, {"a": 1}'}]


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("false", "the editor 'false' ended with code 1"),
        ("/nowhere/vi", "the editor '/nowhere/vi' cannot be"),
    ],
)
def test_an_editor_that_fails_answers_nothing(scripted: Make, command: str, problem: str) -> None:
    script = scripted([ASKED, ask("d1", "edit", "Edit", value="x"), {"await": "d1"}, done()])
    with PtyClient(script.command("Why?"), Path.cwd(), columns=100, env={"VISUAL": command}) as client:
        assert client.wait() == 0
        assert client.screen.startswith(problem)
    assert script.answers() == [None]


@pytest.mark.requirement("R340")
def test_an_answer_into_a_file_still_asks_on_the_terminal(scripted: Make, tmp_path: Path) -> None:
    script = scripted([ASKED, status("sending request"), APPROVAL, {"await": "d1"}, say("Done."), done()])
    out = tmp_path / "out.md"
    with (
        out.open("wb") as file,
        PtyClient(
            script.command("Why?"), Path.cwd(), stdin=subprocess.DEVNULL, stdout=file.fileno()
        ) as client,
    ):
        client.wait_for("[y] Run")
        client.type("y")
        assert client.wait() == 0
        assert client.lines == ["Run local tool ls? Run"]
    assert out.read_text() == "Done.\n"
    assert script.answers() == [{"action": "run"}]


@pytest.mark.requirement("R328")
def test_a_standard_question_is_asked_as_well(scripted: Make) -> None:
    params = {"type": 2, "message": "Trust it?", "actions": [{"title": "No", "id": "x"}, {"title": "Yes"}]}
    script = scripted(
        [
            ASKED,
            {"ask": "window/showMessageRequest", "params": params, "as": "1"},
            {"await": "1"},
            {"ask": "window/showMessageRequest", "params": {"type": 3, "message": "Well."}, "as": "2"},
            {"await": "2"},
            {"ask": "jp/prompt", "params": {"nonsense": True}, "as": "3"},
            {"await": "3"},
            done(),
        ]
    )
    with PtyClient(script.command("Why?"), Path.cwd()) as client:
        client.wait_for("[n] No   [y] Yes")
        client.type("y")
        assert client.wait() == 0
        assert client.lines == ["Trust it? Yes"]
    assert script.answers() == [{"title": "Yes"}, None, None]


def test_a_request_that_is_cancelled_takes_its_question_away(scripted: Make) -> None:
    cancel = {"notify": "$/cancelRequest", "params": {"id": 1000}}
    script = scripted([ASKED, APPROVAL, *pressed("action"), cancel, {"await": "d1"}, say("Next."), done()])
    with PtyClient(script.command("Why?"), Path.cwd()) as client:
        client.wait_for("[y] Run")
        client.type("\x03")
        assert client.wait() == 0
        assert client.lines == ["Next."]
    assert script.answers() == [None]

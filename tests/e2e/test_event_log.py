"""Recorded turns of the real server (S25): played back, exactly the same actions come of them."""

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from jp_lsp.turn.inputs import Answered, CancelRequested, Pressed, ToolFinished
from jp_lsp.turn.replay import Step
from tests.e2e.test_tools import STOCK, calls, choose, screen_of, until_exists, with_tools
from tests.support.chat_vendor import ChatVendor, answer, broken, thought
from tests.support.http_server import Hold
from tests.support.jp_client import fault_of, result_of
from tests.support.jp_server import initialized_server
from tests.support.recordings import play_back
from tests.support.user_folders import UserFolders
from tests.terminal.test_terminal_main import run

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

RECORDED: dict[str, Any] = {"options": {"jp": {"limits": {"record_events": True}}}}
FREE, ASKED = {"run": "unattended"}, {"run": "ask"}
JP_CLIENT: dict[str, Any] = {"experimental": {"jp": {"version": 1, "prompt": {"kinds": ["secret"]}}}}


def recordings(user: UserFolders) -> list[Path]:
    """The files, oldest first."""
    return sorted((user.data / "recordings").glob("*.jsonl"))


def played(user: UserFolders) -> list[Step]:
    """The steps of the only recording, played back and compared."""
    (path,) = recordings(user)
    return play_back(path.read_text(encoding="utf-8"))


def kinds(steps: Sequence[Step]) -> set[type]:
    return {type(step.item) for step in steps}


@pytest.mark.requirement("S25", "R320", "R288")
async def test_tools_approvals_and_a_menu(own_user: UserFolders, vendor: ChatVendor) -> None:
    wait = "echo up >> ran; while ! test -e go-on; do sleep 0.02; done; echo done"
    with_tools(own_user, greet=("echo hello", ASKED), harm=("echo never", ASKED), wait=(wait, FREE))
    vendor.will_answer(calls("greet", "harm", "wait"), answer(thought("Hm."), "Done."))
    async with initialized_server(own_user, capabilities=STOCK, **RECORDED) as server:
        screen = screen_of(server)
        _, future = server.client.start_query("go", "t")
        choose(await screen.next_question(), "Run")
        (await screen.next_question()).answer(None)
        await until_exists(own_user.workspace / "ran", "up")
        await server.client.wait_for_chunk("t", "tool_result", callId="call-0")
        await server.client.request("jp/interrupt", {"turn": "t"})
        choose(await screen.next_question(), "Continue")
        (own_user.workspace / "go-on").touch()
        assert (await result_of(future))["outcome"] == "completed"
        notices = [params["message"] for params in server.client.received("window/showMessage")]
        assert await server.stop() == 0
    folder = own_user.data / "recordings"
    assert [text for text in notices if "recorded" in text] == [
        f"All that happens in a turn is recorded in {folder}, because `jp.limits.record_events` is set; "
        "`jp-lsp replay FILE` shows a recording."
    ]
    assert {Answered, Pressed, ToolFinished} <= kinds(played(own_user))
    assert [path.name for path in own_user.workspace.rglob("*.jsonl")] == []
    assert recordings(own_user)[0].stat().st_mode & 0o077 == 0


@pytest.mark.requirement("S25")
@pytest.mark.parametrize("choice", ["Stop", "Abort", "Reply", "Continue", None])
async def test_every_choice_of_the_menu_of_a_stream(
    own_user: UserFolders, vendor: ChatVendor, choice: str | None
) -> None:
    held = Hold()
    vendor.will_answer(answer("First.\n\nHel", held, "lo"))
    async with initialized_server(own_user, capabilities=STOCK, **RECORDED) as server:
        screen = screen_of(server)
        _, future = server.client.start_query("go", "t")
        await server.client.wait_for_text("t", "First.")
        if choice == "Reply":
            vendor.will_answer(answer("Again."))
            await server.client.request("jp/interrupt", {"turn": "t", "action": "reply", "text": "More"})
        else:
            await server.client.request("jp/interrupt", {"turn": "t"})
            question = await screen.next_question()
            if choice is None:
                question.answer(None)
            else:
                button = next(each for each in question.params["actions"] if each["title"].startswith(choice))
                question.answer(button)
        held.open()
        await result_of(future)
    assert Pressed in kinds(played(own_user))


@pytest.mark.requirement("S25", "S9")
async def test_a_retried_and_cancelled_turn(own_user: UserFolders, vendor: ChatVendor) -> None:
    held = Hold()
    vendor.will_answer(broken("Half an "), answer("answer.\n\nAnd", held))
    async with initialized_server(own_user, **RECORDED) as server:
        request, future = server.client.start_query("go", "t")
        await server.client.wait_for_text("t", "Half an answer.")
        server.client.cancel(request)
        await fault_of(future)
        held.open()
    assert CancelRequested in kinds(played(own_user))
    assert '"jitter":[' in recordings(own_user)[0].read_text(encoding="utf-8")


@pytest.mark.requirement("S25")
async def test_a_secret_answer_and_keys_are_in_no_recording(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    script = own_user.workspace / "ask.py"
    script.write_text(
        "import json, sys\n"
        "answers = json.loads(sys.argv[1])\n"
        "question = {'id': 'pin', 'text': 'PIN?', 'answer_type': 'secret'}\n"
        "print('used ' + answers['pin'] if 'pin' in answers\n"
        "      else json.dumps({'type': 'needs_input', 'question': question}))\n",
        encoding="utf-8",
    )
    command = f'{shlex.quote(sys.executable)} ask.py "{{{{tool.answers | tojson}}}}"'
    with_tools(own_user, ask=(command, FREE), leak=("echo the key is $OWN_API_KEY", FREE))
    vendor.will_answer(calls("ask", "leak"), answer("Done."))
    environment = {"OWN_API_KEY": "key-of-mine"}
    async with initialized_server(
        own_user, environment=environment, capabilities=JP_CLIENT, **RECORDED
    ) as server:
        server.client.answers["jp/prompt"] = lambda params: {"text": "open-sesame"}
        assert (await server.client.query("go", "t"))["outcome"] == "completed"
    told = [each["content"] for each in vendor.queries[-1]["messages"] if each["role"] == "tool"]
    assert [text.strip() for text in told] == ["used open-sesame", "the key is key-of-mine"]
    text = recordings(own_user)[0].read_text(encoding="utf-8")
    assert "used ***" in text
    assert "the key is ***" in text
    assert "open-sesame" not in text
    assert "key-of-mine" not in text
    assert Answered in kinds(played(own_user))


@pytest.mark.requirement("S25", "S11")
async def test_the_recording_of_a_killed_server_can_be_played_back(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    held = Hold()
    vendor.will_answer(answer("One paragraph.\n\nHalf ", held))
    async with initialized_server(own_user, **RECORDED) as server:
        server.client.start_query("go", "t")
        await server.client.wait_for_text("t", "One paragraph.")
        (path,) = recordings(own_user)
        await until_exists(path, "One paragraph.")
        await server.kill()
        held.open()
    steps = played(own_user)
    assert [type(step.item).__name__ for step in steps[:4]] == ["Start", "Prepared", "Saved", "FromProvider"]


@pytest.mark.requirement("R320")
async def test_nothing_is_recorded_unasked_or_of_what_is_not_stored(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    vendor.will_answer(answer("a"), answer("b"))
    async with initialized_server(own_user) as server:
        await server.client.query("go", "t")
    async with initialized_server(own_user, **RECORDED) as server:
        await server.client.query("go", "t", persist=False)
    assert recordings(own_user) == []


@pytest.mark.requirement("S25", "R320")
async def test_the_command_shows_a_recording_and_what_has_changed(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    vendor.will_answer(answer("Hello"))
    async with initialized_server(own_user, **RECORDED) as server:
        await server.client.query("go", "t")
    (path,) = recordings(own_user)
    code, out, _ = run(own_user, "replay", str(path))
    lines = out.splitlines()
    assert code == 0
    assert lines[-1] == "All is as it was."
    assert lines[0] == "     0.000  Start                Prepare"
    changed = path.with_name("changed.jsonl")
    changed.write_text(path.read_text(encoding="utf-8").replace("Hello", "Hullo", 1), encoding="utf-8")
    code, out, _ = run(own_user, "replay", str(changed))
    assert code == 1
    assert "then: the same kinds of actions, with something else in them" in out
    assert out.splitlines()[-1].endswith("of these inputs led to something else.")
    for damaged, problem in {
        "": "line 1: this is no recording of version 1",
        "7\n": "line 1: this is no object",
    }.items():
        changed.write_text(damaged, encoding="utf-8")
        code, out, _ = run(own_user, "replay", str(changed))
        assert (code, out) == (1, f"error: {changed}: {problem}\n")
    code, out, _ = run(own_user, "replay", str(own_user.data / "none"))
    assert (code, out) == (1, f"error: {own_user.data / 'none'} cannot be read: No such file or directory\n")
    assert json.loads(path.read_text(encoding="utf-8").splitlines()[0]) == {"recording": 1, "token": "t"}

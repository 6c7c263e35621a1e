"""Scenarios S2, S8, S12 and S13 (query pipeline 11): tools side by side, their menu, their questions, their end."""

import asyncio
import shlex
import sys
from collections import Counter
from typing import Any

import pytest

from tests.e2e.test_tools import calls, until_exists, with_tools
from tests.support.chat_vendor import ChatVendor, answer
from tests.support.jp_client import Json, fault_of, result_of
from tests.support.jp_server import JpServer, initialized_server
from tests.support.processes import is_alive
from tests.support.screen import Screen, Shown
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

FREE = {"run": "unattended"}
PROMPTS: Json = {"experimental": {"jp": {"prompt": {"kinds": ["menu", "text", "approval", "pick"]}}}}

WAIT = "echo {0} >> ran; while ! test -e {0}-go; do sleep 0.02; done; echo {0}"
"""A tool that notes that it runs, and ends when a file is there."""


def screen_of(server: JpServer) -> Screen:
    screen = Screen()
    server.client.answers["jp/prompt"] = screen.show
    return screen


def told(vendor: ChatVendor) -> dict[str, str]:
    """What the model was told by its tools in the last request, in order."""
    messages = vendor.queries[-1]["messages"]
    return {each["tool_call_id"]: each["content"].strip() for each in messages if each["role"] == "tool"}


@pytest.mark.requirement("S2", "R158", "R170", "D8")
async def test_responses_go_back_in_request_order_though_the_second_came_first(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    with_tools(own_user, one=(WAIT.format("one"), FREE), two=("echo two", FREE))
    vendor.will_answer(calls("one", "two"), answer("Done."))
    async with initialized_server(own_user) as server:
        _, future = server.client.start_query("go", "t")
        await server.client.wait_for_chunk("t", "tool_result", callId="call-1")
        (own_user.workspace / "one-go").touch()
        result = await result_of(future)
    assert own_user.story(result["conversation"])[4:6] == ["result call-1", "result call-0"]
    assert list(told(vendor).items()) == [("call-0", "one"), ("call-1", "two")]


@pytest.mark.requirement("S8", "R133", "R141", "R142", "R144", "R161", "T08")
@pytest.mark.parametrize("finished", [0, 1, 2])
@pytest.mark.parametrize("choice", ["continue", "respond", "restart", "stop", "dismissed"])
async def test_each_choice_of_the_tool_menu(
    own_user: UserFolders, vendor: ChatVendor, choice: str, finished: int
) -> None:
    names = ("one", "two")
    with_tools(own_user, **{name: (WAIT.format(name), FREE) for name in names})
    vendor.will_answer(calls(*names))
    ran = own_user.workspace / "ran"
    async with initialized_server(own_user, capabilities=PROMPTS) as server:
        screen = screen_of(server)
        _, future = server.client.start_query("go", "t")
        for name in names:
            await until_exists(ran, name)
        assert await server.client.request("jp/interrupt", {"turn": "t"}) == {
            "handled": "menu",
            "phase": "interrupted_tools",
        }
        menu = await screen.next_question()
        for number, name in enumerate(names[:finished]):
            (own_user.workspace / f"{name}-go").touch()
            await server.client.wait_for_chunk("t", "tool_result", callId=f"call-{number}")
        if choice not in {"stop", "dismissed"}:
            vendor.will_answer(answer("Done."))
        await choose(menu, choice, screen)
        if choice == "restart" and finished < 2:
            await until_exists(ran, "\n".join(["one", "two", *names[finished:]][-1:]))
            await until_ran(own_user, len(names) + len(names) - finished)
        if choice in {"continue", "restart"}:
            for name in names[finished:]:
                (own_user.workspace / f"{name}-go").touch()
        result = await result_of(future)
    check_story(own_user.story(result["conversation"]), choice, finished)
    check_outcome(result, choice, finished)
    check_runs(Counter(ran.read_text(encoding="utf-8").split()), choice, finished)
    if choice == "respond" and finished < 2:
        unfinished = list(told(vendor).values())[finished:]
        assert all(text.endswith("wrong file") for text in unfinished), unfinished
    if choice == "restart" and finished == 2:
        assert "All tools had finished already." in str(server.client.chunks("t"))


async def choose(menu: Shown, choice: str, screen: Screen) -> None:
    if choice == "dismissed":
        await asyncio.sleep(0.06)  # no person is quicker (trap 46)
        menu.answer(None)
        return
    menu.answer({"action": choice})
    if choice == "respond":
        (await screen.next_question()).answer({"text": "wrong file"})


async def until_ran(user: UserFolders, count: int) -> None:
    async with asyncio.timeout(30):
        while len((user.workspace / "ran").read_text(encoding="utf-8").split()) < count:
            await asyncio.sleep(0.02)


def check_story(story: list[str], choice: str, finished: int) -> None:
    """Each call has one response, whatever was chosen; a text opens a turn only when nothing was left to stop."""
    responses = [line.split()[1] for line in story if line.startswith(("result", "error"))]
    assert sorted(responses) == ["call-0", "call-1"]
    assert ("user: wrong file" in story) == (choice == "respond" and finished == 2)
    if choice in {"stop", "dismissed"}:
        assert story[-1].startswith("result")
    else:
        assert story[-1] == "message: Done."


def check_outcome(result: Json, choice: str, finished: int) -> None:
    expected = {"stop": "stopped", "dismissed": "interrupted"}.get(choice, "completed")
    assert result["outcome"] == expected
    is_chain = choice == "respond" and finished == 2
    assert [turn["outcome"] for turn in result["turns"]] == (
        ["replied", expected] if is_chain else [expected]
    )


def check_runs(runs: Counter[str], choice: str, finished: int) -> None:
    """A restart runs again what had not finished, and only that."""
    expected = Counter({"one": 1, "two": 1})
    if choice == "restart":
        expected.update(("one", "two")[finished:])
    assert runs == expected


@pytest.mark.requirement("S12", "R147", "T06")
async def test_a_cancel_is_answered_when_the_tool_is_gone(own_user: UserFolders, vendor: ChatVendor) -> None:
    with_tools(own_user, slow=("echo $$ > began; sleep 600", FREE))
    began = own_user.workspace / "began"
    vendor.will_answer(calls("slow"))
    async with initialized_server(own_user) as server:
        request, future = server.client.start_query("go", "t")
        await until_exists(began, "\n")
        server.client.cancel(request)
        fault = await fault_of(future)
        assert not is_alive(int(began.read_text(encoding="utf-8")))
    assert (fault.code, fault.data["outcome"], fault.data["partialSaved"]) == (-32800, "stopped", True)


ASKING = """
import json, sys
answers = json.loads(sys.argv[1])
question = {'id': 'sure', 'text': sys.argv[2], 'answer_type': 'boolean', 'default': False}
print(answers['sure'] if 'sure' in answers else json.dumps({'type': 'needs_input', 'question': question}))
"""


@pytest.mark.requirement("S13", "R94", "R101")
async def test_approvals_and_questions_come_one_at_a_time_in_order_and_all_are_answered(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    """Three calls have to be allowed, two others ask while they run; a user is slow to answer the first."""
    (own_user.workspace / "ask.py").write_text(ASKING, encoding="utf-8")
    program = f'{shlex.quote(sys.executable)} ask.py "{{{{tool.answers | tojson}}}}"'
    approved = {name: (f"echo {name}", {"run": "ask"}) for name in ("one", "two", "three")}
    asking = {name: (f"{program} {name}", FREE) for name in ("four", "five")}
    with_tools(own_user, **approved, **asking)
    vendor.will_answer(calls("one", "two", "three", "four", "five"), answer("Done."))
    async with initialized_server(own_user, capabilities=PROMPTS) as server:
        screen = screen_of(server)
        _, future = server.client.start_query("go", "t")
        first = await screen.next_question()
        while len(await open_decisions(server)) < 5:
            pass
        in_order = [decision["decisionId"] for decision in await open_decisions(server)]
        seen: list[Any] = []
        question = first
        for number in range(1, 6):
            assert len(screen.questions) == number, "two questions are on the screen"
            seen.append(question.params)
            question.answer({"action": "run" if question.params["kind"] == "approval" else "yes"})
            if number < 5:
                question = await screen.next_question()
        result = await result_of(future)
    assert [params["decisionId"] for params in seen] == in_order, "first come, first asked"
    assert [params["kind"] for params in seen[:3]] == ["approval"] * 3
    assert result["outcome"] == "completed"
    answers = told(vendor)
    assert list(answers) == [f"call-{number}" for number in range(5)]
    assert list(answers.values()) == ["one", "two", "three", "True", "True"]
    story = own_user.story(result["conversation"])
    assert (story.count("inquiry_request"), story.count("inquiry_response")) == (2, 2)


@pytest.mark.requirement("R126", "R94")
@pytest.mark.parametrize("choice", ["back", "continue", "stop"])
async def test_the_menu_over_a_question_leads_back_to_it(
    own_user: UserFolders, vendor: ChatVendor, choice: str
) -> None:
    """A question cannot be taken off the screen; it is superseded, and comes back when the user goes on (4.6)."""
    with_tools(own_user, careful=("echo done >> ran; echo done", {"run": "ask"}))
    vendor.will_answer(calls("careful"))
    async with initialized_server(own_user, capabilities=PROMPTS) as server:
        screen = screen_of(server)
        _, future = server.client.start_query("go", "t")
        first = await screen.next_question()
        while (await server.client.request("jp/turn/list"))["active"][0]["phase"] != "executing":
            pass
        assert (await server.client.request("jp/interrupt", {"turn": "t"}))["handled"] == "menu"
        closed = await server.client.wait_for_chunk("t", "prompt_closed")
        assert (closed["decisionId"], closed["how"]) == (first.params["decisionId"], "superseded")
        menu = await screen.next_question()
        titles = [action["title"] for action in menu.params["actions"]]
        assert titles == ["Continue", "Back to the question", "Stop and respond", "Restart", "Stop"]
        menu.answer({"action": choice})
        if choice != "stop":
            again = await screen.next_question()
            assert again.params["decisionId"] == first.params["decisionId"]
            vendor.will_answer(answer("Done."))
            again.answer({"action": "run"})
        result = await result_of(future)
    assert result["outcome"] == ("stopped" if choice == "stop" else "completed")
    assert (own_user.workspace / "ran").exists() == (choice != "stop")
    assert sum(line.startswith(("result", "error")) for line in own_user.story(result["conversation"])) == 1


async def open_decisions(server: JpServer) -> list[Json]:
    (turn,) = (await server.client.request("jp/turn/list"))["active"]
    return list(turn["decisions"])

"""What people complain about in programs like ours, tried on the whole program.

Others of these are with their subject: T18 and T20 in `test_refusals`, T19 and T25 in `test_prompts` and
`test_clients`, T24 in `test_conversations`, T04 in `test_kill` and `test_endings`. A stream that falls silent
(T13) takes a wall clock of its own and is tried in `tests/driver`.
"""

import asyncio
import re
from random import Random

import pytest

from jp_lsp.conversation.interruption import NOTE
from tests.support.chat_vendor import ChatVendor, answer, broken, called, said, thought
from tests.support.held_query import HeldQuery
from tests.support.http_server import Delay, Hold
from tests.support.jp_client import JpClient, Json, answer_of, result_of
from tests.support.jp_server import initialized_server
from tests.support.screen import Screen
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

PIECES = ["The answer", " is **not", "** simple.\n\n", "1. Fir", "st\n2. Second\n\n```py\nx =", " 1"]
HEADER = "## User\n\nhi\n\n## Assistant (llamacpp/tiny)\n\n"


@pytest.mark.requirement("T02", "R136", "R153", "F05")
@pytest.mark.parametrize("count", range(1, len(PIECES) + 1))
async def test_a_stopped_answer_stays_in_the_models_history_as_it_was_shown(
    client: JpClient, vendor: ChatVendor, count: int
) -> None:
    """T02: the partial answer vanished from the history, though the user still saw it."""
    client.answers["window/showMessageRequest"] = Screen().show
    token, text = f"stopped-{count}", "".join(PIECES[:count])
    vendor.will_answer(answer(*PIECES[:count], Hold(), *PIECES[count:]), to="hi")
    _, asked = client.start_query("hi", token, conversation="new")
    await client.wait_for_chunk(token, "status", phase="waiting")
    async with asyncio.timeout(10):
        while words(await shown_at_press(client, token)) != words(text):
            await client.request("jp/interrupt", {"turn": token, "action": "continue"})
    await client.request("jp/interrupt", {"turn": token, "action": "stop"})
    result = await result_of(asked)
    assert result["text"] == text
    vendor.will_answer(answer("Yes."), to="and now?")
    await client.query("and now?", f"{token}-next", conversation=result["conversation"])
    (sent,) = vendor.queries_about("and now?")
    assert [message["content"] for message in sent["messages"][1:]] == ["hi", text, f"{NOTE}\n\nand now?"]
    assert words(client.transcript(token).removeprefix(HEADER)) == words(text)


async def shown_at_press(client: JpClient, token: str) -> str:
    """Open the menu, and give the answer as far as the user sees it then, with the block that is not whole yet."""
    before = len(client.messages)
    pressed = await client.request("jp/interrupt", {"turn": token})
    assert pressed == {"handled": "menu", "phase": "interrupted_stream"}
    await client.wait_for(
        lambda: any(chunk["type"] == "prompt_open" for chunk in chunks_since(client, before, token))
    )
    previews = [chunk for chunk in chunks_since(client, before, token) if chunk["type"] == "preview"]
    preview = previews[-1].get("md", "") if previews else ""
    return (client.transcript(token) + preview).removeprefix(HEADER)


def words(text: str) -> list[str]:
    """The words of a text as they are shown: fences are longer, and one that is open where the text stops is closed."""
    return re.sub("`{3,}", "```", text).removesuffix("\n```").split()


def chunks_since(client: JpClient, before: int, token: str) -> list[Json]:
    return [
        message["params"]["value"]
        for message in client.messages[before:]
        if message.get("method") == "$/progress" and message["params"]["token"] == token
    ]


@pytest.mark.requirement("T02", "F05")
async def test_a_stopped_thought_stays_a_thought(
    client: JpClient, vendor: ChatVendor, user: UserFolders
) -> None:
    query = await HeldQuery.hold(
        client, vendor, "thought", first=thought("Plan: look at\n\n"), shown="Plan: look at"
    )
    await query.press(action="stop")
    result = await query.result()
    assert (result["outcome"], result["text"]) == ("stopped", "")
    assert user.story(result["conversation"]) == ["turn", "user: hi", "reasoning: Plan: look at\n\n"]
    vendor.will_answer(answer("Yes."), to="go on")
    await client.query("go on", "thought-next", conversation=result["conversation"])
    (sent,) = vendor.queries_about("go on")
    assert sent["messages"][2]["reasoning_content"] == "Plan: look at\n\n"
    assert sent["messages"][-1]["content"] == f"{NOTE}\n\ngo on"


@pytest.mark.requirement("T03", "R137")
async def test_the_model_is_told_of_an_abort_behind_what_it_did(
    client: JpClient, vendor: ChatVendor, user: UserFolders
) -> None:
    """T03: no mark of the abort in the history, so the model did everything again."""
    gate = Hold()
    vendor.will_answer(
        answer("Opening it.", called("c1", "open_request", "{}"), reason="tool_calls"),
        answer("Done, and n\n\n", gate, "ow"),
        to="please",
    )
    _, asked = client.start_query("please", "abort", conversation="new")
    await client.wait_for_text("abort", "Done, and n")
    pressed = await client.request("jp/interrupt", {"turn": "abort", "action": "abort"})
    assert pressed["handled"] == "action"
    result = await result_of(asked)
    assert (result["outcome"], result["persisted"]) == ("aborted", True)
    assert user.story(result["conversation"]) == [
        "turn",
        "user: please",
        "message: Opening it.",
        "call c1: open_request",
        "error c1",
    ]
    vendor.will_answer(answer("I know."), to="next thing")
    await client.query("next thing", "abort-next", conversation=result["conversation"])
    (sent,) = vendor.queries_about("next thing")
    assert sent["messages"][-1]["content"] == f"{NOTE}\n\nnext thing"
    assert user.story(result["conversation"])[-2] == "user: next thing", "the note is never stored"


@pytest.mark.requirement("T03", "R154")
async def test_of_a_turn_that_was_aborted_whole_the_model_hears_nothing(
    client: JpClient, vendor: ChatVendor
) -> None:
    vendor.will_answer(answer("Hello."), to="hello")
    conversation = (await client.query("hello", "whole-1", conversation="new"))["conversation"]
    query = await HeldQuery.hold(client, vendor, "whole-2", conversation=conversation)
    await query.press(action="abort")
    result = await query.result()
    assert (result["outcome"], result["draft"]) == ("aborted", "hi")
    vendor.will_answer(answer("Yes."), to="other")
    await client.query("other", "whole-3", conversation=conversation)
    (sent,) = vendor.queries_about("other")
    assert [message["content"] for message in sent["messages"][1:]] == ["hello", "Hello.", "other"]


@pytest.mark.requirement("T09", "F04", "T01", "R12")
async def test_a_half_sent_tool_call_leaves_no_orphan(
    client: JpClient, vendor: ChatVendor, user: UserFolders
) -> None:
    """T09: calls of dead streams stayed in the history, and each retry added more."""
    vendor.will_answer(
        broken("Let me ", called("c1", "read", '{"pa')),
        broken(called("c2", "read", '{"path": "a"}')),
        answer("see. ", called("c3", "read", '{"path": "a"}'), reason="tool_calls"),
        answer("Nothing there."),
    )
    result = await client.query("hi", "orphans", conversation="new")
    assert result["outcome"] == "completed"
    assert user.story(result["conversation"]) == [
        "turn",
        "user: hi",
        "message: Let me ",
        "message: see. ",
        "call c3: read",
        "error c3",
        "message: Nothing there.",
    ]
    for body in vendor.queries:
        calls = [call["id"] for message in body["messages"] for call in message.get("tool_calls", [])]
        results = [message["tool_call_id"] for message in body["messages"] if message["role"] == "tool"]
        assert calls == results


@pytest.mark.requirement("T17", "R331")
async def test_after_the_stop_nothing_more_comes_of_the_old_turn(
    client: JpClient, vendor: ChatVendor
) -> None:
    """T17: stop did not stop, and two answers were mixed."""
    flood = [step for number in range(400) for step in (said(f"old{number}\n\n"), Delay(0.002))]
    vendor.will_answer(answer(*flood), to="first")
    first_id, first = client.start_query("first", "old", conversation="new")
    await client.wait_for(lambda: "old3\n" in client.transcript("old"))
    conversation = client.chunks("old")[0]["conversation"]
    vendor.will_answer(answer("new0\n\n", "new1"), to="second")
    client.notify("jp/interrupt", {"turn": "old", "action": "stop"})
    second_id, second = client.start_query("second", "new", conversation=conversation, queue=True)
    stopped, answered = await result_of(first), await result_of(second)
    assert (stopped["outcome"], answered["text"]) == ("stopped", "new0\n\nnew1")
    assert "old399" not in stopped["text"]
    order = [
        message["params"]["value"]["turn"] if message.get("method") == "$/progress" else message.get("id")
        for message in client.messages
        if message.get("method") == "$/progress" or message.get("id") in {first_id, second_id}
    ]
    own = [each for each in order if each in {"old", "new", first_id, second_id}]
    assert own == ["old"] * own.count("old") + [first_id] + ["new"] * own.count("new") + [second_id]
    (sent,) = vendor.queries_about("second")
    assert sent["messages"][-2]["content"] == stopped["text"]


@pytest.mark.requirement("T23", "R331", "S9", "S12")
@pytest.mark.parametrize("shows_progress", [False, True])
async def test_a_cancel_right_behind_the_query_is_always_answered(
    user: UserFolders, vendor: ChatVendor, shows_progress: bool
) -> None:
    """T23: the agent hung for ever. A hundred times each, 0 to 20 ms behind; one client never agrees to a token."""
    random = Random(23)
    capabilities = {"window": {"workDoneProgress": True}} if shows_progress else {}
    vendor.will_answer(*[answer("Hello.\n\n", Hold(), "never") for _ in range(100)])
    async with initialized_server(user, capabilities=capabilities) as server:
        client, loop = server.client, asyncio.get_running_loop()
        client.answers["window/workDoneProgress/create"] = lambda params: loop.create_future()
        outcomes: list[str] = []
        for _ in range(10):
            asked: list[asyncio.Future[Json]] = []
            for number in range(10):
                request_id, future = client.start("jp/query", {"text": "hi", "conversation": "new"})
                if number < 5:  # so close that both may be read at once
                    client.cancel(request_id)
                else:
                    loop.call_later(random.uniform(0, 0.02), client.cancel, request_id)
                asked.append(future)
            for future in asked:
                reply = await answer_of(future)
                assert reply["error"]["code"] == -32800
                outcomes.append(reply["error"]["data"]["outcome"])
        assert set(outcomes) <= {"cancelled_before_start", "stopped"}
        assert (await client.request("jp/turn/list"))["active"] == []
        vendor.forget()
        vendor.will_answer(answer("Still here."))
        assert (await client.query("hi", "after", conversation="new"))["text"] == "Still here."
        for each in (await client.request("jp/conversation/list"))["conversations"]:
            await client.request("jp/conversation/render", {"conversation": each["conversation"]})
            assert not user.is_locked(each["conversation"])

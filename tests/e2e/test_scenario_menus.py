"""Scenarios S5, S6, S15, S16 and S24 (query pipeline 11): a menu over a dying stream, presses, retries, replies."""

import pytest

from jp_lsp.turn.streaming import EMPTY_ANSWER_HINT
from tests.support.chat_vendor import ChatVendor, answer, refused, said, thought
from tests.support.held_query import HeldQuery
from tests.support.http_server import RESET, Hold, Reply, Step
from tests.support.jp_client import JpClient, result_of
from tests.support.screen import Screen
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]


@pytest.fixture
def screen(client: JpClient) -> Screen:
    screen = Screen()
    client.answers["window/showMessageRequest"] = screen.show
    return screen


DEATHS: dict[str, tuple[Step, ...]] = {
    "reset": (RESET,),
    "cut": (),
    "error": (b'data: {"error": {"message": "overloaded", "code": 503}}\n\n',),
}
"""How a stream dies behind the menu."""


@pytest.mark.requirement("S5", "R139", "R177", "R178", "R182", "D12")
@pytest.mark.parametrize("death", DEATHS)
@pytest.mark.parametrize("choice", ["Continue", "Stop", "Abort (discard)", "Reply"])
async def test_a_stream_that_dies_behind_the_menu(
    client: JpClient, vendor: ChatVendor, user: UserFolders, screen: Screen, death: str, choice: str
) -> None:
    token, gate = f"dead-{death}-{choice}", Hold()
    vendor.will_answer(Reply.sse(said("First.\n\n"), gate, said("Behind. "), *DEATHS[death]))
    _, future = client.start_query("hi", token, conversation="new")
    await client.wait_for_text(token, "First.")
    conversation = client.chunks(token)[0]["conversation"]
    await client.request("jp/interrupt", {"turn": token})
    menu = await screen.next_question()
    gate.open()
    await client.request("jp/turn/list")
    if choice == "Continue":
        vendor.will_answer(answer("Second."))
    if choice == "Reply":  # this client carries the text with its command
        vendor.will_answer(answer("Right."))
        await client.request("jp/interrupt", {"turn": token, "action": "reply", "text": "Shorter."})
    else:
        menu.answer({"title": choice})
    result = await result_of(future)
    match choice:
        case "Continue":
            assert result["outcome"] == "completed"
            assert result["text"].startswith("First.\n\n")
            assert result["text"].endswith("Second.")
            assert len(vendor.queries) == 2, "exactly one new request"
            partial = user.story(conversation)[2].removeprefix("message: ")
            assert vendor.queries[1]["messages"][-1] == {"role": "assistant", "content": partial}
            assert result["notices"] == []
        case "Stop":
            assert (result["outcome"], result["text"], len(vendor.queries)) == ("stopped", "First.\n\n", 1)
        case "Abort (discard)":
            assert (result["outcome"], result["draft"], len(vendor.queries)) == ("aborted", "hi", 1)
        case _:
            assert [turn["outcome"] for turn in result["turns"]] == ["replied", "completed"]
            assert user.story(conversation)[2:] == [
                "message: First.\n\n",
                "turn",
                "user: Shorter.",
                "message: Right.",
            ]


@pytest.mark.requirement("S6", "R130", "R132")
async def test_a_second_menu_comes_after_a_deliberate_continue(
    client: JpClient, vendor: ChatVendor, screen: Screen
) -> None:
    query = await HeldQuery.hold(client, vendor, "again")
    for _ in range(2):
        assert (await query.press())["handled"] == "menu"
        (await screen.next_question()).answer({"title": "Continue"})
        await client.wait_for_chunk("again", "prompt_closed")
        while (await client.request("jp/turn/list"))["active"][0]["phase"] != "streaming":
            pass
    query.go_on()
    assert (await query.result())["text"] == "First.\n\nSecond."
    assert len(vendor.queries) == 1


@pytest.mark.requirement("S6", "R130", "R132")
@pytest.mark.parametrize(("cooldown", "second"), [(60, "escalated"), (0, "action")])
async def test_a_second_press_within_the_cooldown_ends_the_turn_and_a_later_one_is_a_first_one(
    client: JpClient, vendor: ChatVendor, cooldown: int, second: str
) -> None:
    config = ["interrupt.streaming.action=continue", f"interrupt.escalation_cooldown_secs={cooldown}"]
    query = await HeldQuery.hold(client, vendor, f"press-{cooldown}", config=config)
    assert (await query.press())["handled"] == "action"
    assert (await query.press())["handled"] == second
    query.go_on()
    result = await query.result()
    expected = ("interrupted", "First.\n\n") if cooldown else ("completed", "First.\n\nSecond.")
    assert (result["outcome"], result["text"]) == expected


HINTED = {"error": {"message": "slow down"}}

PASSING = {
    "rate limit with a hint": Reply.json(HINTED, 429, retry_after="0.01"),
    "rate limit": refused(429, "slow down"),
    "timeout": refused(408, "took too long"),
    "server error": refused(503, "loading"),
}


@pytest.mark.requirement("S15", "R51", "R55", "R206")
@pytest.mark.parametrize("trouble", PASSING)
@pytest.mark.parametrize("times", [1, 3])
async def test_what_passes_costs_one_request_each_until_the_budget_is_spent(
    client: JpClient, vendor: ChatVendor, user: UserFolders, trouble: str, times: int
) -> None:
    config = ["assistant.request.max_retries=2", "assistant.request.base_backoff_ms=1"]
    vendor.will_answer(*[PASSING[trouble]] * times)
    if times <= 2:
        vendor.will_answer(answer("Done."))
    token = f"{trouble}-{times}"
    result = await client.query("hi", token, conversation="new", config=config)
    is_over_budget = times > 2
    assert result["outcome"] == ("failed" if is_over_budget else "completed")
    assert len(vendor.queries) == (times if is_over_budget else times + 1)
    assert user.story(result["conversation"]) == [
        "turn",
        "user: hi",
        *([] if is_over_budget else ["message: Done."]),
    ]
    if is_over_budget:
        assert result["error"]["attempts"] == 3


@pytest.mark.requirement("S16", "R54", "R62", "R296", "D16")
async def test_two_empty_answers_cost_two_hints_and_leave_nothing(
    client: JpClient, vendor: ChatVendor, user: UserFolders
) -> None:
    vendor.will_answer(answer(thought("Hm.")), answer(), answer("At last."))
    result = await client.query("go", "empty", conversation="new")
    assert (result["outcome"], result["text"]) == ("completed", "At last.")
    hints = [EMPTY_ANSWER_HINT in str(query["messages"]) for query in vendor.queries]
    assert hints == [False, True, True]
    assert user.story(result["conversation"]) == ["turn", "user: go", "message: At last."]
    assert EMPTY_ANSWER_HINT not in str(user.events(result["conversation"]))
    retracted = [chunk for chunk in client.chunks("empty") if chunk["type"] == "retract"]
    assert [chunk["reason"] for chunk in retracted] == ["empty", "empty"]


@pytest.mark.requirement("S24", "R138", "R155", "R166")
async def test_a_chain_of_three_turns_is_one_answer(
    client: JpClient, vendor: ChatVendor, user: UserFolders
) -> None:
    query = await HeldQuery.hold(client, vendor, "chain")
    vendor.will_answer(answer("Two.\n\n", Hold(), "never"), to="shorter")
    vendor.will_answer(answer("Three."), to="shortest")
    assert (await query.press(action="reply", text="shorter"))["handled"] == "action"
    await client.wait_for_text("chain", "Two.")
    assert (await query.press(action="reply", text="shortest"))["handled"] == "action"
    result = await query.result()
    assert (result["outcome"], result["text"]) == ("completed", "Three.")
    assert [(turn["index"], turn["outcome"]) for turn in result["turns"]] == [
        (1, "replied"),
        (2, "replied"),
        (3, "completed"),
    ]
    assert user.story(result["conversation"]) == [
        "turn",
        "user: hi",
        "message: First.\n\n",
        "turn",
        "user: shorter",
        "message: Two.\n\n",
        "turn",
        "user: shortest",
        "message: Three.",
    ]
    assert len(vendor.queries) == 3

"""Menus and questions of text over `jp/prompt`, and clients that cannot show any."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.held_query import HeldQuery
from tests.support.jp_client import METHOD_NOT_FOUND, JpClient, WireFault
from tests.support.jp_server import initialized_server
from tests.support.screen import Screen
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

CAPABILITIES = {"experimental": {"jp": {"prompt": {"kinds": ["menu", "text"]}, "chunks": True}}}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared_client(user: UserFolders) -> AsyncIterator[JpClient]:
    """An editor that knows us."""
    async with initialized_server(user, capabilities=CAPABILITIES) as server:
        yield server.client


@pytest.fixture
def screen(shared_client: JpClient) -> Screen:
    screen = Screen()
    shared_client.answers["jp/prompt"] = screen.show
    return screen


@pytest.fixture
def client(shared_client: JpClient) -> JpClient:
    return shared_client


@pytest.mark.requirement("R328", "R332", "S4")
async def test_the_menu_comes_as_a_prompt(client: JpClient, vendor: ChatVendor, screen: Screen) -> None:
    query = await HeldQuery.hold(client, vendor, "menu")
    assert await query.press() == {"handled": "menu", "phase": "interrupted_stream"}
    question = await screen.next_question()
    assert question.params == {
        "decisionId": "menu/1",
        "kind": "menu",
        "message": "The answer is interrupted. What next?",
        "actions": [
            {"id": "continue", "title": "Continue"},
            {"id": "reply", "title": "Reply"},
            {"id": "stop", "title": "Stop"},
            {"id": "abort", "title": "Abort (discard)"},
        ],
    }
    opened = await client.wait_for_chunk("menu", "prompt_open")
    assert (opened["decisionId"], opened["promptKind"]) == ("menu/1", "menu")
    question.answer({"action": "continue"})
    closed = await client.wait_for_chunk("menu", "prompt_closed")
    assert (closed["decisionId"], closed["how"]) == ("menu/1", "answered")
    query.go_on()
    assert (await query.result())["text"] == "First.\n\nSecond."
    assert client.received("window/showMessageRequest") == []


@pytest.mark.requirement("R334", "R138", "R157", "S24")
async def test_a_reply_is_asked_for_as_a_text(
    client: JpClient, vendor: ChatVendor, screen: Screen, user: UserFolders
) -> None:
    query = await HeldQuery.hold(client, vendor, "reply")
    await query.press()
    (await screen.next_question()).answer({"action": "reply"})
    asked = await screen.next_question()
    assert (asked.params["kind"], asked.params["message"], asked.params["actions"]) == (
        "text",
        "Your reply",
        [],
    )
    vendor.will_answer(answer("Right."), to="Shorter!")
    asked.answer({"text": "Shorter!"})
    result = await query.result()
    assert [turn["outcome"] for turn in result["turns"]] == ["replied", "completed"]
    assert client.chunks("reply")[-1]["type"] == "turn_end"
    begins = [chunk for chunk in client.chunks("reply") if chunk["type"] == "turn_begin"]
    assert [(begin["turnIndex"], begin.get("replyTo")) for begin in begins] == [(1, None), (2, 1)]
    assert user.story(result["conversation"])[-2:] == ["user: Shorter!", "message: Right."]


@pytest.mark.requirement("S4")
@pytest.mark.parametrize("blank", [{"text": " \n"}, {}, None], ids=["blank", "empty", "null"])
async def test_a_reply_without_text_leads_back_to_the_menu(
    client: JpClient, vendor: ChatVendor, screen: Screen, blank: dict[str, object] | None
) -> None:
    query = await HeldQuery.hold(client, vendor, f"back-{blank}")
    await query.press()
    (await screen.next_question()).answer({"action": "reply"})
    (await screen.next_question()).answer(blank)
    menu = await screen.next_question()
    assert menu.params["kind"] == "menu"
    menu.answer({"action": "stop"})
    assert (await query.result())["outcome"] == "stopped"


@pytest.mark.requirement("R330", "S14")
@pytest.mark.parametrize("how", ["null", "error", "an unknown action, twice"])
async def test_no_answer_is_never_consent(
    client: JpClient, vendor: ChatVendor, screen: Screen, how: str
) -> None:
    query = await HeldQuery.hold(client, vendor, f"no-{how}")
    await query.press()
    question = await screen.next_question()
    if how == "null":
        question.answer(None)
    elif how == "error":
        question.refuse(WireFault({"code": -32000, "message": "no window"}))
    else:
        question.answer({"action": "explode"})
        (await screen.next_question()).answer({"action": "explode"})
    result = await query.result()
    assert (result["outcome"], result["text"]) == ("interrupted", "First.\n\n")


@pytest.mark.requirement("R329", "T19")
async def test_an_answer_beside_the_prompt_counts_and_the_prompts_own_does_not_any_more(
    client: JpClient, vendor: ChatVendor, screen: Screen
) -> None:
    query = await HeldQuery.hold(client, vendor, "beside")
    await query.press()
    question = await screen.next_question()
    client.notify("jp/answer", {"decisionId": "no such decision", "action": "abort"})
    client.notify("jp/answer", {"decisionId": question.params["decisionId"], "action": "explode"})
    client.notify("jp/answer", {"decisionId": question.params["decisionId"], "action": "continue"})
    await client.wait_for_chunk("beside", "prompt_closed")
    question.answer({"action": "abort"})
    query.go_on()
    assert (await query.result())["text"] == "First.\n\nSecond."


@pytest.mark.requirement("R337", "R329", "S23", "G52")
async def test_menus_of_two_queries_show_one_at_a_time(
    client: JpClient, vendor: ChatVendor, screen: Screen
) -> None:
    """The later press is answered first; the menu before it steps back and is shown again."""
    one = await HeldQuery.hold(client, vendor, "one", text="first question")
    two = await HeldQuery.hold(client, vendor, "two", text="second question")
    await one.press()
    first = await screen.next_question()
    await two.press()
    second = await screen.next_question()
    assert second.params["decisionId"] == "two/1"
    closed = await client.wait_for_chunk("one", "prompt_closed")
    await client.wait_for_chunk("two", "prompt_open", decisionId="two/1")
    assert (closed["decisionId"], closed["how"]) == ("one/1", "superseded")
    listed = await client.request("jp/turn/list")
    assert [[each["decisionId"] for each in turn["decisions"]] for turn in listed["active"]] == [
        ["one/1"],
        ["two/1"],
    ]
    second.answer({"action": "stop"})
    assert (await two.result())["outcome"] == "stopped"
    again = await screen.next_question()
    assert again.params == first.params
    again.answer({"action": "continue"})
    first.answer({"action": "abort"})
    one.go_on()
    assert (await one.result())["outcome"] == "completed"


@pytest.mark.requirement("R334", "R332")
async def test_a_question_of_text_can_be_answered_beside_it(
    client: JpClient, vendor: ChatVendor, screen: Screen
) -> None:
    query = await HeldQuery.hold(client, vendor, "text-beside")
    await query.press()
    (await screen.next_question()).answer({"action": "reply"})
    asked = await screen.next_question()
    vendor.will_answer(answer("Right."), to="Shorter, please")
    client.notify("jp/answer", {"decisionId": asked.params["decisionId"], "text": "Shorter, please"})
    result = await query.result()
    assert [turn["outcome"] for turn in result["turns"]] == ["replied", "completed"]
    asked.answer({"text": "too late"})


@pytest.mark.requirement("R332")
async def test_a_press_finds_its_query_by_conversation_or_takes_the_latest(
    client: JpClient, vendor: ChatVendor
) -> None:
    one = await HeldQuery.hold(client, vendor, "find-1", text="first question")
    two = await HeldQuery.hold(client, vendor, "find-2", text="second question")
    for params in ({"turn": "find-1", "action": "restart"}, {"action": "restart"}):
        refused = await client.request("jp/interrupt", params)
        assert refused == {
            "handled": "none",
            "phase": "streaming",
            "allowed": ["continue", "reply", "stop", "abort"],
        }
    await client.request("jp/interrupt", {"conversation": one.conversation, "action": "stop"})
    assert (await one.result())["outcome"] == "stopped"
    assert not two.is_answered
    await client.request("jp/interrupt", {"action": "stop"})
    assert (await two.result())["outcome"] == "stopped"
    assert await client.request("jp/interrupt", {}) == {"handled": "none", "phase": "idle"}


async def test_a_query_that_may_not_ask_does_not(
    client: JpClient, vendor: ChatVendor, screen: Screen
) -> None:
    query = await HeldQuery.hold(client, vendor, "quiet", interactive=False)
    assert (await query.press())["handled"] == "action"
    assert (await query.result())["outcome"] == "stopped"
    assert screen.questions == []


@pytest.mark.requirement("R327")
async def test_chunks_come_without_a_token_where_they_are_wanted(
    client: JpClient, vendor: ChatVendor
) -> None:
    vendor.will_answer(answer("Hello."))
    result = await client.request("jp/query", {"text": "hi", "conversation": "new"})
    chunks = [
        chunk for chunk in client.received("jp/chunk") if chunk["conversation"] == result["conversation"]
    ]
    assert [chunk["seq"] for chunk in chunks] == list(range(1, result["lastSeq"] + 1))
    assert "".join(chunk.get("md", "") for chunk in chunks).endswith("\n\nHello.")


@pytest.mark.requirement("R330", "R334")
async def test_a_client_that_shows_nothing_is_noticed_and_not_asked_again(
    user: UserFolders, vendor: ChatVendor
) -> None:
    """It answers null at once, as one that just cannot (trap 46); from then on a press stops the turn."""
    async with initialized_server(user) as server:
        client, screen = server.client, Screen()
        client.answers["window/showMessageRequest"] = lambda params: screen.show(params) and None
        for number in range(2):
            query = await HeldQuery.hold(client, vendor, f"null-{number}")
            assert (await query.press())["handled"] == "menu"
            assert (await query.result())["outcome"] == "interrupted"
        query = await HeldQuery.hold(client, vendor, "null-last")
        assert (await query.press())["handled"] == "action"
        assert (await query.result())["outcome"] == "stopped"
        assert len(screen.questions) == 2


@pytest.mark.requirement("S14")
async def test_a_client_without_message_requests_is_asked_once(user: UserFolders, vendor: ChatVendor) -> None:
    async with initialized_server(user) as server:
        for number, handled in enumerate(["menu", "action"]):
            query = await HeldQuery.hold(server.client, vendor, f"none-{number}")
            assert (await query.press())["handled"] == handled
            assert (await query.result())["text"] == "First.\n\n"
        (request,) = server.client.received("window/showMessageRequest")
        assert request["type"] == 2
        assert METHOD_NOT_FOUND == -32601


@pytest.mark.requirement("T25", "R331")
async def test_a_query_that_is_cancelled_while_its_menu_is_open(
    user: UserFolders, vendor: ChatVendor
) -> None:
    """The answer to the menu comes when nobody wants it any more, as a result and as an error."""
    async with initialized_server(user) as server:
        client, screen = server.client, Screen()
        client.answers["window/showMessageRequest"] = screen.show
        for late in ("result", "error"):
            query = await HeldQuery.hold(client, vendor, f"late-{late}")
            await query.press()
            question = await screen.next_question()
            query.cancel()
            fault = await query.fault()
            assert (fault.code, fault.data["outcome"], fault.data["partialSaved"]) == (
                -32800,
                "stopped",
                True,
            )
            if late == "result":
                question.answer({"title": "Abort (discard)"})
            else:
                question.refuse(WireFault({"code": -32800, "message": "cancelled"}))
        vendor.will_answer(answer("Still here."))
        assert (await client.query("hi", "after"))["text"] == "Still here."
        await asyncio.sleep(0)
        assert server.log.lines == []

"""Scenarios S7, S11 and S22 (query pipeline 11): a press, a full disk and a kill at each save of a turn."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import pytest_asyncio

from tests.e2e.test_tools import calls, with_tools
from tests.support.chat_vendor import ChatVendor, answer
from tests.support.jp_client import Json, answer_of, result_of
from tests.support.jp_server import JpServer, initialized_server
from tests.support.saving_troubles import SavingTroubles
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

SAVES = range(1, 7)
"""A turn with one tool has no more: request, flush, response, cycle, end, and perhaps a second flush."""

WHOLE = ["turn", "user: go", "call call-0: look", "result call-0", "message: Done."]


@pytest.fixture(scope="module")
def troubles(tmp_path_factory: pytest.TempPathFactory) -> SavingTroubles:
    return SavingTroubles(tmp_path_factory.mktemp("troubles"))


@pytest.fixture(scope="module")
def tool_user(
    tmp_path_factory: pytest.TempPathFactory, shared_vendor: ChatVendor, troubles: SavingTroubles
) -> UserFolders:
    user = UserFolders(tmp_path_factory.mktemp("user"), shared_vendor.url)
    with_tools(
        user,
        look=("echo seen", {"run": "unattended"}),
        block=(f"touch '{troubles.hold_file}'", {"run": "unattended"}),
    )
    return user


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def troubled(tool_user: UserFolders, troubles: SavingTroubles) -> AsyncIterator[JpServer]:
    async with initialized_server(tool_user, environment=troubles.environment(tool_user)) as server:
        server.log.expected.append("No space left on device")
        yield server


@pytest.fixture(autouse=True)
def well(troubles: SavingTroubles) -> None:
    troubles.end()


@pytest.mark.requirement("S22", "R344")
@pytest.mark.parametrize("lasts", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("number", SAVES)
async def test_whichever_save_fails_nothing_is_lost_silently(
    troubled: JpServer,
    troubles: SavingTroubles,
    tool_user: UserFolders,
    vendor: ChatVendor,
    number: int,
    lasts: bool,
) -> None:
    vendor.will_answer(calls("look"), answer("Done."))
    troubles.fail(number, lasts=lasts)
    token = f"full-{number}-{lasts}"
    _, future = troubled.client.start_query("go", token, conversation="new")
    whole = await answer_of(future)
    assert ("error" in whole) == (number == 1), "only the first save decides whether a turn begins"
    if number == 1:
        data = whole["error"]["data"]
        assert (data["code"], data["draft"]) == ("persist_failed", "go")
        assert vendor.queries == [], "what cannot be stored is not sent"
    else:
        result = whole["result"]
        check_outcome(tool_user, result)
        if result["outcome"] == "failed":
            assert "No space left on device" in str(result["notices"])
    troubles.end()
    vendor.forget()
    vendor.will_answer(answer("Well again."))
    after = await troubled.client.query("more", f"{token}-after", conversation="new")
    assert (after["text"], after["persisted"]) == ("Well again.", True)


@pytest.mark.requirement("S22", "R344")
@pytest.mark.parametrize("verb", ["query", "new", "fork"])
async def test_a_conversation_that_cannot_be_stored_leaves_nothing(
    troubled: JpServer, troubles: SavingTroubles, tool_user: UserFolders, vendor: ChatVendor, verb: str
) -> None:
    """The workspace has its copy by then, and the user's folder a part of one; a list would show it as damaged."""
    client = troubled.client
    vendor.will_answer(answer("Hello."))
    source = (await client.query("hi", f"source-{verb}", conversation="new"))["conversation"]
    before = conversation_folders(tool_user)
    method, params = {
        "query": ("jp/query", {"text": "go", "conversation": "new"}),
        "new": ("jp/conversation/new", {"title": "Nothing of it"}),
        "fork": ("jp/conversation/fork", {"conversation": source}),
    }[verb]
    troubles.fail(1, lasts=True)
    fault = await client.refusal(method, params)
    assert fault.data["code"] == "persist_failed"
    assert "No space left on device" in fault.message
    assert conversation_folders(tool_user) == before
    listed = await client.request("jp/conversation/list")
    assert not [each for each in listed["conversations"] if "problem" in each]


def conversation_folders(user: UserFolders) -> set[Path]:
    """The folders of all live conversations, in both places."""
    places = (user.conversations, user.workspace / ".jp" / "conversations")
    return {each for place in places for each in place.iterdir() if not each.name.startswith(".")}


def check_outcome(user: UserFolders, result: Json) -> None:
    """What came is on disk, or in a copy that the answer names; and the answer says which."""
    if result["persisted"]:
        story = user.story(result["conversation"])
        assert story == WHOLE[: len(story)]
        assert (len(story) == len(WHOLE)) == (result["outcome"] == "completed")
    else:
        assert result["outcome"] == "failed"
        copy = Path(unquote(urlsplit(result["recoveryUri"]).path))
        text = "".join(path.read_text(encoding="utf-8") for path in copy.rglob("*.json"))
        assert '"call-0"' in text


@pytest.mark.requirement("S11", "R289", "T04")
@pytest.mark.parametrize("number", SAVES)
async def test_whichever_save_the_server_dies_in_the_conversation_loads(
    tmp_path: Path, shared_vendor: ChatVendor, vendor: ChatVendor, number: int
) -> None:
    (tmp_path / "troubles").mkdir()
    troubles, user = SavingTroubles(tmp_path / "troubles"), UserFolders(tmp_path, shared_vendor.url)
    with_tools(user, look=("echo seen", {"run": "unattended"}))
    vendor.will_answer(calls("look"), answer("Done."))
    result: Any = None
    async with initialized_server(user, environment=troubles.environment(user)) as server:
        troubles.kill(number)
        _, future = server.client.start_query("go", "t", conversation="new")
        try:
            result = await result_of(future)
        except ConnectionError:
            assert await server.wait() == -9
        else:
            assert number > 4, "a turn with a tool has four saves at the least"
    troubles.end()
    vendor.forget()
    vendor.will_answer(answer("Again."))
    async with initialized_server(user) as server:
        listed = (await server.client.request("jp/conversation/list"))["conversations"]
        assert len(listed) == 1 or number == 1, "only the first save decides whether there is anything"
        for each in listed:
            again = await server.client.query("more", "u", conversation=each["conversation"])
            assert again["text"] == "Again."
            *kept, begin, asked, answered = user.story(each["conversation"])
            assert [begin, asked, answered] == ["turn", "user: more", "message: Again."]
            assert kept in (whole_until(number), whole_until(number + 1), WHOLE), "at most the tail is lost"
    assert result is None or result["outcome"] == "completed"
    vendor.forget()


def whole_until(save: int) -> list[str]:
    """The turn as it was durable before a save, with the answer that a repair gives to a call without one."""
    kept = WHOLE[: max(save, 2)]
    return [*kept, "error call-0"] if kept[-1].startswith("call") else kept


@pytest.mark.requirement("S7", "R126", "R127", "R162")
async def test_a_press_while_the_turn_begins_ends_it_before_anything_is_sent(
    troubled: JpServer, troubles: SavingTroubles, tool_user: UserFolders, vendor: ChatVendor
) -> None:
    troubles.hold()
    _, future = troubled.client.start_query("go", "gap-p1", conversation="new")
    await troubles.until_held()
    pressed = await troubled.client.request("jp/interrupt", {"turn": "gap-p1"})
    assert (pressed["handled"], pressed["phase"]) == ("action", "finishing")
    assert not future.done()
    troubles.end()
    result = await result_of(future)
    assert (result["outcome"], result["persisted"]) == ("stopped", True)
    assert tool_user.story(result["conversation"]) == ["turn", "user: go"]
    assert vendor.queries == []


@pytest.mark.requirement("S7", "R126", "R127", "R162", "R123")
async def test_a_press_while_a_cycle_is_stored_sends_no_follow_up(
    troubled: JpServer, troubles: SavingTroubles, tool_user: UserFolders, vendor: ChatVendor
) -> None:
    """The tool itself stops the disk, so that its response and the cycle cannot become durable."""
    vendor.will_answer(calls("block"))
    _, future = troubled.client.start_query("go", "gap-p4", conversation="new")
    await troubled.client.wait_for_chunk("gap-p4", "tool_result")
    await troubles.until_held()
    (turn,) = (await troubled.client.request("jp/turn/list"))["active"]
    assert turn["phase"] == "continuing"
    pressed = await troubled.client.request("jp/interrupt", {"turn": "gap-p4"})
    assert (pressed["handled"], pressed["phase"]) == ("action", "finishing")
    troubles.end()
    result = await result_of(future)
    assert (result["outcome"], result["persisted"]) == ("stopped", True)
    assert tool_user.story(result["conversation"]) == [
        "turn",
        "user: go",
        "call call-0: block",
        "result call-0",
    ]
    assert len(vendor.queries) == 1

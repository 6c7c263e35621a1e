"""Several conversations at once, what runs in them, listing them, and reading them again."""

import re

import pytest

from tests.support.chat_vendor import ChatVendor, answer, called, thought
from tests.support.held_query import HeldQuery
from tests.support.jp_client import JpClient, result_of, transcript_of
from tests.support.jp_server import JpServer, initialized_server
from tests.support.screen import Screen
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

LONG_ANSWER = (
    "# Plan\n\nSome *words* first, and a list:\n\n- one\n- two\n  - deeper\n\n",
    "```python\nprint(1)\n",
    "```\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n> quoted\n\n<details>\n\nhidden\n\n</details>\n\nThe end",
    " is near.",
)


@pytest.mark.requirement("R337", "S23")
async def test_two_conversations_at_once_stay_apart(
    client: JpClient, vendor: ChatVendor, user: UserFolders
) -> None:
    one = await HeldQuery.hold(
        client, vendor, "one", text="about apples", first="Apples.\n\n", shown="Apples."
    )
    two = await HeldQuery.hold(client, vendor, "two", text="about pears", first="Pears.\n\n", shown="Pears.")
    assert one.conversation != two.conversation
    listed = await client.request("jp/turn/list")
    assert listed["active"] == [
        {"turn": "one", "conversation": one.conversation, "phase": "streaming", "calls": [], "decisions": []},
        {"turn": "two", "conversation": two.conversation, "phase": "streaming", "calls": [], "decisions": []},
    ]
    two.go_on()
    assert (await two.result())["text"] == "Pears.\n\nSecond."
    one.go_on()
    assert (await one.result())["text"] == "Apples.\n\nSecond."
    assert user.story(one.conversation) == ["turn", "user: about apples", "message: Apples.\n\nSecond."]
    assert user.story(two.conversation) == ["turn", "user: about pears", "message: Pears.\n\nSecond."]
    assert {chunk["conversation"] for chunk in client.chunks("one")} == {one.conversation}
    assert (await client.request("jp/turn/list"))["active"] == []


@pytest.mark.requirement("R339", "T12")
async def test_an_open_menu_is_listed_and_can_be_answered_by_who_finds_it_there(
    client: JpClient, vendor: ChatVendor
) -> None:
    client.answers["window/showMessageRequest"] = Screen().show
    query = await HeldQuery.hold(client, vendor, "found")
    await query.press()
    (turn,) = (await client.request("jp/turn/list"))["active"]
    assert (turn["turn"], turn["phase"]) == ("found", "interrupted_stream")
    (decision,) = turn["decisions"]
    assert [action["id"] for action in decision["actions"]] == ["continue", "reply", "stop", "abort"]
    client.notify("jp/answer", {"decisionId": decision["decisionId"], "action": "stop"})
    assert (await query.result())["outcome"] == "stopped"


@pytest.mark.requirement("R281", "R279", "R241", "T20")
async def test_conversations_are_listed_the_last_used_first(
    client: JpClient, vendor: ChatVendor, user: UserFolders
) -> None:
    vendor.will_answer(answer("a"), answer("b"), answer("c"))
    first = (await client.query("hi", "list-1", conversation="new"))["conversation"]
    second = (await client.query("hi", "list-2", conversation="new"))["conversation"]
    listed = (await client.request("jp/conversation/list"))["conversations"]
    assert [each["conversation"] for each in listed[:2]] == [second, first]
    await client.query("more", "list-3", conversation=first)
    listed = (await client.request("jp/conversation/list", {"limit": 1}))["conversations"]
    assert [each["conversation"] for each in listed] == [first]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", listed[0]["lastActivatedAt"])


@pytest.mark.requirement("R222", "R279")
async def test_a_query_without_a_place_continues_the_conversation_used_last(
    user: UserFolders, vendor: ChatVendor, client: JpClient
) -> None:
    vendor.will_answer(answer("a"), answer("b"), answer("c"), answer("d"))
    first = (await client.query("hi", "place-1", conversation="new"))["conversation"]
    assert (await client.query("more", "place-2"))["conversation"] == first
    async with initialized_server(user) as other:
        newer = (await other.client.query("hi", "place-3", conversation="new"))["conversation"]
    assert newer != first
    assert (await client.query("more", "place-4"))["conversation"] == first, "each editor keeps to its own"


@pytest.mark.requirement("R184", "R265", "R288", "S19")
async def test_a_stored_turn_is_shown_as_it_was_shown_while_it_ran(
    client: JpClient, vendor: ChatVendor
) -> None:
    vendor.will_answer(
        answer(
            thought("**Hm.**\n\nFirst"),
            thought(" look."),
            "Looking at it:\n\n",
            called("c1", "read_file", '{"path": "a.txt"}'),
            reason="tool_calls",
        ),
        answer(*LONG_ANSWER),
    )
    result = await client.query("Please *look*.\n\n1. there", "live", conversation="new")
    live = client.transcript("live")
    asked = {"conversation": result["conversation"], "partialResultToken": "replay"}
    rendered = await client.request("jp/conversation/render", asked)
    replayed = client.chunks("replay")
    assert rendered == {"turns": 1, "seq": len(replayed), "notices": []}
    shown = transcript_of(replayed)
    assert re.match(r"## User \(turn 1, now\)\n", shown), shown[:40]
    assert shown.replace(" (turn 1, now)", "", 1) == live
    whole = await client.request("jp/conversation/render", {"conversation": result["conversation"]})
    assert whole["md"] == f"{shown}\n"


async def test_a_part_of_a_conversation_is_shown(client: JpClient, vendor: ChatVendor) -> None:
    vendor.will_answer(answer("one"), answer("two"), answer("three"))
    conversation = (await client.query("a", "part-1", conversation="new"))["conversation"]
    await client.query("b", "part-2")
    await client.query("c", "part-3")

    async def shown(**params: object) -> str:
        result = await client.request("jp/conversation/render", {"conversation": conversation, **params})
        return re.sub(r"\(turn (\d), [^)]*\)", r"\1", result["md"])

    assert await shown(turns={"last": 1}) == "## User 3\n\nc\n\n## Assistant (llamacpp/tiny)\n\nthree\n"
    assert await shown(turns={"fromTurn": 1, "toTurn": 1}) == (
        "## User 1\n\na\n\n## Assistant (llamacpp/tiny)\n\none\n"
    )
    assert await shown(userOnly=True) == "## User 1\n\na\n\n## User 2\n\nb\n\n## User 3\n\nc\n"
    fault = await client.refusal(
        "jp/conversation/render", {"conversation": conversation, "turns": {"fromTurn": 4}}
    )
    assert (fault.code, fault.data["code"]) == (-32602, "invalid_params")
    assert "3 turns" in fault.message


@pytest.mark.requirement("R342")
async def test_no_control_sequence_reaches_the_client_and_the_file_keeps_what_was_said(
    client: JpClient, vendor: ChatVendor, user: UserFolders
) -> None:
    evil = "a\x1b[31mred\x1b]0;title\x07b\x9bc\u202ed\x00e\r\nf"
    vendor.will_answer(answer(thought(evil), evil))
    result = await client.query(evil, "evil", conversation="new")
    told = [client.transcript("evil"), result["text"]]
    rendered = await client.request("jp/conversation/render", {"conversation": result["conversation"]})
    for text in (*told, rendered["md"]):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text), repr(text)
        assert "red" in text
    assert user.story(result["conversation"])[-1] == f"message: {evil}"


@pytest.mark.requirement("T24", "R338")
async def test_two_servers_and_one_conversation(
    server: JpServer, client: JpClient, vendor: ChatVendor, user: UserFolders
) -> None:
    """The one that comes second waits, here for no time at all, and says who has the conversation."""
    held = await HeldQuery.hold(client, vendor, "mine")
    async with initialized_server(user) as other:
        asked = {"text": "more", "conversation": held.conversation, "interactive": False}
        fault = await other.client.refusal("jp/query", asked)
        assert (fault.code, fault.data["code"], fault.data["draft"]) == (-32803, "lock_timeout", "more")
        assert str(server.process.pid) in fault.message
        _, waiting = other.client.start("jp/query", {"text": "wait", "conversation": held.conversation})
        vendor.will_answer(answer("Then me."), to="wait")
        held.go_on()
        assert (await held.result())["outcome"] == "completed"
        assert (await result_of(waiting))["text"] == "Then me."
    assert user.story(held.conversation)[-1] == "message: Then me."
    assert not user.is_locked(held.conversation)


@pytest.mark.requirement("R230", "R284")
async def test_settings_of_one_query_are_kept_by_its_conversation(
    client: JpClient, vendor: ChatVendor, user: UserFolders
) -> None:
    vendor.will_answer(answer("a"), answer("b"))
    config = ["assistant.name=Ada", "assistant.model.id=llamacpp/other"]
    conversation = (await client.query("hi", "kept-1", conversation="new", config=config))["conversation"]
    assert "## Ada (llamacpp/other)" in client.transcript("kept-1")
    await client.query("more", "kept-2", conversation=conversation)
    assert "## Ada (llamacpp/other)" in client.transcript("kept-2")
    assert [body["model"] for body in vendor.queries] == ["other", "other"]
    assert "config_delta" not in user.story(conversation)


async def test_a_query_that_is_not_to_be_kept_leaves_no_trace(
    client: JpClient, vendor: ChatVendor, user: UserFolders
) -> None:
    before = await client.request("jp/conversation/list")
    vendor.will_answer(answer("Gone."))
    result = await client.query("hi", "gone", conversation="new", persist=False)
    assert (result["text"], result["persisted"]) == ("Gone.", False)
    assert await client.request("jp/conversation/list") == before

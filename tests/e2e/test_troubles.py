"""Troubles in the middle of a turn: disks, other programs, odd characters, queues, broken connections."""

import asyncio
import json
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.support.chat_vendor import ChatVendor, answer, ended, said
from tests.support.held_query import HeldQuery
from tests.support.http_server import RESET, Delay, Hold, Reply
from tests.support.jp_client import JpClient, answer_of, fault_of, result_of
from tests.support.jp_server import initialized_server
from tests.support.screen import Screen
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

LARGEST_CHUNK = 64 * 1024


@pytest.mark.requirement("F02", "R55", "R178", "R183")
async def test_a_connection_that_breaks_before_the_end_costs_one_retry_and_behind_it_none(
    client: JpClient, vendor: ChatVendor, user: UserFolders
) -> None:
    gate = Hold()
    vendor.will_answer(
        Reply.sse(said("The total is:\n\n"), gate, RESET),
        Reply.sse(said("12."), ended(), Delay(0.2), RESET),
    )
    _, asked = client.start_query("hi", "reset", conversation="new")
    await client.wait_for_text("reset", "The total is:")
    gate.open()
    result = await result_of(asked)
    assert (result["outcome"], result["text"], result["notices"]) == ("completed", "The total is:\n\n12.", [])
    assert len(vendor.queries) == 2
    assert user.story(result["conversation"])[2:] == ["message: The total is:\n\n", "message: 12."]


@pytest.mark.requirement("R338", "R331", "S9")
async def test_a_query_that_waits_for_another_can_be_cancelled(client: JpClient, vendor: ChatVendor) -> None:
    held = await HeldQuery.hold(client, vendor, "before")
    asked = {"text": "later", "conversation": held.conversation, "queue": True}
    request_id, future = client.start("jp/query", asked)
    await client.request("jp/turn/list")
    client.cancel(request_id)
    fault = await fault_of(future)
    assert (fault.code, fault.data["outcome"], fault.data["draft"]) == (
        -32800,
        "cancelled_before_start",
        "later",
    )
    held.go_on()
    assert (await held.result())["outcome"] == "completed"
    assert vendor.queries_about("later") == []


@pytest.mark.requirement("R331", "T23")
async def test_a_command_is_cancelled_like_the_query_that_it_is(client: JpClient, vendor: ChatVendor) -> None:
    vendor.will_answer(answer("First.\n\n", Hold(), "never"), to="hi")
    asked = {"text": "hi", "conversation": "new", "partialResultToken": "command"}
    request_id, future = client.start(
        "workspace/executeCommand", {"command": "jp.query", "arguments": [asked], "workDoneToken": "work"}
    )
    await client.wait_for_text("command", "First.")
    client.cancel(request_id)
    fault = await fault_of(future)
    assert (fault.code, fault.data["outcome"], fault.data["partialSaved"]) == (-32800, "stopped", True)
    kinds = [value["kind"] for value in client.progress("work")]
    assert (kinds[0], set(kinds[1:-1]), kinds[-1]) == ("begin", {"report"}, "end")


@pytest.mark.requirement("S7", "R332", "R126")
async def test_a_press_while_a_query_waits_offers_to_go_on_waiting(
    client: JpClient, vendor: ChatVendor
) -> None:
    screen = Screen()
    client.answers["window/showMessageRequest"] = screen.show
    held = await HeldQuery.hold(client, vendor, "holder")
    asked = {"conversation": held.conversation, "queue": True}
    _, future = client.start_query("later", "waiter", **asked)
    while len((await client.request("jp/turn/list"))["active"]) < 2:
        pass
    assert await client.request("jp/interrupt", {"turn": "waiter"}) == {
        "handled": "menu",
        "phase": "preparing",
    }
    question = await screen.next_question()
    assert [action["title"] for action in question.params["actions"]] == ["Keep waiting", "Cancel query"]
    question.answer({"title": "Cancel query"})
    result = await result_of(future)
    assert (result["outcome"], result["draft"]) == ("cancelled_before_start", "later")
    held.go_on()
    await held.result()


@pytest.mark.requirement("R332", "R126")
async def test_a_press_that_comes_before_its_query_is_kept(client: JpClient, vendor: ChatVendor) -> None:
    """Trap 42: a quick user's press overtakes a query that is still on its way."""
    vendor.will_answer(answer("First.\n\n", Hold(), "never"))
    pressed = await client.request("jp/interrupt", {"turn": "early", "action": "stop"})
    assert pressed == {"handled": "latched", "phase": "idle"}
    result = await client.query("hi", "early", conversation="new")
    assert result["outcome"] in {"cancelled_before_start", "stopped"}
    vendor.forget()


@pytest.mark.requirement("R344", "S22")
async def test_a_query_that_cannot_be_stored_is_not_sent(
    client: JpClient, vendor: ChatVendor, user: UserFolders
) -> None:
    vendor.will_answer(answer("Hello."))
    conversation = (await client.query("hi", "stored", conversation="new"))["conversation"]
    folder = user.folder_of(conversation)
    (folder / "events.json.tmp").mkdir()
    try:
        fault = await client.refusal("jp/query", {"text": "more", "conversation": conversation})
    finally:
        (folder / "events.json.tmp").rmdir()
    assert (fault.code, fault.data["code"], fault.data["draft"]) == (-32803, "persist_failed", "more")
    assert vendor.queries_about("more") == []
    vendor.will_answer(answer("Again."))
    assert (await client.query("more", "again", conversation=conversation))["text"] == "Again."
    assert user.story(conversation)[-3:] == ["turn", "user: more", "message: Again."]


@pytest.mark.requirement("R344", "S22", "T24")
async def test_what_another_program_wrote_meanwhile_is_not_overwritten(
    client: JpClient, vendor: ChatVendor, user: UserFolders
) -> None:
    held = await HeldQuery.hold(client, vendor, "conflict")
    path = user.folder_of(held.conversation) / "events.json"
    theirs = path.read_text(encoding="utf-8").replace("hi", "changed by hand")
    path.write_text(theirs, encoding="utf-8")
    held.go_on()
    result = await held.result()
    assert (result["outcome"], result["persisted"], result["text"]) == ("failed", False, "First.\n\nSecond.")
    assert path.read_text(encoding="utf-8") == theirs
    copy = Path(unquote(urlsplit(result["recoveryUri"]).path))
    events = json.loads((copy / "events.json").read_text(encoding="utf-8"))
    assert events[-1]["message"] == "First.\n\nSecond."
    (notice,) = result["notices"]
    assert (notice["code"], notice["level"]) == ("persist_failed", "error")
    assert result["recoveryUri"] in notice["text"]


@pytest.mark.requirement("R344")
async def test_characters_that_are_only_halves_do_no_harm(
    client: JpClient, vendor: ChatVendor, user: UserFolders
) -> None:
    """JSON may hold half of a surrogate pair; UTF-8, and so a file and the wire, may not."""
    halves = [b'data: {"choices":[{"index":0,"delta":{"content":"%b","reasoning_content":""}}]}\n\n']
    steps = [halves[0] % text for text in (b"a\\ud83d", b"\\ude00b", b"\\ud800", b"c")]
    vendor.will_answer(Reply.sse(*steps, ended()))
    result = await client.query("hi", "halves", conversation="new")
    assert (result["outcome"], result["text"]) == ("completed", "a😀b�c")
    assert user.story(result["conversation"])[-1] == "message: a😀b�c"
    vendor.will_answer(answer("Fine."))
    answered = await client.query("x\ud800y", "half", conversation="new")
    assert answered["text"] == "Fine."
    assert "x�y" in client.transcript("half")


async def test_a_very_long_line_comes_in_pieces(client: JpClient, vendor: ChatVendor) -> None:
    """Trap 65: not every editor likes a message of a megabyte."""
    line = "é" * 300_000
    vendor.will_answer(answer(f"```text\n{line}\n```\n\n{line} {line}"))
    result = await client.query("hi", "long", conversation="new")
    chunks = client.chunks("long")
    assert max(len(chunk.get("md", "")) for chunk in chunks) <= LARGEST_CHUNK
    assert client.transcript("long").count("é") == 900_000
    assert result["text"].count("é") == 900_000


@pytest.mark.requirement("R337")
async def test_many_conversations_at_once(client: JpClient, vendor: ChatVendor, user: UserFolders) -> None:
    gates = [Hold() for _ in range(30)]
    asked = {}
    for number, gate in enumerate(gates):
        vendor.will_answer(answer(f"Number {number}.\n\n", gate, "End."), to=f"question {number}!")
        _, asked[number] = client.start_query(f"question {number}!", f"many-{number}", conversation="new")
    for number in asked:
        await client.wait_for_text(f"many-{number}", f"Number {number}.")
    assert len((await client.request("jp/turn/list"))["active"]) == 30
    for gate in gates:
        gate.open()
    results = [await result_of(future) for future in asked.values()]
    assert len({result["conversation"] for result in results}) == 30
    for number, result in enumerate(results):
        assert user.story(result["conversation"])[1:] == [
            f"user: question {number}!",
            f"message: Number {number}.\n\nEnd.",
        ]


async def test_a_key_never_shows(user: UserFolders, vendor: ChatVendor) -> None:
    """The vendor echoes the key in its error, as some do."""
    key = "sk-ant-very-secret-0123456789"
    environment = {"ANTHROPIC_API_KEY": key}
    async with initialized_server(user, environment=environment) as server:
        vendor.will_answer(Reply.json({"error": {"message": f"bad key {key}"}}, 401))
        config = [
            "assistant.model.id=anthropic/claude-sonnet-4-5",
            f"providers.llm.anthropic.base_url={vendor.url}",
        ]
        result = await server.client.query("hi", "secret", conversation="new", config=config)
        assert result["error"]["class"] == "auth"
        assert any(key in str(request.headers) for request in vendor.requests)
        assert key not in json.dumps(server.client.messages)
        assert key not in "".join(server.log.lines)
        for path in user.data.rglob("*.json"):
            assert key not in path.read_text(encoding="utf-8")


async def test_a_tool_call_with_broken_arguments_is_answered(client: JpClient, vendor: ChatVendor) -> None:
    call = (
        b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function",'
        b'"function":{"name":"read","arguments":"{\\"path\\": "}}]}}]}\n\n'
    )
    vendor.will_answer(Reply.sse(call, ended("tool_calls")), answer("Sorry."))
    result = await client.query("hi", "cut", conversation="new")
    assert (result["outcome"], result["text"]) == ("completed", "Sorry.")
    tool = vendor.queries[1]["messages"][-1]
    assert (tool["role"], tool["tool_call_id"]) == ("tool", "c1")
    assert re.search("JSON|argument|tool", tool["content"])


@pytest.mark.requirement("R332", "R131")
async def test_a_third_press_ends_the_query_at_once(client: JpClient, vendor: ChatVendor) -> None:
    client.answers["window/showMessageRequest"] = Screen().show
    query = await HeldQuery.hold(client, vendor, "thrice")
    for _ in range(3):
        client.notify("jp/interrupt", {"turn": "thrice"})
    result = (await answer_of(asyncio.ensure_future(query.answer())))["result"]
    assert result["outcome"] in {"interrupted", "killed"}
    vendor.will_answer(answer("Go on."))
    assert (await client.query("hi", "thrice-next", conversation=query.conversation))["text"] == "Go on."

"""What goes wrong before or while a model is asked: each with an answer that says what, where and what to do."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.chat_vendor import ChatVendor, answer, broken, refused
from tests.support.held_query import HeldQuery
from tests.support.http_server import Reply, refusing_url
from tests.support.jp_client import JpClient, answer_of, result_of
from tests.support.jp_server import initialized_server, jp_server
from tests.support.user_folders import UserFolders
from tests.support.workspaces import states

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

WRONG_PARAMS: list[tuple[str, Any, str]] = [
    ("jp/query", {"text": 1}, "text"),
    ("jp/query", {"text": "hi", "conversation": "nonsense"}, "conversation"),
    ("jp/query", {"text": "hi", "schema": "{"}, "schema"),
    ("jp/query", {"text": "hi", "expires": "soon"}, "expires"),
    ("jp/query", {"text": "hi", "config": "a=b"}, "config"),
    ("jp/query", {"text": "hi", "toolChoice": 3}, "toolChoice"),
    ("jp/query", {"text": "hi", "partialResultToken": []}, "partialResultToken"),
    ("jp/query", {"content": [{"type": "song"}]}, "content"),
    ("jp/query", [], "params"),
    ("jp/interrupt", {"action": 1}, "action"),
    ("jp/interrupt", {"turn": {}}, "turn"),
    ("jp/answer", {}, "decisionId"),
    ("jp/answer", {"decisionId": 7}, "decisionId"),
    ("jp/turn/list", "all", "params"),
    ("jp/conversation/list", {"limit": 0}, "limit"),
    ("jp/conversation/render", {}, "conversation"),
    ("jp/conversation/render", {"conversation": "jp-c1", "turns": {"last": 0}}, "turns.last"),
]


@pytest.mark.requirement("R233", "R343", "R303")
@pytest.mark.parametrize(("method", "params", "field"), WRONG_PARAMS)
async def test_wrong_params_are_refused_with_the_name_of_the_field(
    client: JpClient, method: str, params: Any, field: str
) -> None:
    fault = await client.refusal(method, params)
    assert (fault.code, fault.data["code"]) == (-32602, "invalid_params")
    assert method in fault.message
    assert field in fault.message
    command = {"command": method.replace("/", "."), "arguments": [params]}
    fault = await client.refusal("workspace/executeCommand", command)
    assert (fault.code, fault.data["code"]) == (-32602, "invalid_params")


@pytest.mark.requirement("R343")
async def test_odd_keys_are_no_trouble(client: JpClient, vendor: ChatVendor) -> None:
    """Names that a library for typed messages would choke on (trap 41)."""
    odd = {
        "a-b": 1,
        "class": "x",
        "$ref": "#/x",
        "type_name": None,
        "nested": {"jsonrpc": "2.0", "id": 1, "method": "exit", "result": {"jsonrpc": "2.0"}},
    }
    vendor.will_answer(answer("one"), answer("two"))
    asked = {"text": "hi", "conversation": "new", **odd}
    assert (await client.request("jp/query", asked))["text"] == "one"
    command = {"command": "jp.query", "arguments": [asked], **odd}
    assert (await client.request("workspace/executeCommand", command))["text"] == "two"
    assert (await client.request("jp/turn/list", odd)) == {"active": [], "unfinished": []}


async def test_unknown_methods_and_commands(client: JpClient) -> None:
    assert (await client.refusal("jp/nope", {})).code == -32601
    assert (await client.refusal("workspace/executeCommand", {"command": "jp.nope"})).code in {-32601, -32602}
    client.notify("jp/nope", {})
    client.notify("$/nope", {})
    assert (await client.request("jp/turn/list"))["active"] == []


@pytest.mark.requirement("R343")
async def test_too_early_and_too_late(user: UserFolders) -> None:
    async with jp_server(user) as server:
        client = server.client
        fault = await client.refusal("jp/query", {"text": "hi"})
        assert (fault.code, fault.data["code"]) == (-32002, "not_initialized")
        await client.initialize(user.workspace)
        await client.request("shutdown")
        fault = await client.refusal("jp/query", {"text": "hi"})
        assert (fault.code, fault.data["code"]) == (-32600, "invalid_request")


async def test_a_query_without_text_makes_nothing(client: JpClient, user: UserFolders) -> None:
    listed = await client.request("jp/conversation/list")
    for asked in ({"text": " \n"}, {}, {"content": []}):
        result = await client.request("jp/query", {"conversation": "new", **asked})
        assert result == {
            "outcome": "empty_query",
            "turns": [],
            "text": "",
            "notices": [],
            "persisted": False,
            "lastSeq": 0,
        }
    assert await client.request("jp/conversation/list") == listed


@pytest.mark.requirement("T18", "R338", "S23")
async def test_a_busy_conversation_refuses_or_queues_and_says_which(
    client: JpClient, vendor: ChatVendor, user: UserFolders
) -> None:
    held = await HeldQuery.hold(client, vendor, "busy")
    asked = {"text": "more", "conversation": held.conversation}
    fault = await client.refusal("jp/query", asked)
    assert (fault.code, fault.data["code"], fault.data["draft"]) == (-32803, "conversation_busy", "more")
    assert held.conversation in fault.message
    assert "queue" in fault.message
    _, queued = client.start("jp/query", {**asked, "queue": True})
    vendor.will_answer(answer("Later."), to="more")
    assert len((await client.request("jp/turn/list"))["active"]) == 2
    held.go_on()
    assert (await held.result())["outcome"] == "completed"
    assert (await result_of(queued))["text"] == "Later."
    assert user.story(held.conversation)[-4:] == [
        "message: First.\n\nSecond.",
        "turn",
        "user: more",
        "message: Later.",
    ]


@pytest.mark.requirement("R338")
async def test_a_token_names_one_running_query(client: JpClient, vendor: ChatVendor) -> None:
    held = await HeldQuery.hold(client, vendor, "same")
    for token in ("partialResultToken", "workDoneToken"):
        fault = await client.refusal("jp/query", {"text": "hi", "conversation": "new", token: "same"})
        assert (fault.code, fault.data["code"]) == (-32602, "invalid_params")
        assert "'same'" in fault.message
    await held.press(action="stop")
    await held.result()


async def test_an_unknown_conversation(client: JpClient) -> None:
    fault = await client.refusal("jp/query", {"text": "hi", "conversation": "jp-c1"})
    assert (fault.code, fault.data["code"], fault.data["draft"]) == (-32803, "conversation_not_found", "hi")
    assert "jp-c1" in fault.message
    fault = await client.refusal("jp/conversation/render", {"conversation": "jp-c1"})
    assert (fault.code, fault.data["code"]) == (-32803, "conversation_not_found")


@pytest.mark.requirement("R299", "R56")
async def test_a_missing_key_names_the_variable(client: JpClient, user: UserFolders) -> None:
    listed = await client.request("jp/conversation/list")
    fault = await client.refusal(
        "jp/query",
        {"text": "hi", "conversation": "new", "config": ["assistant.model.id=anthropic/claude-sonnet-4-5"]},
    )
    assert (fault.code, fault.data["code"], fault.data["draft"]) == (-32803, "provider_auth", "hi")
    assert "ANTHROPIC_API_KEY" in fault.message
    assert "ANTHROPIC_API_KEY" in fault.data["origin"]
    assert await client.request("jp/conversation/list") == listed


@pytest.mark.requirement("R206", "R60", "R203", "R294", "S15")
@pytest.mark.parametrize("max_retries", [0, 2])
async def test_a_dead_endpoint(client: JpClient, user: UserFolders, max_retries: int) -> None:
    token = f"dead-{max_retries}"
    with refusing_url() as url:
        config = [
            f"providers.llm.llamacpp.base_url={url}",
            f"assistant.request.max_retries={max_retries}",
        ]
        result = await client.query("hi", token, conversation="new", config=config)
    assert (result["outcome"], result["persisted"]) == ("failed", True)
    error = result["error"]
    assert (error["class"], error["provider"]) == ("connect", "llamacpp")
    assert url.removeprefix("http://") in error["message"]
    assert error.get("attempts") == max_retries + 1
    retries = [chunk for chunk in client.chunks(token) if chunk["type"] == "retry" and not chunk.get("clear")]
    # A newer state may take the place of an older one on the way, so not each of them must be seen.
    assert {(retry["attempt"], retry["max"]) for retry in retries} <= {
        (number, max_retries) for number in range(1, max_retries + 1)
    }
    assert user.story(result["conversation"]) == ["turn", "user: hi"]
    attempts = f" after {max_retries + 1} attempts" if max_retries else ""
    word, _, cause = error["message"].partition(":")
    assert client.transcript(token) == f"## User\n\nhi\n\n> **Error:** {word}{attempts}:{cause}"


REFUSALS: Mapping[str, tuple[Reply, str]] = {
    "401": (refused(401, "Invalid API key"), "auth"),
    "403": (refused(403, "Not for you"), "permission"),
    "404": (refused(404, "model 'tiny' not found"), "unknown_model"),
    "429 quota": (refused(429, "You exceeded it", code="insufficient_quota"), "quota"),
    "400": (refused(400, "max_tokens must be below 8192"), "malformed"),
    "413": (refused(413, "prompt is too long"), "context_length"),
}


@pytest.mark.requirement("R56", "R57", "R58", "R59", "R203", "R256", "S15", "F13", "T20")
@pytest.mark.parametrize("case", REFUSALS)
async def test_what_no_retry_can_mend_is_told_after_one_request(
    client: JpClient, vendor: ChatVendor, user: UserFolders, case: str
) -> None:
    reply, kind = REFUSALS[case]
    vendor.will_answer(reply)
    result = await client.query("hi", f"refused-{case}", conversation="new")
    assert (result["outcome"], result["error"]["class"]) == ("failed", kind)
    assert reply.steps[0].decode().split('"message": "')[1].split('"')[0] in result["error"]["message"]  # type: ignore[union-attr]
    assert len(vendor.queries) == 1
    listed = await client.request("jp/conversation/list")
    assert result["conversation"] in [each["conversation"] for each in listed["conversations"]]
    vendor.will_answer(answer("Better."))
    again = await client.query("once more", f"again-{case}", conversation=result["conversation"])
    assert again["outcome"] == "completed"
    assert user.story(result["conversation"])[:2] == ["turn", "user: hi"]


@pytest.mark.requirement("R51", "R55", "R12", "R206", "F01", "F12", "S15")
async def test_passing_trouble_is_retried_and_nothing_is_lost(
    client: JpClient, vendor: ChatVendor, user: UserFolders
) -> None:
    vendor.will_answer(
        refused(429, "slow down"),
        refused(503, "loading"),
        broken("The total"),
        broken(" is"),
        answer(" 12."),
    )
    result = await client.query("hi", "trouble", conversation="new")
    assert (result["outcome"], result["text"]) == ("completed", "The total is 12.")
    assert len(vendor.queries) == 5
    assert vendor.last_message == "The total\n\n is"
    assert [line for line in user.story(result["conversation"]) if line.startswith("message")] == [
        "message: The total",
        "message:  is",
        "message:  12.",
    ]
    assert client.transcript("trouble").endswith("\n\nThe total is 12.")


@pytest.mark.requirement("R299", "R344")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[assistant]\nname = \n", ["config.toml:2", "TOML"]),
        ("[assistant]\nname = 3\n", ["config.toml:2", "`assistant.name`", "3"]),
        ("[assistant.request]\nmax_retries = -1\n", ["config.toml:2", "`assistant.request.max_retries`"]),
        (
            "[assistant.request]\nstream_idle_timeout_secs = 5\n",
            ["config.toml:2", "`assistant.request.stream_idle_timeout_secs`", "at least 10"],
        ),
        (
            '[providers.llm.llamacpp]\nbase_url = "http://stranger.invalid"\n',
            ["config.toml:2", "`providers.llm.llamacpp.base_url`", "stranger.invalid", "trust"],
        ),
    ],
    ids=["syntax", "type", "range", "rule", "stranger"],
)
async def test_a_bad_configuration_file(
    client: JpClient, vendor: ChatVendor, user: UserFolders, text: str, said: list[str]
) -> None:
    path = user.workspace / ".jp" / "config.toml"
    path.write_text(text, encoding="utf-8")
    try:
        fault = await client.refusal("jp/query", {"text": "hi", "conversation": "new"})
    finally:
        path.unlink()
    assert (fault.code, fault.data["code"], fault.data["draft"]) == (-32803, "config_invalid", "hi")
    assert fault.data["origin"].startswith(".jp/config.toml:2")
    for word in said:
        assert word in fault.message
    assert vendor.queries == []
    vendor.will_answer(answer("Mended."))
    assert (await client.query("hi", "mended", conversation="new"))["text"] == "Mended."


@pytest.mark.requirement("R344")
async def test_a_damaged_conversation_is_left_as_it_is(
    client: JpClient, vendor: ChatVendor, user: UserFolders
) -> None:
    vendor.will_answer(answer("Hello."))
    conversation = (await client.query("hi", "damaged", conversation="new"))["conversation"]
    silo = user.folder_of(conversation)
    for folder in (silo, user.workspace / ".jp" / "conversations" / silo.name):
        (folder / "events.json").write_text('[{"timestamp": "2026', encoding="utf-8")
    before = states(silo), states(user.workspace / ".jp")
    fault = await client.refusal("jp/query", {"text": "more", "conversation": conversation})
    assert (fault.code, fault.data["code"], fault.data["draft"]) == (
        -32803,
        "conversation_unreadable",
        "more",
    )
    assert conversation in fault.message
    assert "events.json" in fault.message
    assert (states(silo), states(user.workspace / ".jp")) == before
    assert vendor.queries_about("more") == []
    fault = await client.refusal("jp/conversation/render", {"conversation": conversation})
    assert fault.data["code"] == "conversation_unreadable"


async def test_a_client_without_a_folder(user: UserFolders) -> None:
    async with jp_server(user) as server:
        await server.client.initialize(None)
        fault = await server.client.refusal("jp/query", {"text": "hi"})
        assert (fault.code, fault.data["code"], fault.data["draft"]) == (-32803, "no_workspace", "hi")
        for method in ("jp/conversation/list", "jp/conversation/render"):
            fault = await server.client.refusal(method, {"conversation": "jp-c1"})
            assert fault.data["code"] == "no_workspace"
        pressed = await server.client.request("jp/interrupt", {"turn": "none"})
        assert pressed == {"handled": "none", "phase": "idle"}
        assert (await server.client.request("jp/turn/list"))["active"] == []


async def test_a_folder_that_is_no_workspace_yet_becomes_one(user: UserFolders, vendor: ChatVendor) -> None:
    folder = user.workspace.parent / "fresh folder ü"
    folder.mkdir()
    async with jp_server(user) as fresh:
        await fresh.client.initialize(folder)
        vendor.will_answer(answer("Hello."))
        result = await fresh.client.query("hi", "fresh")
        assert result["outcome"] == "completed"
        assert (folder / ".jp" / ".id").is_file()
        (told,) = fresh.client.received("window/showMessage")
        assert told == {"type": 3, "message": f"Made a JP workspace: {folder / '.jp'}"}


async def test_settings_that_make_no_sense_are_told_once(user: UserFolders, vendor: ChatVendor) -> None:
    options = {"jp": {"interrupt": {"on_dismiss": "explode"}, "nonsense": 1}}
    async with initialized_server(user, options=options) as server:
        vendor.will_answer(answer("a"), answer("b"))
        await server.client.query("hi", "one", conversation="new")
        told = [message["message"] for message in server.client.received("window/showMessage")]
        assert any("jp.interrupt.on_dismiss" in text for text in told)
        await server.client.query("hi", "two", conversation="new")
        assert len(server.client.received("window/showMessage")) == len(told)


async def test_two_cancels_and_a_cancel_of_nothing(client: JpClient, vendor: ChatVendor) -> None:
    held = await HeldQuery.hold(client, vendor, "cancels")
    client.cancel(99_999)
    for _ in range(3):
        held.cancel()
    assert (await held.fault()).code == -32800
    held.cancel()
    request_id, future = client.start("jp/turn/list")
    client.cancel(request_id)
    listed = await answer_of(future)
    assert "result" in listed or listed["error"]["code"] == -32800

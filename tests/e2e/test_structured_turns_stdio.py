"""Queries that are to answer with a value, and messages of the model beside its answer, as a client meets them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.chat_vendor import ChatVendor, answer, called, thought
from tests.support.http_server import Hold
from tests.support.jp_client import JpClient, result_of, transcript_of
from tests.support.jp_server import initialized_server
from tests.support.query_process import run_query
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"size": {"type": "integer"}},
    "required": ["size"],
    "additionalProperties": False,
}
SCHEMA_TEXT = json.dumps(SCHEMA)
FITS = '{"size": 3}'
WRONG = '{"size": "3"}'
PROBLEM = "size: '3' is not of type 'integer'"


async def replayed(client: JpClient, conversation: str, token: str) -> str:
    """The transcript of the conversation's only turn, without what a live turn does not show."""
    await client.request(
        "jp/conversation/render", {"conversation": conversation, "partialResultToken": token}
    )
    return transcript_of(client.chunks(token)).replace(" (turn 1, now)", "", 1)


def without_space(text: str) -> str:
    return re.sub(r"\s+", "", text)


@pytest.mark.requirement("R225", "R258", "F25")
async def test_a_value_that_fits(client: JpClient, vendor: ChatVendor, user: UserFolders) -> None:
    vendor.will_answer(answer('{"si', 'ze": 3}\n'))
    result = await client.query("How large?", "fits", conversation="new", schema=SCHEMA_TEXT)
    assert (result["outcome"], result["data"], result["dataValid"]) == ("completed", {"size": 3}, True)
    assert "dataErrors" not in result
    assert vendor.queries[0]["response_format"]["json_schema"]["schema"] == SCHEMA
    shown = client.transcript("fits")
    assert shown.endswith('`````json\n{"size": 3}\n`````')
    assert without_space(await replayed(client, result["conversation"], "fits-again")) == without_space(shown)
    assert user.events(result["conversation"])[1]["schema"] == SCHEMA


@pytest.mark.requirement("R258", "S19")
async def test_a_value_that_does_not_fit_is_asked_for_again(
    client: JpClient, vendor: ChatVendor, user: UserFolders
) -> None:
    hold = Hold()
    vendor.will_answer(
        answer(thought("Hm."), WRONG), answer(hold, "Three, I think."), answer(thought("Oh."), FITS)
    )
    _, future = client.start_query("How large?", "again", conversation="new", schema=SCHEMA_TEXT)
    retry = await client.wait_for_chunk("again", "retry", attempt=1, max=2)
    assert retry["cause"] == "The value does not fit the schema"
    hold.open()
    result = await result_of(future)
    assert (result["data"], result["dataValid"]) == ({"size": 3}, True)
    messages = [query["messages"][1:] for query in vendor.queries]  # without the system prompt
    assert [message["role"] for message in messages[1]] == ["user", "assistant", "user"]
    assert json.loads(messages[1][1]["content"]) == json.loads(WRONG)
    assert f"\n- {PROBLEM}\n" in messages[1][2]["content"]
    assert messages[2][1]["content"] == "Three, I think."
    assert "not valid JSON" in messages[2][2]["content"]
    kept = [event["type"] for event in user.events(result["conversation"])]
    assert kept == ["turn_start", "chat_request", "chat_response", "chat_response"]
    chunks = client.chunks("again")
    assert [chunk["reason"] for chunk in chunks if chunk["type"] == "retract"] == ["restart", "restart"]
    shown = transcript_of(chunks)
    assert shown.count("`````json") == 1
    again = await replayed(client, result["conversation"], "again-again")
    assert without_space(again) == without_space(shown)


@pytest.mark.requirement("R258")
async def test_a_value_that_never_fits_is_given_with_what_is_wrong(
    client: JpClient, vendor: ChatVendor
) -> None:
    vendor.will_answer(*[answer(WRONG)] * 3)
    result = await client.query("How large?", "never", conversation="new", schema=SCHEMA_TEXT)
    assert (result["outcome"], result["data"]) == ("completed", {"size": "3"})
    assert (result["dataValid"], result["dataErrors"]) == (False, [PROBLEM])


@pytest.mark.requirement("R258")
async def test_no_value_is_a_failure(user: UserFolders, client: JpClient, vendor: ChatVendor) -> None:
    vendor.will_answer(answer(thought("Hm.")), to="How large is nothing?")
    result = await client.query(
        "How large is nothing?",
        "none",
        conversation="new",
        schema=SCHEMA_TEXT,
        config=["assistant.request.max_retries=0"],
    )
    assert (result["outcome"], result["error"]["class"]) == ("failed", "missing_structured_data")
    assert "data" not in result
    assert user.story(result["conversation"])[2:] == ["reasoning: Hm."]


@pytest.mark.requirement("R221")
async def test_a_schema_may_be_written_as_fields(
    user: UserFolders, client: JpClient, vendor: ChatVendor
) -> None:
    vendor.will_answer(answer('{"size": 3}'))
    result = await client.query(
        "How large?", "fields", conversation="new", schema="size int: in metres\n?unit"
    )
    fields = {"size": {"type": "integer", "description": "in metres"}, "unit": {"type": "string"}}
    assert user.events(result["conversation"])[1]["schema"] == {
        "type": "object", "properties": fields, "required": ["size"],
    }  # fmt: skip
    assert (result["data"], result["dataValid"]) == ({"size": 3}, True)


async def test_what_is_no_schema_is_refused(client: JpClient) -> None:
    for schema, said in (
        ('{"type": "thing"}', "`schema` is no JSON schema: type: 'thing' is not valid"),
        ("title str int", "`schema` cannot be read: line 1, column 11: expected a comma or a new line"),
    ):
        fault = await client.refusal("jp/query", {"text": "hi", "schema": schema, "conversation": "new"})
        assert fault.data["code"] == "invalid_params"
        assert said in fault.message


@pytest.mark.requirement("S24")
async def test_a_reply_is_answered_in_words(client: JpClient, vendor: ChatVendor) -> None:
    hold = Hold()
    vendor.will_answer(answer('{"size":', hold, " 3}"), answer("Three."))
    _, future = client.start_query("How large?", "reply", conversation="new", schema=SCHEMA_TEXT)
    await client.wait_for_chunk("reply", "structured", part="more")
    client.notify("jp/interrupt", {"turn": "reply", "action": "reply", "text": "In words, please."})
    result = await result_of(future)
    assert (result["outcome"], result["text"]) == ("completed", "Three.")
    assert [turn["outcome"] for turn in result["turns"]] == ["replied", "completed"]
    assert "data" not in result
    assert "response_format" not in vendor.queries[-1]


@pytest.mark.requirement("R276", "S19")
async def test_what_the_model_tells_the_user_reads_like_its_answer(
    tmp_path: Path, shared_vendor: ChatVendor, vendor: ChatVendor
) -> None:
    user = UserFolders(tmp_path, shared_vendor.url)
    path = user.config / "config.toml"
    path.write_text(
        path.read_text(encoding="utf-8") + "[conversation.tools.tell_user]\nenable = true\n", encoding="utf-8"
    )
    told = json.dumps({"message": "**Half** done."})
    vendor.will_answer(
        answer("I begin.", called("c", "tell_user", told), reason="tool_calls"), answer("All done.")
    )
    async with initialized_server(user) as server:
        result = await server.client.query("Work.", "t")
        shown = server.client.transcript("t")
        again = await replayed(server.client, result["conversation"], "again")
    assert (
        shown == "## User\n\nWork.\n\n## Assistant (llamacpp/tiny)\n\nI begin.\n\n**Half** done.\n\nAll done."
    )
    assert again == shown
    chunks = server.client.chunks("t")
    assert {chunk["region"] for chunk in chunks if chunk["type"] == "text"} == {"message"}
    assert not {"tool_call", "tool_result", "notice", "tool_progress"} & {chunk["type"] for chunk in chunks}
    assert user.story(result["conversation"])[2:] == [
        "message: I begin.", "call c: tell_user", "result c", "message: All done."
    ]  # fmt: skip
    (told_model,) = [message for message in vendor.queries[-1]["messages"] if message["role"] == "tool"]
    assert told_model["content"] == "Message shown to user."


@pytest.mark.requirement("R340")
async def test_the_terminal_client_prints_the_bare_value(
    tmp_path: Path, shared_vendor: ChatVendor, vendor: ChatVendor
) -> None:
    user = UserFolders(tmp_path, shared_vendor.url)
    (user.workspace / "schema.json").write_text(SCHEMA_TEXT, encoding="utf-8")
    vendor.will_answer(answer(WRONG), answer(FITS), *[answer(WRONG)] * 3, answer(FITS))

    code, out, said = run_query(user, "--schema", "@schema.json", "How large?")
    assert (code, json.loads(out), said) == (0, {"size": 3}, "")
    code, out, said = run_query(user, "--new", "--schema", SCHEMA_TEXT, "How large?")
    assert (code, json.loads(out)) == (0, {"size": "3"})
    assert f"The value does not fit the schema: {PROBLEM}" in said
    assert run_query(user, "--schema", "@gone.json", "How large?")[0] == 2
    code, out, said = run_query(user, "--new", "--schema", "size int", "How large?")
    assert (code, json.loads(out), said) == (0, {"size": 3}, "")

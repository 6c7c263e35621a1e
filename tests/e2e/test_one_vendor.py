"""Whole turns over stdio that only one vendor can have: Google's signatures, OpenAI's encrypted thoughts."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.http_server import Reply
from tests.support.jp_server import initialized_server
from tests.support.speaking_vendor import KEY, SpeakingVendor
from tests.support.speeches import ENCRYPTED, GOOGLE, OPENAI, signature_of, thought_item

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]


@pytest.fixture
def google() -> Iterator[SpeakingVendor]:
    with SpeakingVendor(GOOGLE) as vendor:
        yield vendor


@pytest.fixture
def openai() -> Iterator[SpeakingVendor]:
    with SpeakingVendor(OPENAI) as vendor:
        yield vendor


@pytest.mark.requirement("R1", "R17", "R214", "R240")
async def test_signatures_of_calls_come_back_to_google(tmp_path: Path, google: SpeakingVendor) -> None:
    user, speech = google.user(tmp_path), google.speech
    calls = speech.called("look", {}), speech.called("list", {})
    google.will_answer(speech.answer("One moment.", *calls), speech.answer("There."))
    async with initialized_server(user, environment=google.environment) as server:
        await server.client.query("Is it there?", "t")
    _, second = google.queries
    signatures = [part.get("thoughtSignature") for part in second["contents"][1]["parts"]]
    assert signatures == [None, signature_of("look"), signature_of("list")]


@pytest.mark.requirement("R240")
async def test_models_of_google_are_known_where_it_cannot_be_reached(tmp_path: Path) -> None:
    asked = {"vendor": "google"}
    with SpeakingVendor(GOOGLE) as google:
        user, environment = google.user(tmp_path), google.environment
        async with initialized_server(user, environment=environment) as server:
            before = await server.client.request("jp/model/list", asked)
        questions = len(google.requests)
    assert [each["id"] for each in before["models"]] == ["google/gemini-tiny"]
    async with initialized_server(user, environment=environment) as server:
        client = server.client
        assert await client.request("jp/model/list", asked) == before
        after = await client.request("jp/model/list", {**asked, "refresh": True})
    assert after["models"] == before["models"]
    (notice,) = after["notices"]
    assert notice["text"].startswith("The models of google could not be listed: cannot connect to ")
    assert notice["text"].endswith(" Shown are those of a moment ago.")
    assert questions == 1


# Thoughts that only the vendor can read go back to it as they came, after a restart as well.
@pytest.mark.requirement("R44", "F18")
async def test_encrypted_thoughts_come_back_to_openai(tmp_path: Path, openai: SpeakingVendor) -> None:
    user, speech = openai.user(tmp_path), openai.speech
    openai.will_answer(
        speech.answer(thought_item("Hm."), speech.called("look", {})),
        speech.answer("Seen."),
        speech.answer("Yes."),
    )
    async with initialized_server(user, environment=openai.environment) as server:
        first = await server.client.query("Look!", "t")
    async with initialized_server(user, environment=openai.environment) as server:
        again = await server.client.query("Sure?", "u", conversation=first["conversation"])
    assert again["text"] == "Yes."
    thought = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "Hm."}],
        "encrypted_content": ENCRYPTED,
    }
    _, second, third = openai.queries
    for body in (second, third):
        position = body["input"].index(thought)
        assert body["input"][position + 1]["type"] == "function_call"


# Trap 37: what the vendor refuses to take back is taken off what is stored, and the turn goes on by itself.
@pytest.mark.requirement("F15", "F18")
async def test_thoughts_that_openai_refuses_are_mended(tmp_path: Path, openai: SpeakingVendor) -> None:
    refusal = {
        "error": {
            "type": "invalid_request_error",
            "message": "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
        }
    }
    user, speech = openai.user(tmp_path), openai.speech
    openai.will_answer(
        speech.answer(thought_item("Hm."), speech.called("look", {})),
        Reply.json(refusal, 400),
        speech.answer("Seen."),
    )
    async with initialized_server(user, environment=openai.environment) as server:
        result = await server.client.query("Look!", "t")
    assert (result["outcome"], result["text"]) == ("completed", "Seen.")
    assert "openai_item_id" not in json.dumps(user.events(result["conversation"]))
    _, second, third = openai.queries
    assert [item["type"] for item in second["input"]].count("reasoning") == 1
    assert [item["type"] for item in third["input"]].count("reasoning") == 0
    plain = {"type": "message", "role": "assistant", "content": "<think>\nHm.\n</think>\n\n"}
    assert plain in third["input"]


@pytest.mark.requirement("R255")
async def test_openai_is_where_the_environment_says(tmp_path: Path, openai: SpeakingVendor) -> None:
    user = openai.user(tmp_path)
    config = user.config / "config.toml"
    config.write_text(config.read_text("utf-8").replace(openai.url, "http://127.0.0.1:1"), encoding="utf-8")
    openai.will_answer(openai.speech.answer("Here."))
    environment = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": openai.address}
    async with initialized_server(user, environment=environment) as server:
        result = await server.client.query("Hello", "t")
    assert result["text"] == "Here."
    assert [request.path for request in openai.requests] == ["/v1/responses"]

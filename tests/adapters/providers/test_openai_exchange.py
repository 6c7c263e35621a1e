"""What OpenAI refuses and what comes of it, and answers that come whole; then over a real connection."""

import json
from typing import Any

import anyio
import pytest

from jp_lsp.ports.provider import Effort, ModelDetails
from jp_lsp.providers.connection import Connection
from jp_lsp.providers.openai.adapter import make_provider
from jp_lsp.providers.openai.models import describe
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.turn.stream_event import Finished, MetadataPatch, Patch, RetryRequested, StreamEvent, Usage
from tests.adapters.providers.making import Observer, calls, model, request, returns, sse, thinks, user
from tests.adapters.providers.recorded_events import built, to_json
from tests.adapters.providers.replay import EXCHANGES, play, whole
from tests.adapters.providers.words import shown
from tests.support.http_server import HttpServer, Reply

UNKNOWN = model("openai/gpt-new")
PRO = describe("gpt-5.5-pro")


def thought(item_id: str) -> Any:
    return thinks("hm", provider="openai", openai_item_id=item_id, openai_encrypted_content="enc")


HISTORY = [
    *(user("Hello"), thought("rs_1"), calls("c1"), returns("c1")),
    *(thought("rs_2"), calls("c2"), returns("c2")),
]


def refusal(message: str, status: int = 400, **members: Any) -> dict[str, Any]:
    error = {"message": message, "type": "invalid_request_error", **members}
    return {
        "status": status,
        "headers": {"content-type": "application/json"},
        "body": json.dumps({"error": error}),
    }


def refused(answer: dict[str, Any]) -> list[StreamEvent]:
    return play(EXCHANGES["openai"](request(*HISTORY, of=UNKNOWN)), [answer], whole).events


def mended(*ids: str) -> list[Any]:
    return [Patch(tuple(MetadataPatch("openai_item_id", name) for name in ids)), Finished(RetryRequested())]


# Trap 37: each repair takes something away, so it cannot go round for ever.
@pytest.mark.requirement("F15", "F18")
@pytest.mark.parametrize(
    ("message", "members", "ids"),
    [
        ("Item 'rs_2' of type 'reasoning' was provided without its required following item.", {}, ["rs_2"]),
        (
            "Item 'msg_1' of type 'message' was provided without its required 'reasoning' item: 'rs_9'.",
            {},
            ["msg_1"],
        ),
        (
            "The encrypted content for item rs_2 could not be verified.",
            {"code": "invalid_encrypted_content"},
            ["rs_2"],
        ),
        (
            "The encrypted content gAAA... could not be verified.",
            {"code": "invalid_encrypted_content"},
            ["rs_1", "rs_2"],
        ),
    ],
)
def test_items_that_are_refused_lose_their_ids(message: str, members: Any, ids: list[str]) -> None:
    assert refused(refusal(message, **members)) == mended(*ids)


@pytest.mark.parametrize(
    "answer",
    [
        # Calls are sent without an id, so there is nothing to take away.
        refusal("Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item."),
        refusal("Something else."),
        refusal("Item 'rs_1' of type 'reasoning' was provided without its required following item.", 422),
    ],
)
def test_a_refusal_about_something_else_is_a_failure(answer: dict[str, Any]) -> None:
    (failure,) = refused(answer)
    assert isinstance(failure, StreamFailure)
    assert failure.kind is FailureKind.MALFORMED
    assert failure.message.endswith(f"(HTTP {answer['status']})")


RESPONSE: dict[str, Any] = {
    "status": "completed",
    "output": [
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "web_search_call", "id": "ws_1"},
        {
            "type": "message",
            "id": "msg_1",
            "content": [
                {"type": "output_text", "text": "Hi"},
                {"type": "refusal", "refusal": "!"},
                {"type": "x"},
            ],
        },
    ],
    "usage": {"input_tokens": 3, "output_tokens": 2},
}
WHOLE = {"status": 200, "headers": {"content-type": "application/json"}}


def taken(value: Any, of: ModelDetails = PRO, **options: Any) -> list[StreamEvent]:
    options.setdefault("reasoning", Effort("high"))
    return play(
        EXCHANGES["openai"](request(of=of, **options)), [{**WHOLE, "body": json.dumps(value)}], whole
    ).events


@pytest.mark.requirement("F10")
def test_an_answer_that_comes_whole_is_told_like_a_stream() -> None:
    events = taken(RESPONSE)
    words = ["r0:", "r0:hm", "f0", "m2:", "m2:Hi", "m2:!", "f2", "completed"]
    assert shown([to_json(event) for event in events]) == words
    assert [entry.get("message") for entry in built(events)] == [None, "Hi!", None]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({**RESPONSE, "status": "failed", "error": {"code": "server_error"}}, "error transient"),
        ({**RESPONSE, "status": "queued"}, "error transient"),
        ({"output": None}, "error transient"),
        ({"error": {"code": "insufficient_quota", "message": "no"}}, "error quota"),
        ({"error": {"message": "no", "code": 401}}, "error auth"),
        ([], "error transient"),
    ],
)
def test_a_whole_answer_that_is_none(value: Any, words: str) -> None:
    assert shown([to_json(taken(value)[-1])]) == [words]


def test_a_document_is_no_answer_of_a_model_that_streams() -> None:
    (failure,) = taken(RESPONSE, UNKNOWN)
    assert isinstance(failure, StreamFailure)
    assert failure.kind is FailureKind.TRANSIENT
    assert "unexpected content type" in failure.message


# Over a real connection


async def streamed(*replies: Reply, of: ModelDetails = UNKNOWN) -> tuple[list[str], HttpServer, Observer]:
    observer = Observer()
    with HttpServer(replies) as server, anyio.fail_after(20):
        provider = make_provider(Connection(server.url, "sk-key-of-nobody"))
        events = [event async for event in provider.stream(request(of=of), observer)]
        await provider.aclose()
    return shown([to_json(event) for event in events]), server, observer


@pytest.mark.anyio
@pytest.mark.requirement("R255")
async def test_the_request_as_it_goes_out() -> None:
    body = sse(
        {"type": "response.output_text.delta", "output_index": 0, "delta": "Hi"},
        {"type": "response.completed", "response": {"usage": {"input_tokens": 1, "output_tokens": 2}}},
    )
    words, server, observer = await streamed(Reply.sse(body))
    assert words == ["m0:Hi", "completed"]
    (sent,) = server.requests
    assert (sent.method, sent.path) == ("POST", "/v1/responses")
    assert sent.headers["authorization"] == "Bearer sk-key-of-nobody"
    assert sent.headers["accept"] == "text/event-stream"
    assert sent.json()["stream"] is True
    assert observer.usages == [Usage(1, 2)]


@pytest.mark.anyio
async def test_a_model_that_does_not_stream_is_asked_for_a_document() -> None:
    # Larger than what is read of an error.
    long = {**RESPONSE, "output": [{**RESPONSE["output"][2], "content": [text_of(3_000_000)]}]}
    words, server, observer = await streamed(Reply.json(long), of=PRO)
    assert [len(word) for word in words] == [3, 3_000_003, 2, 9]
    assert server.requests[0].headers["accept"] == "application/json"
    assert server.requests[0].json()["stream"] is False
    assert observer.usages == [Usage(3, 2)]


def text_of(size: int) -> dict[str, str]:
    return {"type": "output_text", "text": "x" * size}


@pytest.mark.anyio
@pytest.mark.requirement("R240")
async def test_details_come_from_the_table_without_asking() -> None:
    with HttpServer([]) as server:
        provider = make_provider(Connection(server.url))
        assert (await provider.model_details("gpt-5.5")).context_window == 1_050_000
        assert await provider.model_details("ft:mine") == model("openai/ft:mine")
        await provider.aclose()
    assert server.requests == []

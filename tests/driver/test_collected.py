"""Requests beside the turn: what fits is taken, what does not is asked for again, and nothing of it is stored."""

from typing import Any

import pytest

from jp_lsp.conversation.event import (
    ChatRequest,
    ConversationEvent,
    MessageResponse,
    ReasoningResponse,
    StructuredResponse,
)
from jp_lsp.conversation.thread import Thread, ThreadEvent
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.driver.collected import CollectError, collect, collect_value
from jp_lsp.ports.provider import CycleRequest, ModelDetails, ModelId, ModelParameters
from jp_lsp.ports.settings import StreamGuards
from jp_lsp.turn.stream_event import (
    Finished,
    Flush,
    MaxTokens,
    MetadataPatch,
    Patch,
    Refused,
    RetryRequested,
)
from tests.support.clock import FakeClock
from tests.support.scripted_provider import ScriptedProvider
from tests.support.turns import done, message, structured

pytestmark = pytest.mark.anyio

AT = Timestamp(0)
SCHEMA: Any = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
AGAIN = [Patch((MetadataPatch("signature", "stale"),)), Finished(RetryRequested())]


def value(text: str) -> list[Any]:
    return [structured(text), Flush(0), done()]


def request() -> CycleRequest:
    events = [
        ThreadEvent(
            ConversationEvent(AT, ReasoningResponse("hm"), {"signature": "stale", "id": "r"}), "test"
        ),
        ThreadEvent(ConversationEvent(AT, ChatRequest("How many?", SCHEMA)), None),
    ]
    return CycleRequest(
        ModelDetails(ModelId("test", "big")), Thread([], [], events, SCHEMA, AT), ModelParameters()
    )


async def ask(provider: ScriptedProvider) -> Any:
    return await collect_value(provider, request(), StreamGuards(), FakeClock())


def added(provider: ScriptedProvider, number: int) -> list[Any]:
    """Give what a further request adds to the first one."""
    return [item.event.kind for item in provider.requests[number].thread.events[2:]]


@pytest.mark.requirement("R225", "R242")
async def test_a_value_that_does_not_fit_is_asked_for_again_with_what_is_wrong() -> None:
    provider = ScriptedProvider(value('{"n": "two"}'), [message("Well, two."), done()], value('{"n": 2}'))
    assert await ask(provider) == {"n": 2}
    assert added(provider, 0) == []
    first, second = added(provider, 1), added(provider, 2)
    assert second[:2] == first
    assert [type(kind) for kind in second] == [StructuredResponse, ChatRequest, MessageResponse, ChatRequest]
    assert (first[0].data, second[2].text) == ({"n": "two"}, "Well, two.")
    assert "'two' is not of type 'integer'" in first[1].content
    assert "not valid JSON" in second[3].content


async def test_a_fence_around_the_value_is_none_of_it() -> None:
    provider = ScriptedProvider([message('```json\n{"n": 2}\n```'), done()])
    assert await ask(provider) == {"n": 2}


async def test_asking_again_ends() -> None:
    provider = ScriptedProvider(*[value('{"n": "two"}')] * 3)
    with pytest.raises(CollectError, match=r"no answer in the form that was asked for: .*'two'"):
        await ask(provider)
    assert len(provider.requests) == 3


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (MaxTokens(), "its answer was cut off at the model's output limit"),
        (Refused("violence", "too much of it"), r"the model refused to answer \(violence: too much of it\)"),
        (Refused(), "the model refused to answer$"),
    ],
)
async def test_what_is_no_answer_is_not_asked_for_again(end: Any, reason: str) -> None:
    provider = ScriptedProvider([structured('{"n": 2'), Finished(end)])
    with pytest.raises(CollectError, match=reason):
        await ask(provider)
    assert len(provider.requests) == 1


# Providers 4.5: signatures that a vendor rejects are repaired in the request's own copy.
@pytest.mark.requirement("F18")
async def test_repairs_count_for_the_next_request() -> None:
    provider = ScriptedProvider(AGAIN, value('{"n": 2}'))
    asked = request()
    events = await collect(provider, asked, StreamGuards(), FakeClock())
    assert [event.kind for event in events] == [StructuredResponse({"n": 2})]
    first, second = (each.thread.events[0].event.metadata for each in provider.requests)
    assert (first, second) == ({"signature": "stale", "id": "r"}, {"id": "r"})
    assert asked.thread.events[0].event.metadata == first


async def test_repairs_that_change_nothing_end_it() -> None:
    provider = ScriptedProvider(AGAIN, AGAIN)
    with pytest.raises(CollectError, match="asked to be asked again, without an end"):
        await ask(provider)

"""Queries with a schema, with fakes at every port: refused before they begin, or asked again."""

import pytest

from jp_lsp.conversation.event import ChatRequest, StructuredResponse
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.driver.runner import Refused
from jp_lsp.turn.outcome import Outcome, StructuredResult
from jp_lsp.turn.stream_event import Flush
from tests.support.fakes import lines
from tests.support.query_world import NEW, world
from tests.support.turns import done, message, structured

pytestmark = pytest.mark.anyio

SCHEMA: JsonObject = {"type": "object", "required": ["size"]}


@pytest.mark.requirement("R258")
async def test_the_failed_answer_goes_back_to_the_model_and_is_not_stored() -> None:
    async with world(
        [structured("{}"), Flush(0), done()], [structured('{"size": 1}'), Flush(0), done()]
    ) as here:
        result = await here.answer(here.ask("How large?", schema=SCHEMA))
        assert result.structured == StructuredResult({"size": 1}, is_valid=True)
        assert lines(here.store, NEW) == ["turn", "user: How large?", "data: {'size': 1}"]
        assert here.provider is not None
        first, again = (request.thread for request in here.provider.requests)
        assert first.schema == again.schema == SCHEMA
        question, answer, complaint = (item.event.kind for item in again.events)
        assert question == first.events[0].event.kind
        assert answer == StructuredResponse({})
        assert isinstance(complaint, ChatRequest)
        assert "the value: 'size' is a required property" in complaint.content


@pytest.mark.parametrize(
    ("schema", "answers_in_text", "code", "said"),
    [
        ({"type": "thing"}, True, "invalid_params", "`schema` is no JSON schema: type: 'thing' is not valid"),
        (SCHEMA, False, "structured_output_unsupported", "test/big gives no text"),
    ],
)
async def test_what_cannot_work_is_refused_before_the_conversation_is_touched(
    schema: JsonObject, answers_in_text: bool, code: str, said: str
) -> None:
    async with world(answers_in_text=answers_in_text) as here:
        runner = here.ask("How large?", schema=schema)
        await runner.finished.wait()
        assert isinstance(runner.outcome, Refused)
        error = runner.outcome.error
        assert (error.code, error.origin) == (code, "schema")
        assert error.message.startswith(said)
        assert here.store.stored == {}


async def test_a_model_without_text_answers_queries_without_a_schema() -> None:
    async with world([message("Done."), done()], answers_in_text=False) as here:
        result = await here.answer(here.ask("Draw."))
        assert result.outcome is Outcome.COMPLETED

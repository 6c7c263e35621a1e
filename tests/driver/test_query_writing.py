"""A query without a text, where the user can be asked for one (query pipeline 1.4, config-and-tools 7.5)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from anyio import wait_all_tasks_blocked

from jp_lsp.conversation.directive import ConfigDelta
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.driver.query_document import read_document, write_document
from jp_lsp.driver.runner import QueryRunner, Refused
from jp_lsp.ports.frontend import TextPlace
from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.settings import QuerySettings
from jp_lsp.tools.decision import Decision
from jp_lsp.turn.inputs import AskFailed, CancelRequested, Dismissed
from jp_lsp.turn.outcome import Outcome
from tests.support.fakes import FakeSettings, lines
from tests.support.query_world import NEW, World, world
from tests.support.turns import done, message

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("R235")]

OFFERED = "model = test/big\n"
ANSWER = [message("ok"), done()]


class ModelSettings(FakeSettings):
    """Settings that know one key, `model`; a change of it is worth a delta."""

    def resolve(
        self,
        overrides: Sequence[str],
        conversation: ConversationStream | None,
        attachments: Sequence[str] = (),
    ) -> QuerySettings:
        settings = super().resolve(overrides, conversation, attachments)
        for override in overrides:
            key, _, name = override.partition("=")
            if key != "model":
                raise Refusal("config_invalid", f"`{key}` is not a setting")
            settings = replace(settings, model=ModelId(*name.split("/")))
        return settings

    def delta(self, conversation: ConversationStream, settings: QuerySettings) -> ConfigDelta | None:
        return None if settings.model.name == "big" else ConfigDelta({"model": settings.model.name})


async def begun(
    here: World, place: TextPlace | None = "document", **query: Any
) -> tuple[QueryRunner, Decision]:
    """Ask without a text, and give the question that this leads to."""
    here.frontend.text_place = place
    runner = here.ask("", **query)
    return runner, await question(here)


async def question(here: World) -> Decision:
    await wait_all_tasks_blocked()
    return here.frontend.asked[-1][0]


def write(here: World, text: str, settings: str = OFFERED) -> None:
    here.frontend.choose(text=write_document(text, settings, ()))


@pytest.mark.requirement("R221")
async def test_what_is_written_in_the_document_is_asked() -> None:
    async with world(ANSWER) as here:
        runner, asked = await begun(here)
        assert (asked.kind, asked.language, asked.composing) == ("text", "markdown", "editor_only")
        assert asked.value == write_document("", OFFERED, ())
        assert here.frontend.configured["conversation"] == NEW
        write(here, "What is this?")
        result = await here.answer(runner)
        assert result.outcome is Outcome.COMPLETED
        assert lines(here.store, NEW) == ["turn", "user: What is this?", "message: ok"]
        assert here.store.drafts == {}
        assert here.frontend.withdrawn == [(asked.id, "answered")]


async def test_where_there_are_no_documents_a_line_will_do() -> None:
    async with world(ANSWER) as here:
        runner, asked = await begun(here, "line")
        assert (asked.value, asked.language, asked.composing) == (None, None, "inline")
        here.frontend.choose(text="What is this?")
        await here.answer(runner)
        assert lines(here.store, NEW)[1] == "user: What is this?"


@pytest.mark.parametrize("is_interactive", [False, True])
async def test_nobody_is_asked_who_cannot_or_must_not_be(is_interactive: bool) -> None:
    async with world() as here:
        here.frontend.text_place = None if is_interactive else "document"
        result = await here.answer(here.ask(" ", interactive=is_interactive))
        assert (result.outcome, here.frontend.asked) == (Outcome.EMPTY_QUERY, [])


@pytest.mark.parametrize("how", ["blank", "dismissed", "failed"])
async def test_without_a_text_nothing_is_touched(how: str) -> None:
    async with world(ANSWER) as here:
        await here.answer(here.ask("one"))
        stored = dict(here.store.stored)
        here.store.drafts[NEW] = "left over"
        runner, asked = await begun(here)
        answer = here.frontend.asked[-1][1]
        match how:
            case "blank":
                write(here, " \n")
            case "dismissed":
                answer(Dismissed(asked.id))
            case _:
                answer(AskFailed(asked.id, "no"))
        result = await here.answer(runner)
        assert (result.outcome, result.turns, result.draft) == (Outcome.EMPTY_QUERY, (), None)
        assert here.store.stored == stored
        assert here.store.held == set()
        assert here.store.drafts == ({} if how == "blank" else {NEW: "left over"})


async def test_a_new_conversation_that_nothing_comes_of_is_not_named() -> None:
    async with world() as here:
        runner, asked = await begun(here)
        here.frontend.asked[-1][1](Dismissed(asked.id))
        result = await here.answer(runner)
        assert (result.conversation, here.store.stored) == (None, {})


@pytest.mark.requirement("R344")
@pytest.mark.parametrize(
    "left", ["Half a question", write_document("Half a question", "model = test/old\n", ())]
)
async def test_a_text_that_was_not_sent_is_what_one_begins_with(left: str) -> None:
    async with world(ANSWER, ANSWER) as here:
        await here.answer(here.ask("one"))
        here.store.drafts[NEW] = left
        runner, asked = await begun(here)
        document = read_document(asked.value or "")
        assert document.query == "Half a question"
        assert document.settings == (OFFERED if left == "Half a question" else "model = test/old\n")
        assert "**You:** one" in (asked.value or "")
        write(here, "A whole question")
        await here.answer(runner)
        assert lines(here.store, NEW)[4] == "user: A whole question"
        assert here.store.drafts == {}


async def test_a_changed_setting_holds_for_this_very_query() -> None:
    async with world(ANSWER, source=ModelSettings()) as here:
        runner, _ = await begun(here)
        write(here, "hi", "model = test/small\n")
        await here.answer(runner)
        assert here.provider is not None
        assert here.provider.requests[0].model.id == ModelId("test", "small")
        assert here.settings.resolved == 2
        assert '"model": "small"' in here.store.stored[NEW].events
        assert here.frontend.configured["model"] == "test/small"


async def test_settings_that_cannot_be_used_are_asked_for_again() -> None:
    async with world(ANSWER, source=ModelSettings()) as here:
        runner, first = await begun(here)
        write(here, "hi", "colour = red\n")
        second = await question(here)
        assert second.id != first.id
        assert second.value == write_document("hi", "colour = red\n", (), "`colour` is not a setting")
        assert here.store.drafts == {NEW: "hi"}
        write(here, "hi there", "model = test/small\n")
        await here.answer(runner)
        assert lines(here.store, NEW)[-2:] == ["user: hi there", "message: ok"]


@pytest.mark.requirement("R344")
async def test_who_gives_up_on_wrong_settings_keeps_the_text() -> None:
    async with world(source=ModelSettings()) as here:
        runner, _ = await begun(here)
        write(here, "hi", "colour = red\n")
        asked = await question(here)
        here.frontend.asked[-1][1](Dismissed(asked.id))
        result = await here.answer(runner)
        assert (result.outcome, result.draft) == (Outcome.EMPTY_QUERY, "hi")
        assert here.store.drafts == {NEW: "hi"}


@pytest.mark.requirement("R344")
async def test_a_text_that_was_begun_survives_a_cancelled_query() -> None:
    async with world(ANSWER) as here:
        await here.answer(here.ask("one"))
        runner, asked = await begun(here)
        here.frontend.begun = write_document("Half a question", OFFERED, ())
        runner.post(CancelRequested())
        result = await here.answer(runner)
        assert (result.outcome, result.draft) == (Outcome.CANCELLED_BEFORE_START, "Half a question")
        assert here.frontend.withdrawn == [(asked.id, "withdrawn")]
        assert here.store.drafts == {NEW: "Half a question"}
        assert here.store.held == set()


async def test_what_was_written_may_be_a_template() -> None:
    settings = QuerySettings(ModelId("test", "big"), {"assistant": {}}, template_values={"x": 1})
    async with world(ANSWER, settings=settings) as here:
        runner, _ = await begun(here, is_template=True)
        write(here, "What is {{ x }}?")
        await here.answer(runner)
        assert lines(here.store, NEW)[1] == "user: What is 1?"


@pytest.mark.requirement("R344")
async def test_a_written_template_that_cannot_be_filled_in_comes_back() -> None:
    async with world() as here:
        runner, _ = await begun(here, is_template=True)
        write(here, "What is {{ x }}?")
        await runner.finished.wait()
        assert isinstance(runner.outcome, Refused)
        assert runner.outcome.draft == "What is {{ x }}?"
        assert here.store.drafts == {NEW: "What is {{ x }}?"}

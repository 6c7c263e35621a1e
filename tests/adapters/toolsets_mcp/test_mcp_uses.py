"""Which call a server's question is shown with, and which limits wait meanwhile."""

from collections.abc import Generator
from contextlib import contextmanager

import anyio
import pytest

from jp_lsp.ports.toolset import NoReply, Reply
from jp_lsp.tools.outcome import ToolQuestion
from jp_lsp.toolsets.mcp.elicitation import Ask, Filled, FormResult
from jp_lsp.toolsets.mcp.uses import CURRENT, Use, fill_for_user

pytestmark = pytest.mark.anyio


class Caller:
    """An asker that answers with its name when it is told to; knows how often its clock stands still."""

    def __init__(self, name: str, *, answers: bool = True) -> None:
        self.name = name
        self.is_asked = anyio.Event()
        self.holds = 0
        self._answers = answers

    @contextmanager
    def hold_limit(self) -> Generator[None]:
        self.holds += 1
        try:
            yield
        finally:
            self.holds -= 1

    async def ask(self, question: ToolQuestion) -> Reply | NoReply:
        self.is_asked.set()
        if not self._answers:
            await anyio.sleep_forever()
        return Reply(self.name)


async def fill(ask: Ask) -> FormResult:
    reply = await ask(ToolQuestion("name", "Who?", "text"))
    return Filled({"name": reply.value}) if isinstance(reply, Reply) else "cancel"


async def test_the_call_that_began_last_is_asked() -> None:
    uses = [Use(Caller("first")), Use(Caller("last")), Use(None)]
    assert await fill_for_user(uses, fill) == Filled({"name": "last"})


async def test_the_call_that_is_known_is_asked() -> None:
    uses = [Use(Caller("first")), Use(Caller("last"))]
    CURRENT.set(uses[0])
    assert await fill_for_user(uses, fill) == Filled({"name": "first"})


async def test_nobody_is_asked_for_a_call_that_is_over() -> None:
    """The user would answer for another call."""
    uses = [Use(Caller("first")), Use(Caller("last"))]
    CURRENT.set(uses[0])
    uses[0].over.set()
    assert await fill_for_user(uses, fill) == "cancel"


@pytest.mark.parametrize("uses", [[], [Use(None)]], ids=["nothing runs", "nobody can be asked"])
async def test_without_a_user_the_answer_is_no(uses: list[Use]) -> None:
    assert await fill_for_user(uses, fill) == "decline"


async def test_no_limit_runs_while_the_question_is_open_and_the_next_call_is_asked_when_one_ends() -> None:
    silent = Caller("silent", answers=False)
    waiting = Caller("waiting")
    uses = [Use(waiting), Use(silent)]
    result: list[FormResult] = []

    async def run() -> None:
        result.append(await fill_for_user(uses, fill))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await silent.is_asked.wait()
        assert (silent.holds, waiting.holds) == (1, 1)
        assert not waiting.is_asked.is_set()
        uses[1].over.set()
    assert result == [Filled({"name": "waiting"})]
    assert (silent.holds, waiting.holds) == (0, 0)

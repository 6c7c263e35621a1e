"""Texts that a user had begun when the question ended: waited for a moment, and given once."""

from pathlib import Path

import anyio
import pytest

from jp_lsp.server.prompt_ways import PromptWays
from jp_lsp.server.prompts import ANSWER_PATIENCE
from jp_lsp.tools.decision import Choice, Decision, DecisionId
from tests.support.document_desk import Desk, desk

pytestmark = pytest.mark.anyio

Q = DecisionId("q")
PROMPTS = PromptWays(kinds=frozenset({"text", "edit", "pick", "menu"}))


def question(kind: str = "text") -> Decision:
    choices = (Choice("yes", "Yes"),) if kind == "pick" else ()
    return Decision(Q, kind, "Your reply?", choices)  # type: ignore[arg-type]


async def gone(at: Desk) -> None:
    with anyio.fail_after(10):
        await at.broker.wait_until_gone({Q})


@pytest.mark.requirement("R344", "T19")
async def test_a_document_is_waited_for_until_it_is_read(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        at.put(question())
        await at.message()
        at.save("What I was going to s")
        at.broker.withdraw(Q, "withdrawn")
        assert at.unsent == []
        await gone(at)
        assert at.unsent == ["What I was going to s"]
        assert at.files == []


@pytest.mark.requirement("R344")
@pytest.mark.parametrize(
    ("kind", "answer", "how", "unsent"),
    [
        ("text", {"text": "But wh"}, "withdrawn", ["But wh"]),
        ("text", {"text": "But wh"}, "superseded", ["But wh"]),
        ("text", {"text": "But wh"}, "answered", []),  # another answer was given
        ("text", None, "withdrawn", []),
        ("text", {"text": ""}, "withdrawn", []),
        ("text", {"action": "nonsense"}, "withdrawn", []),
        ("edit", {"text": "{}"}, "withdrawn", []),  # what was edited is not the user's own
        ("pick", {"action": "yes", "text": "x"}, "withdrawn", []),
    ],
)
async def test_what_a_client_answers_too_late(
    tmp_path: Path, kind: str, answer: object, how: str, unsent: list[str]
) -> None:
    async with desk(tmp_path, PROMPTS) as at:
        at.put(question(kind))
        await anyio.wait_all_tasks_blocked()
        (request,) = at.requests
        at.broker.withdraw(Q, how)  # type: ignore[arg-type]
        request.give(answer)
        await gone(at)
        await anyio.wait_all_tasks_blocked()
        assert at.unsent == unsent
        assert at.answers == {}


async def test_a_silent_client_is_not_waited_for_long(tmp_path: Path) -> None:
    """The answer to the query must be out within half a second (S12)."""
    assert ANSWER_PATIENCE < 0.5
    async with desk(tmp_path, PROMPTS) as at:
        at.put(question())
        await anyio.wait_all_tasks_blocked()
        at.broker.withdraw(Q, "withdrawn")
        await gone(at)
        (request,) = at.requests
        request.give({"text": "Better late"})
        await anyio.wait_all_tasks_blocked()
        assert at.unsent == ["Better late"], "it is kept all the same"


async def test_questions_of_others_are_not_waited_for(tmp_path: Path) -> None:
    async with desk(tmp_path, PROMPTS) as at:
        at.put(question())
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(1):
            await at.broker.wait_until_gone({DecisionId("other")})
        assert at.broker.open_decisions != ()

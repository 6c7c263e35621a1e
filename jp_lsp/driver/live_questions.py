"""What tools ask while they run, put to whoever watches the query."""

import itertools
from dataclasses import replace

from jp_lsp.driver.asking import ask_user
from jp_lsp.ports.frontend import Frontend
from jp_lsp.ports.toolset import NoReply, Reply, ToolRun
from jp_lsp.tools.decision import DecisionId
from jp_lsp.tools.outcome import ToolQuestion
from jp_lsp.tools.questions import ask_tool_question, read_answer
from jp_lsp.turn.inputs import Answered, AskFailed, Dismissed


class FrontendQuestions:
    """`ports.toolset.LiveQuestions` for one query. Where nobody can be asked, questions count as closed.

    Args:
        frontend: asks.
        can_prompt: whether it may be asked.
    """

    def __init__(self, frontend: Frontend, *, can_prompt: bool) -> None:
        self._frontend = frontend
        self._can_prompt = can_prompt
        self._numbers = itertools.count(1)

    async def ask(self, run: ToolRun, question: ToolQuestion) -> Reply | NoReply:
        """Wait for the answer; one that does not fit is asked for again. Cancelling withdraws the question."""
        if not self._can_prompt:
            return "dismissed"
        asked = replace(question, is_remembered=False)
        problem = None
        while True:
            id = DecisionId(f"{run.call}-asks-{next(self._numbers)}")
            decision = ask_tool_question(run.tool.name, run.call, asked, id, problem)
            match await ask_user(self._frontend, decision):
                case Answered(_, choice, text):
                    if (value := read_answer(asked, choice, text)) is not None:
                        return Reply(value[0])
                    problem = "that was none of the answers"
                case Dismissed() | AskFailed():
                    return "dismissed"

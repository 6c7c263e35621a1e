"""Questions of the driver's own: put, waited for, and closed whatever happens."""

import anyio

from jp_lsp.ports.frontend import Frontend
from jp_lsp.tools.decision import Decision
from jp_lsp.turn.inputs import Answered, AskFailed, Dismissed


async def ask_user(frontend: Frontend, decision: Decision) -> Answered | Dismissed | AskFailed:
    """Wait for the answer. Cancelling withdraws the question."""
    answers: list[Answered | Dismissed | AskFailed] = []
    is_answered = anyio.Event()

    def take(answer: Answered | Dismissed | AskFailed) -> None:
        answers.append(answer)
        is_answered.set()

    frontend.ask(decision, take)
    try:
        await is_answered.wait()
    finally:
        # An open question is in the way of every other one of this client.
        frontend.withdraw(decision.id, "answered" if answers else "withdrawn")
    return answers[0]

"""What a server asks its user, on a pretended screen: the test looks at each question and answers when it likes."""

import asyncio
from dataclasses import dataclass, field

from tests.support.jp_client import PATIENCE, Json


@dataclass
class Shown:
    """A question on the screen; `params` are those of the request."""

    params: Json
    answered: asyncio.Future[Json | None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    def answer(self, result: Json | None) -> None:
        """Answer the request; null closes the question."""
        self.answered.set_result(result)

    def refuse(self, error: Exception) -> None:
        """Answer the request with an error."""
        self.answered.set_exception(error)


class Screen:
    """Takes questions; give `show` to a client as the handler of a method."""

    def __init__(self) -> None:
        self.questions: list[Shown] = []
        self._looked_at = 0
        self._news = asyncio.Event()

    def show(self, params: Json) -> asyncio.Future[Json | None]:
        """Put a question on the screen; gives what will be the answer."""
        question = Shown(params)
        self.questions.append(question)
        self._news.set()
        return question.answered

    async def next_question(self) -> Shown:
        """Wait for a question that was not looked at yet."""
        number = self._looked_at
        self._looked_at += 1
        async with asyncio.timeout(PATIENCE):
            while len(self.questions) <= number:
                self._news.clear()
                await self._news.wait()
        return self.questions[number]

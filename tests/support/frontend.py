"""A frontend that remembers what it was shown and answers as told."""

from collections.abc import Callable
from typing import Literal

import anyio

from jp_lsp.ports.frontend import TextPlace
from jp_lsp.render.options import DisplayOptions
from jp_lsp.tools.decision import Decision, DecisionId
from jp_lsp.turn.inputs import Answered, AskFailed, Dismissed
from jp_lsp.turn.shown import PartArrived, Shown
from jp_lsp.turn.stream_event import TextPart

Answer = Answered | Dismissed | AskFailed


class RecordingFrontend:
    """Keeps everything; `answers` are choices given to the questions in order, `None` dismisses."""

    def __init__(self, *, can_prompt: bool = True, text_place: TextPlace | None = None) -> None:
        self.can_prompt = can_prompt
        self.text_place: TextPlace | None = text_place
        self.shown: list[Shown] = []
        self.asked: list[tuple[Decision, Callable[[Answer], None]]] = []
        self.withdrawn: list[tuple[DecisionId, str]] = []
        self.configured: dict[str, object] = {}
        self.begun: str | None = None
        self.is_ready = anyio.Event()
        self.is_ready.set()

    def configure(
        self,
        display: DisplayOptions,
        *,
        conversation: str,
        model: str,
        assistant: str | None,
        user: str | None,
    ) -> None:
        self.configured = {"display": display, "conversation": conversation, "model": model}

    def publish(self, what: Shown) -> None:
        self.shown.append(what)

    async def ready(self) -> None:
        await self.is_ready.wait()

    def ask(self, decision: Decision, answer: Callable[[Answer], None]) -> None:
        self.asked.append((decision, answer))

    def withdraw(self, decision: DecisionId, how: Literal["answered", "superseded", "withdrawn"]) -> None:
        self.withdrawn.append((decision, how))

    async def unsent(self) -> str | None:
        return self.begun

    def choose(self, choice: str | None = None, text: str | None = None) -> None:
        """Answer the question that was put last."""
        decision, answer = self.asked[-1]
        answer(Answered(decision.id, choice, text))

    @property
    def text(self) -> str:
        """The text of all parts that were shown."""
        parts = [item.part for item in self.shown if isinstance(item, PartArrived)]
        return "".join(part.text for part in parts if isinstance(part, TextPart))

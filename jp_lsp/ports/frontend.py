"""The port towards whoever watches a query and answers its questions."""

from collections.abc import Callable
from typing import Literal, Protocol

from jp_lsp.render.options import DisplayOptions
from jp_lsp.tools.decision import Decision, DecisionId
from jp_lsp.turn.inputs import Answered, AskFailed, Dismissed
from jp_lsp.turn.shown import Shown

TextPlace = Literal["document", "line"]
"""Where a user can write a text: in a document, or only in a line."""


class Frontend(Protocol):
    """One query's way to its client. Only `ready` waits; the rest is done when it returns."""

    @property
    def can_prompt(self) -> bool:
        """Whether somebody can answer questions."""
        ...

    @property
    def text_place(self) -> TextPlace | None:
        """Where somebody can write a longer text, if anywhere."""
        ...

    def configure(
        self,
        display: DisplayOptions,
        *,
        conversation: str,
        model: str,
        assistant: str | None,
        user: str | None,
    ) -> None:
        """Say how things are to be shown, once settings are known and before anything is."""

    def publish(self, what: Shown) -> None:
        """Show it."""

    async def ready(self) -> None:
        """Wait until the client has taken enough of what was shown for more to come."""

    def ask(self, decision: Decision, answer: Callable[[Answered | Dismissed | AskFailed], None]) -> None:
        """Put a question; exactly one answer is reported unless it is withdrawn before."""

    def withdraw(self, decision: DecisionId, how: Literal["answered", "superseded", "withdrawn"]) -> None:
        """Close a question; its late answer is ignored."""

    async def unsent(self) -> str | None:
        """Give what the user had begun to write for questions that were closed; waits a moment for it to come."""
        ...

"""Turns of many kinds for a vendor and a client to play, made from a seed, with what may be on disk of them.

Each has gates that stand open: a test can wait until the vendor passes one, and do something there.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from tests.support.chat_vendor import ChatVendor, answer, broken, called, refused, thought
from tests.support.http_server import Delay, Hold, Reply, Step
from tests.support.jp_client import JpClient

_LONGEST_PAUSE = 0.008


@dataclass
class ScriptedTurn:
    """One query from its text to the last answer.

    Attributes:
        kind: what sort of turn it is.
        question: the text to ask, found nowhere else.
        replies: what the vendor answers, in order.
        gates: open gates in the replies.
        answers: all text of the answer to each thing the user says; what is stored must be a beginning of it.
        thoughts: likewise.
        press: what the client sends as soon as the first words arrive, if anything.
        reply: the text of the user's reply, and what the vendor answers to it.
    """

    kind: str
    question: str
    replies: list[Reply] = field(default_factory=list)
    gates: list[Hold] = field(default_factory=list)
    answers: dict[str, str] = field(default_factory=dict)
    thoughts: dict[str, str] = field(default_factory=dict)
    press: dict[str, str] | None = None
    reply: tuple[str, Reply] | None = None

    def plan(self, vendor: ChatVendor) -> None:
        """Tell the vendor."""
        vendor.will_answer(*self.replies, to=self.question)
        if self.reply is not None:
            vendor.will_answer(self.reply[1], to=self.reply[0])

    async def steer(self, client: JpClient) -> None:
        """Do what the user does in the middle of it; the query's text is its token."""
        if self.press is not None:
            await client.wait_for_chunk(self.question, "role", role="assistant")
            client.notify("jp/interrupt", {"turn": self.question, **self.press})


class _Writer:
    """Makes the steps of a turn and keeps account of what they say."""

    def __init__(self, kind: str, question: str, random: Random) -> None:
        self.turn = ScriptedTurn(kind, question)
        self.asked = question
        self._random = random
        self._count = 0

    def texts(self, count: int) -> list[str | Step]:
        """Pieces of the answer, some of which end a paragraph."""
        steps: list[str | Step] = []
        for _ in range(count):
            piece = self._word() + ("\n\n" if self._random.random() < 0.2 else " ")
            self.turn.answers[self.asked] = self.turn.answers.get(self.asked, "") + piece
            steps += [piece, *self.pause()]
        return steps

    def thoughts(self, count: int) -> list[str | Step]:
        """Pieces of reasoning."""
        steps: list[str | Step] = []
        for _ in range(count):
            piece = self._word() + " "
            self.turn.thoughts[self.asked] = self.turn.thoughts.get(self.asked, "") + piece
            steps += [thought(piece), *self.pause()]
        return steps

    def call(self, index: int = 0) -> bytes:
        """A call of a tool that nobody has."""
        return called(f"{self._word()}", "nothing", f'{{"n": {self._count}}}', index)

    def pause(self) -> list[Step]:
        """A short silence, behind a gate."""
        gate = Hold()
        gate.open()
        self.turn.gates.append(gate)
        return [gate, Delay(self._random.uniform(0, _LONGEST_PAUSE))]

    def _word(self) -> str:
        self._count += 1
        return f"{self.turn.question.replace(' ', '')}w{self._count}"


def _text(writer: _Writer) -> None:
    writer.turn.replies = [answer(*writer.texts(12))]


def _reasoning(writer: _Writer) -> None:
    writer.turn.replies = [answer(*writer.thoughts(6), *writer.texts(8))]


def _tools(writer: _Writer) -> None:
    first = answer(*writer.thoughts(2), *writer.texts(2), writer.call(), *writer.pause(), reason="tool_calls")
    second = answer(
        *writer.texts(2),
        writer.call(),
        *writer.pause(),
        writer.call(1),
        *writer.pause(),
        reason="tool_calls",
    )
    writer.turn.replies = [first, second, answer(*writer.texts(4))]


def _retries(writer: _Writer) -> None:
    writer.turn.replies = [
        broken(*writer.texts(3)),
        refused(503, "loading"),
        broken(*writer.thoughts(2)),
        answer(*writer.texts(4)),
    ]


def _reply(writer: _Writer) -> None:
    text = f"reply to {writer.turn.question}"
    writer.turn.replies = [answer(*writer.texts(12))]
    writer.asked = text
    writer.turn.reply = text, answer(*writer.texts(6))
    writer.turn.press = {"action": "reply", "text": text}


def _stop(writer: _Writer) -> None:
    writer.turn.replies = [answer(*writer.texts(12))]
    writer.turn.press = {"action": "stop"}


KINDS: dict[str, Callable[[_Writer], None]] = {
    "text": _text,
    "reasoning": _reasoning,
    "tools": _tools,
    "retries": _retries,
    "reply": _reply,
    "stop": _stop,
}


def scripted_turn(question: str, random: Random) -> ScriptedTurn:
    """Make a turn of some kind."""
    kind = random.choice(sorted(KINDS))
    writer = _Writer(kind, question, random)
    KINDS[kind](writer)
    return writer.turn

"""Replaying a recording: a fresh core handles the recorded inputs at their recorded times (query pipeline 7.6).

Nothing is performed, nothing waits, and nothing of what came of the inputs back then is used but to compare.
A recording whose program was killed ends in the middle of a line; that line does not count.
"""

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.tools.memory import MemoryLayer
from jp_lsp.turn.actions import Action
from jp_lsp.turn.coordinator import TurnCoordinator
from jp_lsp.turn.input_codec import CodecError, decode_input, decode_layer, frozen
from jp_lsp.turn.inputs import Input, Instant, Prepared
from jp_lsp.turn.recording import VERSION, Handled, LineWriter


class DamagedRecording(Exception):
    """This is no recording, or a line of it cannot be read; the message says which, counted from 1."""


@dataclass(frozen=True, slots=True)
class Step:
    """An input that was handled once more. A `deviation` says what came of it back then, where that differs.

    `at` is the recorded monotonic time, in seconds.
    """

    at: float
    item: Input
    actions: tuple[Action, ...]
    raised: str | None
    deviation: str | None


@dataclass(frozen=True, slots=True)
class Stopped:
    """The recording ends before its query, for this reason."""

    reason: str


def replay(text: str, hide: Callable[[str], str]) -> Iterator[Step | Stopped]:
    """Handle a recording once more.

    Args:
        text: the content of the file.
        hide: what the recording was written with, as far as it goes by what secrets look like.

    Raises:
        DamagedRecording: in the middle, where a line cannot be read.
    """
    lines = text.split("\n")[:-1]  # what has no line end was not written to its end
    header = _object(1, lines[0] if lines else "{}")
    if header.get("recording") != VERSION:
        raise DamagedRecording(f"line 1: this is no recording of version {VERSION}")
    player = _Player(str(header.get("token")), LineWriter(hide))
    for number, line in enumerate(lines[1:], 2):
        recorded = _object(number, line)
        if "stopped" in recorded:
            yield Stopped(str(recorded["stopped"]))
            return
        try:
            yield player.step(recorded)
        except (CodecError, KeyError, TypeError, AttributeError) as error:
            raise DamagedRecording(f"line {number}: {type(error).__name__}: {error}") from error


class _Player:
    """A fresh core, and what it is told beside its inputs."""

    def __init__(self, token: str, writer: LineWriter) -> None:
        self._jitter: deque[float] = deque()
        self._core = TurnCoordinator(token, lambda: self._jitter.popleft() if self._jitter else 0.0)
        self._writer = writer
        self._session: MemoryLayer | None = None

    def step(self, recorded: JsonObject) -> Step:
        item = decode_input(recorded["input"])
        now = Instant(cast(int, recorded["wall"]), cast(float, recorded["at"]))
        self._jitter.extend(cast("Sequence[float]", recorded.get("jitter", ())))
        if isinstance(item, Prepared) and item.turn.memory is not None:
            self._session = item.turn.memory.session
        if "session" in recorded:
            self._remember(decode_layer(recorded["session"]))
        given = frozen(item)
        actions: Sequence[Action] = ()
        raised = None
        try:
            actions = self._core.handle(item, now)
        except Exception as error:  # as back then, perhaps: it is compared like everything else
            raised = type(error).__name__
        outcome = self._writer.outcome(Handled(given, now, actions, raised=raised))
        return Step(now.monotonic, given, tuple(actions), raised, _deviation(recorded, outcome))

    def _remember(self, layer: MemoryLayer) -> None:
        """Put what is remembered in the place that the core looks at."""
        if self._session is not None:
            self._session.permissions = layer.permissions
            self._session.run_modes = layer.run_modes
            self._session.result_modes = layer.result_modes
            self._session.answers = layer.answers


def _object(number: int, line: str) -> JsonObject:
    try:
        value = cast(JsonValue, json.loads(line))
    except (ValueError, RecursionError) as error:
        raise DamagedRecording(f"line {number}: {error}") from error
    if not isinstance(value, Mapping):
        raise DamagedRecording(f"line {number}: this is no object")
    return value


def _deviation(recorded: JsonObject, outcome: JsonObject) -> str | None:
    """Say what was recorded, if something else has come of the input now."""
    names = ("raised", "actions", "digest")
    then, now = ({name: each.get(name) for name in names} for each in (recorded, outcome))
    if then == now:
        return None
    if then["raised"] is not None:
        return f"{then['raised']} was raised"
    listed = cast("Sequence[str]", then["actions"] or ())
    if then["actions"] == now["actions"]:
        return "the same kinds of actions, with something else in them"
    return " ".join(listed) or "nothing"

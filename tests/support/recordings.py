"""Recordings that stay in memory, and the check that holds of every one: played back, the same comes of it."""

from collections.abc import Callable

from jp_lsp.ports.recording import Recordings
from jp_lsp.server.logs import SecretMask
from jp_lsp.turn.replay import Step, Stopped, replay


class MemoryRecording:
    """A recording as a text. `before_write` may wait, or raise what a disk would."""

    def __init__(self, token: str, before_write: Callable[[], None]) -> None:
        self.name = token
        self.text = ""
        self.is_closed = False
        self._before_write = before_write

    def write(self, text: str) -> None:
        self._before_write()
        self.text += text

    def close(self) -> None:
        self.is_closed = True


class MemoryRecordings:
    """All that was recorded, in order."""

    def __init__(self, *secrets: str) -> None:
        self.files: list[MemoryRecording] = []
        self.before_write: Callable[[], None] = lambda: None
        self.port = Recordings(self._begin, SecretMask(secrets).hide)

    def _begin(self, token: str) -> MemoryRecording:
        self.files.append(MemoryRecording(token, lambda: self.before_write()))
        return self.files[-1]


def play_back(text: str) -> list[Step]:
    """Replay a recording; nothing may come of it that did not come of it at first."""
    steps = list(replay(text, SecretMask().hide))
    played = [step for step in steps if isinstance(step, Step)]
    deviations = [
        f"{type(step.item).__name__}: {step.deviation}" for step in played if step.deviation is not None
    ]
    assert not deviations, f"something else came of {deviations}"
    return played


def reasons_to_stop(text: str) -> list[str]:
    """Why a recording ended before its query."""
    return [step.reason for step in replay(text, SecretMask().hide) if isinstance(step, Stopped)]

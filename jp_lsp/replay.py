"""`jp-lsp replay`: handles a recording once more and tells whether the same came of it (query pipeline 7.6).

For whoever looks into a turn that went wrong: each line is an input, how long after the first it came, and
what the core asked for. Where something else came of it than back then, that is told below.
"""

from collections.abc import Iterator
from pathlib import Path

from jp_lsp.server.logs import SecretMask
from jp_lsp.turn.inputs import FromProvider
from jp_lsp.turn.replay import DamagedRecording, Step, Stopped, replay


def replay_file(path: Path) -> tuple[list[str], int]:
    """Give the lines to print, and the exit code: 0 if all is as it was, 1 if not."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        return [f"error: {path} cannot be read: {reason}"], 1
    lines: list[str] = []
    deviations = 0
    start: float | None = None
    try:
        for step in replay(text, SecretMask().hide):
            if isinstance(step, Stopped):
                lines.append(f"The recording was stopped: {step.reason}.")
                continue
            start = step.at if start is None else start
            deviations += step.deviation is not None
            lines.extend(_told(step, step.at - start))
    except DamagedRecording as error:
        return [*lines, f"error: {path}: {error}"], 1
    lines.append(
        f"{deviations} of these inputs led to something else." if deviations else "All is as it was."
    )
    return lines, 1 if deviations else 0


def _told(step: Step, seconds: float) -> Iterator[str]:
    item = step.item.event if isinstance(step.item, FromProvider) else step.item
    did = " ".join(type(action).__name__ for action in step.actions) or "nothing"
    yield f"{seconds:10.3f}  {type(item).__name__:<20} {step.raised or did}"
    if step.deviation is not None:
        yield f"{'':10}  then: {step.deviation}"

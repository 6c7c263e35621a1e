"""What an installation tells while it works, how it is stopped, and how it fails.

InstallError                 nothing was installed; the text says what to do
├── InstallCancelledError    the user stopped it
└── InstallBusyError         another one is at work
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

Stage = Literal["downloading", "unpacking", "checking"]


class InstallError(Exception):
    """Nothing was installed, and what was there before still is. The text is for the user."""


class InstallCancelledError(InstallError):
    """The user stopped it."""


class InstallBusyError(InstallError):
    """Another installation or removal is at work in the same folder."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a stage is, in bytes. Stages come in the order of `Stage`, each ends at its total."""

    stage: Stage
    done: int
    total: int


def megabytes(size: int) -> str:
    """Write a size for people."""
    return f"{size / 1e6:,.0f} MB"


@dataclass(frozen=True, slots=True)
class Job:
    """One running installation, as seen by the steps that do its work.

    The steps block, so a server runs them in a worker thread and sets `cancelled` from its own.
    """

    report: Callable[[Progress], None] = lambda progress: None
    cancelled: threading.Event = field(default_factory=threading.Event)

    def tell(self, stage: Stage, done: int, total: int) -> None:
        """Report progress, unless the job is to stop.

        Raises:
            InstallCancelledError: `cancelled` is set.
        """
        if self.cancelled.is_set():
            raise InstallCancelledError("Cancelled; nothing was installed.")
        self.report(Progress(stage, min(done, total), total))

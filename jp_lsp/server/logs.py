"""Logging: to standard error and a file, never with secrets, never waiting.

Standard output is the wire, so logs go to standard error, which an editor may show, collect or not read at all.
An editor that does not read it must not stop the server: records are written by a thread, and when too many
wait, further ones are dropped and counted.

What is logged is names, ids and errors, never the content of messages. Still, an error text may quote a header or
an address, so everything is passed through a mask for what looks like a key.
"""

import logging
import os
import queue
import re
import sys
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path

LEVELS: Mapping[str, int] = {
    "error": logging.ERROR,
    "warning": logging.WARNING,
    "info": logging.INFO,
    "debug": logging.DEBUG,
}

MASK = "***"

_FORMAT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"
_MAX_WAITING = 10_000
_FLUSH_WITHIN = 0.5
_SHORTEST_SECRET = 6

_SECRET_NAME = re.compile(r"(?i)(API_?KEY|TOKEN|SECRET|PASSWORD)$")

_SECRET_SHAPES = re.compile(
    r"""(?ix)
      (?<=bearer\ ) [^\s"',;]+                                          # an authorization header
    | (?<=basic\ ) [A-Za-z0-9+/=]{8,}
    | (?<![A-Za-z0-9]) (?:sk|pk|rk|gsk|xai|pplx|hf|ghp|gho|ghs|glpat) [-_] [A-Za-z0-9_\-]{8,}    # vendors' keys
    | (?<![A-Za-z0-9]) AIza [A-Za-z0-9_\-]{20,}
    """
)
_NAMED_SECRET = re.compile(
    r"""(?ix)
    ( (?: (?:api|access|secret) [-_]? key | [?&]key | token | secret | password | authorization )
      ["']? \s* [:=] \s* ["']? )
    (?! \s | bearer\b | basic\b )
    [^\s"'&,;)}\]]{6,}
    """
)


class SecretMask:
    """Replaces what is known to be, or looks like, a key. More secrets may be added while it is in use."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets: set[str] = set()
        for secret in secrets:
            self.add(secret)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "SecretMask":
        """Know the values of all variables that are named like a key, such as `*_API_KEY`."""
        return cls(value for name, value in environment.items() if _SECRET_NAME.search(name))

    def add(self, secret: str) -> None:
        """Mask this text from now on, unless it is too short to be told from ordinary words."""
        if len(secret.strip()) >= _SHORTEST_SECRET:
            self._secrets.add(secret.strip())

    def hide(self, text: str) -> str:
        """Give the text with every secret replaced."""
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(secret, MASK)
        return _NAMED_SECRET.sub(rf"\1{MASK}", _SECRET_SHAPES.sub(MASK, text))


class MaskingFormatter(logging.Formatter):
    """Formats a record whole, traceback included, and masks the outcome."""

    def __init__(self, mask: SecretMask) -> None:
        super().__init__(_FORMAT)
        self._mask = mask

    def format(self, record: logging.LogRecord) -> str:
        """Give the line or lines to be written."""
        return self._mask.hide(super().format(record))


class BackgroundHandler(logging.Handler):
    """Formats at once, and lets a thread do the writing.

    Args:
        targets: what finally writes; called from the thread only.
        max_waiting: how many records may wait; more are dropped, and the number of lost ones is logged later.
    """

    def __init__(self, targets: Iterable[logging.Handler], max_waiting: int = _MAX_WAITING) -> None:
        super().__init__()
        self._targets = list(targets)
        self._records: queue.Queue[logging.LogRecord | threading.Event | None] = queue.Queue(max_waiting)
        self._lost = 0
        self._thread: threading.Thread | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a record; never waits."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="jp-log", daemon=True)
            self._thread.start()
        try:
            text = self.format(record)
        except Exception:  # such as arguments that do not fit the text: the caller's work goes on
            text = f"a record of {record.name} could not be written: {record.msg!r}"
        try:
            self._records.put_nowait(_formatted(record, text))
            if self._lost:
                loss = f"{self._lost} log records were lost, because nobody read them"
                self._records.put_nowait(_formatted(record, loss))
                self._lost = 0
        except queue.Full:
            self._lost += 1

    def flush(self) -> None:
        """Wait until what is queued is written, but not for long."""
        if self._thread is None or threading.current_thread() is self._thread:
            return
        written = threading.Event()
        try:
            self._records.put(written, timeout=_FLUSH_WITHIN)
        except queue.Full:
            return
        written.wait(_FLUSH_WITHIN)

    def close(self) -> None:
        """Write what is queued, as far as that is possible, and let go of the targets."""
        if self._thread is not None:
            self.flush()
            try:
                self._records.put_nowait(None)
            except queue.Full:
                return  # the thread is stuck in a target, which must not be touched
            self._thread.join(_FLUSH_WITHIN)
            if self._thread.is_alive():
                return
        for target in self._targets:
            target.close()
        super().close()

    def _work(self) -> None:
        while (item := self._records.get()) is not None:
            if isinstance(item, threading.Event):
                item.set()
                continue
            for target in self._targets:
                target.handle(item)


def set_up_logging(
    level: str, file: Path | None = None, *, environment: Mapping[str, str] = os.environ
) -> SecretMask:
    """Send the process's logs to standard error and, if wanted, to a file.

    Args:
        level: a name of `LEVELS`.
        file: is appended to; made with its folders when missing.
        environment: where keys are known from.

    Returns:
        The mask, to which further secrets may be added.

    Raises:
        ValueError: no such level.
        OSError: the file cannot be written.
    """
    if level not in LEVELS:
        raise ValueError(f"unknown log level {level!r}; it is one of {', '.join(LEVELS)}")
    mask = SecretMask.from_environment(environment)
    targets: list[logging.Handler] = [_QuietStreamHandler(sys.stderr)] if sys.stderr is not None else []
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        targets.append(logging.FileHandler(file, encoding="utf-8"))
    handler = BackgroundHandler(targets)
    handler.setFormatter(MaskingFormatter(mask))
    root = logging.getLogger()
    for old in [old for old in root.handlers if isinstance(old, BackgroundHandler)]:
        root.removeHandler(old)
        old.close()
    root.addHandler(handler)
    root.setLevel(LEVELS[level])
    # Below that, pygls logs whole messages, and hpack each header of a request, the key in a form that no mask knows.
    for talkative in ("pygls", "httpx", "httpcore", "hpack", "asyncio"):
        logging.getLogger(talkative).setLevel(logging.WARNING)
    logging.captureWarnings(capture=True)
    return mask


class _QuietStreamHandler(logging.StreamHandler):  # type: ignore[type-arg]
    """Gives up on a stream that cannot be written to, instead of reporting that to the same stream."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Drop the record."""


def _formatted(record: logging.LogRecord, text: str) -> logging.LogRecord:
    return logging.LogRecord(record.name, record.levelno, record.pathname, record.lineno, text, None, None)

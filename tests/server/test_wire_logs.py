"""Logs hold no secrets, and a log that nobody reads stops nobody."""

import io
import logging
import threading
from collections.abc import Iterator
from pathlib import Path

import hpack
import pytest

from jp_lsp.server.logs import BackgroundHandler, MaskingFormatter, SecretMask, set_up_logging

ENVIRONMENT = {
    "ACME_API_KEY": "plain-looking-value",
    "SOME_TOKEN": "tok-value-77",
    "HOME": "/home/me",
    "X_SECRET": "abc",
}

HIDDEN = [
    ("sent plain-looking-value to acme", "sent *** to acme"),
    ("tok-value-77", "***"),
    ("Authorization: Bearer abc.def-123 failed", "Authorization: Bearer *** failed"),
    ("{'authorization': 'Bearer abc', 'x': 1}", "{'authorization': 'Bearer ***', 'x': 1}"),
    ("x-api-key: 12345678", "x-api-key: ***"),
    ('{"api_key": "12345678", "model": "m"}', '{"api_key": "***", "model": "m"}'),
    ("apiKey=12345678&x=1", "apiKey=***&x=1"),
    ("GET https://host/v1?key=12345678&alt=sse", "GET https://host/v1?key=***&alt=sse"),
    ("key sk-ant-api03-abcdefgh, sk-proj-12345678", "key ***, ***"),
    ("AIzaSyA12345678901234567890", "***"),
    ("password = hunter22", "password = ***"),
]

SHOWN = [
    "/home/me/abc is fine",
    "unknown key: 'conversation.tools.fmt'",
    "token 'jp/1/1' is used by another query",
    "wrote 3 tokens: 1234567",
    "the risk-based approach; task_sk-x",
    "bearer of bad news",
]


@pytest.mark.parametrize(("text", "expected"), HIDDEN)
def test_what_looks_like_a_key_is_hidden(text: str, expected: str) -> None:
    assert SecretMask.from_environment(ENVIRONMENT).hide(text) == expected


@pytest.mark.parametrize("text", SHOWN)
def test_ordinary_text_is_shown(text: str) -> None:
    hidden = SecretMask.from_environment(ENVIRONMENT).hide(text)
    assert hidden == text if text != "bearer of bad news" else hidden == "bearer *** bad news"


def test_a_secret_may_be_added_later() -> None:
    mask = SecretMask()
    mask.add("from-a-key-file")
    mask.add("from-a-key-file-that-is-longer")
    mask.add("a")
    assert mask.hide("a from-a-key-file-that-is-longer b") == "a *** b"


def test_tracebacks_are_masked_too() -> None:
    error = ValueError("refused plain-looking-value")
    failed = logging.LogRecord("n", logging.ERROR, "p", 1, "m", None, (ValueError, error, None))
    text = MaskingFormatter(SecretMask.from_environment(ENVIRONMENT)).format(failed)
    assert text.endswith("ERROR   n: m\nValueError: refused ***")


class Gate(logging.Handler):
    """A target that is stuck, like a pipe that nobody reads, until it is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = threading.Event()
        self.reached = threading.Event()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.reached.set()
        assert self.opened.wait(10)
        self.lines.append(record.getMessage())


def record(text: str, *args: object) -> logging.LogRecord:
    return logging.LogRecord("n", logging.INFO, "p", 1, text, args, None)


def test_a_log_that_nobody_reads_stops_nobody() -> None:
    gate = Gate()
    handler = BackgroundHandler([gate], max_waiting=3)
    handler.handle(record("0"))
    assert gate.reached.wait(10)
    for number in range(1, 10):
        handler.handle(record("%d", number))
    gate.opened.set()
    handler.flush()
    handler.handle(record("later"))
    handler.flush()
    assert gate.lines == ["0", "1", "2", "3", "later", "6 log records were lost, because nobody read them"]
    handler.close()


def test_a_record_that_cannot_be_formatted_harms_nobody() -> None:
    gate = Gate()
    gate.opened.set()
    handler = BackgroundHandler([gate])
    handler.handle(record("%d of %d", "x"))
    handler.flush()
    assert gate.lines == ["a record of n could not be written: '%d of %d'"]
    handler.close()


@pytest.fixture
def root_logger() -> Iterator[logging.Logger]:
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield root
    for handler in [handler for handler in root.handlers if handler not in handlers]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level)
    logging.captureWarnings(capture=False)


def test_to_standard_error_and_a_file(
    tmp_path: Path, root_logger: logging.Logger, monkeypatch: pytest.MonkeyPatch
) -> None:
    stderr = io.StringIO()
    monkeypatch.setattr("sys.stderr", stderr)
    path = tmp_path / "logs" / "jp.log"
    mask = set_up_logging("debug", path, environment=ENVIRONMENT)
    set_up_logging("debug", path, environment=ENVIRONMENT)
    mask.add("other-secret")
    logging.getLogger("jp_lsp.x").debug("used %s", "plain-looking-value")
    logging.getLogger("pygls.protocol").info("Sending data: %s", "a whole message")
    for handler in root_logger.handlers:
        handler.flush()
    (line,) = path.read_text(encoding="utf-8").splitlines()
    assert line.endswith("DEBUG   jp_lsp.x: used ***")
    assert stderr.getvalue().splitlines() == [line]


# The library for HTTP/2 logs every header as it is, and once more in a form that no mask knows.
@pytest.mark.usefixtures("root_logger")
def test_headers_of_requests_are_not_logged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    path = tmp_path / "jp.log"
    set_up_logging("debug", path, environment={})
    hpack.Encoder().encode([(b"x-api-key", b"a-key-of-my-own")])
    logging.getLogger("jp_lsp.x").debug("asked")
    for handler in logging.getLogger().handlers:
        handler.flush()
    (line,) = path.read_text(encoding="utf-8").splitlines()
    assert line.endswith("asked")


def test_an_unknown_level_is_named(root_logger: logging.Logger) -> None:
    with pytest.raises(
        ValueError, match="unknown log level 'loud'; it is one of error, warning, info, debug"
    ):
        set_up_logging("loud")
    assert not any(isinstance(handler, BackgroundHandler) for handler in root_logger.handlers)

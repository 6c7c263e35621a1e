"""`jp-lsp query` on pipes, against a scripted server: what it sends, prints, and returns."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.terminal_process import (
    ASKED,
    PATIENCE,
    Scripted,
    Step,
    ask,
    done,
    environment,
    pressed,
    say,
    status,
    wait_until,
)

Run = Callable[..., "Ended"]


class Ended:
    """What a run of the client left."""

    def __init__(self, code: int, out: bytes, err: bytes, scripted: Scripted) -> None:
        self.code = code
        self.out = out.decode()
        self.err = err.decode()
        self.scripted = scripted

    @property
    def params(self) -> dict[str, Any]:
        (params,) = self.scripted.messages("jp/query")
        return params


@pytest.fixture
def query(tmp_path: Path) -> Run:
    def run(
        steps: Sequence[Step], *arguments: str, given: bytes | None = None, env: dict[str, str] | None = None
    ) -> Ended:
        scripted = Scripted(tmp_path, steps)
        ended = subprocess.run(
            scripted.command(*arguments),
            input=given,
            stdin=subprocess.DEVNULL if given is None else None,
            capture_output=True,
            cwd=tmp_path,
            env=environment(**(env or {})),
            start_new_session=True,  # no terminal to ask on
            timeout=PATIENCE,
            check=False,
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr, scripted)

    return run


BACK = "Your text did not become part of the conversation. Here it is:\nWhy?\n"

ANSWER = [ASKED, status("waiting for first tokens"), say("Be"), say("cause."), done(text="Because.")]


@pytest.mark.requirement("R340", "R326", "R327")
def test_the_answer_and_nothing_else_goes_to_a_pipe(query: Run, tmp_path: Path) -> None:
    ended = query(ANSWER, "Why?")

    assert (ended.code, ended.out, ended.err) == (0, "Because.\n", "")
    assert ended.params == {"text": "Why?", "interactive": False, "partialResultToken": "jp-terminal"}
    (initialize,) = ended.scripted.messages("initialize")
    assert initialize["capabilities"]["experimental"] == {
        "jp": {"interruptMenu": True, "chunks": True, "openDocument": False}
    }
    assert initialize["workspaceFolders"] == [{"uri": tmp_path.as_uri(), "name": tmp_path.name}]
    assert len(ended.scripted.messages("shutdown")) == len(ended.scripted.messages("exit")) == 1


@pytest.mark.parametrize(
    ("arguments", "given", "expected"),
    [
        (("Why", "not?"), None, {"text": "Why not?"}),
        (("Explain:",), b"\xef\xbb\xbfcaf\xe9 = 1\n\n", {"text": "Explain:\n\ncaf\ufffd = 1"}),
        ((), b" \n", {}),
        (
            ("--new", "--cfg", "a.b=1", "--model", "x/y", "--cfg", "named", "--no-persist", "a"),
            None,
            {
                "text": "a",
                "conversation": "new",
                "config": ["a.b=1", "assistant.model.id=x/y", "named"],
                "persist": False,
            },
        ),
        (
            ("-T", "-t", "grep", "a"),
            None,
            {"text": "a", "tools": [{"enable": False}, {"enable": True, "name": "grep"}]},
        ),
        (("--", "--new"), None, {"text": "--new"}),
    ],
)  # fmt: skip
def test_what_is_asked(
    query: Run, arguments: tuple[str, ...], given: bytes | None, expected: dict[str, Any]
) -> None:
    params = query([ASKED, done()], *arguments, given=given).params
    assert params == {**expected, "interactive": False, "partialResultToken": "jp-terminal"}


def test_an_argument_may_have_any_bytes(query: Run) -> None:
    ended = query([ASKED, done()], os.fsdecode(b"caf\xe9?"))
    assert ended.params["text"] == "caf\ufffd?"


@pytest.mark.requirement("R131", "R344")
@pytest.mark.parametrize(
    ("outcome", "fields", "code", "err"),
    [
        ("interrupted", {}, 130, "Interrupted.\n"),
        ("aborted", {"draft": "Why?"}, 0, "Discarded.\n" + BACK),
    ],
)
def test_an_outcome_has_its_exit_code_and_words(
    query: Run, outcome: str, fields: dict[str, Any], code: int, err: str
) -> None:
    ended = query([ASKED, say("Part"), done(outcome=outcome, **fields)], "Why?")
    assert (ended.code, ended.out, ended.err) == (code, "Part\n", err)


def test_the_end_says_where_a_copy_is_and_what_does_not_fit(query: Run) -> None:
    fields = {"recoveryUri": "file:///copy", "data": 1, "dataValid": False, "dataErrors": ["1 is no string"]}
    ended = query([ASKED, done(**fields)], "Why?")
    assert ended.err == (
        "The value does not fit the schema: 1 is no string\n"
        "The conversation was saved as a copy: file:///copy\n"
    )


def error(code: str, number: int = -32803, **data: Any) -> list[Step]:
    fields = {"code": code, "chain": [], "trace": "abc", **data}
    answer = {"answer": "jp/query", "error": {"code": number, "message": f"It is {code}.", "data": fields}}
    return [ASKED, answer]


@pytest.mark.requirement("R343", "R344")
@pytest.mark.parametrize(
    ("steps", "code", "err"),
    [
        (
            error("conversation_busy", draft="Why?"),
            1,
            "error: It is conversation_busy.\n"
            f"Wait for the other query, or ask in a new conversation with --new.\n{BACK}",
        ),
        (
            error("config_invalid", chain=["a.toml: first", "b.toml: second"]),
            1,
            "error: It is config_invalid.\n  a.toml: first\n  b.toml: second\n",
        ),
        (error("invalid_params", -32602, draft="Why?"), 2, "error: It is invalid_params.\n"),
        ([ASKED, {"answer": "jp/query", "error": {}}], 1, "error: the server gave no reason\n"),
        ([ASKED, {"answer": "jp/query", "result": 3}], 1, "error: the server's answer makes no sense: "),
    ],
)
def test_what_could_not_begin_is_explained(query: Run, steps: list[Step], code: int, err: str) -> None:
    ended = query(steps, "Why?")
    assert (ended.code, ended.out) == (code, "")
    assert ended.err.startswith(err)
    assert ended.err == err or err.endswith(": ")


@pytest.mark.requirement("R344")
def test_a_long_draft_is_kept_in_a_file(query: Run, tmp_path: Path) -> None:
    draft = "Why? " * 1000
    ended = query(error("conversation_busy", draft=draft), "Why?", env={"TMPDIR": str(tmp_path)})
    (kept,) = tmp_path.glob("jp-query-*.md")
    assert ended.err.endswith(f"Your text did not become part of the conversation. It was kept in {kept}.\n")
    assert kept.read_text(encoding="utf-8") == draft
    assert kept.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ([ASKED, say("Part"), {"log": "first\x1b[31m"}, {"log": "boom"}, {"die": 3}], "The server ended before it had answered."),
        ([{"log": "first\x1b[31m"}, {"log": "boom"}, {"die": 3}], "The server ended before it had answered."),
        ([ASKED, {"log": "first\x1b[31m"}, {"log": "boom"}, {"raw": "Traceback\r\n\r\n"}], "the server sent 'Traceback'"),
        ([ASKED, {"log": "first\x1b[31m"}, {"log": "boom"}, {"raw": "Content-Length: 3\r\n\r\n{]}"}], "the server sent '{]}', which is not JSON"),
    ],
    ids=["while it answers", "before it is ready", "no header", "no JSON"],
)  # fmt: skip
def test_a_server_that_breaks_is_told_with_its_last_words(query: Run, steps: list[Step], reason: str) -> None:
    ended = query(steps, "Why?")
    assert ended.code == 1
    assert ended.err == f"error: {reason}\n  first[31m\n  boom\n"
    assert ended.out == ("Part\n" if say("Part") in steps else "")


def test_the_log_is_shown_when_asked_for(query: Run) -> None:
    ended = query([{"log": "hello from the server"}, *ANSWER], "--verbose", "Why?")
    assert (ended.code, ended.out, ended.err) == (0, "Because.\n", "hello from the server\n")


def test_json_is_the_chunks_and_the_result(query: Run) -> None:
    ended = query(ANSWER, "--json", "Why?")
    lines = [json.loads(line) for line in ended.out.splitlines()]
    assert [line.get("type") for line in lines] == ["status", "text", "text", None]
    assert lines[1] == {
        "v": 1, "seq": 2, "turn": "jp-terminal", "conversation": "jp-c1", "cycle": 1, "type": "text",
        "class": "durable", "md": "Be", "region": "message", "block": "paragraph", "part": "whole", "indent": 0,
    }  # fmt: skip
    assert lines[3] == {"result": done(text="Because.")["result"]}
    assert (ended.code, ended.err) == (0, "")


def test_json_keeps_what_a_terminal_would_have_to_be_spared(query: Run) -> None:
    strange = {"chunk": {"type": "hologram", "class": "durable", "md": "\x1b[2J\x9b\u2028\ud800 é"}}
    ended = query([ASKED, strange, done()], "--json", "Why?")
    assert json.loads(ended.out.splitlines()[0])["md"] == "\x1b[2J\x9b\u2028\ud800 é"
    assert ended.out.isascii()


def test_json_tells_errors_too(query: Run) -> None:
    ended = query(error("conversation_busy", draft="Why?"), "--json", "Why?")
    (line,) = [json.loads(line) for line in ended.out.splitlines()]
    assert line["error"]["data"]["code"] == "conversation_busy"
    assert ended.code == 1
    assert ended.err.startswith("error: It is conversation_busy.\n")

    ended = query([ASKED, {"die": 1}], "--json", "Why?")
    (line,) = [json.loads(line) for line in ended.out.splitlines()]
    assert line == {"error": {"code": -32603, "message": "The server ended before it had answered."}}


def test_thoughts_are_shown_when_asked_for(query: Run) -> None:
    steps = [ASKED, say("Hm.", "reasoning"), say("\n\n---\n\nYes."), done()]
    assert query(steps, "Why?").out == "Yes.\n"

    ended = query(steps, "--show-reasoning", "Why?")
    assert (ended.out, ended.err) == ("Yes.\n", "Hm.\n")


def test_notices_go_to_standard_error_once(query: Run) -> None:
    small = {"level": "info", "code": "small", "text": "A small model."}
    steps: list[Step] = [
        ASKED,
        {"chunk": {"type": "notice", "class": "ephemeral", "slot": "n", **small}},
        {"notify": "jp/notice", "params": {"level": "warning", "code": "x", "text": "Slow\x1b[1m."}},
        {"notify": "window/showMessage", "params": {"type": 1, "message": "Bad."}},
        {"notify": "window/logMessage", "params": {"type": 1, "message": "not for users"}},
        done(text="Yes.", notices=[small]),
    ]
    ended = query(steps, "Why?")
    assert (ended.out, ended.err) == ("Yes.\n", "A small model.\nwarning: Slow[1m.\nerror: Bad.\n")


def test_requests_of_the_server_are_answered(query: Run) -> None:
    steps: list[Step] = [
        ASKED,
        {"ask": "workspace/configuration", "params": {"items": [{}, {}]}, "as": "1"},
        {"ask": "window/workDoneProgress/create", "params": {"token": 1}, "as": "2"},
        {"ask": "jp/prompt", "params": {}, "as": "3"},
        {"ask": "window/showDocument", "params": {}, "as": "4"},
        *({"await": name} for name in "1234"),
        done(),
    ]
    ended = query(steps, "Why?")
    assert ended.code == 0
    assert ended.scripted.answers() == [[None, None], None, None, None]


@pytest.mark.requirement("R330")
def test_without_a_terminal_a_question_is_never_an_approval(query: Run) -> None:
    steps = [
        ASKED,
        ask("d1", "approval", "Run it?", ("skip", "Skip"), ("run", "Run")),
        {"await": "d1"},
        done(),
    ]
    assert query(steps, "Why?").scripted.answers() == [None]


def test_too_much_text_is_refused(query: Run) -> None:
    ended = query([], "Why?", given=b"x" * (16 * 1024 * 1024 + 1))
    assert ended.code == 2
    assert ended.err == "error: standard input has more than the 16 MiB that a query takes.\n"


class Started:
    """A client that is still running, with its output in pipes."""

    def __init__(self, scripted: Scripted, stdin: int = subprocess.DEVNULL) -> None:
        self.scripted = scripted
        self.process = subprocess.Popen(
            scripted.command("Why?"),
            bufsize=0,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=scripted.folder,
            env=environment(),
            start_new_session=True,
        )

    def __enter__(self) -> "Started":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None and not stream.closed:
                stream.close()

    def read(self, size: int) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.read(size).decode()

    def end(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, (out or b"").decode(), (err or b"").decode()


@pytest.mark.requirement("R134", "R131")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_stops_the_turn_and_keeps_what_came(tmp_path: Path, number: int, code: int) -> None:
    steps = [ASKED, say("Part"), *pressed("action", action="stop"), say(" of it"), done(outcome="stopped")]
    with Started(Scripted(tmp_path, steps)) as client:
        assert client.read(4) == "Part"
        client.process.send_signal(number)
        assert client.end() == (code, " of it\n", "Stopped.\n")
        assert client.scripted.messages("jp/interrupt") == [{"turn": "jp-terminal", "action": "stop"}]
        assert len(client.scripted.messages("exit")) == 1


def test_a_phase_that_knows_no_stop_is_cancelled(tmp_path: Path) -> None:
    cancelled = {"code": "cancelled", "chain": [], "trace": "x", "outcome": "stopped", "partialSaved": True}
    steps: list[Step] = [
        ASKED,
        say("Part"),
        *pressed("none", action="stop"),
        {"await": "$/cancelRequest"},
        {
            "answer": "jp/query",
            "error": {"code": -32800, "message": "Cancelled; it was saved.", "data": cancelled},
        },
    ]
    with Started(Scripted(tmp_path, steps)) as client:
        assert client.read(4) == "Part"
        client.process.send_signal(signal.SIGINT)
        assert client.end() == (130, "\n", "Cancelled; it was saved.\n")


@pytest.mark.requirement("R131")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_leaves_at_once(tmp_path: Path, number: int) -> None:
    steps = [ASKED, say("Part"), {"await": "jp/interrupt"}, {"log": "deaf"}, {"deaf": True}]
    with Started(Scripted(tmp_path, steps)) as client:
        assert client.read(4) == "Part"
        client.process.send_signal(number)
        wait_until(lambda: bool(client.scripted.messages("jp/interrupt")))
        client.process.send_signal(number)
        assert client.end()[0] == 128 + number


@pytest.mark.requirement("R135", "R336")
def test_quit_leaves_at_once_and_the_server_sees_its_input_end(tmp_path: Path) -> None:
    with Started(Scripted(tmp_path, [ASKED, say("Part")])) as client:
        assert client.read(4) == "Part"
        client.process.send_signal(signal.SIGQUIT)
        assert client.end()[0] == 131
        wait_until(lambda: client.scripted.saw_end)


def test_before_there_is_a_query_a_signal_leaves(tmp_path: Path) -> None:
    read, write = os.pipe()
    try:
        with Started(Scripted(tmp_path, []), stdin=read) as client:
            wait_until(lambda: bool(client.scripted.messages("initialized")))
            client.process.send_signal(signal.SIGINT)  # it still waits for the end of its standard input
            assert client.end() == (130, "", "")
    finally:
        os.close(read)
        os.close(write)


@pytest.mark.requirement("R336")
def test_when_the_reader_goes_the_turn_is_stopped_and_kept(tmp_path: Path) -> None:
    steps = [ASKED, say("some\n"), say("more\n"), *pressed("action", action="stop"), done(outcome="stopped")]
    with Started(Scripted(tmp_path, steps)) as client:
        assert client.process.stdout is not None
        client.process.stdout.close()  # before or after some of the text: the next write breaks
        client.process.stdout = None
        code, _, err = client.end()
        assert (code, err) == (141, "Stopped.\n")
        assert client.scripted.messages("jp/interrupt") == [{"turn": "jp-terminal", "action": "stop"}]
        assert len(client.scripted.messages("exit")) == 1


BLOCK = "x" * 65_535 + "\n"


@pytest.mark.requirement("R341")
def test_a_reader_that_is_slow_gets_everything(tmp_path: Path) -> None:
    """More text than pipes and queues hold."""
    with Started(Scripted(tmp_path, [ASKED, *[say(BLOCK)] * 40, done()])) as client:
        assert client.read(1) == "x"
        code, out, _ = client.end()
        assert (code, len(out)) == (0, 40 * len(BLOCK) - 1)


@pytest.mark.requirement("R341")
def test_a_reader_that_does_not_read_does_not_make_us_deaf(tmp_path: Path) -> None:
    with Started(Scripted(tmp_path, [ASKED, *[say(BLOCK)] * 40, done()])) as client:
        assert client.read(1) == "x"
        client.process.send_signal(signal.SIGTERM)
        client.process.send_signal(signal.SIGINT)
        # Which one is noticed first is the system's choice; the second one leaves.
        assert client.process.wait(PATIENCE) in {130, 143}


def test_a_server_that_cannot_be_started_is_told(tmp_path: Path) -> None:
    code = (
        "import os, pathlib, sys\n"
        "from jp_lsp.terminal.query_command import Surroundings, run\n"
        "from jp_lsp.terminal.query_options import QueryOptions\n"
        "around = Surroundings('0', pathlib.Path.cwd(), os.environ, ['/nowhere/jp-lsp'])\n"
        "sys.exit(run(QueryOptions(text='Why?'), around))"
    )
    command = Scripted(tmp_path, []).command()
    ended = subprocess.run(
        [command[0], "-c", code],
        capture_output=True,
        env=environment(),
        start_new_session=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr == (
        b"error: The server cannot be started: No such file or directory (/nowhere/jp-lsp).\n"
    )

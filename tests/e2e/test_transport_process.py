"""The wire over real pipes, between real processes, with clients that misbehave."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from jp_lsp.server.framing import FrameDecoder, encode_frame
from tests.support.wire_process import ROOT, WIRE_SERVER, ServerProcess, environment

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

Start = Callable[..., Awaitable[ServerProcess]]


@pytest_asyncio.fixture
async def start() -> AsyncIterator[Start]:
    """Start servers of which none is left behind."""
    started: list[ServerProcess] = []

    async def start_one(**options: Any) -> ServerProcess:
        server = await ServerProcess.start(**options)
        started.append(server)
        return server

    yield start_one
    for server in started:
        await server.kill()


@pytest_asyncio.fixture(scope="session")
async def shared() -> AsyncIterator[ServerProcess]:
    """One server for the tests that leave it as they found it."""
    server = await ServerProcess.start()
    yield server
    await server.kill()


@pytest.mark.requirement("R303", "R325")
async def test_nothing_but_frames_is_on_standard_output(shared: ServerProcess) -> None:
    answer = await shared.request("jp/pollute")
    assert answer["result"]["stdin"] == "", "a child reads nothing from the wire"
    assert answer["result"]["inherited"] == "[0, 1, 2, 3]", (
        "a child has its standard streams and the listing only"
    )
    assert (await shared.request("jp/echo", {"still": "fine"}))["result"] == {"still": "fine"}
    await shared.request("jp/crash")
    for stray in (
        "a stray print",
        "a stray write",
        "a stray child",
        "RuntimeError: this is what a bug looks like",
    ):
        async with asyncio.timeout(10):
            while stray not in shared.log:
                await asyncio.sleep(0.005)


async def test_odd_parameters_and_errors_over_the_wire(shared: ServerProcess) -> None:
    odd = {
        "a-b": 1,
        "class": {"jsonrpc": "2.0", "id": 1, "method": "x"},
        "$ref": 1,
        "_x": 1,
        "1": 1,
        "type_name": 1,
        "€": "😀",
    }
    assert (await shared.request("jp/echo", odd))["result"] == odd
    assert (await shared.request("workspace/executeCommand", {"command": "jp.echo", "arguments": [odd]}))[
        "result"
    ] == odd
    assert (await shared.request("jp/strict", {"lineCount": -1}))["error"]["message"] == (
        "Invalid params for jp/strict: `fileName` is missing; `lineCount` must be 0 or more, not -1"
    )
    shared.send_bytes(encode_frame(b'{"broken'))
    assert (await shared.receive())["error"]["code"] == -32700
    shared.send_bytes(b"content-length: 13\r\n\r\n{" + b" " * 12)
    assert (await shared.receive())["error"]["code"] == -32700
    shared.send_bytes(b"Content-Length: eleven\r\n\r\n{}")
    assert (await shared.receive())["error"]["code"] == -32600
    assert (await shared.request("jp/echo", 1))["result"] == 1


async def test_a_message_beyond_the_limit_is_refused_and_passed_over(shared: ServerProcess) -> None:
    assert shared.process.stdin is not None
    start = b'{"jsonrpc":"2.0","id":"big","method":"jp/echo","params":"'
    shared.send_bytes(b"Content-Length: %d\r\n\r\n%b" % (len(start) + 70_000_000, start))
    before = resident_bytes(shared.process.pid)
    for _ in range(70):
        shared.send_bytes(b"x" * 1_000_000)
        await shared.process.stdin.drain()
    answer = await shared.receive()
    assert answer["id"] == "big"
    assert answer["error"]["code"] == -32600
    assert resident_bytes(shared.process.pid) - before < 20_000_000
    assert (await shared.request("jp/echo", 1))["result"] == 1


@pytest.mark.requirement("T23")
async def test_cancels_right_behind_their_requests_are_all_answered(shared: ServerProcess) -> None:
    """200 requests, each cancelled 0 to 20 ms after it was sent."""
    ids = [shared.send_request("jp/turn", {}) for _ in range(200)]
    loop = asyncio.get_running_loop()
    for number, request_id in enumerate(ids):
        loop.call_later(number % 21 / 1000, shared.notify, "$/cancelRequest", {"id": request_id})
        loop.call_later(number % 23 / 1000, shared.notify, "$/cancelRequest", {"id": request_id})
    answers = [await shared.receive() for _ in ids]
    assert sorted(answer["id"] for answer in answers) == ids
    assert {answer["error"]["code"] for answer in answers} == {-32800}
    assert (await shared.request("jp/echo", 1))["result"] == 1


async def test_a_cancelled_command_stops_its_turn(shared: ServerProcess) -> None:
    request_id = shared.send_request("workspace/executeCommand", {"command": "jp.turn", "arguments": [{}]})
    await shared.request("jp/echo")
    shared.notify("$/cancelRequest", {"id": request_id})
    answer = await shared.receive()
    assert answer["error"]["data"] == {"outcome": "stopped", "partialSaved": True}


@pytest.mark.requirement("R341", "S21")
async def test_a_client_that_does_not_read_is_still_heard(shared: ServerProcess) -> None:
    """Nothing is read while 20 MB are on their way; a message sent meanwhile is handled; then all of it arrives."""
    flooding = shared.send_request("jp/chunks", {"token": "t", "count": 2000, "size": 10_000, "flood": True})
    shared.notify("jp/mark", {"word": "heard"})
    await shared.wait_for_mark("heard")
    echo = shared.send_request("jp/echo", "in between")
    messages = [await shared.receive() for _ in range(2002)]
    chunks = [message["params"]["value"]["seq"] for message in messages if "params" in message]
    assert chunks == list(range(2000))
    answers = {message["id"]: place for place, message in enumerate(messages) if "id" in message}
    assert set(answers) == {flooding, echo}
    assert answers[flooding] >= 2000, "a response never overtakes what was sent before it"


@pytest.mark.requirement("R341", "S21")
async def test_a_producer_that_minds_the_pace_takes_little_memory(start: Start) -> None:
    server = await start()
    before = resident_bytes(server.process.pid)
    flooding = server.send_request("jp/chunks", {"token": "t", "count": 5000, "size": 10_000})
    server.notify("jp/mark", {"word": "heard"})
    await server.wait_for_mark("heard")
    assert resident_bytes(server.process.pid) - before < 15_000_000, "50 MB are to be sent"
    count = 0
    while (await server.receive()).get("id") != flooding:
        count += 1
    assert count == 5000


async def test_a_question_goes_to_the_client_and_its_answer_back(shared: ServerProcess) -> None:
    asking = shared.send_request("jp/ask", {"message": "Run?"})
    question = await shared.receive()
    assert (question["method"], question["params"]) == ("jp/prompt", {"message": "Run?"})
    shared.send({"jsonrpc": "2.0", "id": question["id"], "result": {"a-b": None}})
    assert await shared.receive() == {"jsonrpc": "2.0", "id": asking, "result": {"answer": {"a-b": None}}}


# Ends.


@pytest.mark.requirement("R335", "S10")
async def test_shutdown_and_exit(start: Start) -> None:
    server = await start()
    turn = server.send_request("jp/turn", {})
    shutdown = server.send_request("shutdown")
    answers = [await server.receive(), await server.receive()]
    assert [answer["id"] for answer in answers] == [turn, shutdown]
    assert server.marks == ["closing:shutdown", "closed"], "saved before it was answered"
    server.notify("exit")
    assert await server.wait() == 0


async def test_exit_alone(start: Start) -> None:
    server = await start()
    server.notify("exit")
    assert await server.wait() == 1
    assert server.marks == ["closing:exit", "closed"]


@pytest.mark.requirement("R336", "S10")
async def test_end_of_input(start: Start) -> None:
    server = await start()
    turn = server.send_request("jp/turn", {})
    assert server.process.stdin is not None
    server.process.stdin.close()
    assert (await server.receive())["id"] == turn, "it may still be read"
    assert await server.wait() == 0
    assert server.marks == ["closing:eof", "closed"]


@pytest.mark.requirement("R336", "S10")
async def test_broken_output(start: Start) -> None:
    read, write = os.pipe()
    server = await start(stdout=write, initialize=False)
    os.close(write)
    server.send_request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    server.notify("initialized", {})
    server.notify("jp/mark", {"word": "ready"})
    await server.wait_for_mark("ready")
    os.close(read)
    assert await server.wait() == 0
    assert server.marks == ["ready", "closing:broken_pipe", "closed"]


@pytest.mark.requirement("S10")
@pytest.mark.parametrize(
    ("number", "code", "marks"),
    [
        (signal.SIGTERM, 143, ["closing:sigterm", "closed"]),
        (signal.SIGINT, 130, ["closing:sigint", "closed"]),
        (signal.SIGHUP, 129, ["closing:sighup", "closed"]),
        (signal.SIGQUIT, 131, []),
    ],
)
async def test_signals(start: Start, number: int, code: int, marks: list[str]) -> None:
    server = await start()
    server.send_request("jp/turn", {})
    await server.request("jp/echo")
    server.process.send_signal(number)
    assert await server.wait() == code
    assert server.marks == marks


async def test_a_second_signal_does_not_wait(start: Start) -> None:
    server = await start(env={"WIRE_CLOSING_SECONDS": "60"})
    server.process.send_signal(signal.SIGTERM)
    await server.wait_for_mark("closing:sigterm")
    server.process.send_signal(signal.SIGINT)
    assert await server.wait() == 130
    assert server.marks == ["closing:sigterm"]


@pytest.mark.requirement("S10")
async def test_work_that_does_not_end_is_given_up(start: Start) -> None:
    server = await start(env={"WIRE_CLOSING_SECONDS": "60", "WIRE_CLOSING_TIMEOUT": "0.05"})
    assert server.process.stdin is not None
    server.process.stdin.close()
    assert await server.wait() == 0
    assert any("work was given up" in line for line in server.log)


@pytest.mark.requirement("R336", "S10")
async def test_a_client_that_is_killed(start: Start) -> None:
    """The client is a process of its own; what its server says at the end is read from the shared standard error."""
    script = (
        "import subprocess, sys, time\n"
        "server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        'body = b\'{"jsonrpc":"2.0","id":1,"method":"initialize","params":'
        '{"processId":null,"rootUri":null,"capabilities":{}}}\'\n'
        "server.stdin.write(b'Content-Length: %d\\r\\n\\r\\n' % len(body) + body)\n"
        "server.stdin.flush()\n"
        "server.stdout.readline()\n"
        "print('mark running', file=sys.stderr, flush=True)\n"
        "time.sleep(60)\n"
    )
    client = await start(command=[sys.executable, "-c", script, *WIRE_SERVER], initialize=False)
    await client.wait_for_mark("running")
    client.process.kill()
    await client.wait_for_mark("closed")
    assert await client.wait() == -signal.SIGKILL
    assert client.marks[0] == "running"
    assert client.marks[1] in {"closing:eof", "closing:broken_pipe"}


# Unusual streams.


SCRIPT = b"".join(
    encode_frame(json.dumps(message).encode())
    for message in [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {"processId": None, "rootUri": None, "capabilities": {}},
        },
        {"jsonrpc": "2.0", "method": "initialized", "params": {}},
        *(
            {"jsonrpc": "2.0", "id": number, "method": "jp/echo", "params": "x" * 20_000}
            for number in range(2, 60)
        ),
        {"jsonrpc": "2.0", "id": 60, "method": "shutdown"},
        {"jsonrpc": "2.0", "method": "exit"},
    ]
)


def ids_in(output: bytes) -> list[int]:
    decoder = FrameDecoder()
    decoder.feed(output)
    ids: list[int] = []
    while (body := decoder.next_frame()) is not None:
        assert isinstance(body, bytes), body
        ids.append(json.loads(body)["id"])
    assert decoder.is_between_frames
    return ids


async def run_to_end(**options: Any) -> int:
    process = await asyncio.create_subprocess_exec(*WIRE_SERVER, env=environment(), **options)
    async with asyncio.timeout(30):
        return await process.wait()


async def test_files_instead_of_pipes(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(SCRIPT)
    with (tmp_path / "in").open("rb") as given, (tmp_path / "out").open("wb") as taken:
        assert await run_to_end(stdin=given, stdout=taken, stderr=asyncio.subprocess.DEVNULL) == 0
    assert ids_in((tmp_path / "out").read_bytes()) == list(range(1, 61))


async def test_one_socket_for_both_directions() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = await asyncio.create_subprocess_exec(
            *WIRE_SERVER,
            env=environment(),
            stdin=theirs.fileno(),
            stdout=theirs.fileno(),
            stderr=asyncio.subprocess.DEVNULL,
        )
        theirs.close()
        reader, writer = await asyncio.open_connection(sock=ours)
        writer.write(SCRIPT)
        async with asyncio.timeout(30):
            output = await reader.read()
            assert await process.wait() == 0
        writer.close()
    assert ids_in(output) == list(range(1, 61))


async def test_two_sockets_as_node_gives_them() -> None:
    (our_in, their_in), (our_out, their_out) = socket.socketpair(), socket.socketpair()
    with our_in, their_in, our_out, their_out:
        process = await asyncio.create_subprocess_exec(
            *WIRE_SERVER,
            env=environment(),
            stdin=their_in.fileno(),
            stdout=their_out.fileno(),
            stderr=asyncio.subprocess.DEVNULL,
        )
        their_in.close()
        their_out.close()
        our_in.setblocking(False)
        our_out.setblocking(False)
        loop = asyncio.get_running_loop()
        sending = asyncio.ensure_future(loop.sock_sendall(our_in, SCRIPT))
        pieces: list[bytes] = []
        async with asyncio.timeout(30):
            while piece := await loop.sock_recv(our_out, 1 << 20):
                pieces.append(piece)
            await sending
            assert await process.wait() == 0
    assert ids_in(b"".join(pieces)) == list(range(1, 61))


@pytest.mark.requirement("R303", "R325")
async def test_standard_error_on_the_same_pipe_does_not_break_frames(start: Start) -> None:
    server = await start(stderr=subprocess.STDOUT, env={"WIRE_LOG_LEVEL": "debug"})
    assert (await server.request("jp/pollute"))["result"]["stdin"] == ""
    await server.request("jp/crash")
    assert await server.stop() == 0


@pytest.mark.parametrize("closed", ["0<&-", "1>&-"])
async def test_a_missing_stream_is_told(closed: str) -> None:
    command = f"exec {sys.executable} {WIRE_SERVER[1]} {closed}"
    process = await asyncio.create_subprocess_exec(
        "sh",
        "-c",
        command,
        env=environment(),
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    async with asyncio.timeout(30):
        _, log = await process.communicate()
    assert b"standard input or output is closed; a language server needs both" in log
    assert process.returncode == 1


async def test_missing_standard_error_is_no_trouble(start: Start) -> None:
    command = ["sh", "-c", f"exec {sys.executable} {WIRE_SERVER[1]} 2>&-"]
    server = await start(command=command, stderr=None)
    assert (await server.request("jp/pollute"))["result"]["stdin"] == ""
    await server.request("jp/crash")
    assert await server.stop() == 0


@pytest.mark.requirement("R231")
async def test_a_client_that_does_not_read_the_log_stops_nobody(start: Start) -> None:
    """Far more is logged than a pipe holds, while nobody reads it."""
    read, write = os.pipe()
    server = await start(stderr=write)
    os.close(write)
    for _ in range(300):
        assert (await server.request("jp/crash"))["error"]["code"] == -32603
    assert await server.stop() == 0
    os.close(read)


def resident_bytes(process_id: int) -> int:
    pages = int(Path(f"/proc/{process_id}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")

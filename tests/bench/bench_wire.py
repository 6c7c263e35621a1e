"""Compares our wire with a bare pygls server, both as processes of their own over pipes.

    python tests/bench/bench_wire.py [--runs 7] [--chunks 20000] [--inbound 3000]

The servers take turns, so that a busy machine is busy for all of them; the medians are shown. Where the whole
program exists, its start, end and memory are measured as well, in an empty workspace. It needs neither a key nor
the network, and changes nothing outside a temporary folder.
"""

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

BARE = "bare pygls"
WIRE = "our wire"
PRODUCT = "jp_lsp serve"

COMMANDS = {
    BARE: [sys.executable, str(ROOT / "tests" / "bench" / "bare_pygls_server.py")],
    WIRE: [sys.executable, str(ROOT / "tests" / "support" / "wire_server.py")],
}
if all(importlib.util.find_spec(name) for name in ("jp_lsp.server.app", "jp_lsp.__main__")):
    COMMANDS[PRODUCT] = [sys.executable, "-m", "jp_lsp", "serve"]


class Client:
    """A client that is quick enough not to be what is measured: it counts most messages without reading them."""

    def __init__(self, command: list[str], folder: str) -> None:
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "XDG_CONFIG_HOME": folder,
            "XDG_DATA_HOME": folder,
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program is compiled once
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd=folder,
            bufsize=0,
        )
        self._buffer = b""

    def send(self, method: str, params: object, request_id: int | None = None) -> None:
        self.send_bytes(frame(method, params, request_id))

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        view = memoryview(data)
        while view:
            view = view[self.process.stdin.write(view) :]

    def read_message(self) -> Any:
        while (end := self._buffer.find(b"\r\n\r\n")) < 0:
            self._read()
        size = next(
            int(line[15:])
            for line in self._buffer[:end].split(b"\r\n")
            if line.startswith(b"Content-Length:")
        )
        while len(self._buffer) < end + 4 + size:
            self._read()
        body, self._buffer = self._buffer[end + 4 : end + 4 + size], self._buffer[end + 4 + size :]
        return json.loads(body)

    def count_until_answer(self) -> tuple[int, int]:
        """Count progress notifications until a response comes; gives their number and the seconds it took."""
        began, pieces = time.perf_counter_ns(), [self._buffer]
        tail = self._buffer
        while b'"result"' not in tail:
            self._buffer = b""
            self._read()
            pieces.append(self._buffer)
            tail = tail[-1000:] + self._buffer
        took = time.perf_counter_ns() - began
        self._buffer = b""
        return b"".join(pieces).count(b"$/progress"), took

    def initialize(self) -> float:
        """Give the seconds from the start of the process to the answer."""
        self.send("initialize", {"processId": os.getpid(), "rootUri": None, "capabilities": {}}, 1)
        answer = self.read_message()
        took = time.perf_counter() - self.started
        assert answer["id"] == 1, answer
        assert "result" in answer, answer
        self.send("initialized", {})
        return took

    def leave(self) -> float:
        """Give the seconds from `exit` to the end of the process."""
        self.send("shutdown", None, 9)
        while self.read_message().get("id") != 9:
            pass
        began = time.perf_counter()
        self.send("exit", None)
        self.process.wait(30)
        return time.perf_counter() - began

    def resident_megabytes(self) -> float:
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def _read(self) -> None:
        assert self.process.stdout is not None
        data = self.process.stdout.read(1 << 20)
        if not data:
            raise EOFError("the server is gone")
        self._buffer += data


def frame(method: str, params: object, request_id: int | None = None) -> bytes:
    message: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params}
    if request_id is not None:
        message["id"] = request_id
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def run_once(name: str, folder: str, chunks: int, inbound: int) -> dict[str, float]:
    client = Client(COMMANDS[name], folder)
    try:
        figures = {"start to initialize answered, ms": client.initialize() * 1000}
        figures["memory after initialize, MB"] = client.resident_megabytes()
        if name != PRODUCT:
            figures["first chunk, ms"] = first_chunk(client)
            figures["chunks out, 1/s"] = chunks_out(client, chunks)
            figures["messages in, 1/s"] = messages_in(client, inbound)
            figures["memory at the end, MB"] = client.resident_megabytes()
        figures["exit to end of process, ms"] = client.leave() * 1000
        return figures
    finally:
        client.process.kill()
        client.process.wait()


def first_chunk(client: Client) -> float:
    """From sending what triggers a lone chunk to reading it."""
    times: list[float] = []
    for _ in range(50):
        began = time.perf_counter()
        client.send("jp/one", {"token": "t"})
        client.read_message()
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1000


def chunks_out(client: Client, count: int) -> float:
    client.send("jp/chunks", {"token": "t", "count": count, "size": 40}, 2)
    received, took = client.count_until_answer()
    assert received == count, f"{count - received} of {count} chunks were lost"
    return count / took * 1e9


def messages_in(client: Client, count: int) -> float:
    data = b"".join(frame("jp/count", {"text": "x" * 40, "index": index}) for index in range(count))
    began = time.perf_counter()
    client.send_bytes(data)
    client.send("jp/counted", {}, 3)
    answer = client.read_message()
    took = time.perf_counter() - began
    assert answer["result"] == count, f"{answer} after {count} messages"
    return count / took


WANTED: dict[str, tuple[str, Callable[[float, float], bool]]] = {
    "start to initialize answered, ms": ("at most 0.85 of bare", lambda ours, bare: ours <= 0.85 * bare),
    "first chunk, ms": ("at most 1 ms more", lambda ours, bare: ours <= bare + 1),
    "chunks out, 1/s": ("at least 1.5 of bare", lambda ours, bare: ours >= 1.5 * bare),
    "messages in, 1/s": ("at least 5 of bare", lambda ours, bare: ours >= 5 * bare),
    "exit to end of process, ms": ("under 100 ms", lambda ours, _bare: ours < 100),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--inbound", type=int, default=3_000)
    options = parser.parse_args()
    figures: dict[str, list[dict[str, float]]] = {name: [] for name in COMMANDS}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.runs + 1):  # the first one warms the caches and is not counted
            for name, runs in figures.items():
                runs.append(run_once(name, folder, options.chunks, options.inbound))
    return show({name: medians(runs[1:]) for name, runs in figures.items()})


def medians(runs: list[dict[str, float]]) -> dict[str, float]:
    return {what: statistics.median(run[what] for run in runs) for what in runs[0]}


def show(figures: dict[str, dict[str, float]]) -> int:
    """Print the table; gives 1 when something that is wanted was not reached."""
    lines = [f"{'median':34}" + "".join(f"{name:>22}" for name in figures) + "  wanted"]
    is_good = True
    for what, bare in figures[BARE].items():
        line = f"{what:34}{bare:>22,.1f}"
        wish, is_reached = WANTED.get(what, ("", None))
        verdicts: list[str] = []
        for name in list(figures)[1:]:
            ours = figures[name].get(what)
            line += f"{'-':>22}" if ours is None else f"{f'{ours:,.1f} ({ours / bare:.2f})':>22}"
            if ours is not None and is_reached is not None:
                verdicts.append("yes" if is_reached(ours, bare) else "NO")
        is_good = is_good and "NO" not in verdicts
        lines.append(f"{line}  {wish}{': ' if verdicts else ''}{', '.join(verdicts)}")
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())

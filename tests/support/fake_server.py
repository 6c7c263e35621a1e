"""A scripted stand-in for the server: a child process that speaks the wire from a JSON script.

Run as `python fake_server.py SCRIPT RECORD`. `initialize` and `shutdown` are answered by themselves; the rest is
the script, a list of steps that are done in order:

| step | does |
| --- | --- |
| `{"await": METHOD, "where": {...}}` | waits for a message of the client with these params; names it by its method |
| `{"answer": METHOD, "result": ...}` or `"error": {...}` | answers the request of that method that came last |
| `{"chunk": {...}}` | sends a chunk on the query's token; number, turn and the like are filled in |
| `{"notify": METHOD, "params": {...}}` | sends a notification |
| `{"ask": METHOD, "params": {...}, "as": NAME}` | sends a request; its answer is awaited as `{"await": NAME}` |
| `{"log": TEXT}` | writes a line to standard error |
| `{"raw": TEXT}` | writes something that is no message |
| `{"die": CODE}` | ends at once |
| `{"deaf": true}` | answers nothing more, not even `shutdown`, and ends only with its input |

Every message of the client is appended to RECORD, a line each; the last line tells how the input ended.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any


class FakeServer:
    def __init__(self, script: list[dict[str, Any]], record: Path) -> None:
        self._script = script
        self._record = record
        self._requests: dict[str, Any] = {}
        self._unread: list[tuple[str, Any]] = []
        self._asked: dict[int, str] = {}
        self._seq = 0
        self._token: Any = None

    def run(self) -> int:
        for step in self._script:
            if "die" in step:
                return int(step["die"])
            self._do(step)
        while self._receive() is not None:
            pass
        return 0

    def _do(self, step: dict[str, Any]) -> None:
        match step:
            case {"await": name}:
                self._await(name, step.get("where", {}))
            case {"answer": method}:
                outcome = {key: step[key] for key in ("result", "error") if key in step}
                self._send({"id": self._requests.pop(method), **outcome})
            case {"chunk": chunk}:
                self._seq += 1
                value = {"v": 1, "seq": self._seq, "turn": self._token, "conversation": "jp-c1", "cycle": 1}
                params = {"token": self._token, "value": {**value, **chunk}}
                self._send({"method": "$/progress", "params": params})
            case {"notify": method}:
                self._send({"method": method, "params": step.get("params", {})})
            case {"ask": method}:
                request_id = 1000 + len(self._asked)
                self._asked[request_id] = step.get("as", method)
                self._send({"id": request_id, "method": method, "params": step.get("params", {})})
            case {"log": text}:
                os.write(2, f"{text}\n".encode())
            case {"raw": text}:
                os.write(1, text.encode())
            case {"deaf": True}:
                while os.read(0, 65536):
                    pass
            case _:
                raise ValueError(f"unknown step {step}")

    def _await(self, name: str, where: dict[str, Any]) -> None:
        while True:
            for position, (found, params) in enumerate(self._unread):
                if found == name and all(params.get(key) == value for key, value in where.items()):
                    del self._unread[position]
                    return
            if self._receive() is None:
                sys.exit(0)

    def _receive(self) -> Any:
        """Read a message, keep it, and answer what every server answers."""
        size = 0
        while (line := sys.stdin.buffer.readline()) not in {b"\r\n", b""}:
            name, _, value = line.partition(b":")
            size = int(value) if name.lower() == b"content-length" else size
        if not line:
            self._note({"end of input": True})
            return None
        message = json.loads(sys.stdin.buffer.read(size))
        self._note(message)
        if "method" not in message:
            self._unread.append((self._asked[message["id"]], message))
            return message
        method, params = message["method"], message.get("params", {})
        self._unread.append((method, params))
        if "id" in message:
            self._requests[method] = message["id"]
        if method == "jp/query":
            self._token = params["partialResultToken"]
        if method in {"initialize", "shutdown"}:
            self._send(
                {"id": message["id"], "result": {"capabilities": {}} if method == "initialize" else None}
            )
        if method == "exit":
            sys.exit(0)
        return message

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        data = memoryview(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        while data:
            data = data[os.write(1, data) :]

    def _note(self, message: dict[str, Any]) -> None:
        with self._record.open("a", encoding="utf-8") as file:
            file.write(json.dumps(message) + "\n")


if __name__ == "__main__":
    steps = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    sys.exit(FakeServer(steps, Path(sys.argv[2])).run())

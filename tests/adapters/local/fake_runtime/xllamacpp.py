"""Stands in for the real runtime: the same few names, and a server that says what it was told to say.

The "model file" is a JSON object that is the script: `load` says how loading goes, `answer` which words
the model streams, `port` where somebody waits to be told that loading has begun (and holds it until the
connection gives a byte).
"""

import ctypes
import http.server
import json
import os
import signal
import socket
import sys
import threading
from typing import Any


class _Bag:
    """Takes any attribute, as the real parameters do."""


class CommonParams(_Bag):
    def __init__(self) -> None:
        self.model = _Bag()
        self.cpuparams = _Bag()
        self.cpuparams_batch = _Bag()


class Server:
    def __init__(self, parameters: Any) -> None:
        with open(parameters.model.path, encoding="utf-8") as file:
            script = json.load(file)
        if "port" in script:
            gate = socket.create_connection(("127.0.0.1", script["port"]))
            gate.sendall(str(os.getpid()).encode() + b"\n")
            if script.get("load") == "with lock held":
                # Like the real one, this lets no other Python thread run.
                ctypes.PyDLL(None).sleep(60)
            gate.recv(1)
            self.gate = gate
        match script.get("load", "ok"):
            case "refuse":
                sys.stderr.write(
                    "0.00.001.000 E loader: invalid magic characters\n0.00.002.000 E giving up\n"
                )
                sys.stderr.flush()
                raise RuntimeError("failed to init")
            case "crash":
                os.kill(os.getpid(), signal.SIGILL)
            case "chatter":
                os.write(1, b"native code prints to standard output\n")
                os.write(2, b"x" * (4 << 20))
            case _:
                pass
        self.http = _start_http(parameters, script.get("answer", ["Hello", "."]))
        self.listening_address = f"http://127.0.0.1:{self.http.server_address[1]}"


class _QuietServer(http.server.ThreadingHTTPServer):
    """Says nothing on standard error when a client goes away, as the real one does."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


def _start_http(parameters: Any, answer: list[str]) -> http.server.ThreadingHTTPServer:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            self.reply(200, {"status": "ok"} if self.path == "/health" else vars_of(parameters))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers["authorization"] != f"Bearer {parameters.api_keys[0]}":
                self.reply(
                    401,
                    {"error": {"code": 401, "message": "Invalid API Key", "type": "authentication_error"}},
                )
                return
            parameters.last_request = json.loads(body)
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            for word in answer:
                if word == "<die>":
                    self.wfile.flush()
                    os.kill(os.getpid(), signal.SIGKILL)
                self.event({"choices": [{"index": 0, "delta": {"content": word}, "finish_reason": None}]})
            self.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
            self.wfile.write(b"data: [DONE]\n\n")
            self.close_connection = True

        def event(self, value: object) -> None:
            self.wfile.write(b"data: " + json.dumps(value).encode() + b"\n\n")

        def reply(self, status: int, value: object) -> None:
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = _QuietServer((parameters.hostnames[0], parameters.port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def vars_of(value: Any) -> Any:
    """Show parameters as JSON."""
    if isinstance(value, _Bag):
        return {name: vars_of(part) for name, part in vars(value).items() if name != "api_keys"}
    return sorted(value) if isinstance(value, set) else value

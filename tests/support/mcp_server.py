"""A real MCP server over standard input and output that does what it is told, faults included.

It is written by hand, without the library that our client uses, so that the two check each other, and starts
in a few hundredths of a second. `mcp_server.py SCRIPT`, where the script is a JSON object:

    report   port of somebody who listens: gets a JSON line for what happens here, and says when to go on;
             without it nobody does
    era      "handshake" (2025-11-25, the default), "modern" (2026-07-28), or "strict": a server of the older
             protocol that ends when anything comes before `initialize`
    start    "hold" (wait to be told), "silent" (read, never answer), "mute" (list and give nothing),
             "deaf" (neither read nor end), "exit" (say why, then end with code 3), "greeting" (print a text)
    chatter  how many lines to write to standard error at the start
    stubborn ignore the end of input and SIGTERM
    helper   start another process that does the same
    tools    definitions to list in place of the usual ones
    page     how many tools or documents a page has; "endless" for lists without end
    form     what the tool `ask` asks for

What the tools do stands at each of them below.
"""

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import Any

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
PIXEL = "iVBORw0KGgo="
DOCUMENTS = [
    {"uri": "memo://one", "name": "one", "title": "The first", "mimeType": "text/plain", "size": 3},
    {"uri": "memo://two", "name": "two", "description": "Bytes", "mimeType": "application/octet-stream"},
    {"uri": "memo://three", "name": "three"},
]


class Reporter:
    """The connection to whoever watches; ends when this process does."""

    def __init__(self, port: int | None) -> None:
        ours, _ = pair = socket.socketpair()
        self._nobody = pair
        self._socket = ours if port is None else socket.create_connection(("127.0.0.1", port))
        self._file = self._socket.makefile("rw", encoding="utf-8")
        self._lock = threading.Lock()

    def tell(self, **event: Any) -> None:
        with self._lock:
            self._file.write(json.dumps(event) + "\n")
            self._file.flush()

    def wait(self) -> None:
        """Wait to be told to go on."""
        if not self._socket.recv(1):
            os._exit(9)


class Server:
    def __init__(self, script: dict[str, Any], reporter: Reporter) -> None:
        self.script = script
        self.reporter = reporter
        self.is_modern = script.get("era") == "modern"
        self.is_open = False
        self.answers: dict[str, queue.Queue[Any]] = {}
        self.cancelled: dict[Any, threading.Event] = {}
        self.lock = threading.Lock()

    # ---------------------------------------------------------------- the wire

    def send(self, message: dict[str, Any]) -> None:
        with self.lock:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            sys.stdout.flush()

    def answer(self, id: Any, result: dict[str, Any]) -> None:
        self.send({"id": id, "result": {"resultType": "complete", **result} if self.is_modern else result})

    def answer_list(self, id: Any, name: str, items: list[Any], cursor: str | None) -> None:
        page = self.script.get("page", len(items))
        if page == "endless":
            begin, page = 0, len(items)
            more = {"nextCursor": "again"}
        else:
            begin = int(cursor or 0)
            more = {"nextCursor": str(begin + page)} if begin + page < len(items) else {}
        caching = {"ttlMs": 0, "cacheScope": "private"} if self.is_modern else {}
        self.answer(id, {name: items[begin : begin + page], **more, **caching})

    def refuse(self, id: Any, code: int, text: str) -> None:
        self.send({"id": id, "error": {"code": code, "message": text}})

    def request(self, method: str, params: dict[str, Any]) -> Any:
        """Ask the client something and give its result or error."""
        id = f"server-{len(self.answers)}"
        self.answers[id] = queue.Queue()
        self.send({"id": id, "method": method, "params": params})
        return self.answers[id].get()

    def handle(self, message: dict[str, Any]) -> None:
        self.reporter.tell(event="message", message=message)
        id, method, params = message.get("id"), message.get("method"), message.get("params", {})
        if self.script.get("start") == "silent":
            return
        if self.script.get("era") == "strict" and not self.is_open and method != "initialize":
            sys.stderr.write(f"expected initialize, not {method}\n")
            sys.exit(1)
        match method:
            case None:
                self.answers[str(id)].put(message)
            case "initialize" if not self.is_modern:
                self.is_open = True
                capabilities = {"tools": {}, "resources": {}}
                info = {"name": "scripted", "version": "1"}
                version = {"protocolVersion": "2025-11-25"}
                self.answer(id, {**version, "capabilities": capabilities, "serverInfo": info})
            case "server/discover" if self.is_modern:
                caching = {"ttlMs": 0, "cacheScope": "private"}
                capabilities = {"tools": {}, "resources": {}}
                versions = {"supportedVersions": ["2026-07-28"]}
                self.answer(id, {**versions, "capabilities": capabilities, **caching})
            case "tools/list" | "resources/list" | "resources/read" if self.script.get("start") == "mute":
                pass
            case "tools/list":
                tools = self.script.get("tools", [tool_of(name) for name in TOOLS])
                self.answer_list(id, "tools", tools, params.get("cursor"))
            case "tools/call":
                threading.Thread(target=self.call, args=(id, params), daemon=True).start()
            case "resources/list":
                self.answer_list(id, "resources", DOCUMENTS, params.get("cursor"))
            case "resources/read":
                self.read(id, params["uri"])
            case "notifications/cancelled":
                self.cancelled.setdefault(params["requestId"], threading.Event()).set()
            case _ if id is not None:
                self.refuse(id, -32601, "Method not found")
            case _:
                pass

    def read(self, id: Any, uri: str) -> None:
        caching = {"ttlMs": 0, "cacheScope": "private"} if self.is_modern else {}
        match uri:
            case "memo://one":
                content = {"uri": uri, "mimeType": "text/plain", "text": "äöü"}
            case "memo://two":
                content = {"uri": uri, "mimeType": "application/octet-stream", "blob": "AAEC/w=="}
            case "memo://three":
                content = {"uri": uri, "blob": "not base64"}
            case _:
                self.refuse(id, -32602, f"no document {uri}")
                return
        self.answer(id, {"contents": [content], **caching})

    # ---------------------------------------------------------------- calls

    def call(self, id: Any, params: dict[str, Any]) -> None:
        work = TOOLS.get(params["name"])
        if work is None:
            self.refuse(id, -32602, f"Unknown tool: {params['name']}")
            return
        result = work(self, id, params)
        if result is not None:
            self.answer(id, result)


def text(*parts: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": part} for part in parts], **more}


def echo(server: Server, id: Any, params: Any) -> Any:
    """Give the text back."""
    return text(params["arguments"]["text"])


def fail(server: Server, id: Any, params: Any) -> Any:
    """Report an error."""
    return text("the disk is full", isError=True)


def fail_silently(server: Server, id: Any, params: Any) -> Any:
    """Report an error without a word."""
    return {"content": [], "isError": True}


def refuse(server: Server, id: Any, params: Any) -> Any:
    """Answer with an error of the protocol."""
    server.refuse(id, -32603, "out of order")


def break_protocol(server: Server, id: Any, params: Any) -> Any:
    """Answer with something that is no result."""
    return {"content": "text"}


def die(server: Server, id: Any, params: Any) -> Any:
    """End in the middle of the call."""
    sys.stderr.write("\x1b[31mpanic:\x1b[0m out of luck\n")
    sys.stderr.flush()
    os._exit(3)


def answer_and_end(server: Server, id: Any, params: Any) -> Any:
    """Answer and end in one breath."""
    server.answer(id, text("that was all"))
    os._exit(0)


def close_output(server: Server, id: Any, params: Any) -> Any:
    """Close the output and go on."""
    os.close(1)
    time.sleep(60)


def close_input(server: Server, id: Any, params: Any) -> Any:
    """Close the input, then answer."""
    server.script["stops"] = True
    read, _ = os.pipe()
    os.dup2(read, 0)
    return text("closed")


def never(server: Server, id: Any, params: Any) -> Any:
    """Never answer."""


def late(server: Server, id: Any, params: Any) -> Any:
    """Answer once the call is cancelled, which is too late."""
    server.cancelled.setdefault(id, threading.Event()).wait()
    server.answer(id, text("too late"))
    server.reporter.tell(event="answered late")


def hold(server: Server, id: Any, params: Any) -> Any:
    """Answer when the watcher says so."""
    server.reporter.wait()
    return text("held")


def flood(server: Server, id: Any, params: Any) -> Any:
    """Write five megabytes to standard error, then answer."""
    sys.stderr.write("".join(f"line {number} {'x' * 1000}\n" for number in range(5000)))
    sys.stderr.flush()
    return text("dry again")


def noise(server: Server, id: Any, params: Any) -> Any:
    """Print what is no message, then answer."""
    sys.stdout.write("debug: about to answer\n\n[1, 2]\n" + "[" * 5000 + "\n")
    return text("heard")


def big(server: Server, id: Any, params: Any) -> Any:
    """Answer with so many characters."""
    return text("x" * params["arguments"]["size"])


def stop_reading(server: Server, id: Any, params: Any) -> Any:
    """Read nothing more, for good."""
    server.script["stops"] = True
    return text("deaf from now on")


def progress(server: Server, id: Any, params: Any) -> Any:
    """Tell of progress in every form, then answer."""
    token = {"progressToken": params["_meta"]["progressToken"]}
    for told in (
        {"progress": 1, "total": 4, "message": "begun"},
        {"progress": 7},
        {"progress": 9, "total": 3},
    ):
        server.send({"method": "notifications/progress", "params": {**token, **told}})
    return text("done")


def environment(server: Server, id: Any, params: Any) -> Any:
    """Tell what this process sees."""
    seen = {"folder": os.getcwd(), "variable": os.environ.get("JP_TEST_VARIABLE"), "group": os.getpgid(0)}
    return text(json.dumps({**seen, "pid": os.getpid()}))


CONTENTS: dict[str, dict[str, Any]] = {
    "picture": {"content": [{"type": "image", "data": PIXEL, "mimeType": "image/png"}]},
    "sound": {"content": [{"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}]},
    "link": {
        "content": [
            {"type": "resource_link", "uri": "memo://one", "name": "one\ntwo", "mimeType": "text/plain"}
        ]
    },
    "document": {
        "content": [
            {"type": "text", "text": "See:"},
            {"type": "resource", "resource": {"uri": "memo://one", "text": "line 1\nline 2"}},
        ]
    },
    "bytes": {
        "content": [
            {"type": "resource", "resource": {"uri": "memo://two", "blob": "AAEC/w==", "mimeType": "a/b"}}
        ]
    },
    "structured": {"content": [], "structuredContent": {"größe": [1, None]}},
    "mixed": {"content": [{"type": "text", "text": "short"}], "structuredContent": {"long": True}},
    "empty": {"content": [{"type": "text", "text": ""}]},
    "nothing": {"content": []},
}


def content(server: Server, id: Any, params: Any) -> Any:
    """Answer with the kind of content that is named."""
    return CONTENTS[params["arguments"]["kind"]]


def ask(server: Server, id: Any, params: Any) -> Any:
    """Have a form filled and tell what came back."""
    return converse(server, params, "elicitation/create", server.script["form"])


def ask_and_hang(server: Server, id: Any, params: Any) -> Any:
    """Have a form filled, and never answer."""
    converse(server, params, "elicitation/create", server.script["form"])


def hold_and_ask(server: Server, id: Any, params: Any) -> Any:
    """Have a form filled when the watcher says so."""
    if "inputResponses" not in params:
        server.reporter.wait()
    return ask(server, id, params)


def roots(server: Server, id: Any, params: Any) -> Any:
    """Ask for the folders and tell what came back."""
    return converse(server, params, "roots/list", {})


def sample(server: Server, id: Any, params: Any) -> Any:
    """Ask for a model's answer and tell what came back."""
    message = {"role": "user", "content": {"type": "text", "text": "hi"}}
    return converse(server, params, "sampling/createMessage", {"messages": [message], "maxTokens": 5})


def converse(server: Server, params: Any, method: str, asked: dict[str, Any]) -> Any:
    if not server.is_modern:
        answered = server.request(method, asked)
        return text(json.dumps(answered.get("result", answered.get("error"))))
    given = params.get("inputResponses")
    if given is None:
        requests = {"first": {"method": method, "params": asked}}
        return {"resultType": "input_required", "inputRequests": requests, "requestState": "s"}
    return text(json.dumps(given["first"]))


TOOLS = {
    work.__name__: work
    for work in (
        *(echo, big, content, environment, progress, noise, flood),
        *(fail, fail_silently, refuse, break_protocol),
        *(never, late, hold),
        *(die, answer_and_end, close_output, close_input, stop_reading),
        *(ask, ask_and_hang, hold_and_ask, roots, sample),
    )
}


def tool_of(name: str) -> dict[str, Any]:
    schema = {"echo": TEXT}.get(name, NOTHING)
    return {"name": name, "description": TOOLS[name].__doc__, "inputSchema": schema}


def main() -> None:
    script = json.loads(sys.argv[1])
    reporter = Reporter(script.get("report"))
    reporter.tell(event="started", pid=os.getpid())
    if script.get("stubborn") or script.get("start") == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if script.get("helper"):
        helper = {"report": script["report"], "start": "deaf"}
        subprocess.Popen([sys.executable, "-I", "-S", __file__, json.dumps(helper)])
    for number in range(script.get("chatter", 0)):
        sys.stderr.write(f"line {number}\n\n")
    sys.stderr.flush()
    match script.get("start"):
        case "hold":
            reporter.wait()
        case "deaf":
            time.sleep(600)
        case "exit":
            sys.stderr.write("no configuration\n")
            sys.exit(3)
        case "greeting":
            sys.stdout.write("Welcome!\n")
        case _:
            pass
    server = Server(script, reporter)
    for line in sys.stdin:
        server.handle(json.loads(line))
        if script.get("stops"):
            time.sleep(600)
    if script.get("stubborn"):
        time.sleep(600)


if __name__ == "__main__":
    main()

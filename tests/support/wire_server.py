"""A small server on our own wire, to be run as a process of its own by tests and benchmarks.

It has a method for each nasty thing that a client or a handler can do. What a test must learn beside the wire is
written to standard error, as lines that begin with `mark`.
"""

import os

from jp_lsp.server.startup import quick_start

with quick_start():
    import asyncio
    import subprocess
    import sys
    import time
    from typing import TYPE_CHECKING, Any

    from lsprotocol import types

    from jp_lsp.server.lifecycle import ClosingReason
    from jp_lsp.server.logs import set_up_logging
    from jp_lsp.server.process import run_and_leave
    from jp_lsp.server.stdio import take_standard_streams
    from jp_lsp.server.transport import serve_stdio
    from jp_lsp.server.wire import JpLanguageServer
    from jp_lsp.server.wire_error import REQUEST_CANCELLED, WireError

    if TYPE_CHECKING:
        from pydantic import BaseModel

    server = JpLanguageServer("wire-test", "1")


def mark(word: str) -> None:
    """Tell the test something that does not go over the wire."""
    os.write(2, f"mark {word}\n".encode())


def strict_model() -> "type[BaseModel]":
    from pydantic import BaseModel, ConfigDict, Field
    from pydantic.alias_generators import to_camel

    class StrictParams(BaseModel):
        model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

        file_name: str
        line_count: int = Field(default=0, ge=0)

    return StrictParams


def crash(_params: object) -> object:
    raise RuntimeError("this is what a bug looks like")


async def send_chunks(params: dict[str, Any]) -> object:
    """Send `count` chunks of `size` characters, minding the client's pace as the outbox does."""
    count, text = params["count"], "x" * params.get("size", 20)
    for index in range(count):
        server.protocol.notify_raw(
            "$/progress", {"token": params["token"], "value": {"seq": index, "type": "text", "md": text}}
        )
        if index % 64 == 63 and server.protocol.out is not None and not params.get("flood"):
            await server.protocol.out.drained()
    return {"sent": count}


def send_one(params: dict[str, Any]) -> None:
    server.protocol.notify_raw("$/progress", {"token": params["token"], "value": {"at": time.monotonic_ns()}})


async def wait_like_a_turn(params: dict[str, Any]) -> object:
    """Wait for a turn that the server owns; a cancellation stops the turn and tells what was kept (4.4)."""
    stop = asyncio.Event()

    async def turn() -> str:
        try:
            await asyncio.wait_for(stop.wait(), params.get("seconds", 30))
        except TimeoutError:
            return "completed"
        await asyncio.sleep(params.get("cleanup", 0))
        return "stopped"

    outcome = asyncio.ensure_future(turn())
    try:
        return {"outcome": await asyncio.shield(outcome)}
    except asyncio.CancelledError:
        stop.set()
        data = {"outcome": await asyncio.shield(outcome), "partialSaved": True}
        raise WireError(REQUEST_CANCELLED, "stopped", data) from None


async def ask(params: dict[str, Any]) -> object:
    return {
        "answer": await server.protocol.send_request_raw("jp/prompt", {"message": str(params["message"])})
    }


def pollute(_params: object) -> object:
    """Print in every way that a library or a child can, and look what a child inherits."""
    print("a stray print")  # noqa: T201
    sys.stdout.flush()
    os.write(1, b"a stray write\n")
    subprocess.run(["echo", "a stray child"], check=True)
    listing = "import os; print(sorted(int(n) for n in os.listdir('/proc/self/fd')))"
    child = subprocess.run(
        [sys.executable, "-c", listing], check=True, close_fds=False, stdout=subprocess.PIPE, text=True
    )
    given = subprocess.run(["cat"], check=True, stdout=subprocess.PIPE).stdout
    return {"inherited": child.stdout.strip(), "stdin": given.decode()}


def hover(params: types.HoverParams) -> types.Hover:
    return types.Hover(server.workspace.get_text_document(params.text_document.uri).source)


async def on_closing(reason: ClosingReason) -> None:
    mark(f"closing:{reason.value}")
    await asyncio.sleep(float(os.environ.get("WIRE_CLOSING_SECONDS", "0")))
    mark("closed")


server.on_closing = on_closing
server.feature(types.TEXT_DOCUMENT_HOVER)(hover)
server.protocol.register_method("jp/mark", None, lambda params: mark(params["word"]))
server.protocol.register_method("jp/echo", None, lambda params: params)
server.protocol.register_method("jp/strict", strict_model, lambda params: params)
server.protocol.register_method("jp/crash", None, crash)
server.protocol.register_method("jp/chunks", None, send_chunks)
server.protocol.register_method("jp/one", None, send_one)
counted: list[object] = []
server.protocol.register_method("jp/count", None, counted.append)
server.protocol.register_method("jp/counted", None, lambda _params: len(counted))
server.protocol.register_method("jp/turn", None, wait_like_a_turn)
server.protocol.register_method("jp/ask", None, ask)
server.protocol.register_method("jp/pollute", None, pollute)
server.protocol.register_command("jp.echo", None, lambda params: params, text_key="text")
server.protocol.register_command("jp.turn", None, wait_like_a_turn)

if __name__ == "__main__":
    wire = take_standard_streams()
    set_up_logging(os.environ.get("WIRE_LOG_LEVEL", "info"))
    run_and_leave(
        serve_stdio(server, wire, closing_timeout=float(os.environ.get("WIRE_CLOSING_TIMEOUT", "9")))
    )

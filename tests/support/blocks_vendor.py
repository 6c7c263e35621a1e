"""A vendor on the loopback that speaks the Messages stream: blocks with indices, in whatever order a test likes.

with BlocksVendor() as vendor:
    vendor.will_answer(Reply.sse(tool(0, "c1", "look"), stop(0), ended("tool_use")))
"""

import json
from collections import deque
from pathlib import Path

from tests.support.http_server import HttpServer, Reply, Request
from tests.support.user_folders import UserFolders

MODEL = "claude-sonnet-4-5"

ENVIRONMENT = {"ANTHROPIC_API_KEY": "a-key-for-nobody"}
"""What a server needs to ask this vendor."""


class BlocksVendor(HttpServer):
    """Gives the planned answers in order; what is asked beyond them gets status 500."""

    def __init__(self) -> None:
        super().__init__(self._reply_to)
        self._planned: deque[Reply] = deque()

    def will_answer(self, *replies: Reply) -> None:
        """Give these answers, behind those that are planned already."""
        self._planned.extend(replies)

    @property
    def queries(self) -> list[dict[str, object]]:
        """The bodies of the requests for an answer, in order."""
        return [request.json() for request in list(self.requests) if request.method == "POST"]

    def _reply_to(self, request: Request) -> Reply:
        if request.method == "GET":
            return Reply.json({"type": "model", "id": MODEL, "display_name": MODEL})
        return self._planned.popleft() if self._planned else Reply.text("nothing is planned", 500)


def user_of(folder: Path, vendor: BlocksVendor) -> UserFolders:
    """A user whose model is this vendor's."""
    user = UserFolders(folder)
    lines = [
        "[assistant.model]",
        f'id = "anthropic/{MODEL}"',
        "[providers.llm.anthropic]",
        f'base_url = "{vendor.url}"',
        "[conversation.title.generate]",
        "auto = false",
    ]
    (user.config / "config.toml").write_text("\n".join([*lines, ""]), encoding="utf-8")
    return user


def began() -> bytes:
    """The head of an answer."""
    usage = {"input_tokens": 7, "output_tokens": 1}
    return _event("message_start", message={"id": "m", "role": "assistant", "content": [], "usage": usage})


def text(index: int) -> bytes:
    """A block of text begins."""
    return _start(index, {"type": "text", "text": ""})


def thinking(index: int) -> bytes:
    """A block of reasoning begins."""
    return _start(index, {"type": "thinking", "thinking": "", "signature": ""})


def tool(index: int, call_id: str, name: str) -> bytes:
    """A tool call begins."""
    return _start(index, {"type": "tool_use", "id": call_id, "name": name, "input": {}})


def piece(index: int, kind: str, value: str) -> bytes:
    """A piece of a block: of its `text`, its `thinking`, or as `input_json` of its arguments."""
    field = "partial_json" if kind == "input_json" else kind
    return _event("content_block_delta", index=index, delta={"type": f"{kind}_delta", field: value})


def stop(index: int) -> bytes:
    """A block is complete."""
    return _event("content_block_stop", index=index)


def ended(reason: str = "end_turn", **details: str) -> bytes:
    """The end; `details` explain a refusal."""
    delta = {"stop_reason": reason, "stop_sequence": None, **({"stop_details": details} if details else {})}
    return _event("message_delta", delta=delta, usage={"output_tokens": 5}) + _event("message_stop")


def _start(index: int, block: dict[str, object]) -> bytes:
    return _event("content_block_start", index=index, content_block=block)


def _event(kind: str, **fields: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()

"""Vendors with an API of their own on the loopback, for servers that run as a process of their own.

A `Speech` is how one of them writes the pieces of an answer; the server gives the planned answers in order.
"""

import json
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.http_server import HttpServer, Reply, Request, Step


@dataclass(frozen=True, slots=True)
class Speech:
    """One vendor's way to speak.

    Attributes:
        model: the model id that the user sets.
        key: the variable with the key.
        path: what stands between the server's address and the paths of the API.
        stream_type: the media type of an answer.
        models: the list of models, by the path that it is asked for.
        said: writes a piece of the answer.
        thought: writes a piece of reasoning.
        called: writes a whole tool call.
        ended: writes the end.
    """

    model: str
    key: str
    path: str
    stream_type: str
    models: tuple[str, Any]
    said: Callable[[str], bytes]
    thought: Callable[[str], bytes]
    called: Callable[[str, Any], bytes]
    ended: Callable[[], bytes]
    in_band: Callable[[Any], bytes]

    @property
    def provider(self) -> str:
        """The vendor's name."""
        return self.model.partition("/")[0]

    def answer(self, *steps: str | Step) -> Reply:
        """An answer; a string is a piece of its text."""
        pieces = (self.said(step) if isinstance(step, str) else step for step in steps)
        return self.broken(*pieces, self.ended())

    def broken(self, *steps: str | Step) -> Reply:
        """An answer whose body ends in the middle."""
        pieces = tuple(self.said(step) if isinstance(step, str) else step for step in steps)
        return Reply(pieces, headers={"content-type": self.stream_type})


def _event(value: object) -> bytes:
    return b"data: %b\r\n\r\n" % json.dumps(value, ensure_ascii=False).encode()


def _line(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def _gemini(*parts: Any, **members: Any) -> bytes:
    return _event({"candidates": [{"content": {"role": "model", "parts": list(parts)}, **members}]})


def _message(done: bool = False, **members: Any) -> bytes:
    message = {"role": "assistant", "content": "", **members}
    return _line(
        {"model": "tiny", "message": message, "done": done, **({"done_reason": "stop"} if done else {})}
    )


def signature_of(name: str) -> str:
    """The signature that Google gives a call."""
    return f"signature-of-{name}"


GOOGLE = Speech(
    model="google/gemini-tiny",
    key="GEMINI_API_KEY",
    path="/v1beta",
    stream_type="text/event-stream",
    models=("/v1beta/models", {"models": [{"name": "models/gemini-tiny", "thinking": True}]}),
    said=lambda text: _gemini({"text": text}),
    thought=lambda text: _gemini({"text": text, "thought": True}),
    called=lambda name, arguments: _gemini(
        {"functionCall": {"name": name, "args": arguments}, "thoughtSignature": signature_of(name)}
    ),
    ended=lambda: _gemini({"text": ""}, finishReason="STOP"),
    in_band=lambda error: _event({"error": error}),
)
OLLAMA = Speech(
    model="ollama/tiny",
    key="OLLAMA_API_KEY",
    path="",
    stream_type="application/x-ndjson",
    models=("/api/tags", {"models": [{"name": "tiny"}]}),
    said=lambda text: _message(content=text),
    thought=lambda text: _message(thinking=text),
    called=lambda name, arguments: _message(
        tool_calls=[{"function": {"name": name, "arguments": arguments}}]
    ),
    ended=lambda: _message(done=True),
    in_band=lambda error: _line({"error": error}),
)
SPEECHES: Mapping[str, Speech] = {"google": GOOGLE, "ollama": OLLAMA}


class NativeVendor(HttpServer):
    """Answers as it is told; a question that it has no answer for gets status 500."""

    def __init__(self, speech: Speech) -> None:
        super().__init__(self._reply_to)
        self.speech = speech
        self._planned: deque[Reply] = deque()

    def will_answer(self, *replies: Reply) -> None:
        """Give these answers, in order, behind those that are planned already."""
        self._planned.extend(replies)

    @property
    def queries(self) -> list[Any]:
        """The bodies of all questions to the model, in order."""
        return [request.json() for request in list(self.requests) if request.method == "POST"]

    def _reply_to(self, request: Request) -> Reply:
        if request.method != "POST":
            path, listed = self.speech.models
            is_there = request.path.partition("?")[0] == path
            return Reply.json(listed) if is_there else Reply.text("nothing here", 404, "text/plain")
        if self._planned:
            return self._planned.popleft()
        return Reply.json({"error": {"message": "no answer is planned"}}, 500)

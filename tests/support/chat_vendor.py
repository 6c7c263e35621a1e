"""A vendor on the loopback that speaks chat completions, for servers that run as a process of their own.

A test says what the next answers are, and may hold each of them in the middle of a word:

    with ChatVendor() as vendor:
        gate = Hold()
        vendor.will_answer(answer("Hel", gate, "lo"))
        ...
        assert vendor.queries[0]["messages"][-1] == {"role": "user", "content": "hi"}

Answers for a certain question (`to`) are for requests whose last user message contains that text, so that
several conversations can be told apart.
"""

import json
from collections import deque
from typing import Any

from tests.support.http_server import HttpServer, Reply, Request, Step

MODEL = "tiny"

DONE = b"data: [DONE]\n\n"


def said(text: str) -> bytes:
    """A piece of the answer. The empty thought makes it count at once: no tag can be hidden in it."""
    return _delta({"content": text, "reasoning_content": ""})


def thought(text: str) -> bytes:
    """A piece of reasoning."""
    return _delta({"reasoning_content": text})


def called(call_id: str, name: str, arguments: str, index: int = 0) -> bytes:
    """A whole tool call."""
    function = {"name": name, "arguments": arguments}
    return _delta({"tool_calls": [{"index": index, "id": call_id, "type": "function", "function": function}]})


def ended(reason: str = "stop") -> bytes:
    """The end of the answer, with the count of its tokens."""
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}
    return _event(last) + DONE


def answer(*steps: str | Step, reason: str = "stop") -> Reply:
    """An answer; a string is a piece of its text."""
    return Reply.sse(*(said(step) if isinstance(step, str) else step for step in steps), ended(reason))


def broken(*steps: str | Step) -> Reply:
    """An answer whose body ends in the middle."""
    return Reply.sse(*(said(step) if isinstance(step, str) else step for step in steps))


def refused(status: int, message: str, **fields: str) -> Reply:
    """An error instead of an answer."""
    return Reply.json({"error": {"message": message, **fields}}, status)


class ChatVendor(HttpServer):
    """Answers as it is told; a question that it has no answer for gets status 500."""

    def __init__(self) -> None:
        super().__init__(self._reply_to)
        self._planned: list[tuple[str, deque[Reply]]] = []
        self._unplanned: deque[Reply] = deque()

    def will_answer(self, *replies: Reply, to: str | None = None) -> None:
        """Give these answers, in order, behind those that are planned already."""
        if to is None:
            self._unplanned.extend(replies)
        else:
            self._planned.append((to, deque(replies)))

    def forget(self) -> None:
        """Forget what was asked and what is planned."""
        self.requests.clear()
        self._planned.clear()
        self._unplanned.clear()

    @property
    def has_plans(self) -> bool:
        """Whether an answer is left that nobody asked for."""
        return bool(self._unplanned) or any(replies for _, replies in self._planned)

    @property
    def queries(self) -> list[Any]:
        """The bodies of all chat requests, in order."""
        return [request.json() for request in list(self.requests) if request.method == "POST"]

    @property
    def last_message(self) -> str:
        """The text of the last message of the last chat request."""
        return str(self.queries[-1]["messages"][-1]["content"])

    def queries_about(self, text: str) -> list[Any]:
        """The bodies of the chat requests whose last user message contains a text."""
        return [body for body in self.queries if text in _last_question(body)]

    def _reply_to(self, request: Request) -> Reply:
        if request.method != "POST":
            models = Reply.json({"data": [{"id": MODEL}]})
            return models if request.path == "/v1/models" else Reply.text("nothing here", 404, "text/plain")
        question = _last_question(request.json())
        for wanted, replies in self._planned:
            if replies and wanted in question:
                return replies.popleft()
        if self._unplanned:
            return self._unplanned.popleft()
        return refused(500, f"no answer is planned for {question[-80:]!r}")


def _last_question(body: Any) -> str:
    questions = [message["content"] for message in body["messages"] if message["role"] == "user"]
    return str(questions[-1]) if questions else ""


def _delta(delta: dict[str, Any]) -> bytes:
    return _event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})


def _event(value: object) -> bytes:
    return b"data: %b\n\n" % json.dumps(value, ensure_ascii=False).encode()

"""Vendors on the loopback, for servers that run as a process of their own.

A `Speech` is how one of them writes the pieces of an answer and reads a request; the server gives the planned
answers in order.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.http_server import HttpServer, Reply, Request, Step
from tests.support.shell_tools import FREE, with_tools
from tests.support.user_folders import UserFolders


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """One vendor's way to speak.

    Attributes:
        model: the model id that the user sets.
        path: what stands between the server's address and the paths of the API.
        models: the list of models, by the path that it is asked for.
        said: writes a piece of the answer.
        thought: writes a piece of reasoning.
        called: writes a whole tool call.
        ended: writes the end.
        in_band: writes an error in the middle of an answer.
        passing_error: such an error that passes.
        calls: the calls in a request, by their ids, or by the tools' names where the API has no ids.
        results: what tools said, in a request.
        schema: what an answer is to look like, in a request.
        key: the variable with the key.
        key_header: the header in which the key is sent, and what it says before the key.
        needs_key: whether nothing is asked without a key.
        base_url: the variable with the address, for a vendor whose address is in no file.
        settings: lines of configuration that the user has for this vendor.
        has_call_ids: whether calls have ids; `called` makes them of the tool's name.
        closes_schemas: whether schemas are sent without room for more members.
        stream_type: the media type of an answer.
        waiting: keeps the stream alive and means nothing.
    """

    model: str
    path: str
    models: tuple[str, Any]
    said: Callable[[str], bytes]
    thought: Callable[[str], bytes]
    called: Callable[[str, Any], bytes]
    ended: Callable[[], bytes]
    in_band: Callable[[Any], bytes]
    passing_error: Any
    calls: Callable[[Any], list[str]]
    results: Callable[[Any], list[str]]
    schema: Callable[[Any], Any]
    key: str
    key_header: tuple[str, str] = ("authorization", "Bearer ")
    needs_key: bool = True
    base_url: str | None = None
    settings: tuple[str, ...] = ("assistant.model.parameters.reasoning = 'low'",)
    has_call_ids: bool = True
    closes_schemas: bool = False
    stream_type: str = "text/event-stream"
    waiting: bytes = b": waiting\n\n"

    @property
    def provider(self) -> str:
        """The vendor's name."""
        return self.model.partition("/")[0]

    def answer(self, *steps: str | Step) -> Reply:
        """An answer; a string is a piece of its text."""
        return self.broken(*steps, self.ended())

    def broken(self, *steps: str | Step) -> Reply:
        """An answer whose body ends in the middle."""
        pieces = tuple(self.said(step) if isinstance(step, str) else step for step in steps)
        return Reply(pieces, headers={"content-type": self.stream_type})


KEY = "planted-key-4711-of-nobody"
"""The key of every vendor."""


class SpeakingVendor(HttpServer):
    """Answers as it is told; a question that it has no answer for gets status 500."""

    def __init__(self, speech: Speech) -> None:
        super().__init__(self._reply_to)
        self.speech = speech
        self._planned: deque[Reply] = deque()

    @property
    def address(self) -> str:
        """Where the API is."""
        return self.url + self.speech.path

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a user who has the key."""
        variable = self.speech.base_url
        return {self.speech.key: KEY, **({} if variable is None else {variable: self.address})}

    def user(self, folder: Path, *, makes_titles: bool = False) -> UserFolders:
        """A user who asks this vendor, and has two tools."""
        user, provider = UserFolders(folder), self.speech.provider
        lines = [
            f"assistant.model.id = '{self.speech.model}'",
            "assistant.request.base_backoff_ms = 1",
            f"conversation.title.generate.auto = {str(makes_titles).lower()}",
            *self.speech.settings,
        ]
        if self.speech.base_url is None:
            lines.append(f"providers.llm.{provider}.base_url = '{self.address}'")
        (user.config / "config.toml").write_text("\n".join([*lines, ""]), encoding="utf-8")
        with_tools(user, look=("echo seen", FREE), list=("echo a b", FREE))
        return user

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

"""The server's questions as they come and go: one on the screen at a time, and who still waits for an answer.

A question that another one pushes aside stays open at the server and is asked again later, by a request of
its own. Its first request must not be answered then: `null` would count as the user's answer. It is answered
when the question is closed for good.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.protocol.prompt import PromptAction, PromptParams, PromptResult
from jp_lsp.protocol.reading import InvalidParams, read
from jp_lsp.terminal.asking import Asker
from jp_lsp.terminal.connection import RequestId
from jp_lsp.terminal.presenter import Stage

Respond = Callable[[RequestId, JsonValue], None]


@dataclass(slots=True)
class _Asking:
    """The question on the screen."""

    request_id: RequestId
    decision: str
    task: "asyncio.Task[None]"


class Questions:
    """Asks what the server wants to know.

    Args:
        asker: asks one question.
        stage: must know when one is on the screen.
    """

    def __init__(self, asker: Asker, stage: Stage) -> None:
        self._asker = asker
        self._stage = stage
        self._respond: Respond = _answer_nobody
        self._tasks: asyncio.TaskGroup | None = None
        self._asking: _Asking | None = None
        self._put_aside: dict[str, list[RequestId]] = {}

    def connect(self, respond: Respond, tasks: asyncio.TaskGroup) -> None:
        """Say how answers are sent, and where to wait for them."""
        self._respond = respond
        self._tasks = tasks

    async def ask_locally(self, prompt: PromptParams) -> PromptResult | None:
        """Ask something that the server knows nothing of."""
        return await self._show(prompt, "")

    def ask(self, request_id: RequestId, method: str, params: JsonObject, held_back: str) -> None:
        """Ask what a request of the server asks; in place of what is being asked, if there is something."""
        is_prompt = method == "jp/prompt"
        try:
            prompt = read(PromptParams, params, method) if is_prompt else _from_message(request_id, params)
        except InvalidParams:
            self._respond(request_id, None)
            return
        if self._tasks is None:
            return
        before = self._asking
        if before is not None:
            self._put_aside.setdefault(before.decision, []).append(before.request_id)
            before.task.cancel()
        previous = None if before is None else before.task
        task = self._tasks.create_task(
            self._answer(request_id, prompt, held_back, previous, is_prompt=is_prompt)
        )
        self._asking = _Asking(request_id, prompt.decision_id, task)

    def closed(self, decision: JsonValue, how: JsonValue) -> None:
        """Note that a question needs no answer, for now or for good."""
        if not isinstance(decision, str):
            return
        asking = self._asking
        if asking is not None and asking.decision == decision:
            self._put_aside.setdefault(decision, []).append(asking.request_id)
            self._asking = None
            asking.task.cancel()
        if how != "superseded":
            for request_id in self._put_aside.pop(decision, ()):
                self._respond(request_id, None)

    def cancel(self, request_id: JsonValue) -> None:
        """Note that the server no longer waits for the answer to a request."""
        asking = self._asking
        if asking is not None and asking.request_id == request_id:
            self._asking = None
            asking.task.cancel()
            self._respond(asking.request_id, None)

    async def close(self) -> None:
        """Ask nothing any more."""
        if self._asking is not None:
            task = self._asking.task
            self._asking = None
            task.cancel()
            await asyncio.wait([task])

    async def _answer(
        self,
        request_id: RequestId,
        prompt: PromptParams,
        held_back: str,
        previous: "asyncio.Task[None] | None",
        *,
        is_prompt: bool,
    ) -> None:
        if previous is not None:
            await asyncio.wait([previous])
        result = await self._show(prompt, held_back)
        self._asking = None
        if result is None:
            self._respond(request_id, None)
        else:
            self._respond(request_id, result.to_json() if is_prompt else _to_message(prompt, result))

    async def _show(self, prompt: PromptParams, held_back: str) -> PromptResult | None:
        self._stage.is_asking = True
        try:
            return await self._asker.ask(prompt, held_back)
        finally:
            self._stage.is_asking = False
            self._stage.release()


def _from_message(request_id: RequestId, params: JsonObject) -> PromptParams:
    """Read a `window/showMessageRequest`, in which a button has only a title.

    Raises:
        InvalidParams: it is none.
    """
    actions = params.get("actions")
    listed = actions if isinstance(actions, list) else []
    titles = [action.get("title") for action in listed if isinstance(action, Mapping)]
    return read(
        PromptParams,
        {
            "decisionId": f"message-{request_id}",
            "kind": "pick",
            "message": params.get("message"),
            "actions": [{"id": title, "title": title} for title in titles],
        },
        "window/showMessageRequest",
    )


def _to_message(prompt: PromptParams, result: PromptResult) -> JsonValue:
    chosen: list[PromptAction] = [action for action in prompt.actions if action.id == result.action]
    return {"title": chosen[0].title} if chosen else None


def _answer_nobody(_request_id: RequestId, _result: JsonValue) -> None:
    """Answer nobody: nothing is connected yet."""

"""Requests of the client that are being worked on.

A handler that gives its result at once is answered in the order of the messages. One that gives an awaitable
becomes a task, and this module knows what a cancellation means for it (query pipeline 4.4): the task is
cancelled exactly once, may take its time to clean up, and every request is answered exactly once - with the
handler's result if it still has one, with the error that it raises, or with -32800.
"""

import asyncio
import contextvars
import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, cast

from jp_lsp.server.message import RequestId

_log = logging.getLogger(__name__)

_Answer = Callable[[RequestId, object], None]
_Refuse = Callable[[RequestId, BaseException], None]


class RunningRequests:
    """The tasks of one connection, by request id.

    `answer` and `refuse` put a response on the wire; `refuse` also gets the `CancelledError` of a handler
    that let itself be cancelled. `report` gets what a notification's handler raised.
    """

    def __init__(self, answer: _Answer, refuse: _Refuse, report: Callable[[BaseException], None]) -> None:
        self._answer = answer
        self._refuse = refuse
        self._report = report
        self._tasks: dict[RequestId, asyncio.Task[object]] = {}
        self._cancelled: set[RequestId] = set()
        self._unanswered: set[asyncio.Task[object]] = set()

    def __contains__(self, request_id: object) -> bool:
        return request_id in self._tasks

    def run(self, request_id: RequestId, call: Callable[[], object], context: contextvars.Context) -> None:
        """Call a handler and see to it that the request is answered."""
        try:
            result = context.run(call)
        except (Exception, asyncio.CancelledError) as error:  # whatever a handler raises is the answer
            self._refuse(request_id, error)
            return
        if not inspect.isawaitable(result):
            self._answer(request_id, result)
            return
        task = _start_task(result, context)
        self._tasks[request_id] = task
        task.add_done_callback(lambda done: self._finish(request_id, done))

    def run_unanswered(self, call: Callable[[], object], context: contextvars.Context) -> None:
        """Call the handler of a notification; what it raises is reported, not answered."""
        try:
            result = context.run(call)
        except (
            Exception,
            asyncio.CancelledError,
        ) as error:  # one bad notification must not end the connection
            self._report(error)
            return
        if inspect.isawaitable(result):
            task = _start_task(result, context)
            self._unanswered.add(task)
            task.add_done_callback(self._finish_unanswered)

    def cancel(self, request_id: object) -> None:
        """Cancel a request at the client's wish; unknown, finished and already cancelled ones are left alone."""
        task = self._tasks.get(request_id) if isinstance(request_id, (str, int)) else None
        if task is None:
            _log.debug("a request that does not run was cancelled")
        elif request_id not in self._cancelled:
            self._cancelled.add(cast(RequestId, request_id))
            # Not at once: a task that is cancelled before its first step never runs, so its handler could not
            # stop what it has begun already. The step and this stand in the loop's queue, in that order.
            asyncio.get_running_loop().call_soon(task.cancel)

    async def end_all(self, within: float, *, spare: RequestId | None = None) -> None:
        """Cancel what still runs and wait until it is answered, within so many seconds.

        Args:
            within: seconds; a handler that takes longer goes unanswered.
            spare: a request to leave alone, because it is the one that asks for this.
        """
        requests = [request_id for request_id in self._tasks if request_id != spare]
        tasks = [self._tasks[request_id] for request_id in requests]
        for request_id in requests:
            self.cancel(request_id)
        for task in self._unanswered - {cast("asyncio.Task[object]", asyncio.current_task())}:
            tasks.append(task)
            task.cancel()
        if not tasks:
            return
        _, late = await asyncio.wait(tasks, timeout=within)
        if late:
            _log.warning("%d handlers did not end within %.1f s", len(late), within)
        await asyncio.sleep(0)  # the answers are written by callbacks of the tasks

    def _finish(self, request_id: RequestId, task: asyncio.Task[object]) -> None:
        del self._tasks[request_id]
        self._cancelled.discard(request_id)
        if task.cancelled():
            self._refuse(request_id, asyncio.CancelledError())
        elif (error := task.exception()) is not None:
            self._refuse(request_id, error)
        else:
            self._answer(request_id, task.result())

    def _finish_unanswered(self, task: asyncio.Task[object]) -> None:
        self._unanswered.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._report(error)


def _start_task(result: Awaitable[object], context: contextvars.Context) -> asyncio.Task[object]:
    is_coroutine = inspect.iscoroutine(result)
    coroutine = cast("Coroutine[Any, Any, object]", result) if is_coroutine else _await(result)
    return asyncio.get_running_loop().create_task(coroutine, context=context)


async def _await(awaitable: Awaitable[object]) -> object:
    return await awaitable

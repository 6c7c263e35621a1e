"""The results of one response together have a limit as well (query pipeline 3.10).

They are stored one by one as they come, each cut to its own limit. What the largest must give way is known
only when all are there, so it is cut from what the model is shown and not from what is stored. The same
stored results are always cut in the same way, which vendors' caches live on.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from jp_lsp.conversation.event import ToolCallResponse
from jp_lsp.conversation.thread import Thread, ThreadEvent
from jp_lsp.tools.limits import BATCH_BUDGET, limit_batch


def with_limited_batches(thread: Thread, budget: int = BATCH_BUDGET) -> Thread:
    """Cut the results of each response of the model such that together they take at most `budget` bytes."""
    events: list[ThreadEvent] = []
    for is_batch, group in groupby(thread.events, _is_response):
        members = list(group)
        events += _limited(members, budget) if is_batch else members
    return replace(thread, events=tuple(events))


def _is_response(item: ThreadEvent) -> bool:
    return isinstance(item.event.kind, ToolCallResponse)


def _limited(batch: Sequence[ThreadEvent], budget: int) -> list[ThreadEvent]:
    responses = [item.event.kind for item in batch if isinstance(item.event.kind, ToolCallResponse)]
    texts = limit_batch([response.content for response in responses], budget)
    return [
        item
        if text == response.content
        else replace(item, event=replace(item.event, kind=replace(response, content=text)))
        for item, response, text in zip(batch, responses, texts, strict=True)
    ]

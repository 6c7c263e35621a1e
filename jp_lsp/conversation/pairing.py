"""Puts tool responses where providers want them: behind their cycle, in the order of the requests.

On disk responses stand as the tools finished, and a damaged stream may lack some or have too many. A
provider refuses a request in which a call and its result do not match. So within each turn the n-th
response of an id belongs to the n-th request of that id (ids may repeat); a request without a response gets
one that says so, and a response without a request is left out (query pipeline 3.13, 6.6).
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from jp_lsp.conversation.event import ChatRequest, ConversationEvent, ToolCallRequest, ToolCallResponse
from jp_lsp.conversation.ids import CallId
from jp_lsp.conversation.projection import Projected
from jp_lsp.conversation.sanitize import interrupted_response


def paired(items: Iterable[Projected]) -> list[Projected]:
    """Give the events with each cycle's responses behind it, matched and in request order."""
    ordered: list[Projected] = []
    for _, turn in groupby(items, key=lambda item: (item.first_turn, item.last_turn)):
        ordered.extend(_paired_turn(list(turn)))
    return ordered


def _paired_turn(items: Sequence[Projected]) -> list[Projected]:
    waiting: dict[CallId, deque[Projected]] = defaultdict(deque)
    for item in items:
        if isinstance(item.event.kind, ToolCallResponse):
            waiting[item.event.kind.id].append(item)
    ordered: list[Projected] = []
    open_calls: list[Projected] = []
    is_answered = False
    for item in items:
        match item.event.kind:
            case ToolCallResponse():
                is_answered = is_answered or not _is_repair(item.event, open_calls)
                continue
            case ChatRequest():
                is_answered = True
            case _:
                pass
        if is_answered:
            ordered.extend(_answer(call, waiting) for call in open_calls)
            open_calls, is_answered = [], False
        ordered.append(item)
        if isinstance(item.event.kind, ToolCallRequest):
            open_calls.append(item)
    ordered.extend(_answer(call, waiting) for call in open_calls)
    return ordered


def _is_repair(response: ConversationEvent, open_calls: Sequence[Projected]) -> bool:
    """Tell whether repair put this response right behind its call; then the cycle is not over there."""
    return any(response == interrupted_response(call.event) for call in open_calls)


def _answer(call: Projected, waiting: dict[CallId, deque[Projected]]) -> Projected:
    kind = call.event.kind
    if isinstance(kind, ToolCallRequest) and waiting[kind.id]:
        return waiting[kind.id].popleft()
    return replace(call, event=interrupted_response(call.event))

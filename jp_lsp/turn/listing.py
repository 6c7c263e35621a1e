"""Queries and turns as a list shows them: what runs, and what was cut off (query pipeline 1.10, 3.1)."""

from dataclasses import dataclass
from typing import Literal

from jp_lsp.conversation.event import InquiryRequest
from jp_lsp.conversation.ids import CallId, ConversationId
from jp_lsp.tools.decision import Decision
from jp_lsp.turn.phase import Phase

CallState = Literal[
    "receiving",
    "pending",
    "awaiting_run_mode",
    "running",
    "awaiting_tool_input",
    "awaiting_inquiry",
    "awaiting_result_mode",
    "completed",
    "cancelled",
]


@dataclass(frozen=True, slots=True)
class ListedCall:
    """A tool call and how far it is."""

    id: CallId
    name: str
    state: CallState


@dataclass(frozen=True, slots=True)
class ActiveTurn:
    """A running query. `token` names it to its client; `decisions` are open, the visible one first."""

    token: int | str
    conversation: ConversationId | None
    phase: Phase
    calls: tuple[ListedCall, ...] = ()
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True, slots=True)
class UnfinishedTurn:
    """A stored turn that was cut off: its number in the conversation, its calls, its open questions."""

    conversation: ConversationId
    index: int
    calls: tuple[ListedCall, ...] = ()
    inquiries: tuple[InquiryRequest, ...] = ()

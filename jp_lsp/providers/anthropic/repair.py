"""Mending a conversation whose thinking the vendor no longer accepts (providers 6.1.6).

Signatures go stale: a conversation that was changed, moved or continued elsewhere is refused for ever if it
still carries them. The error names the place, counted in logical turns; the repair removes the signature that
was sent there from the stored events, and the rebuilt request carries that thinking as plain text.
"""

import re
from collections.abc import Mapping, Sequence

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.providers.anthropic.messages import REDACTED_KEY, SIGNATURE_KEY
from jp_lsp.providers.error_report import report_of_body
from jp_lsp.providers.http import RefusedResponse
from jp_lsp.providers.untrusted import as_list, as_object, as_text
from jp_lsp.turn.stream_event import MetadataPatch, Patch

_POSITION = re.compile(r"messages\.(\d{1,9})\.content\.(\d{1,9})")
_THINKING_TYPES = frozenset({"thinking", "redacted_thinking"})


def plan_repair(response: RefusedResponse, sent: JsonObject) -> Patch | None:
    """Find out which stored metadata a refusal is about; nothing when it is about something else.

    `sent` is the body of the refused request.
    """
    report = report_of_body(response.body)
    text = report.text.lower()
    if "invalid_request_error" not in report.words or "thinking" not in text:
        return None
    if "cannot be modified" in text:
        is_whole_message = True
    elif "signature" in text:
        is_whole_message = False
    else:
        return None
    messages = [as_object(message) for message in as_list(sent.get("messages"))]
    blocks = _named_blocks(report.text, messages)
    if not blocks:
        blocks = _newest_message(messages) if is_whole_message else _oldest_block(messages)
    patches = tuple(patch for block in blocks if (patch := _patch(block)) is not None)
    return Patch(patches) if patches else None


def _named_blocks(text: str, messages: Sequence[JsonObject]) -> list[JsonObject]:
    """Resolve the position that the vendor names to the thinking that must go."""
    match = _POSITION.search(text)
    turns = _logical_turns(messages)
    if match is None or int(match[1]) >= len(turns):
        return []
    turn = turns[int(match[1])]
    number = int(match[2])
    for message in turn:
        blocks = _blocks(message)
        if number < len(blocks):
            if blocks[number].get("type") not in _THINKING_TYPES:
                return []
            # In the answer that is being worked on, the vendor checks a message as a whole.
            return _thinking(message) if turn is _final_assistant_turn(turns) else [blocks[number]]
        number -= len(blocks)
    return []


def _logical_turns(messages: Sequence[JsonObject]) -> list[list[JsonObject]]:
    """Group messages as the vendor counts.

    A user's message that is no mere tool result is a turn; the assistant's next message begins another, which
    goes on over all tool results and further messages.
    """
    turns: list[list[JsonObject]] = []
    is_assistants = False
    for message in messages:
        is_users = message.get("role") == "user" and not _is_only_results(message)
        if is_users or not is_assistants:
            turns.append([])
        turns[-1].append(message)
        is_assistants = not is_users
    return turns


def _final_assistant_turn(turns: Sequence[list[JsonObject]]) -> list[JsonObject] | None:
    return next((turn for turn in reversed(turns) if turn[0].get("role") == "assistant"), None)


def _newest_message(messages: Sequence[JsonObject]) -> list[JsonObject]:
    for message in reversed(_final_assistant_turn(_logical_turns(messages)) or []):
        if thinking := _thinking(message):
            return thinking
    return []


def _oldest_block(messages: Sequence[JsonObject]) -> list[JsonObject]:
    for message in messages:
        if thinking := _thinking(message):
            return thinking[:1]
    return []


def _blocks(message: JsonObject) -> list[JsonObject]:
    return [as_object(block) for block in as_list(message.get("content"))]


def _thinking(message: JsonObject) -> list[JsonObject]:
    return [block for block in _blocks(message) if block.get("type") in _THINKING_TYPES]


def _is_only_results(message: JsonObject) -> bool:
    return all(block.get("type") == "tool_result" for block in _blocks(message))


_SOURCES: Mapping[JsonValue, tuple[str, str]] = {
    "thinking": ("signature", SIGNATURE_KEY),
    "redacted_thinking": ("data", REDACTED_KEY),
}


def _patch(block: JsonObject) -> MetadataPatch | None:
    member, key = _SOURCES[block.get("type")]
    value = as_text(block.get(member))
    return MetadataPatch(key, value) if value else None

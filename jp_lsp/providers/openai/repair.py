"""Mending a conversation whose items the vendor no longer accepts (providers 6.2.1, 4.5; trap 37).

Reasoning is refused without the item it led to, an item without its reasoning, and encrypted reasoning when
another organisation's key made it. The repair takes the vendor's ids off the stored events; the rebuilt request
carries them as plain text.
"""

import re
from collections.abc import Sequence

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.providers.error_report import report_of_body
from jp_lsp.providers.http import RefusedResponse
from jp_lsp.providers.openai.items import ITEM_ID_KEY
from jp_lsp.providers.untrusted import as_list, as_object, as_text
from jp_lsp.turn.stream_event import MetadataPatch, Patch

_ALONE = re.compile(r"'([^']{1,200})' of type '(?:reasoning|message)' was provided without its required")
_UNREADABLE_CODE = "invalid_encrypted_content"
_NAMED = re.compile(r"\b(rs_\w{1,200})")


def plan_repair(response: RefusedResponse, sent: JsonObject) -> Patch | None:
    """Find out which stored items a refusal is about; nothing when it is about something else.

    `sent` is the body of the refused request.
    """
    report = report_of_body(response.body)
    if alone := _ALONE.search(report.text):
        return _without([alone[1]])
    if _UNREADABLE_CODE not in report.words:
        return None
    items = [as_object(item) for item in as_list(sent.get("input"))]
    thoughts = [as_text(item.get("id")) for item in items if item.get("type") == "reasoning"]
    named = [name for name in _NAMED.findall(report.text) if name in thoughts]
    # All that the same key made is unreadable alike, so without a name all of it goes at once.
    return _without(named or thoughts) if thoughts else None


def _without(ids: Sequence[str]) -> Patch:
    # A patch that finds no event to change ends the attempts, so a wrong name cannot go round for ever.
    return Patch(tuple(MetadataPatch(ITEM_ID_KEY, item_id) for item_id in ids))

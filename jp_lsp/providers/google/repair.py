"""Mending a conversation whose thought signatures the vendor refuses (providers 6.3.3, F16).

Only signatures of the current turn are looked at there, so only one of those can be the cause: the oldest is
taken out of the conversation, and the filler stands in for it. If it was another one, the next request is
refused again and the next signature goes.
"""

import re
from collections.abc import Iterator, Sequence

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.providers.error_report import report_of_body
from jp_lsp.providers.google.contents import FILLER, SIGNATURE_KEY, SIGNATURE_MEMBER
from jp_lsp.providers.http import RefusedResponse
from jp_lsp.providers.untrusted import as_list, as_object, as_text
from jp_lsp.turn.stream_event import MetadataPatch, Patch

_REFUSED = re.compile(r"(?:corrupted|invalid) thought[ _]signature", re.IGNORECASE)
_MISSING = re.compile(r"missing an? [`'\"]?thought[ _]signature", re.IGNORECASE)


def plan_repair(response: RefusedResponse, sent: JsonObject) -> Patch | None:
    """Find out which stored signature a refusal is about; nothing when it is about something else.

    `sent` is the body of the refused request.
    """
    text = report_of_body(response.body).text
    is_missing = bool(_MISSING.search(text))
    if response.status != 400 or not (is_missing or _REFUSED.search(text)):
        return None
    signatures = list(_signatures_of_the_turn([as_object(item) for item in as_list(sent.get("contents"))]))
    if is_missing and FILLER in signatures:
        return None  # the filler was not enough: there is nothing more that we could do
    oldest = next((signature for signature in signatures if signature != FILLER), None)
    return None if oldest is None else Patch((MetadataPatch(SIGNATURE_KEY, oldest),))


def _signatures_of_the_turn(contents: Sequence[JsonObject]) -> Iterator[str]:
    """Give the signatures behind the last content in which the user said something."""
    begin = 0
    for position, content in enumerate(contents):
        if content.get("role") == "user" and not _is_only_results(content):
            begin = position
    for content in contents[begin:]:
        for part in as_list(content.get("parts")):
            if signature := as_text(as_object(part).get(SIGNATURE_MEMBER)):
                yield signature


def _is_only_results(content: JsonObject) -> bool:
    return all("functionResponse" in as_object(part) for part in as_list(content.get("parts")))

"""Where the prompt may be cached: at most four marks in a request (providers 6.1.2).

Three explicit ones at most, spent on what changes least: the last document, the last system block, the last
tool. The fourth stands on the request itself and moves along with the history. Events that were marked by
hand take the place of the fourth, and one of the three for each.
"""

from collections.abc import Sequence

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.ports.provider import CachePolicy
from jp_lsp.providers.anthropic.messages import Block

_EXPLICIT_MARKS = 3
_LONG_SECONDS = 1800


def mark_for_cache(
    body: dict[str, JsonValue],
    policy: CachePolicy,
    *,
    documents: Sequence[Block],
    system: Sequence[Block],
    tools: Sequence[Block],
    marked: Sequence[Block],
) -> None:
    """Put the marks into the blocks of a request.

    `system` must not hold a forced-tool nudge: it comes and goes, and would spoil the cache behind it.
    """
    if policy.seconds <= 0:
        return
    mark: JsonObject = {"type": "ephemeral", "ttl": "1h" if policy.seconds >= _LONG_SECONDS else "5m"}
    by_hand = list(marked[-_EXPLICIT_MARKS:])
    candidates = [blocks[-1] for blocks in (documents, system, tools) if blocks]
    for block in [*candidates[: _EXPLICIT_MARKS - len(by_hand)], *by_hand]:
        block["cache_control"] = mark
    if not by_hand:
        body["cache_control"] = mark

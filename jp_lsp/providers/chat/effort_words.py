"""The words for how much to think that all servers with `reasoning_effort` know."""

from collections.abc import Mapping

from jp_lsp.ports.provider import EffortLevel

COMMON_WORDS: Mapping[EffortLevel, str] = {
    "none": "low",
    "xlow": "low",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "high",
    "max": "high",
}
"""What to send for each of our levels; for `auto` nothing, which leaves it to the server."""

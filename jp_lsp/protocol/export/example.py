"""What an example on the protocol page is, and the conversation that most of them are about."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CONVERSATION = "jp-c17912345678"

SUMMARY: Mapping[str, Any] = {
    "conversation": CONVERSATION,
    "title": "Test files",
    "createdAt": "2026-10-05T21:09:27.800Z",
    "lastActivatedAt": "2026-10-05T21:11:02.500Z",
    "labels": [],
    "archived": False,
    "local": False,
    "active": True,
    "busy": False,
}
"""That conversation, as lists show it."""

_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Example:
    """One exchange; a notification has no `result`."""

    title: str
    params: Mapping[str, Any]
    result: Any = _ABSENT

    @property
    def has_result(self) -> bool:
        """Whether it is answered; the answer itself may be `None`."""
        return self.result is not _ABSENT

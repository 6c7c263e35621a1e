"""Standard progress of one query, for clients that show it: begin, phases, end (query pipeline 5.1)."""

import logging
from collections.abc import Callable

from jp_lsp.conversation.json_value import JsonObject

_log = logging.getLogger(__name__)


class WorkDoneProgress:
    """Reports on one token. Without a token it does nothing, so nobody has to ask whether there is one.

    Args:
        notify: sends a notification.
        token: the client's token, or one that the client agreed to.
    """

    def __init__(self, notify: Callable[[str, JsonObject], None], token: int | str | None) -> None:
        self._notify = notify
        self._token = token
        self._message = ""
        self._has_begun = False

    def begin(self) -> None:
        """Say that work has begun, and that it can be cancelled."""
        if not self._has_begun:
            self._has_begun = True
            self._send({"kind": "begin", "title": "JP", "cancellable": True})

    def report(self, message: str) -> None:
        """Say what is being done, when that is new."""
        if self._has_begun and message and message != self._message:
            self._message = message
            self._send({"kind": "report", "message": message, "cancellable": True})

    def end(self) -> None:
        """Say that the work is over."""
        if self._has_begun:
            self._has_begun = False
            self._send({"kind": "end"})

    def _send(self, value: JsonObject) -> None:
        if self._token is not None:
            self._notify("$/progress", {"token": self._token, "value": value})

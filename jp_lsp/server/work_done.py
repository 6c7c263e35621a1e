"""Standard progress of one query, for clients that show it: begin, phases, end (query pipeline 5.1)."""

from collections.abc import Callable

from jp_lsp.conversation.json_value import JsonObject


class WorkDoneProgress:
    """Reports on one token, which a client may agree to only while the work is under way.

    Args:
        notify: sends a notification.
    """

    def __init__(self, notify: Callable[[str, JsonObject], None]) -> None:
        self._notify = notify
        self._token: int | str | None = None
        self._message = ""

    def begin(self, token: int | str) -> None:
        """Say that work has begun, what is being done, and that it can be cancelled."""
        self._token = token
        message: JsonObject = {"message": self._message} if self._message else {}
        self._send({"kind": "begin", "title": "JP", "cancellable": True, **message})

    def report(self, message: str) -> None:
        """Say what is being done, when that is new."""
        if message and message != self._message:
            self._message = message
            self._send({"kind": "report", "message": message, "cancellable": True})

    def end(self) -> None:
        """Say that the work is over."""
        self._send({"kind": "end"})
        self._token = None

    def _send(self, value: JsonObject) -> None:
        if self._token is not None:
            self._notify("$/progress", {"token": self._token, "value": value})

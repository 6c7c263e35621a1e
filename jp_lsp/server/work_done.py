"""Standard progress of one query or other work, for clients that show it: begin, phases, end (query pipeline 5.1)."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.server.session import Session
from jp_lsp.server.wire_error import ClientAnswerError


async def agreed_token(session: Session, token: int | str | None, own: str) -> int | str | None:
    """Give the client's token, or ours if the client agrees to it; `None` where nothing can be shown.

    A client may take any time to agree, so nothing may wait for this.
    """
    if token is not None or not session.has_work_done_progress:
        return token
    create = session.protocol.send_request_raw("window/workDoneProgress/create", {"token": own})
    try:
        await create
    except ClientAnswerError:
        return None
    return own


class WorkDoneProgress:
    """Reports on one token, which a client may agree to only while the work is under way.

    Args:
        notify: sends a notification.
    """

    def __init__(self, notify: Callable[[str, JsonObject], None]) -> None:
        self._notify = notify
        self._token: int | str | None = None
        self._message = ""

    @asynccontextmanager
    async def shown(
        self, session: Session, token: int | str | None, own: str, cancel: Callable[[], None]
    ) -> AsyncGenerator[None]:
        """Show a block's work, on the client's token or on one that it agrees to.

        Args:
            session: the client.
            token: what it sent with its request.
            own: the name of a token of ours.
            cancel: what its cancel button does.
        """

        async def begin() -> None:
            agreed = await agreed_token(session, token, own)
            if agreed is not None:
                session.progress_cancels[agreed] = cancel
                self.begin(agreed)

        beginning = asyncio.ensure_future(begin())
        try:
            yield
        finally:
            beginning.cancel()
            if self._token is not None:
                session.progress_cancels.pop(self._token, None)
            self.end()

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

"""A query that is held in the middle of its answer, so that a test can do something to it there."""

import asyncio
from typing import Any

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.http_server import Hold, Step
from tests.support.jp_client import JpClient, Json, WireFault, answer_of, fault_of, result_of


class HeldQuery:
    """Use `hold`. The vendor has sent `first` and stands at the gate; behind it is `second`."""

    def __init__(self, client: JpClient, token: str, request_id: int, answered: asyncio.Future[Json]) -> None:
        self.token = token
        self.request_id = request_id
        self.gate = Hold()
        self._client = client
        self._answered = answered

    @classmethod
    async def hold(
        cls,
        client: JpClient,
        vendor: ChatVendor,
        token: str,
        *,
        text: str = "hi",
        first: str | Step = "First.\n\n",
        second: str = "Second.",
        shown: str = "First.",
        **params: Any,
    ) -> "HeldQuery":
        """Ask, in a new conversation unless the params say otherwise, and wait for the first words."""
        gate = Hold()
        vendor.will_answer(answer(first, gate, second), to=text)
        request_id, answered = client.start_query(text, token, **{"conversation": "new", **params})
        query = cls(client, token, request_id, answered)
        query.gate = gate
        await client.wait_for_text(token, shown)
        return query

    @property
    def conversation(self) -> str:
        """Where it runs."""
        return str(self._client.chunks(self.token)[0]["conversation"])

    @property
    def is_answered(self) -> bool:
        """Whether the request has its answer."""
        return self._answered.done()

    async def press(self, **params: object) -> Json:
        """Interrupt it."""
        return await self._client.request("jp/interrupt", {"turn": self.token, **params})  # type: ignore[no-any-return]

    def cancel(self) -> None:
        """Cancel its request."""
        self._client.cancel(self.request_id)

    def go_on(self) -> None:
        """Let the vendor go on."""
        self.gate.open()

    async def result(self) -> Json:
        """Wait for its result."""
        return await result_of(self._answered)  # type: ignore[no-any-return]

    async def fault(self) -> WireFault:
        """Wait for the error that answers it."""
        return await fault_of(self._answered)

    async def answer(self) -> Json:
        """Wait for its whole answer."""
        return await answer_of(self._answered)

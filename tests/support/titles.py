"""Waiting for the title of a conversation."""

from typing import Any

from tests.support.jp_client import JpClient


async def wait_for_title(client: JpClient, title: str) -> dict[str, Any]:
    """Wait until the client is told of a title."""

    def look() -> dict[str, Any] | None:
        told = client.received("jp/conversationChanged")
        return next((change for change in told if change.get("title") == title), None)

    return await client.wait_for(look)

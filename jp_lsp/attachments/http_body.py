"""The body of an HTTP answer, up to a limit."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx


async def read_up_to(response: "httpx.Response", limit: int) -> bytes | None:
    """Read the body, decompressed; nothing when it has more than `limit` bytes."""
    pieces: list[bytes] = []
    size = 0
    async for piece in response.aiter_bytes():
        size += len(piece)
        if size > limit:
            return None
        pieces.append(piece)
    return b"".join(pieces)

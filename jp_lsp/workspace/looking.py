"""Looks at the folders of conversations beside the event loop, and says so where that is not possible.

What is wrong with one conversation is said of that one; this is about the folders around all of them.
"""

from collections.abc import Callable
from typing import TypeVar

from anyio import to_thread

from jp_lsp.ports.refusal import Refusal

_T = TypeVar("_T")


async def look(work: Callable[[], _T]) -> _T:
    """Do some looking in a worker thread.

    Raises:
        Refusal: a folder cannot be looked at; says which and why.
    """
    try:
        return await to_thread.run_sync(work)
    except OSError as error:
        where = f" in {error.filename}" if error.filename else ""
        text = f"The conversations{where} cannot be looked at: {error.strerror or error}."
        raise Refusal("conversation_unreadable", text) from error

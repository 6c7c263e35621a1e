"""Refusals on their way to a client."""

from collections.abc import Generator
from contextlib import contextmanager

from jp_lsp.ports.refusal import Refusal
from jp_lsp.protocol.reading import InvalidParams
from jp_lsp.server import to_wire
from jp_lsp.server.wire_error import invalid_params, new_trace


@contextmanager
def refusals_answered(method: str) -> Generator[None]:
    """Turn what is refused within the block into the error that answers the request.

    Raises:
        WireError: from within the block.
    """
    try:
        yield
    except Refusal as refusal:
        raise to_wire.query_error(refusal.error, draft=None, trace=new_trace()) from None
    except InvalidParams as problem:
        raise invalid_params(method, [str(problem).removeprefix(f"{method}: ")]) from None

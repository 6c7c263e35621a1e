"""Where a connection stands, and what it takes there (query pipeline 1.10, trap 60)."""

from enum import Enum

from jp_lsp.server.wire_error import INVALID_REQUEST, NOT_INITIALIZED, WireError, edge_error


class Phase(Enum):
    """The life of a connection, in order. The value is what a refused client is told."""

    NEW = "`initialize` has not come"
    INITIALIZING = "`initialize` is not answered yet"
    INITIALIZED = "`initialized` has not come"
    READY = "open for everything"
    STOPPING = "the server is shutting down"


def refusal_of_request(phase: Phase, method: str, *, is_ours: bool) -> WireError | None:
    """Say why a request cannot be served now; `None` when it can.

    Args:
        phase: where the connection stands.
        method: what was asked.
        is_ours: whether it is one of our own methods or commands, which need `initialized`.
    """
    if phase is Phase.STOPPING:
        return edge_error(INVALID_REQUEST, f"Invalid request: {phase.value}")
    is_early = (
        (phase is Phase.NEW and method != "initialize")
        or phase is Phase.INITIALIZING
        or (phase is Phase.INITIALIZED and is_ours)
    )
    if is_early:
        return edge_error(NOT_INITIALIZED, f"the server is not initialized: {phase.value}")
    if method == "initialize" and phase is not Phase.NEW:
        return edge_error(INVALID_REQUEST, "Invalid request: the server is initialized already")
    return None


def takes_notifications(phase: Phase) -> bool:
    """Whether notifications other than `exit` and `$/cancelRequest` are heard."""
    return phase in {Phase.INITIALIZED, Phase.READY}

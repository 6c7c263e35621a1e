"""How a port says that a query cannot begin."""

from jp_lsp.turn.failure import ErrorCode, QueryError


class Refusal(Exception):
    """A query cannot begin; `error` is what the user is told."""

    def __init__(
        self, code: ErrorCode, message: str, *, chain: tuple[str, ...] = (), origin: str | None = None
    ) -> None:
        super().__init__(message)
        self.error = QueryError(code, message, chain, origin)

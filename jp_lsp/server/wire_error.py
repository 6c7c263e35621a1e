"""What goes wrong on the wire, as exceptions and as error objects.

```
WireError            raised by our side: the client's request is answered with exactly this
ClientAnswerError    raised where we await an answer of the client: it refused, or it is gone
```

They are kept apart on purpose. An error with which the client answered one of *our* requests must never
travel on as the answer to one of *its* requests: an editor that reads its own -32800 drops the answer
silently (hosts 1 c). A `ClientAnswerError` that nobody handled is therefore an internal error like any other.

The numbers are the JSON-RPC and LSP ones; the stable names are in `data.code` (query pipeline 1.10).
"""

import os
from collections.abc import Mapping, Sequence

from jp_lsp.conversation.json_value import JsonObject, JsonValue

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_INITIALIZED = -32002
REQUEST_CANCELLED = -32800
REQUEST_FAILED = -32803

_NAMES: Mapping[int, str] = {
    PARSE_ERROR: "parse_error",
    INVALID_REQUEST: "invalid_request",
    METHOD_NOT_FOUND: "method_not_found",
    INVALID_PARAMS: "invalid_params",
    INTERNAL_ERROR: "internal",
    NOT_INITIALIZED: "not_initialized",
    REQUEST_CANCELLED: "cancelled",
}

_MAX_PROBLEMS = 8


class WireError(Exception):
    """An error object, sent as it is.

    Attributes:
        code: the number, one of the constants of this module for most.
        message: one sentence for the user.
        data: any JSON; ours always have a `code` in it.
    """

    def __init__(self, code: int, message: str, data: JsonValue = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def to_json(self) -> JsonObject:
        """Give the `error` member of a response."""
        error: dict[str, JsonValue] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return error


class ClientAnswerError(Exception):
    """The client answered one of our requests with an error, or can no longer answer it.

    Attributes:
        code: the client's number; -32603 when the connection ended first.
        message: the client's words.
        data: whatever it attached.
    """

    def __init__(self, code: int, message: str, data: JsonValue = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.data = data


def new_trace() -> str:
    """Make a short id that stands both in an answer and in the log, so that one leads to the other."""
    return os.urandom(4).hex()


def edge_error(
    code: int, message: str, problems: Sequence[str] = (), *, trace: str | None = None
) -> WireError:
    """Make an error that the edge itself found, with its stable name and what led to it in `data`."""
    data: JsonObject = {
        "code": _NAMES.get(code, "internal"),
        "chain": list(problems),
        "trace": trace or new_trace(),
    }
    return WireError(code, message, data)


def invalid_params(method: str, problems: Sequence[str]) -> WireError:
    """Make the -32602 of a request whose parameters do not fit; each problem names its field."""
    shown = list(problems[:_MAX_PROBLEMS])
    if len(problems) > len(shown):
        shown.append(f"and {len(problems) - len(shown)} more")
    return edge_error(INVALID_PARAMS, f"Invalid params for {shorten(method)}: {'; '.join(shown)}", shown)


def shorten(text: str, limit: int = 120) -> str:
    """Cut a name that a peer chose, for messages and logs."""
    return text if len(text) <= limit else text[: limit - 1] + "…"

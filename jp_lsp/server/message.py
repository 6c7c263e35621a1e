"""What a decoded frame is: a request, a notification, an answer, or none of these.

JSON-RPC 2.0 as LSP uses it: no batches, ids are strings or integers.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from jp_lsp.conversation.json_value import JsonObject, JsonValue

RequestId: TypeAlias = str | int

_LEADING_ID = re.compile(
    rb'\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,\s*)*'  # what clients write before the id
    rb'"id"\s*:\s*(?:(-?\d{1,15})|"([ -!#-\[\]-~]{0,200})")\s*[,}]'  # an integer, or a string without escapes
)


@dataclass(frozen=True, slots=True)
class Request:
    """Wants an answer under `id`. `whole` is the message as it was sent."""

    id: RequestId
    method: str
    whole: JsonObject

    @property
    def params(self) -> JsonValue:
        """The parameters as the JSON that was sent; `None` when there are none."""
        return self.whole.get("params")


@dataclass(frozen=True, slots=True)
class Notification:
    """Wants no answer."""

    method: str
    whole: JsonObject

    @property
    def params(self) -> JsonValue:
        """The parameters as the JSON that was sent; `None` when there are none."""
        return self.whole.get("params")


@dataclass(frozen=True, slots=True)
class Answer:
    """Answers a request of ours, or claims to."""

    id: JsonValue
    whole: JsonObject


@dataclass(frozen=True, slots=True)
class Malformed:
    """No message of the protocol; `id` is there when it has one to be answered under."""

    id: RequestId | None
    problem: str


Message: TypeAlias = Request | Notification | Answer | Malformed


def read_message(value: JsonValue) -> Message:
    """Tell what a decoded frame is."""
    whole = as_object(value)
    if whole is None:
        return Malformed(None, "a message is one JSON object")
    request_id = as_request_id(whole.get("id"))
    if whole.get("jsonrpc") != "2.0":
        return Malformed(request_id, 'jsonrpc must be "2.0"')
    if "method" not in whole:
        if "id" not in whole:
            return Malformed(None, "neither a request, a notification nor an answer")
        return Answer(whole["id"], whole)
    method = whole["method"]
    if not isinstance(method, str):
        return Malformed(request_id, "method must be a string")
    if "id" not in whole:
        return Notification(method, whole)
    if request_id is None:
        return Malformed(None, "id must be a string or an integer")
    return Request(request_id, method, whole)


def as_object(value: JsonValue) -> JsonObject | None:
    """Give an object as such, everything else as `None`."""
    return value if isinstance(value, Mapping) else None


def as_request_id(value: JsonValue) -> RequestId | None:
    """Give a usable request id as such; a boolean is none, though Python counts it among the integers."""
    return value if isinstance(value, (str, int)) and not isinstance(value, bool) else None


def leading_id(start: bytes) -> RequestId | None:
    """Find the id in the first bytes of a message that was not read, where it can be seen with certainty."""
    found = _LEADING_ID.match(start)
    if found is None:
        return None
    return int(found[1]) if found[1] is not None else found[2].decode("ascii")

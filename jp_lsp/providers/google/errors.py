"""What is special about Google's errors (providers 6.3.3).

A spent quota and too many requests in a minute look the same, down to the words: only the details tell.
"""

from collections.abc import Mapping
from dataclasses import replace

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.providers.error_report import report_of_body
from jp_lsp.providers.failure import QUOTA_WORDS, VendorErrors, at_billing_page, classify_response
from jp_lsp.providers.google.contents import PROVIDER
from jp_lsp.providers.http import RefusedResponse
from jp_lsp.providers.untrusted import as_list, as_object, as_text, encode_json, member, parse_json
from jp_lsp.turn.failure import FailureKind, StreamFailure

_NOT_GOOGLES = frozenset({"quota exceeded", "resource_exhausted"})
"""Words that mean a spent quota elsewhere, and any limit here."""

_CANCELLED = 499
_SPENT_WORDS = ("billing", "plan")

ERRORS = VendorErrors(
    PROVIDER,
    billing_url="https://aistudio.google.com/usage",
    quota_words=tuple(word for word in QUOTA_WORDS if word not in _NOT_GOOGLES),
)


def classify_refusal(response: RefusedResponse, now: float) -> StreamFailure:
    """Classify a response that is no stream; `now` is in Unix seconds."""
    failure = classify_response(response.status, response.headers, response.body, vendor=ERRORS, now=now)
    words = report_of_body(response.body).words
    match failure.kind:
        case FailureKind.RATE_LIMIT if _is_spent(_error_of(response.body)):
            message = at_billing_page(failure.message, ERRORS)
            return replace(failure, kind=FailureKind.QUOTA, message=message, retry_after=None)
        case FailureKind.UNKNOWN_MODEL if "not_found" not in words:
            # Not the vendor's own word: the address leads somewhere else.
            return replace(failure, kind=FailureKind.OTHER)
        case FailureKind.OTHER if failure.status == _CANCELLED:
            return replace(failure, kind=FailureKind.TRANSIENT)
        case _:
            return failure


def classify_event(payload: JsonObject, now: float) -> StreamFailure:
    """Classify an error inside a stream: it is what the response would have been (providers 3.4)."""
    code = member(payload, "error", "code")
    status = code if isinstance(code, int) and 400 <= code <= 599 else 500
    return classify_refusal(RefusedResponse(status, _NO_HEADERS, encode_json(payload)), now)


_NO_HEADERS: Mapping[str, str] = {}


def _error_of(body: bytes) -> JsonObject:
    try:
        value: JsonValue = parse_json(body)
    except ValueError:
        return {}
    if items := as_list(value):
        value = items[0]
    return as_object(as_object(value).get("error"))


def _is_spent(error: JsonObject) -> bool:
    """Tell whether waiting a minute would not help."""
    details = [as_object(detail) for detail in as_list(error.get("details"))]
    limits = [
        as_text(as_object(violation).get("quotaId"))
        for detail in details
        for violation in as_list(detail.get("violations"))
    ]
    if limits:
        return any("PerDay" in limit for limit in limits)
    text = as_text(error.get("message")).lower()
    return not details and any(word in text for word in _SPENT_WORDS)

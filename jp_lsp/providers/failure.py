"""From a refused request or an error inside a stream to one of our failure kinds (providers 3).

Everything here is pure: bytes, headers and the time come in, a `StreamFailure` comes out. The rules are tried
in the order of providers 3.2 and the first that fits decides. What is special about a vendor is the data of
its `VendorErrors`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.providers.error_report import ErrorReport, report_of_body, report_of_value
from jp_lsp.providers.wait_hints import wait_from_headers, wait_from_text
from jp_lsp.turn.failure import RETRYABLE_KINDS, FailureKind, StreamFailure

QUOTA_WORDS = (
    "insufficient_quota",
    "insufficient quota",
    "insufficient credits",
    "insufficient balance",
    "out of credits",
    "billing_error",
    "credit balance is too low",
    "quota exceeded",
    "resource_exhausted",
)

STATUS_OF_WORD: Mapping[str, int] = {
    "invalid_request_error": 400,
    "exceed_context_size_error": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "wrong_api_key": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "too_many_requests_error": 429,
    "queue_exceeded": 429,
    "insufficient_quota": 429,
    "api_error": 500,
    "internal_server_error": 500,
    "server_error": 500,
    "vector_store_timeout": 500,
    "server_is_overloaded": 503,
    "service_unavailable_error": 503,
    "unavailable_error": 503,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The status that an error inside a stream would have had as a response, by its type or code."""


@dataclass(frozen=True, slots=True)
class VendorErrors:
    """What is special about a vendor's errors.

    `patient_types` are error types after which the vendor wants `patience` seconds when it names no time
    itself. `in_band_status` comes before `STATUS_OF_WORD` for errors inside a stream; one that nothing there
    names counts as `unnamed_in_band_status`, and as about the request itself when that is `None`.
    """

    provider: str
    billing_url: str | None = None
    quota_words: tuple[str, ...] = QUOTA_WORDS
    patient_types: frozenset[str] = frozenset()
    patience: float | None = None
    in_band_status: Mapping[str, int] | None = None
    unnamed_in_band_status: int | None = 500


_CONTEXT_WORDS = frozenset({"context_length_exceeded", "exceed_context_size_error", "request_too_large"})
_CONTEXT_TEXT = re.compile(
    r"prompt is too long|context window|maximum context length|exceeds the available context size"
    r"|context size has been exceeded|input token count.{0,80}exceeds|reduce the length of the messages"
    r"|too many tokens",
    re.IGNORECASE | re.DOTALL,
)
_BAD_KEY_TEXT = re.compile(
    r"api[ _-]?key.{0,80}(?:invalid|incorrect|not valid|expired)"
    r"|(?:invalid|incorrect|not valid|expired).{0,80}api[ _-]?key|API_KEY_INVALID",
    re.IGNORECASE | re.DOTALL,
)
_STATUS_OF_BAD_KEYS = frozenset({0, 400, 403})
"""Some vendors say 400 or 403 for a bad key; inside a stream there may be no status at all."""
_MODEL_WORDS = frozenset({"model_not_found", "not_found_error"})
_MODEL_TEXT = re.compile(
    r"model.{0,200}(?:not found|not exist)|is not a valid model|no endpoints found",
    re.IGNORECASE | re.DOTALL,
)
_GATEWAY_TEXT = re.compile(r"unreachable|upstream", re.IGNORECASE)


def classify_response(
    status: int, headers: Mapping[str, str], body: bytes, *, vendor: VendorErrors, now: float
) -> StreamFailure:
    """Classify a response that is no stream: an error status, a redirect, or a 200 of the wrong type.

    `headers` have names in lower case, `body` may be cut short, `now` is in Unix seconds.
    """
    report = report_of_body(body)
    if status < 300:
        if not report.has_error:
            content_type = headers.get("content-type", "none")
            said = f": {report.text}" if report.text else ""
            message = f"unexpected content type {content_type!r} instead of a stream{said}"
            return StreamFailure(FailureKind.TRANSIENT, message, status=status, provider=vendor.provider)
        status = report.status or _status_of_words(report, vendor) or 500
    text = report.text
    if 300 <= status < 400:
        target = headers.get("location", "another address")
        text = f"the server redirects to {target}; set base_url to where the API really is"
    kind = _kind_of_response(status, headers, report, vendor)
    wait = wait_from_headers(headers, now) or wait_from_text(text, body.decode("utf-8", "replace"))
    if headers.get("x-should-retry", "").strip().lower() == "false":
        wait = None
    message = f"{_with_details(text or 'the server gave no explanation', report)} (HTTP {status})"
    return _build(kind, message, wait, status, report, vendor)


def classify_in_band(error: JsonValue, *, vendor: VendorErrors) -> StreamFailure:
    """Classify an error inside a stream that began with 200 (providers 3.4).

    `error` is the vendor's error object, or whatever stands in its place.
    """
    report = report_of_value(error)
    status = report.status or _status_of_words(report, vendor)
    kind = _kind_of_response(status or vendor.unnamed_in_band_status or 0, {}, report, vendor)
    text = report.text or "the server reported an error without an explanation"
    return _build(kind, _with_details(text, report), wait_from_text(text), status, report, vendor)


def _with_details(text: str, report: ErrorReport) -> str:
    return f"{text} ({report.details})" if report.details and report.details not in text else text


def lost_stream(vendor: VendorErrors) -> StreamFailure:
    """Give the failure of a body that ended without saying how."""
    message = "the response ended without a terminal event"
    return StreamFailure(FailureKind.TRANSIENT, message, provider=vendor.provider)


def at_billing_page(message: str, vendor: VendorErrors) -> str:
    """Add to a message about a spent quota where the user can see to it."""
    if not vendor.billing_url:
        return message
    return f"{message.rstrip('.')}. Check plan and billing at {vendor.billing_url}"


def _build(
    kind: FailureKind,
    message: str,
    wait: float | None,
    status: int | None,
    report: ErrorReport,
    vendor: VendorErrors,
) -> StreamFailure:
    if kind is FailureKind.QUOTA:
        message = at_billing_page(message, vendor)
    if wait is None and kind is FailureKind.TRANSIENT and vendor.patient_types & report.words:
        wait = vendor.patience
    # A hint makes a failure retryable, so a fatal kind must not carry one; `other` is fatal only without.
    carries_wait = kind in RETRYABLE_KINDS or kind is FailureKind.OTHER
    return StreamFailure(kind, message, wait if carries_wait else None, status, vendor.provider)


def _kind_of_response(
    status: int, headers: Mapping[str, str], report: ErrorReport, vendor: VendorErrors
) -> FailureKind:
    """Apply rules 1 to 8 of providers 3.2."""
    if status == 402 or _speaks_of_quota(report, vendor):
        return FailureKind.QUOTA
    match headers.get("x-should-retry", "").strip().lower():
        case "true":
            return FailureKind.RATE_LIMIT if status in {429, 529} else FailureKind.TRANSIENT
        case "false":
            return FailureKind.OTHER
        case _:
            pass
    # llama.cpp reports a full context as 500 now and then; trying again would not help.
    if status == 500 and _is_context_overflow(status, report):
        return FailureKind.CONTEXT_LENGTH
    if status in {429, 529}:
        return FailureKind.RATE_LIMIT
    if status in {408, 409} or status >= 500:
        return FailureKind.TRANSIENT
    return _kind_of_refusal(status, report)


def _kind_of_refusal(status: int, report: ErrorReport) -> FailureKind:
    """Apply rules 4 to 8: what is wrong with the request itself."""
    if status == 401 or (status in _STATUS_OF_BAD_KEYS and _matches(_BAD_KEY_TEXT, report)):
        return FailureKind.AUTH
    if _is_context_overflow(status, report):
        return FailureKind.CONTEXT_LENGTH
    if status == 404 or report.words & _MODEL_WORDS or _MODEL_TEXT.search(report.text):
        return FailureKind.UNKNOWN_MODEL
    if _GATEWAY_TEXT.search(report.text):
        return FailureKind.OTHER
    if status == 403:
        return FailureKind.PERMISSION
    if status in {400, 405, 415, 422}:
        return FailureKind.MALFORMED
    return FailureKind.OTHER


def _speaks_of_quota(report: ErrorReport, vendor: VendorErrors) -> bool:
    # In a JSON body only the error itself is searched: a prompt that is echoed back may hold the same words.
    spoken = (report.text.lower(), *report.words)
    return any(word in text for word in vendor.quota_words for text in spoken)


def _is_context_overflow(status: int, report: ErrorReport) -> bool:
    return status == 413 or bool(report.words & _CONTEXT_WORDS or _CONTEXT_TEXT.search(report.text))


def _matches(pattern: re.Pattern[str], report: ErrorReport) -> bool:
    return bool(pattern.search(report.text)) or any(pattern.search(word) for word in report.words)


def _status_of_words(report: ErrorReport, vendor: VendorErrors) -> int | None:
    for table in (vendor.in_band_status or {}, STATUS_OF_WORD):
        found = [table[word] for word in report.words if word in table]
        if found:
            # A code often sharpens the type ("invalid_request_error", "model_not_found"): the later one in
            # the table of statuses is the sharper.
            return max(found)
    return None

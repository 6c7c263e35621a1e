"""What went wrong at OpenAI (providers 3.4)."""

from dataclasses import replace

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.providers.failure import VendorErrors, classify_in_band
from jp_lsp.providers.wait_hints import wait_from_text
from jp_lsp.turn.failure import RETRYABLE_KINDS, FailureKind, StreamFailure

PROVIDER = "openai"

ERRORS = VendorErrors(
    PROVIDER,
    billing_url="https://platform.openai.com/settings/organization/billing",
    # Too many requests have a code of their own here; an overload is the vendor's trouble, not ours.
    in_band_status={"overloaded_error": 503, "rate_limit_exceeded": 429},
    # What has no name among them is about the request: a picture that cannot be read, a prompt that is refused.
    unnamed_in_band_status=None,
)


def classify_event(error: JsonValue) -> StreamFailure:
    """Classify an error inside a stream; one that says when to come back passes, whatever its name."""
    failure = classify_in_band(error, vendor=ERRORS)
    wait = wait_from_text(failure.message)
    if wait is None or failure.kind in RETRYABLE_KINDS or failure.kind is FailureKind.QUOTA:
        return failure
    return replace(failure, kind=FailureKind.TRANSIENT, retry_after=wait)

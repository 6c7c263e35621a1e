"""Resilient Cycle, the deciding half: after a failed attempt, wait how long, or give up (query pipeline 6.2).

One object lives for one cycle. What is retried is an attempt; earlier cycles are stored and never sent
again.
"""

from collections.abc import Callable
from dataclasses import dataclass

from jp_lsp.turn.failure import NOTICE_WORDS, StreamFailure
from jp_lsp.turn.options import RetryPolicy

MAX_REBUILDS_IN_A_ROW = 10
RETRIES_PER_CYCLE_FACTOR = 3
"""A stream that fails after each first word resets the count; this many times the budget ends it."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Try again after `delay` seconds; `attempt` of `max_attempts` retries, `cause` for people."""

    delay: float
    attempt: int
    max_attempts: int
    cause: str


@dataclass(frozen=True, slots=True)
class GiveUp:
    """No further attempt; `attempts` were made."""

    attempts: int


class ResilientCycle:
    """Counts the failures of one cycle.

    Args:
        policy: the limits.
        jitter: gives 0 to 0.5 seconds to add to a computed delay; a test gives zero.
    """

    def __init__(self, policy: RetryPolicy, jitter: Callable[[], float]) -> None:
        self._policy = policy
        self._jitter = jitter
        self._failures = 0
        self._empties = 0
        self._retries = 0
        self._attempts = 0
        self._rebuilds_in_a_row = 0

    def attempt_began(self) -> None:
        """Count a request."""
        self._attempts += 1

    @property
    def attempts(self) -> int:
        """Count the requests of this cycle, rebuilt ones included."""
        return self._attempts

    def content_came(self) -> None:
        """A part arrived: what failed before is forgiven, within the cap of the cycle."""
        self._failures = 0
        self._rebuilds_in_a_row = 0

    def after_failure(self, failure: StreamFailure) -> Retry | GiveUp:
        """Decide after a failed attempt."""
        if not failure.is_retryable or not self._has_budget():
            return GiveUp(self._attempts)
        self._failures += 1
        self._retries += 1
        cause = NOTICE_WORDS[failure.kind]
        if failure.retry_after is None:
            delay = self._backoff(self._failures)
        else:
            delay = min(failure.retry_after, self._policy.max_backoff)
            if delay < failure.retry_after:
                cause += f" (asked to wait {failure.retry_after:.0f} s)"
        return Retry(delay, self._failures + self._empties, self._policy.max_retries, cause)

    def after_empty(self, *, follows_tools: bool) -> Retry | GiveUp:
        """Decide after an answer without content (6.3); directly behind tool responses only once."""
        if (follows_tools and self._empties) or not self._has_budget():
            return GiveUp(self._attempts)
        self._empties += 1
        self._retries += 1
        return Retry(
            self._backoff(1), self._failures + self._empties, self._policy.max_retries, "Empty answer"
        )

    def may_rebuild(self, changed_events: int) -> bool:
        """Allow a rebuilt request if patches changed something, at most ten in a row (6.4)."""
        if changed_events == 0 or self._rebuilds_in_a_row >= MAX_REBUILDS_IN_A_ROW:
            return False
        self._rebuilds_in_a_row += 1
        return True

    def _has_budget(self) -> bool:
        limit = self._policy.max_retries
        return self._failures + self._empties < limit and self._retries < limit * RETRIES_PER_CYCLE_FACTOR

    def _backoff(self, number: int) -> float:
        computed = self._policy.base_backoff * 2.0 ** min(number - 1, 20)
        return min(computed + self._jitter(), self._policy.max_backoff)

"""Points in time with nanoseconds, in the text form of conversation files.

`datetime` stops at microseconds while the files carry up to nine digits, so a timestamp is kept as an
integer and formatted here (conversation format 3.1).
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_NANOSECONDS = 1_000_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PATTERN = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})([ Tt])(\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(Z|z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?\Z",
    re.ASCII,
)
_FINEST = 9
"""Digits of a second; the native form has no more, and of RFC 3339 the others are left out."""


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """Nanoseconds since the Unix epoch, UTC."""

    nanoseconds: int

    @classmethod
    def parse(cls, text: str) -> "Timestamp":
        """Read the native form or RFC 3339, which allows a space for its `T`.

        Raises:
            ValueError: the text is neither; `2026-10-05T21:09:27` without a zone is neither too.
        """
        match = _PATTERN.match(text)
        if match is None or (match[4] != " " and match[9] is None):
            raise ValueError(f"{text!r} is not a timestamp such as '2026-10-05 21:09:27.8'")
        digits, zone = match[8] or "0", match[9]
        if zone is None and len(digits) > _FINEST:
            raise ValueError(f"{text!r} has more than {_FINEST} digits of a second")
        second = int(match[7])
        is_leap = second == 60  # the last second of some years; we count it as the one behind it
        try:
            moment = datetime(*(int(match[i]) for i in (1, 2, 3, 5, 6)), second - is_leap, tzinfo=UTC)  # type: ignore[arg-type, misc]  # five integers
            moment += timedelta(seconds=is_leap)
            if zone is not None and zone not in "Zz":
                sign = -1 if zone[0] == "-" else 1
                moment -= sign * timedelta(hours=int(zone[1:3]), minutes=int(zone[4:6]))
        except OverflowError as error:
            raise ValueError(f"{text!r} is out of range") from error
        since = moment - _EPOCH
        fraction = int(digits[:_FINEST].ljust(_FINEST, "0"))
        return cls((since.days * 86_400 + since.seconds) * _NANOSECONDS + fraction)

    def __str__(self) -> str:
        """Give the native form: `YYYY-MM-DD HH:MM:SS.F`, trailing zeros cut, at least one digit."""
        seconds, fraction = divmod(self.nanoseconds, _NANOSECONDS)
        digits = f"{fraction:09d}".rstrip("0") or "0"
        return f"{(_EPOCH + timedelta(seconds=seconds)).isoformat(' ')[:19]}.{digits}"

    def rfc3339(self) -> str:
        """Give RFC 3339 with `Z` and 0, 3, 6 or 9 fraction digits."""
        seconds, fraction = divmod(self.nanoseconds, _NANOSECONDS)
        digits = f"{fraction:09d}"
        while digits.endswith("000"):
            digits = digits[:-3]
        whole = (_EPOCH + timedelta(seconds=seconds)).isoformat()[:19]  # lists have thousands of times
        return f"{whole}{'.' + digits if digits else ''}Z"

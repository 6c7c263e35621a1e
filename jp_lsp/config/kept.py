"""Results that are kept as long as nothing has changed that they were made of.

Editors ask about the same configuration with every letter that is typed. What was looked at on disk to answer is
noted (`looks`); the next question costs a second look at that, and nothing is read or merged again.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar, cast

from jp_lsp.config.looks import Looks, note, noted

MOST = 64
"""So many results are kept, those that were used last."""

MOST_LOOKS = 50_000
"""So many files and names may have been looked at for all that is kept; a workspace may be a stranger's."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Result:
    value: object
    looks: Looks
    environ: Mapping[str, str]


class Kept:
    """Results by what they are of. They may be asked for in several threads, and must not be changed.

    Args:
        environ: what results are made of beside files.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._results: OrderedDict[Hashable, _Result] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Give a result: the one that is kept under a key, or one that is made if that holds no more."""
        with self._lock:
            known = self._results.get(key)
        environ = dict(self._environ)
        if known is not None and known.environ == environ and known.looks.still_hold():
            with self._lock:
                if key in self._results:
                    self._results.move_to_end(key)
            note(known.looks)
            return cast("T", known.value)
        with noted() as looks:
            value = make()
        with self._lock:
            self._results.pop(key, None)
            if looks.is_settled:
                self._results[key] = _Result(value, looks, environ)
            while len(self._results) > MOST or self._look_count() > MOST_LOOKS:
                self._results.popitem(last=False)
        return value

    def _look_count(self) -> int:
        return sum(result.looks.size for result in self._results.values())

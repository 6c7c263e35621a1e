"""Warnings that are worth saying once, although every request would repeat them."""

import logging
from collections.abc import Iterable

_MOST = 1000


class OnceLog:
    """Logs each sentence the first time it comes up."""

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._said: set[str] = set()

    def warn(self, sentences: Iterable[str]) -> None:
        """Log those that are new."""
        for sentence in sentences:
            if sentence not in self._said:
                if len(self._said) >= _MOST:
                    self._said.clear()
                self._said.add(sentence)
                self._log.warning("%s", sentence)

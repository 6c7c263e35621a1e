"""Writing down what goes to vendors, for those who want to look at it (providers 2).

A file holds the body of one request. Keys travel in headers, which are not written; one that got into a
conversation, such as with the output of a tool, is masked. The files hold whole conversations all the same, so
nobody but the user may read them.
"""

import logging
import os
from itertools import count
from pathlib import Path

from jp_lsp.render.secrets import Secrets

TRACE_VARIABLE = "JP_TRACE_REQUESTS"
"""The environment variable that names the folder; without it nothing is written."""

_log = logging.getLogger(__name__)

_numbers = count(1)
"""Counts the requests of this process: its id and a number make a name that no other request has."""


class RequestTrace:
    """Writes into a folder, which is made for the first request. No file holds one of `secrets`."""

    def __init__(self, folder: Path, secrets: Secrets) -> None:
        self._folder = folder
        self._secrets = secrets

    def write(self, provider: str, body: str) -> None:
        """Write a body down. What goes wrong here is logged, and holds no request up."""
        path = self._folder / f"{os.getpid()}-{next(_numbers):05}-{provider}.json"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(path, "wb", opener=_private) as file:
                file.write(self._secrets.hide(body).encode())
        except OSError as problem:
            _log.warning("the request to %s could not be written down: %s", provider, problem)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)

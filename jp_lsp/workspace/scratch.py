"""Files that are handed to an editor for a while: a text that the user writes, in the user's own data.

They may hold what is meant for nobody else, so only the user can read them. A link under such a name is
never followed. Whoever makes a file removes it.
"""

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from anyio import to_thread

from jp_lsp.workspace.atomic import Stamp, make_folder, stamp_of

_NO_FOLLOW: int = getattr(os, "O_NOFOLLOW", 0)  # Windows has none, and needs a privilege to make links


@dataclass(frozen=True, slots=True)
class ScratchFolder:
    """The folder of these files; names are plain names of files."""

    path: Path

    async def write(self, name: str, text: str) -> str:
        """Make a file, in place of one with this name, and give its URI.

        Raises:
            OSError: it could not be written.
        """
        await to_thread.run_sync(partial(self._write, name, text.encode("utf-8", "replace")))
        return (self.path / name).as_uri()

    async def read(self, name: str, limit: int) -> bytes | None:
        """Give the first `limit` bytes of a file; `None` when it is gone.

        Raises:
            OSError: it could not be read.
        """
        return await to_thread.run_sync(partial(self._read, name, limit))

    async def stamp(self, name: str) -> Stamp | None:
        """Give what changes whenever the file is saved; `None` when it is gone."""
        return await to_thread.run_sync(stamp_of, self.path / name)

    async def remove(self, name: str) -> None:
        """Remove a file; one that is gone already is fine.

        Raises:
            OSError: it could not be removed.
        """
        await to_thread.run_sync(partial((self.path / name).unlink, missing_ok=True))

    def _write(self, name: str, data: bytes) -> None:
        make_folder(self.path)
        path = self.path / name
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW, 0o600)
        with open(descriptor, "wb") as file:
            file.write(data)

    def _read(self, name: str, limit: int) -> bytes | None:
        path = self.path / name
        if stamp_of(path) is None:
            return None
        try:
            descriptor = os.open(path, os.O_RDONLY | _NO_FOLLOW)
        except FileNotFoundError:
            return None
        with open(descriptor, "rb") as file:
            return file.read(limit)

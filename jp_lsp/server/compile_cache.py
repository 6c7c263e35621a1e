"""Remembers code that libraries generate and compile while they are imported.

The language server library describes LSP in more than five hundred classes whose methods are written as text
and compiled at every import. On a small machine that is more than half of a server's start (components 1.5).
Python keeps compiled modules in `__pycache__` for the same reason; this does for generated code what Python
does for files, in the same place and under the same conditions.

It cannot give wrong code: an entry is found by the complete source text, in a file that was written by the very
same Python. Where anything is missing or unreadable, the code is compiled as ever.
"""

from __future__ import annotations  # as in the modules below: `compile` works under its caller's flags

import builtins
import contextlib
import importlib
import marshal
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import CodeType

_COMPILING_MODULES = ("attr._make", "cattrs.gen")
"""They call `compile` by its global name, which a name of the same spelling in the module goes before.

The few classes that attrs makes while it is itself imported come too early for that.
"""


class CompileCache:
    """Compiled code by its source text, kept in one file.

    Only what this process used is written back, so the file does not grow with versions that are gone.

    Args:
        path: the file, or `None` to keep nothing.
    """

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._known: dict[str, CodeType] = {}
        self._used: dict[str, CodeType] = {}
        self._is_complete = True
        self._load()

    def compile(self, source: str, filename: str, mode: str) -> CodeType:
        """Give what the built-in of this name gives for generated code, which takes no further arguments."""
        key = f"{mode}\0{filename}\0{source}"
        code = self._known.get(key)
        if code is None:
            code = builtins.compile(source, filename, mode)
            self._is_complete = False
        self._used[key] = code
        return code

    def save(self) -> None:
        """Write what was used, if something of it is new; a folder that cannot be written is no trouble."""
        if self._path is None or self._is_complete or sys.dont_write_bytecode:
            return
        temporary = f"{self._path}.{os.getpid()}"
        with contextlib.suppress(OSError):
            try:
                with open(temporary, "wb") as file:
                    file.write(marshal.dumps((sys.version, self._used)))
                os.replace(temporary, self._path)
            except OSError:
                os.unlink(temporary)

    def _load(self) -> None:
        if self._path is None:
            return
        try:
            with open(self._path, "rb") as file:
                version, known = marshal.loads(file.read())
        except (OSError, EOFError, ValueError, TypeError):
            return
        if version == sys.version:
            self._known = known


@contextmanager
def generated_code_remembered(cached_beside: str | None) -> Generator[None]:
    """Use the cache for what is imported inside.

    Args:
        cached_beside: the compiled file of some module of ours (`__spec__.cached`), whose folder and naming
            are used; `None` where Python keeps none.
    """
    path = None if cached_beside is None else f"{os.path.splitext(cached_beside)[0]}.generated"
    cache = CompileCache(path)
    modules = [importlib.import_module(name) for name in _COMPILING_MODULES]
    for module in modules:
        module.__dict__["compile"] = cache.compile
    try:
        yield
    finally:
        for module in modules:
            del module.__dict__["compile"]
    cache.save()

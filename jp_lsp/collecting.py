"""Keeps Python's collector still while very many objects are made, all of which stay."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def without_collecting() -> Generator[None]:
    """Do inside what makes thousands of objects.

    The collector would take each few hundred for a reason to look through others, and now and then through all
    there are, which holds up every thread and finds nothing. One that was off before stays off: somebody else's
    work has switched it off, and will switch it on.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()

"""Starts quickly: the first thing that `__main__` uses, before anything heavy is imported.

Importing the language server library makes some hundred thousand objects that live as long as the
process. Python's collector walks them again and again while they are being made, and once more at exit,
and finds nothing. With the collector paused a server answers `initialize` in about three quarters of the
time (components 1.5). This module imports next to nothing, so that the pause covers the rest.
"""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Generator[None]:
    """Pause the collector while modules are imported and the server is built, then set them aside.

    What exists at the end of the block is never looked at by the collector again, so the block is for
    start-up only: build what lives as long as the process, serve outside. A collector that was off
    before stays off.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()

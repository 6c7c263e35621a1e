"""Starts quickly: the first thing that `__main__` uses, before anything heavy is imported.

Importing the language server library makes some hundred thousand objects that live as long as the process.
Two things about that are wasted time, and are left out here: Python's collector walks the objects again and
again while they are being made, and once more at exit, and finds nothing; and hundreds of generated methods are
compiled that were compiled before. This module imports next to nothing, so that both cover the rest.
"""

import gc
from collections.abc import Generator
from contextlib import contextmanager

from jp_lsp.collecting import without_collecting
from jp_lsp.server.compile_cache import generated_code_remembered


@contextmanager
def quick_start() -> Generator[None]:
    """Import modules and build the server inside.

    What exists at the end of the block is never looked at by the collector again, so the block is for
    start-up only: build what lives as long as the process, and serve outside. A collector that was off before
    stays off.
    """
    with without_collecting():
        try:
            with generated_code_remembered(__spec__.cached):
                yield
        finally:
            gc.freeze()

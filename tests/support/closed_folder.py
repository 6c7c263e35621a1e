"""A folder that nobody may look into, for root neither."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from ctypes import CDLL, Structure, byref, c_int, c_uint32, get_errno
from pathlib import Path

import pytest

CAPABILITY_VERSION_3 = 0x20080522
DAC_OVERRIDE, DAC_READ_SEARCH = 1, 2  # what lets root pass over modes: capabilities(7)


class Header(Structure):
    _fields_ = (("version", c_uint32), ("pid", c_int))


class Capabilities(Structure):
    """The first 32 of them, then the rest: each which are in force, which may be, which are passed on."""

    _fields_ = tuple(
        (f"{kind}_{half}", c_uint32) for half in (0, 1) for kind in ("effective", "permitted", "inheritable")
    )


@contextmanager
def closed(folder: Path) -> Generator[None]:
    """Close a folder for the length of a block, to this thread and to those that it starts there."""
    folder.chmod(0)
    try:
        with bound_by_modes():
            if os.access(folder, os.R_OK, effective_ids=os.access in os.supports_effective_ids):
                pytest.skip("this user may look into every folder")
            yield
    finally:
        folder.chmod(0o755)


@contextmanager
def bound_by_modes() -> Generator[None]:
    """Take from root's thread, on Linux, that modes of files do not concern it."""
    if sys.platform != "linux" or os.geteuid() != 0:
        yield
        return
    libc = CDLL(None, use_errno=True)
    header, held = Header(CAPABILITY_VERSION_3, 0), Capabilities()
    _check(libc.capget(byref(header), byref(held)))
    without = Capabilities.from_buffer_copy(held)
    without.effective_0 &= ~(1 << DAC_OVERRIDE | 1 << DAC_READ_SEARCH)
    _check(libc.capset(byref(header), byref(without)))
    try:
        yield
    finally:
        _check(libc.capset(byref(header), byref(held)))


def _check(result: int) -> None:
    if result != 0:
        raise OSError(get_errno(), os.strerror(get_errno()))

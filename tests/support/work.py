"""How much work something is: calls that the interpreter counts, the same on every machine and under any load."""

import sys
from collections.abc import Callable
from types import FrameType


def count_calls(run: Callable[[], object]) -> int:
    """Run something and give how many functions it called, of Python's and of C's."""
    count = 0

    def note(frame: FrameType, event: str, arg: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count

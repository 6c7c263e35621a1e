"""A child process and all that it starts, as one thing that can be ended. What differs by system is here.

On POSIX systems the child leads a session of its own. It has no terminal, so nothing can ask there for a
password or be stopped for reading; a signal to its process group reaches its children too. Windows has no
such groups; `taskkill /T` ends the tree instead, at once, because there is no polite way.
"""

import io
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress

if sys.platform == "win32":
    CREATION_FLAGS = subprocess.CREATE_NO_WINDOW
else:
    CREATION_FLAGS = 0


class ProcessGroup:
    """A started program.

    Args:
        arguments: the program and its arguments.
        folder: where it runs.
        environment: all of its variables.

    Raises:
        OSError: it cannot be started.
        ValueError: an argument or variable holds what the system cannot pass on, such as a NUL character.
    """

    def __init__(self, arguments: Sequence[str], folder: str, environment: Mapping[str, str]) -> None:
        self._child = subprocess.Popen(
            list(arguments),
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            close_fds=True,
            start_new_session=True,
            creationflags=CREATION_FLAGS,
        )

    @property
    def id(self) -> int:
        """The number of the group, which is the child's process id."""
        return self._child.pid

    @property
    def stdout(self) -> io.FileIO:
        """The child's standard output; a read gives what is there."""
        assert isinstance(self._child.stdout, io.FileIO)
        return self._child.stdout

    @property
    def stderr(self) -> io.FileIO:
        """The child's standard error; a read gives what is there."""
        assert isinstance(self._child.stderr, io.FileIO)
        return self._child.stderr

    def wait(self) -> int:
        """Block until the child itself has ended and give its exit code, negative for a signal."""
        return self._child.wait()

    def exists(self) -> bool:
        """Tell whether anything of the group still runs."""
        return self._child.poll() is None if sys.platform == "win32" else group_exists(self.id)

    def ask_to_end(self) -> None:
        """Send SIGTERM to the group."""
        ask_group_to_end(self.id)

    def make_end(self) -> None:
        """Send SIGKILL to the group, or end the tree."""
        make_group_end(self.id)


def group_exists(group: int) -> bool:
    """Tell whether anything of a group still runs, once its leader has ended; Windows has nothing to look at."""
    if sys.platform == "win32":
        return False
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # somebody is there who is not ours to signal
    return sys.platform != "linux" or _has_living_member(group)


def ask_group_to_end(group: int) -> None:
    """Send SIGTERM to a group; on Windows, make it end."""
    if sys.platform == "win32":
        make_group_end(group)
    else:
        _signal(group, signal.SIGTERM)


def make_group_end(group: int) -> None:
    """Send SIGKILL to a group, or end the tree."""
    if sys.platform == "win32":
        subprocess.Popen(
            ["taskkill", "/F", "/T", "/PID", str(group)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            creationflags=CREATION_FLAGS,
        )
    else:
        _signal(group, signal.SIGKILL)


if sys.platform != "win32":

    def _signal(group: int, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)


def _has_living_member(group: int) -> bool:
    """Look whether a group has more than zombies, which a signal cannot tell.

    A process whose parent has ended before it is reaped by process 1. In many containers that is a program
    which never does so, and each cancelled command would seem to go on for as long as we care to wait.
    """
    for folder in os.listdir("/proc"):
        if folder.isdigit():
            try:
                with open(f"/proc/{folder}/stat", "rb") as file:
                    state, _parent, its_group = file.read().rpartition(b")")[2].split()[:3]
            except (OSError, ValueError):
                continue  # it ended while we looked
            if int(its_group) == group and state not in {b"Z", b"X"}:
                return True
    return False

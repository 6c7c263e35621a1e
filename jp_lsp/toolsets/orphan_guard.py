"""Ends what still runs when this process dies, however it dies.

A server that is killed with SIGKILL can end nothing any more, so somebody else must. That is a tiny shell
script, one for all commands, which reads from a pipe whose other end only we hold. We tell it which process
groups run; when the pipe ends, so have we, and it ends the groups: asked to at once, made to a second later.

The alternatives do less. `PR_SET_PDEATHSIG` reaches the child but not what the child started, exists on Linux
only, and must be set between fork and exec, where a program with threads may run hardly anything. A supervisor
around each command costs a process a command and changes what the command sees (its parent, its environment).
What remains is the moment between the start of a command and the line that announces it, some microseconds.

The guard is a session of its own, so that signals to our group or from a terminal do not reach it. On Windows
there is none: there commands outlive a server that is killed.
"""

import logging
import os
import subprocess
import sys
from contextlib import suppress
from typing import IO

_log = logging.getLogger(__name__)

_END_SECONDS = 5.0

_SCRIPT = """
trap '' HUP INT TERM
groups=
while read -r verb group; do
  case $verb in
    add) groups="$groups $group" ;;
    drop)
      rest=
      for one in $groups; do [ "$one" = "$group" ] || rest="$rest $one"; done
      groups=$rest ;;
  esac
done
[ -n "$groups" ] || exit 0
for one in $groups; do kill -TERM "-$one"; done
sleep 1
for one in $groups; do kill -KILL "-$one"; done
"""


class OrphanGuard:
    """Knows which process groups must not outlive this process. Started when first needed."""

    def __init__(self) -> None:
        self._groups: set[int] = set()
        self._script: subprocess.Popen[bytes] | None = None
        self._pipe: IO[bytes] | None = None

    def start(self) -> None:
        """Start the script, unless it runs; to be done before the first command is started.

        Where it cannot be started commands run unguarded, and the log says so.
        """
        if sys.platform == "win32" or (self._script is not None and self._script.poll() is None):
            return
        self._let_go()
        read, write = os.pipe()
        try:
            self._script = subprocess.Popen(
                ["sh", "-c", _SCRIPT, "jp-lsp-guard"],
                cwd="/",
                env={"PATH": os.environ.get("PATH", os.defpath)},
                stdin=read,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            os.close(write)
            _log.warning("commands may outlive a server that is killed: %s", error)
            return
        finally:
            os.close(read)
        os.set_blocking(write, False)  # a script that was stopped must not stop us
        self._pipe = os.fdopen(write, "wb", buffering=0)
        for group in self._groups:
            self._tell("add", group)

    def add(self, group: int) -> None:
        """End this process group when this process dies."""
        self._groups.add(group)
        self._tell("add", group)

    def drop(self, group: int) -> None:
        """Forget a group that has ended, before its number is given to another."""
        if group in self._groups:
            self._groups.remove(group)
            self._tell("drop", group)

    def close(self) -> None:
        """Have the script do its work now, and wait for it."""
        self._groups.clear()
        self._let_go()

    def _tell(self, verb: str, group: int) -> None:
        if self._pipe is None:
            return
        try:
            os.write(self._pipe.fileno(), f"{verb} {group}\n".encode())
        except OSError as error:  # it is gone, and the next command starts another, or it does not read
            _log.warning("commands may outlive a server that is killed: %s", error)

    def _let_go(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None
        if self._script is not None:
            with suppress(subprocess.TimeoutExpired):
                self._script.wait(_END_SECONDS)
            self._script = None

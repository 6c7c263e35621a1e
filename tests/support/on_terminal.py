"""Runs a command with a terminal among its standard streams as the one that controls it, as a shell would.

Run as `python on_terminal.py COMMAND...`, in a session of its own.
"""

import fcntl
import os
import sys
import termios

if __name__ == "__main__":
    terminal = next(descriptor for descriptor in (2, 0, 1) if os.isatty(descriptor))
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    os.execv(sys.argv[1], sys.argv[1:])

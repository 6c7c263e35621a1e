"""`jp-lsp query` as a process, with the scripted server in place of the real one.

Run as `python terminal_client.py SCRIPT RECORD ARGUMENTS...`; the arguments are those of `jp-lsp query`.
A terminal among the standard streams becomes the one that controls the process, as a shell would have it.
"""

import fcntl
import os
import sys
import termios
from contextlib import suppress
from pathlib import Path

from jp_lsp.terminal.arguments import parse, query_options
from jp_lsp.terminal.query_command import Surroundings, run

FAKE_SERVER = Path(__file__).with_name("fake_server.py")


def take_terminal() -> None:
    for descriptor in range(3):
        if os.isatty(descriptor):
            with suppress(OSError):
                fcntl.ioctl(descriptor, termios.TIOCSCTTY, 0)
                return


if __name__ == "__main__":
    take_terminal()
    script, record, *arguments = sys.argv[1:]
    server = [sys.executable, str(FAKE_SERVER), script, record]
    options = query_options(parse(["query", *arguments], "0"))
    sys.exit(run(options, Surroundings("0", Path.cwd(), os.environ, server)))

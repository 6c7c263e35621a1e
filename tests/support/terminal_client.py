"""`jp-lsp query` as a process, with the scripted server in place of the real one.

Run as `python terminal_client.py SCRIPT RECORD ARGUMENTS...`; the arguments are those of `jp-lsp query`.
"""

import os
import sys
from pathlib import Path

from jp_lsp.terminal.arguments import parse, query_options
from jp_lsp.terminal.query_command import Surroundings, run

FAKE_SERVER = Path(__file__).with_name("fake_server.py")


if __name__ == "__main__":
    script, record, *arguments = sys.argv[1:]
    server = [sys.executable, str(FAKE_SERVER), script, record]
    options = query_options(parse(["query", *arguments], "0"))
    sys.exit(run(options, Surroundings("0", Path.cwd(), os.environ, server)))

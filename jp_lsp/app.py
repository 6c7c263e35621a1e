"""The composition root: builds the server and runs it.

A start must be quick, so nothing is imported here but the server itself; the parts of a workspace are
plugged together in `place` when a client first needs them.
"""

import os
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from jp_lsp.serve_options import ServeOptions
from jp_lsp.server.app import build_server
from jp_lsp.server.logs import set_up_logging
from jp_lsp.server.process import run_and_leave
from jp_lsp.server.stdio import take_standard_streams
from jp_lsp.server.transport import serve_stdio, serve_tcp
from jp_lsp.server.wire import JpLanguageServer

if TYPE_CHECKING:
    from jp_lsp.server.workplace import ClientPlace, Workplace

MAX_JITTER = 0.5
"""Seconds that a computed retry delay is lengthened by at most."""


def make_server() -> JpLanguageServer:
    """Build a server for one client of this process."""
    return build_server(_make_workplace, lambda: random.uniform(0, MAX_JITTER))


def _make_workplace(client: "ClientPlace") -> "Workplace":
    from jp_lsp.place import Place  # here, so that a start does not pay for it

    return Place(client, os.environ, Path.home())


def serve(options: ServeOptions) -> NoReturn:
    """Serve until the client goes or a signal comes, then leave the process.

    Raises:
        StandardStreamsMissing: there is no standard input or output to serve on.
        ValueError: the TCP address can be reached by others and that was not allowed.
        OSError: the address cannot be listened on, or the log file cannot be written.
    """
    if options.tcp is None:
        wire = take_standard_streams()
        set_up_logging(options.log_level, options.log_file)
        run_and_leave(serve_stdio(make_server(), wire))
    set_up_logging(options.log_level, options.log_file)
    host, port = options.tcp
    run_and_leave(
        serve_tcp(make_server, host, port, allow_remote=options.allow_remote, on_listening=_announce)
    )


def _announce(host: str, port: int) -> None:
    """Say where we listen, on standard error: with port 0 nobody knows it otherwise."""
    sys.stderr.write(f"jp-lsp listens on {host}:{port}\n")
    sys.stderr.flush()

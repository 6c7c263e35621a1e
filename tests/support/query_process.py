"""`jp-lsp query` as a user starts it: a process of its own, with its own server behind it."""

import subprocess
import sys

from tests.support.terminal_process import PATIENCE, PtyClient, environment
from tests.support.user_folders import UserFolders

_QUERY = [sys.executable, "-P", "-m", "jp_lsp", "query"]


def start_query(
    user: UserFolders, *words: str, stdin: int = subprocess.DEVNULL, bufsize: int = -1
) -> "subprocess.Popen[bytes]":
    """Start it on pipes."""
    return subprocess.Popen(
        [*_QUERY, *words],
        bufsize=bufsize,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=user.workspace,
        env=environment(**user.environment()),
        start_new_session=True,
    )


def run_query(user: UserFolders, *words: str, given: bytes | None = None) -> tuple[int, str, str]:
    """Wait for its end; gives the exit code, and what it said on both of its outputs."""
    stdin = subprocess.DEVNULL if given is None else subprocess.PIPE
    with start_query(user, *words, stdin=stdin) as client:
        out, err = client.communicate(given, timeout=PATIENCE)
    return client.returncode, out.decode(), err.decode()


def query_on_terminal(user: UserFolders, *words: str) -> PtyClient:
    """Start it on a terminal."""
    return PtyClient([*_QUERY, *words], user.workspace, env=user.environment())

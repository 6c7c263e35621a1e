"""Finding a server's program, and making sure that it is the one that the user meant (config-and-tools 5.3).

Only the file of the program is covered: neither its arguments nor a script that it runs, nor what a launcher
such as `npx` fetches. What was hashed is what is started, under the same absolute path.
"""

import hashlib
import os
import shutil
from pathlib import Path

from jp_lsp.ports.mcp import McpError, StdioServer


def find_program(config: StdioServer, search_path: str | None, folder: str) -> str:
    """Give the absolute path of a server's program, checked; blocks while it reads the file.

    Args:
        config: the server.
        search_path: the value of `PATH`.
        folder: where a relative path starts.

    Raises:
        McpError: it cannot be found or read, or it is another one.
    """
    has_folder = os.path.dirname(config.command) != ""
    command = os.path.join(folder, config.command) if has_folder else config.command
    found = shutil.which(command, path=search_path)
    if found is None:
        where = "" if has_folder else " in PATH"
        raise McpError(
            f"MCP server {config.name!r} cannot be started: {config.command!r} is not found{where}"
        )
    path = Path(folder, found)
    if config.checksum is not None:
        actual = _digest(config, path, config.checksum.algorithm)
        if actual != config.checksum.value.strip().lower():
            raise McpError(
                f"Checksum mismatch for server: {config.name} ({path}), "
                f"expected {config.checksum.value.strip()}, got {actual}"
            )
    return str(path)


def _digest(config: StdioServer, path: Path, algorithm: str) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, algorithm).hexdigest()
    except OSError as error:
        text = f"MCP server {config.name!r} cannot be checked: {path} cannot be read: {error.strerror}"
        raise McpError(text) from error

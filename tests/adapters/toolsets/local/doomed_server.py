"""A process that runs commands and is killed in the middle: `doomed_server.py SHELL_TEXT...`."""

import sys

import anyio

from jp_lsp.ports.process import Program
from jp_lsp.toolsets.orphan_guard import OrphanGuard
from jp_lsp.toolsets.process import SystemProcesses


async def main() -> None:
    processes = SystemProcesses(OrphanGuard())
    async with anyio.create_task_group() as tasks:
        for text in sys.argv[1:]:
            tasks.start_soon(processes.run, Program(("sh", "-c", text), "/", "tool"))
        await anyio.sleep_forever()


anyio.run(main)

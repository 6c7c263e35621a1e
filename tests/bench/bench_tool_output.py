"""What a tool that prints 100 MB costs the server (query pipeline 3.10, trap 83).

    python -m tests.bench.bench_tool_output

Each case is a server of its own, over stdio: first a tool that prints one word is run, then one that prints
100 MB. The growth of the server's peak memory from the first to the second may be at most twice the 2 MiB
that are kept of an output. Reads `/proc`, so it needs Linux; it needs neither a key nor the network.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from jp_lsp.ports.process import STDOUT_LIMIT
from tests.support.chat_vendor import ChatVendor, answer
from tests.support.jp_server import initialized_server
from tests.support.shell_tools import FREE, calls, with_tools
from tests.support.user_folders import UserFolders

SIZE = 100_000_000
MOST_GROWTH = 2 * STDOUT_LIMIT

CASES = {
    "one line": "head -c {size} /dev/zero | tr '\\0' x",
    "many lines": "yes 'nothing new on this line' | head -c {size}",
    "not UTF-8": "head -c {size} /dev/zero | tr '\\0' '\\377'",
    "begins like an object": "printf '{{'; head -c {size} /dev/zero | tr '\\0' x",
}


async def measure(command: str, vendor: ChatVendor) -> tuple[int, int]:
    """Give the server's peak memory in bytes, after a tool that prints little and after the command."""
    with tempfile.TemporaryDirectory() as folder:
        user = UserFolders(Path(folder), vendor.url)
        with_tools(user, little=("echo little", FREE), much=(command.format(size=SIZE), FREE))
        async with initialized_server(user) as server:
            peaks: list[int] = []
            # Twice, because the first run loads what only tools need.
            for number, name in enumerate(("little", "little", "much")):
                vendor.will_answer(calls(name), answer("Done."))
                result = await server.client.query("go", f"t{number}", conversation="new")
                assert result["outcome"] == "completed", result
                peaks.append(_peak(server.process.pid))
    return peaks[1], peaks[2]


def _peak(process: int) -> int:
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def main() -> int:
    """Measure and report; the result is 1 when something grew too much."""
    lines = [f"{'100 MB of output':<24}{'before, KiB':>12}{'after, KiB':>12}{'growth':>9}  of what is kept"]
    is_fine = True
    with ChatVendor() as vendor:
        for name, command in CASES.items():
            before, after = asyncio.run(measure(command, vendor))
            growth = after - before
            is_fine = is_fine and growth <= MOST_GROWTH
            shown = f"{name:<24}{before >> 10:>12,}{after >> 10:>12,}{growth >> 10:>9,}"
            lines.append(f"{shown}  {growth / STDOUT_LIMIT:.2f}, wanted at most 2")
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())

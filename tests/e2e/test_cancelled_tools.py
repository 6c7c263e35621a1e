"""Cancelled tools leave no process behind, at whatever moment the cancel comes.

Each round cancels a query whose tool has forked children that do the same. `JP_CANCEL_ROUNDS` says how many
rounds there are, `JP_CANCEL_SEED` makes others of them.
"""

import asyncio
import os
import secrets
import sys
from pathlib import Path
from random import Random

import pytest

from tests.support.chat_vendor import ChatVendor
from tests.support.jp_client import PATIENCE, fault_of
from tests.support.jp_server import initialized_server
from tests.support.processes import living
from tests.support.shell_tools import FREE, calls, with_tools
from tests.support.user_folders import UserFolders

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.e2e,
    pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc"),
]

ROUNDS = int(os.environ.get("JP_CANCEL_ROUNDS", "12"))
SEED = os.environ.get("JP_CANCEL_SEED", "1")

MARK = "JP_TEST_MARK"
NAP = "sleep 7773"
FORKS = f"({NAP} & ({NAP} & wait) & wait) & {NAP} & touch began; {NAP}"

LONGEST_DELAY = 0.03
"""Seconds; a shell needs about that to have all of its children."""


def left(mark: str) -> list[str]:
    """The children of tools that are still there."""
    return [
        one.command
        for one in living()
        if f"{MARK}={mark}".encode() in one.environment and NAP.split()[1] in one.command
    ]


@pytest.mark.requirement("S12", "R145", "R147", "T10")
async def test_a_cancelled_tool_leaves_no_process(tmp_path: Path, vendor: ChatVendor) -> None:
    user = UserFolders(tmp_path, vendor.url)
    with_tools(user, fork=(FORKS, FREE))
    began = user.workspace / "began"
    random, mark = Random(SEED), secrets.token_hex(8)
    async with initialized_server(user, environment={MARK: mark}) as server:
        for number in range(ROUNDS):
            vendor.will_answer(calls("fork"))
            request, answered = server.client.start_query("go", f"t{number}", conversation="new")
            await server.client.wait_for_chunk(f"t{number}", "tool_call")
            if number % 3:
                async with asyncio.timeout(PATIENCE):
                    while not began.exists():
                        await asyncio.sleep(0.002)
                assert left(mark), "there is something to end"
            else:
                await asyncio.sleep(random.random() * LONGEST_DELAY)
            server.client.cancel(request)
            assert (await fault_of(answered)).code == -32800
            began.unlink(missing_ok=True)
        async with asyncio.timeout(PATIENCE):
            while left(mark):
                await asyncio.sleep(0.02)
        assert server.process.returncode is None

"""Nothing that was started for the user outlives a server that dies, not even one that is killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from jp_lsp.ports.process import Exited
from jp_lsp.toolsets.orphan_guard import OrphanGuard
from jp_lsp.toolsets.process import SystemProcesses
from tests.support.processes import Living, Script, Signpost, is_alive, living, wait_until_gone

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc"),
]

DOOMED_SERVER = Path(__file__).with_name("doomed_server.py")
REPOSITORY = Path(__file__).parents[4]


@contextmanager
def doomed_server(*texts: str) -> Generator[subprocess.Popen[bytes]]:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    with subprocess.Popen([sys.executable, DOOMED_SERVER, *texts], env=environment) as server:
        try:
            yield server
        finally:
            server.kill()


def guards_of(pid: int) -> list[Living]:
    return [one for one in living() if one.parent == pid and "jp-lsp-guard" in one.command]


@pytest.mark.requirement("T06")
@pytest.mark.parametrize(
    "text",
    [
        "sleep 60 & echo $$ $! > {}; wait",
        "trap '' TERM; sleep 60 & echo $$ $! > {}; while :; do wait; done",
        "(exec >/dev/null 2>&1 </dev/null; sleep 60) & echo $$ $! > {}; wait",
        "sleep 60 & echo $! > {}",
    ],
    ids=["well behaved", "ignores SIGTERM", "holds no pipe", "its parent is done"],
)
async def test_a_killed_server_leaves_nothing(signpost: Signpost, text: str) -> None:
    """No child and no grandchild two seconds after `kill -9`."""
    with anyio.fail_after(20), doomed_server(text.format(signpost.path)) as server:
        pids = [int(pid) for pid in (await signpost.wait()).split()]
        assert all(is_alive(pid) for pid in pids)
        guards = [guard.pid for guard in guards_of(server.pid)]
        assert len(guards) == 1

        server.kill()

        await wait_until_gone(*pids, *guards, seconds=2.0)


@pytest.mark.requirement("T06")
async def test_one_guard_serves_all_commands(signpost: Signpost, second_signpost: Signpost) -> None:
    texts = [f"echo $$ > {post.path}; sleep 60" for post in (signpost, second_signpost)]
    with anyio.fail_after(20), doomed_server(*texts) as server:
        pids = [int(await post.wait()) for post in (signpost, second_signpost)]
        assert len(guards_of(server.pid)) == 1

        os.kill(server.pid, signal.SIGTERM)

        await wait_until_gone(*pids, seconds=2.0)


async def test_a_signal_to_our_group_does_not_reach_the_guard(
    processes: SystemProcesses, script: Script
) -> None:
    await processes.run(script(""))
    (guard,) = guards_of(os.getpid())
    assert os.getsid(guard.pid) == guard.pid != os.getsid(0)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        os.kill(guard.pid, number)
    await processes.run(script(""))
    assert guards_of(os.getpid()) == [guard]


async def test_a_guard_that_was_killed_is_replaced(
    processes: SystemProcesses, script: Script, signpost: Signpost, caplog: pytest.LogCaptureFixture
) -> None:
    """The next command starts another, which learns of what runs already."""
    sleeper = 0
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(processes.run, script(f"echo $$ > {signpost.path}; sleep 60"))
            sleeper = int(await signpost.wait())
            (guard,) = guards_of(os.getpid())
            os.kill(guard.pid, signal.SIGKILL)
            await wait_until_gone(guard.pid)

            assert isinstance(await processes.run(script("")), Exited)

            (other,) = guards_of(os.getpid())
            assert other.pid != guard.pid
            os.kill(other.pid, signal.SIGKILL)
            await wait_until_gone(other.pid)
            tasks.cancel_scope.cancel()
    assert not is_alive(sleeper)
    assert "commands may outlive a server that is killed" in caplog.text


async def test_a_dropped_group_is_left_alone_and_an_added_one_is_not() -> None:
    guard = OrphanGuard()
    sleepers = [subprocess.Popen(["sleep", "60"], start_new_session=True) for _ in range(3)]
    try:
        guard.start()
        for sleeper in sleepers:
            guard.add(sleeper.pid)
        guard.drop(sleepers[1].pid)
        with anyio.fail_after(5):
            await to_thread.run_sync(guard.close)
            codes = [await to_thread.run_sync(one.wait) for one in (sleepers[0], sleepers[2])]
        assert codes == [-signal.SIGTERM, -signal.SIGTERM]
        assert sleepers[1].poll() is None
    finally:
        for sleeper in sleepers:
            sleeper.kill()
            sleeper.wait()


async def test_the_next_guard_knows_what_the_last_one_knew() -> None:
    guard = OrphanGuard()
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as sleeper:
        guard.start()
        guard.add(sleeper.pid)
        (script,) = guards_of(os.getpid())
        os.kill(script.pid, signal.SIGKILL)
        with anyio.fail_after(5):
            await wait_until_gone(script.pid)
            guard.start()
            await to_thread.run_sync(guard.close)
            assert await to_thread.run_sync(sleeper.wait) == -signal.SIGTERM


@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="needs bash")
async def test_the_script_is_not_only_for_one_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sh").symlink_to("/bin/bash")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    await test_a_dropped_group_is_left_alone_and_an_added_one_is_not()


async def test_without_a_shell_commands_run_unguarded(
    processes: SystemProcesses,
    script: Script,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    made = script("exit 3")
    monkeypatch.setenv("PATH", str(tmp_path))
    end = await processes.run(made.__class__(("/bin/sh", *made.arguments[1:]), made.folder, made.label))
    assert isinstance(end, Exited)
    assert end.code == 3
    assert "commands may outlive a server that is killed" in caplog.text

"""Programs that are really run, above all those that do not behave."""

import json
import logging
import os
import resource
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from jp_lsp.ports.process import Exited, Output, SpawnError, TimedOut
from jp_lsp.toolsets.process import SystemProcesses
from tests.support.processes import MakeProgram, Script, Signpost, is_alive, living, wait_until_gone

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="POSIX")]

LOOK_AROUND = """
import json, os, sys
descriptors = [int(name) for name in os.listdir("/proc/self/fd")] if sys.platform == "linux" else [0, 1, 2]
print(json.dumps({
    "arguments": sys.argv[1:], "stdin": sys.stdin.read(), "folder": os.getcwd(), "one": os.environ.get("ONE"),
    "leads": os.getpgid(0) == os.getsid(0) == os.getpid(), "more": [n for n in descriptors if 2 < n < 50],
}))
"""
NASTY = ("; rm -rf .", "$(id)", "a b", "", "'\"", "ä\n😀", "--", "*")


@contextmanager
def as_standard_input(descriptor: int) -> Generator[None]:
    ours = os.dup(0)
    os.dup2(descriptor, 0)
    try:
        yield
    finally:
        os.dup2(ours, 0)
        os.close(ours)


def output(text: str) -> Output:
    return Output(text.encode(), len(text.encode()))


@pytest.mark.requirement("R272", "G24")
async def test_what_a_program_sees(
    processes: SystemProcesses, program: MakeProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its arguments and no shell, nothing on standard input, its folder, our environment, no terminal."""
    monkeypatch.setenv("ONE", "1")
    (tmp_path / "wire").write_text("what the editor writes", "utf-8")
    with open(tmp_path / "wire", "rb") as wire, as_standard_input(wire.fileno()):
        os.set_inheritable(wire.fileno(), True)

        end = await processes.run(program(sys.executable, "-c", LOOK_AROUND, *NASTY))

    assert isinstance(end, Exited)
    seen = json.loads(end.stdout.head)
    assert [n for n in seen.pop("more") if n != 3] == []  # 3 is the listing's own
    assert seen == {
        "arguments": list(NASTY), "stdin": "", "folder": str(tmp_path), "one": "1", "leads": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("", Exited(0, output(""), output(""))),
        ("printf out; printf err >&2; exit 3", Exited(3, output("out"), output("err"))),
        ("kill -9 $$", Exited(-9, output(""), output(""))),
        ("exec >&- 2>&-; exit 4", Exited(4, output(""), output(""))),
    ],
)
@pytest.mark.requirement("R271")
async def test_how_a_program_ends(processes: SystemProcesses, script: Script, text: str, end: Exited) -> None:
    assert await processes.run(script(text)) == end


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("/no/such/program",), "No such file or directory: /no/such/program"),
        (("/",), "Permission denied: /"),
        (("true", "a\0b"), "embedded null byte"),
        (("true", "x" * 4_000_000), "Argument list too long: true"),
    ],
)
async def test_what_cannot_be_started(
    processes: SystemProcesses, program: MakeProgram, arguments: tuple[str, ...], reason: str
) -> None:
    with pytest.raises(SpawnError) as caught:
        await processes.run(program(*arguments))
    assert str(caught.value) == reason


async def test_a_folder_that_is_gone_is_named(
    processes: SystemProcesses, program: MakeProgram, tmp_path: Path
) -> None:
    made = program("true")
    tmp_path.rename(tmp_path.with_name("moved"))
    with pytest.raises(SpawnError, match=f"No such file or directory: {tmp_path}"):
        await processes.run(made)


# --------------------------------------------------------------------------------------------- output


@pytest.mark.requirement("T05")
async def test_200_megabytes_are_counted_and_not_kept(
    processes: SystemProcesses, program: MakeProgram, tmp_path: Path
) -> None:
    """Neither blocks the program nor takes memory; the begin is kept, more of it goes to a file (trap 83)."""
    path = tmp_path / "output"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    with anyio.fail_after(60):
        end = await processes.run(program("head", "-c", "200000000", "/dev/zero", output_file=str(path)))

    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert isinstance(end, Exited)
    assert (end.code, len(end.stdout.head), end.stdout.size) == (0, 2 * 1024 * 1024, 200_000_000)
    assert path.stat().st_size == 64 * 1024 * 1024
    assert path.stat().st_mode & 0o777 == 0o600
    assert grown < 40 * 1024 * (1024 if sys.platform == "darwin" else 1)


async def test_both_outputs_may_be_large(processes: SystemProcesses, script: Script) -> None:
    text = "for n in 1 2 3; do head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2; done"
    end = await processes.run(script(text))
    assert isinstance(end, Exited)
    assert (end.stdout.size, len(end.stdout.head)) == (900_000, 900_000)
    assert (end.stderr.size, len(end.stderr.head)) == (900_000, 65_536)


async def test_a_file_that_cannot_be_written_costs_only_the_file(
    processes: SystemProcesses, program: MakeProgram, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = str(tmp_path / "missing" / "output")
    end = await processes.run(program("head", "-c", "5000", "/dev/zero", output_file=path))
    assert end == Exited(0, Output(bytes(5000), 5000), output(""))
    assert [record.getMessage() for record in caplog.records] == [
        f"the output could not be written to {path}: [Errno 2] No such file or directory: '{path}'"
    ]


async def test_a_program_that_prints_little_leaves_no_file(
    processes: SystemProcesses, program: MakeProgram, tmp_path: Path
) -> None:
    await processes.run(program("echo", "hi", output_file=str(tmp_path / "output")))
    assert not (tmp_path / "output").exists()


async def test_errors_are_logged_while_the_program_runs(
    processes: SystemProcesses, script: Script, signpost: Signpost, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "jp_lsp.toolsets")
    text = f"echo working >&2; read go < {signpost.path}; echo done >&2"

    async def look() -> None:
        while not caplog.records:
            await anyio.sleep(0.01)
        assert [record.getMessage() for record in caplog.records] == ["tool t: working"]
        await signpost.let_go()

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(look)
            await processes.run(script(text))
    assert [record.getMessage() for record in caplog.records] == ["tool t: working", "tool t: done"]


# --------------------------------------------------------------------------------- what is left behind

HOLDS_THE_PIPE = "sleep 60 & echo $!"


async def test_a_grandchild_that_holds_the_pipe_does_not_hold_the_run(
    processes: SystemProcesses, script: Script
) -> None:
    """The run is over a second after its program (trap 84); what was left goes on until we do not."""
    with anyio.fail_after(30):
        end = await processes.run(script(HOLDS_THE_PIPE))
    assert isinstance(end, Exited)
    sleeper = int(end.stdout.head)
    assert is_alive(sleeper)

    await processes.aclose()
    await wait_until_gone(sleeper)


async def test_what_is_left_behind_is_read_on(
    processes: SystemProcesses, script: Script, signpost: Signpost, second_signpost: Signpost
) -> None:
    """Else it would block on a full pipe, or die of a closed one."""
    text = f"(read go < {signpost.path}; head -c 1000000 /dev/zero && echo wrote > {second_signpost.path}) &"
    end = await processes.run(script(text))
    assert end == Exited(0, output(""), output(""))
    with anyio.fail_after(10):
        await signpost.let_go()
        assert await second_signpost.wait() == "wrote"


async def test_a_program_that_closed_its_outputs_is_still_waited_for(
    processes: SystemProcesses, script: Script, signpost: Signpost, second_signpost: Signpost
) -> None:
    ends: list[object] = []
    text = f"exec >&- 2>&-; echo closed > {signpost.path}; read go < {second_signpost.path}; exit 5"

    async def run() -> None:
        ends.append(await processes.run(script(text)))

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await signpost.wait()
            await anyio.wait_all_tasks_blocked()
            assert ends == []
            await second_signpost.let_go()
    assert ends == [Exited(5, output(""), output(""))]


# ------------------------------------------------------------------------------------ timeout and cancel


async def test_a_program_that_takes_too_long_is_ended(processes: SystemProcesses, script: Script) -> None:
    with anyio.fail_after(30):
        end = await processes.run(script("echo begun; sleep 60", timeout=0.2))
    assert end == TimedOut(output("begun\n"), output(""))


async def test_the_timeout_is_for_the_program_not_for_what_it_left(
    processes: SystemProcesses, script: Script
) -> None:
    end = await processes.run(script(HOLDS_THE_PIPE, timeout=0.5))
    assert isinstance(end, Exited)


async def cancelled_once_ready(
    processes: SystemProcesses, made: Script, text: str, signpost: Signpost
) -> str:
    """Run shell text until it writes to the signpost, then cancel; give what it wrote."""
    said = ""
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(processes.run, made(text))
            said = await signpost.wait()
            tasks.cancel_scope.cancel()
    return said


NO_FORCE = pytest.mark.parametrize("polite_time", [60.0])
"""Longer than a test may take: what ends in time has ended because it was asked to."""


@NO_FORCE
@pytest.mark.requirement("R147", "R172", "R208", "S12", "G58")
async def test_a_cancelled_program_ends_at_once(
    processes: SystemProcesses, script: Script, signpost: Signpost
) -> None:
    text = f"sleep 10 & echo $$ $! > {signpost.path}; wait"
    said = await cancelled_once_ready(processes, script, text, signpost)
    assert not any(is_alive(int(pid)) for pid in said.split())  # the grandchild too (trap 58)


@pytest.mark.requirement("R173")
@pytest.mark.parametrize("polite_time", [0.1])
@pytest.mark.parametrize(
    "text",
    [
        "trap '' TERM; echo $$ > {}; while :; do sleep 60; done",
        "(trap '' TERM; exec >/dev/null 2>&1; echo $$ > {}; while :; do sleep 60; done) & exec sleep 60",
    ],
    ids=["the program", "a grandchild that holds no pipe"],
)
async def test_who_ignores_the_polite_way_is_killed(
    processes: SystemProcesses, script: Script, signpost: Signpost, text: str
) -> None:
    """The cancelled run is over soon after the polite time (trap 85)."""
    said = await cancelled_once_ready(processes, script, text.format(signpost.path), signpost)
    assert not is_alive(int(said))


@NO_FORCE
async def test_a_program_may_clean_up_when_it_is_cancelled(
    processes: SystemProcesses, script: Script, signpost: Signpost, tmp_path: Path
) -> None:
    text = f"trap 'echo bye > {tmp_path}/bye; exit' TERM; echo ready > {signpost.path}; while :; do sleep 0.05; done"
    await cancelled_once_ready(processes, script, text, signpost)
    assert (tmp_path / "bye").read_text("utf-8") == "bye\n"


@NO_FORCE
async def test_cancelling_ends_a_grandchild_whose_parent_is_done(
    processes: SystemProcesses, script: Script, signpost: Signpost
) -> None:
    """In the second in which the run waits for the outputs (trap 84)."""
    text = f"sleep 60 & echo $! > {signpost.path}"
    said = await cancelled_once_ready(processes, script, text, signpost)
    assert not is_alive(int(said))


@pytest.mark.requirement("R145", "R92")
async def test_one_of_several_can_be_cancelled_or_all(
    processes: SystemProcesses, script: Script, signpost: Signpost, second_signpost: Signpost
) -> None:
    ended: list[str] = []

    async def run(name: str, post: Signpost, scope: anyio.CancelScope) -> None:
        try:
            with scope:
                await processes.run(script(f"echo {name} > {post.path}; sleep 60"))
        finally:
            ended.append(name)

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            one, other = anyio.CancelScope(), anyio.CancelScope()
            tasks.start_soon(run, "one", signpost, one)
            tasks.start_soon(run, "other", second_signpost, other)
            await signpost.wait()
            await second_signpost.wait()
            one.cancel()
            while not ended:
                await anyio.sleep(0.01)
            assert ended == ["one"]
            tasks.cancel_scope.cancel()
    assert ended == ["one", "other"]


async def test_what_was_cancelled_before_it_began_is_not_started(
    processes: SystemProcesses, script: Script, tmp_path: Path
) -> None:
    with anyio.CancelScope() as scope:
        scope.cancel()
        await processes.run(script(f"touch {tmp_path}/started"))
    assert scope.cancelled_caught
    assert [one.command for one in living() if one.parent == os.getpid() and "guard" in one.command] == []
    assert list(tmp_path.iterdir()) == []

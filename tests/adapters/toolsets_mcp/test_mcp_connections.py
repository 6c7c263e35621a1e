"""The life of servers: real processes, started, shared, lost and ended."""

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from jp_lsp.ports.mcp import Checksum, McpError, StdioServer
from jp_lsp.tools.outcome import Succeeded
from jp_lsp.toolsets.mcp import child
from jp_lsp.toolsets.mcp.connection import Connection
from jp_lsp.toolsets.mcp.servers import McpServers
from tests.adapters.toolsets_mcp.scripted import SCRIPTED, Stopwatch, until, watched_pool

pytestmark = pytest.mark.anyio

REPOSITORY = Path(__file__).parents[3]
DOOMED_PARENT = Path(__file__).with_name("doomed_mcp_parent.py")


async def echo(connection: Connection, text: str = "hello") -> None:
    outcome = await connection.use(
        lambda session: session.call_tool("echo", {"text": text}, lambda message, percentage: None)
    )
    assert outcome == Succeeded(text)


async def check_failure(servers: McpServers, config: StdioServer, message: str, root: str = "/") -> None:
    with pytest.raises(McpError) as raised:
        await servers.connect(config, root)
    assert str(raised.value) == message


# ------------------------------------------------------------------------------------------ starting


@pytest.mark.requirement("T15")
async def test_nothing_is_started_before_somebody_needs_it() -> None:
    async with watched_pool() as (watching, servers):
        watching.server()
        assert watching.started == []
        await servers.aclose()
    assert watching.started == []


@pytest.mark.requirement("R226")
@pytest.mark.parametrize("era", ["handshake", "modern", "strict"])
async def test_a_server_of_either_protocol_is_used(era: str) -> None:
    async with watched_pool() as (watching, servers):
        connection = await servers.connect(watching.server(era=era), "/")
        await echo(connection)
        assert len(watching.started) == (2 if era == "strict" else 1)


async def test_what_a_server_taught_about_its_protocol_is_remembered() -> None:
    async with watched_pool() as (watching, servers):
        config = watching.server(era="strict")
        await servers.connect(config, "/")
        os.kill(watching.started[1].pid, signal.SIGKILL)
        await watching.started[1].wait_for_end()
        await until(lambda: not servers.start(config, "/").is_usable or len(watching.started) == 3)
        await echo(await servers.connect(config, "/"))
        assert len(watching.started) == 3


async def test_first_users_share_one_start() -> None:
    async with watched_pool() as (watching, servers):
        config = watching.server(start="hold")
        found: list[Connection] = []

        async def use() -> None:
            found.append(await servers.connect(config, "/"))

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(use)
            process = await watching.next_process()
            assert found == []
            process.go_on()
        assert len(set(map(id, found))) == 1
        assert len(watching.started) == 1


async def test_a_user_who_gives_up_leaves_the_start_to_the_next() -> None:
    async with watched_pool() as (watching, servers):
        config = watching.server(start="hold")
        async with anyio.create_task_group() as impatient:
            impatient.start_soon(servers.connect, config, "/")
            await watching.next_process()
            impatient.cancel_scope.cancel()
        watching.started[0].go_on()
        await echo(await servers.connect(config, "/"))
        assert len(watching.started) == 1


async def test_a_slow_server_does_not_hold_up_another() -> None:
    async with watched_pool() as (watching, servers):
        slow, quick = watching.server("slow", start="hold"), watching.server("quick")
        servers.start(slow, "/")
        process = await watching.next_process()
        await echo(await servers.connect(quick, "/"))
        process.go_on()
        await echo(await servers.connect(slow, "/"))


async def test_a_server_works_in_the_workspace_with_the_whole_environment(tmp_path: Path) -> None:
    environment = {**os.environ, "JP_TEST_VARIABLE": "x"}
    async with watched_pool(environment) as (watching, servers):
        connection = await servers.connect(watching.server(), str(tmp_path))
        outcome = await connection.use(lambda session: session.call_tool("environment", {}, lambda *_: None))
        seen = json.loads(outcome.content)
        assert seen["folder"] == str(tmp_path)
        assert seen["variable"] == "x"
        assert seen["group"] == seen["pid"], "it leads a process group of its own"


async def test_a_missing_variable_is_only_worth_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    async with watched_pool() as (watching, servers):
        config = replace(watching.server(), variables=("JP_NO_SUCH_VARIABLE", "PATH"))
        await echo(await servers.connect(config, "/"))
    assert "JP_NO_SUCH_VARIABLE" in caplog.text
    assert "PATH" not in caplog.text


async def test_what_is_printed_beside_the_protocol_does_no_harm() -> None:
    async with watched_pool() as (watching, servers):
        await echo(await servers.connect(watching.server(start="greeting"), "/"))


# ------------------------------------------------------------------------------------------ failing to start


async def test_a_program_that_does_not_exist_is_named() -> None:
    async with watched_pool() as (_, servers):
        text = "MCP server 'notes' cannot be started: 'no-such-server' is not found in PATH"
        await check_failure(servers, StdioServer("notes", "no-such-server"), text)
        text = "MCP server 'notes' cannot be started: 'bin/no-such-server' is not found"
        await check_failure(servers, StdioServer("notes", "bin/no-such-server"), text)


async def test_arguments_that_cannot_be_passed_on_are_told(tmp_path: Path) -> None:
    async with watched_pool() as (_, servers):
        text = "MCP server 'notes' cannot be used: embedded null byte"
        await check_failure(servers, StdioServer("notes", sys.executable, ("\0",)), text)


async def test_a_folder_that_is_gone_is_told(tmp_path: Path) -> None:
    async with watched_pool() as (watching, servers):
        text = "MCP server 'notes' cannot be used: No such file or directory"
        await check_failure(servers, watching.server(), text, str(tmp_path / "gone"))


async def test_a_server_that_ends_at_once_says_why() -> None:
    async with watched_pool() as (watching, servers):
        config = watching.server(start="exit", chatter=2)
        text = (
            "MCP server 'notes' ended with code 3 before it was ready\n"
            "stderr:\n  line 0\n  line 1\n  no configuration"
        )
        await check_failure(servers, config, text)


async def test_the_last_hundred_lines_are_quoted() -> None:
    async with watched_pool() as (watching, servers):
        with pytest.raises(McpError) as raised:
            await servers.connect(watching.server(start="exit", chatter=500), "/")
        lines = str(raised.value).splitlines()[2:]
        assert lines == [*(f"  line {number}" for number in range(401, 500)), "  no configuration"]


@pytest.mark.requirement("T06")
@pytest.mark.parametrize("start", ["silent", "deaf"])
async def test_a_server_that_says_nothing_runs_into_the_limit_and_is_ended(start: str) -> None:
    async with watched_pool() as (watching, servers):
        config = replace(watching.server(start=start), startup_timeout=0.3)
        await check_failure(
            servers, config, "MCP server 'notes' cannot be used: it did not answer within 0.3 s"
        )
        await (await watching.next_process()).wait_for_end(0.1)


async def test_no_limit_waits_for_ever() -> None:
    async with watched_pool() as (watching, servers):
        config = replace(watching.server(start="hold"), startup_timeout=0.0)
        connection = servers.start(config, "/")
        (await watching.next_process()).go_on()
        await connection.wait_ready()
        await echo(connection)


async def test_after_a_failed_start_the_next_use_tries_again(tmp_path: Path) -> None:
    async with watched_pool() as (watching, servers):
        program = tmp_path / "server"
        config = StdioServer("notes", str(program), watching.server().arguments)
        with pytest.raises(McpError, match="is not found"):
            await servers.connect(config, "/")
        program.symlink_to(sys.executable)
        await echo(await servers.connect(config, "/"))


# ------------------------------------------------------------------------------------------ checksums


def digest(algorithm: str) -> str:
    return hashlib.new(algorithm, Path(sys.executable).read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("algorithm", "spelled"), [("sha256", str.upper), ("sha1", str.lower)], ids=["sha256", "sha1"]
)
async def test_a_checksum_that_fits_lets_it_start(algorithm: str, spelled: object) -> None:
    async with watched_pool() as (watching, servers):
        assert callable(spelled)
        checksum = Checksum(algorithm, spelled(digest(algorithm)))  # type: ignore[arg-type]
        await echo(await servers.connect(replace(watching.server(), checksum=checksum), "/"))


async def test_another_program_is_not_started() -> None:
    async with watched_pool() as (watching, servers):
        config = replace(watching.server(), checksum=Checksum("sha256", "00FF"))
        text = (
            f"Checksum mismatch for server: notes ({sys.executable}), expected 00FF, got {digest('sha256')}"
        )
        await check_failure(servers, config, text)
        assert watching.started == []


async def test_a_program_that_cannot_be_read_is_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, mode: str) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    async with watched_pool() as (watching, servers):
        config = replace(watching.server(), checksum=Checksum("sha1", "00"))
        text = f"MCP server 'notes' cannot be checked: {sys.executable} cannot be read: Permission denied"
        await check_failure(servers, config, text)
        assert watching.started == []


async def test_a_program_is_found_from_the_workspace_folder(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "server").symlink_to(sys.executable)
    async with watched_pool() as (watching, servers):
        config = StdioServer(
            "notes", "bin/server", watching.server().arguments, checksum=Checksum("sha1", digest("sha1"))
        )
        await echo(await servers.connect(config, str(tmp_path)))


# ------------------------------------------------------------------------------------------ changes


@pytest.mark.requirement("T06")
async def test_a_server_that_died_is_started_again_at_the_next_use() -> None:
    async with watched_pool() as (watching, servers):
        config = watching.server()
        first = await servers.connect(config, "/")
        os.kill(watching.started[0].pid, signal.SIGKILL)
        await first.wait_closed()
        second = await servers.connect(config, "/")
        assert second is not first
        await echo(second)
        assert await servers.connect(config, "/") is second


async def test_a_changed_entry_starts_anew_and_ends_the_old_server() -> None:
    async with watched_pool() as (watching, servers):
        old, new = watching.server(chatter=1), watching.server(chatter=2)
        first = await servers.connect(old, "/")
        second = await servers.connect(new, "/")
        await watching.started[0].wait_for_end()
        await first.wait_closed()
        await echo(second)


async def test_a_changed_entry_leaves_the_old_server_to_those_who_use_it() -> None:
    async with watched_pool() as (watching, servers):
        old, new = watching.server(chatter=1), watching.server(chatter=2)
        first = await servers.connect(old, "/")
        process = await watching.next_process()
        outcomes: list[object] = []

        async def hold() -> None:
            outcomes.append(await first.use(lambda session: session.call_tool("hold", {}, lambda *_: None)))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hold)
            await process.wait_for("tools/call")
            await echo(await servers.connect(new, "/"))
            process.go_on()
        assert outcomes == [Succeeded("held")]
        await process.wait_for_end()


async def test_a_start_under_an_old_entry_is_not_taken_from_who_waits_for_it() -> None:
    async with watched_pool() as (watching, servers):
        old, new = watching.server(start="hold", chatter=1), watching.server()

        async def use_old() -> None:
            await echo(await servers.connect(old, "/"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(use_old)
            process = await watching.next_process()
            await echo(await servers.connect(new, "/"))
            process.go_on()
        await watching.started[0].wait_for_end()


async def test_two_workspaces_have_each_their_own(tmp_path: Path) -> None:
    async with watched_pool() as (watching, servers):
        config = watching.server()
        one, other = await servers.connect(config, "/"), await servers.connect(config, str(tmp_path))
        assert one is not other
        await echo(one)
        await echo(other)


# ------------------------------------------------------------------------------------------ ending


@pytest.mark.requirement("T06")
@pytest.mark.parametrize("script", [{}, {"stubborn": True}, {"helper": True}], ids=str)
async def test_closing_ends_everything_within_two_seconds(script: dict[str, Any]) -> None:
    async with watched_pool() as (watching, servers):
        await servers.connect(watching.server(**script), "/")
        await until(lambda: len(watching.started) == 1 + bool(script.get("helper")))
        stopwatch = Stopwatch()
        stopwatch.start()
        await servers.aclose()
        assert stopwatch.seconds < 2
        for process in watching.started:
            await process.wait_for_end(0.2)


@pytest.mark.requirement("T06")
async def test_closing_during_the_start_ends_both() -> None:
    async with watched_pool() as (watching, servers):
        config = watching.server(start="silent")
        failures: list[str] = []
        stopwatch = Stopwatch()

        async def use() -> None:
            with pytest.raises(McpError) as raised:
                await servers.connect(config, "/")
            failures.append(str(raised.value))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(use)
            await watching.next_process()
            stopwatch.start()
            await servers.aclose()
            assert stopwatch.seconds < 2
        assert failures == ["MCP server 'notes' was closed"]


async def test_a_closed_pool_starts_nothing_and_may_be_closed_again() -> None:
    async with watched_pool() as (watching, servers):
        await servers.aclose()
        await servers.aclose()
        text = "MCP server 'notes' is not started: the program is ending"
        await check_failure(servers, watching.server(), text)


async def test_a_message_beyond_all_measure_ends_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "MAX_LINE_SIZE", 100_000)
    async with watched_pool() as (watching, servers):
        config = watching.server()
        connection = await servers.connect(config, "/")

        async def ask(size: int) -> object:
            return await connection.use(
                lambda session: session.call_tool("big", {"size": size}, lambda *_: None)
            )

        assert await ask(50_000) == Succeeded("x" * 50_000)
        with pytest.raises(McpError, match="larger than any that is taken"):
            await ask(300_000)
        await echo(await servers.connect(config, "/"))


@pytest.mark.requirement("T06")
@pytest.mark.parametrize(
    "script",
    [{}, {"stubborn": True}, {"helper": True}, {"start": "deaf"}, {"start": "silent"}],
    ids=str,
)
async def test_a_program_that_is_killed_leaves_no_server(script: dict[str, Any]) -> None:
    async with watched_pool() as (watching, _):
        with subprocess.Popen(
            [sys.executable, str(DOOMED_PARENT), json.dumps({"report": watching.port, **script})],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        ) as parent:
            try:
                if "start" in script:
                    await watching.next_process()
                else:
                    assert parent.stdout is not None
                    assert await anyio.to_thread.run_sync(parent.stdout.readline) == b"ready\n"
                    await until(lambda: len(watching.started) == 1 + bool(script.get("helper")))
            finally:
                parent.kill()
        for process in watching.started:
            await process.wait_for_end(2)


# ------------------------------------------------------------------------------------------ the library


def test_the_pool_does_not_load_the_library() -> None:
    script = (
        "import sys\n"
        "import jp_lsp.toolsets.mcp.servers, jp_lsp.toolsets.mcp.tools\n"
        "import jp_lsp.toolsets.mcp.executor, jp_lsp.toolsets.mcp.resources\n"
        "heavy = ('mcp', 'mcp_types', 'httpx2', 'pydantic', 'jsonschema', 'referencing', 'opentelemetry')\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )
    assert ran.stdout.strip() == "[]"


async def test_the_loop_runs_on_while_the_library_is_loaded() -> None:
    script = (
        "import sys, time, anyio\n"
        "from jp_lsp.ports.mcp import StdioServer\n"
        "from jp_lsp.toolsets.mcp.servers import McpServers\n"
        "async def main():\n"
        "    servers = McpServers({})\n"
        "    connection = servers.start(StdioServer('x', 'no-such-program'), '/')\n"
        "    begun = last = time.perf_counter()\n"
        "    longest = 0.0\n"
        "    while connection.is_usable:\n"
        "        await anyio.sleep(0)\n"
        "        now = time.perf_counter()\n"
        "        longest, last = max(longest, now - last), now\n"
        "    await servers.aclose()\n"
        "    print(longest < (last - begun) / 3, 'mcp' in sys.modules)\n"
        "anyio.run(main)\n"
    )
    ran = await anyio.run_process(
        [sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": str(REPOSITORY)}
    )
    assert ran.stdout.decode().split() == ["True", "True"]


def test_the_scripted_server_needs_no_library() -> None:
    """So that the library's reading of the protocol is not checked against itself."""
    imported = re.findall(r"^(?:import|from) (\w+)", SCRIPTED.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(imported) <= sys.stdlib_module_names

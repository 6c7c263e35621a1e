"""Calls of tools that real servers have: results, failures, limits, progress and cancelling."""

import json
import logging
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from jp_lsp.tools.definition import ToolDefinition
from jp_lsp.tools.outcome import Failed, Succeeded, ToolOutcome
from jp_lsp.toolsets.mcp.executor import McpExecutor
from jp_lsp.toolsets.mcp.servers import McpServers
from tests.adapters.toolsets_mcp.scripted import (
    Observer,
    Process,
    Stopwatch,
    Watch,
    pool,
    run_of,
    until,
    watched_pool,
)

pytestmark = pytest.mark.anyio

ERAS = pytest.mark.parametrize("era", ["handshake", "modern"])


async def call(tool: str, arguments: Any = None, *, script: Any = None, **more: Any) -> ToolOutcome:
    """Run one call on a server of its own."""
    async with watched_pool() as (watching, servers):
        executor = McpExecutor(servers, {"notes": watching.server(**(script or {}))})
        return await executor.run(run_of(tool, arguments, **more), Observer())


@asynccontextmanager
async def endless_call() -> AsyncGenerator[tuple[Process, McpServers, list[ToolOutcome]]]:
    """A call that the server has begun and never answers; waits at the end until something has ended it."""
    outcomes: list[ToolOutcome] = []
    async with watched_pool() as (watching, servers):
        executor = McpExecutor(servers, {"notes": watching.server()})

        async def run() -> None:
            outcomes.append(await executor.run(run_of("never"), Observer()))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            process = await watching.next_process()
            await process.wait_for("tools/call")
            yield process, servers, outcomes


# ------------------------------------------------------------------------------------------ results


@pytest.mark.requirement("R226", "R306")
@ERAS
async def test_a_call_gives_the_text(era: str) -> None:
    arguments = {"text": "Grüße\n\n\u2028 😀"}
    assert await call("echo", arguments, script={"era": era}) == Succeeded(arguments["text"])


@pytest.mark.requirement("R226")
async def test_half_a_surrogate_pair_does_not_break_the_connection() -> None:
    assert await call("echo", {"text": "a\ud83d"}) == Succeeded("a?")


CONTENTS = {
    "picture": "[image, image/png, 8 bytes, not shown]",
    "sound": "[audio, audio/wav, 3 bytes, not shown]",
    "link": "[link to one two: memo://one, text/plain]",
    "document": "See:\n\nline 1\nline 2",
    "bytes": "[resource memo://two, a/b, 4 bytes, not shown]",
    "structured": '{"größe": [1, null]}',
    "mixed": "short",
    "empty": "",
    "nothing": "",
}


@pytest.mark.requirement("R226")
@pytest.mark.parametrize(("kind", "text"), CONTENTS.items(), ids=CONTENTS)
async def test_every_kind_of_content_leaves_text(kind: str, text: str) -> None:
    assert await call("content", {"kind": kind}) == Succeeded(text)


async def test_large_results_come_whole() -> None:
    assert await call("big", {"size": 3_000_000}) == Succeeded("x" * 3_000_000)


# ------------------------------------------------------------------------------------------ failures


FAILURES = {
    "fail": "the disk is full",
    "fail_silently": "The tool reported an error and did not say what went wrong.",
    "refuse": "MCP server 'notes' refused: out of order (code -32603)",
    "no_such_tool": "MCP server 'notes' refused: Unknown tool: no_such_tool (code -32602)",
}


@pytest.mark.parametrize(("tool", "text"), FAILURES.items(), ids=FAILURES)
@ERAS
async def test_a_failure_says_what_went_wrong(tool: str, text: str, era: str) -> None:
    assert await call(tool, script={"era": era}) == Failed(text)


@ERAS
async def test_an_answer_that_is_none_fails_the_call(era: str) -> None:
    outcome = await call("break_protocol", script={"era": era})
    assert isinstance(outcome, Failed)
    assert outcome.content.startswith("MCP server 'notes' gave a wrong answer: what it answered is not valid")
    assert outcome.content.endswith("content: Input should be a valid list)")


async def test_a_server_that_ends_with_its_answer_has_answered() -> None:
    assert await call("answer_and_end") == Succeeded("that was all")


async def test_an_unknown_server_is_named() -> None:
    assert await call("echo", server="other") == Failed("Unknown MCP server: other")


async def test_a_server_that_does_not_start_fails_the_call() -> None:
    outcome = await call("echo", script={"start": "exit"})
    text = "MCP server 'notes' ended with code 3 before it was ready\nstderr:\n  no configuration"
    assert outcome == Failed(text)


@pytest.mark.requirement("T06", "G28")
async def test_a_server_that_dies_fails_its_call_only_and_is_started_again() -> None:
    async with watched_pool() as (watching, servers):
        configs = {"notes": watching.server(), "other": watching.server("other")}
        executor = McpExecutor(servers, configs)
        outcomes: dict[str, ToolOutcome] = {}

        async def run(name: str, tool: str, server: str) -> None:
            outcomes[name] = await executor.run(run_of(tool, server=server), Observer())

        await executor.run(run_of("echo", {"text": ""}), Observer())
        first = await watching.next_process()
        await executor.run(run_of("echo", {"text": ""}, server="other"), Observer())
        other = await watching.next_process()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run, "neighbour", "never", "notes")
            tasks.start_soon(run, "held", "hold", "other")
            await first.wait_for("tools/call")
            await first.wait_for("tools/call")
            await other.wait_for("tools/call")
            await other.wait_for("tools/call")
            await run("dead", "die", "notes")
            other.go_on()
        dead = Failed("MCP server 'notes' ended with code 3\nstderr:\n  panic: out of luck")
        assert outcomes == {"dead": dead, "neighbour": dead, "held": Succeeded("held")}
        assert await executor.run(run_of("echo", {"text": "new"}), Observer()) == Succeeded("new")


async def test_a_server_that_closes_its_output_fails_the_call() -> None:
    text = "MCP server 'notes' closed the connection but did not end"
    assert await call("close_output", script={"stubborn": True}) == Failed(text)


async def test_a_server_that_takes_no_more_input_fails_the_call() -> None:
    async with watched_pool() as (watching, servers):
        executor = McpExecutor(servers, {"notes": watching.server(stubborn=True)})
        assert await executor.run(run_of("close_input"), Observer()) == Succeeded("closed")
        outcome = await executor.run(run_of("echo", {"text": "unheard"}), Observer())
        assert outcome == Failed("MCP server 'notes' closed the connection but did not end")
        assert await executor.run(run_of("echo", {"text": "next"}), Observer()) == Succeeded("next")


@pytest.mark.requirement("T06")
async def test_a_server_that_dies_is_missed_although_what_it_started_holds_its_output() -> None:
    async with watched_pool() as (watching, servers):
        executor = McpExecutor(servers, {"notes": watching.server(helper=True)})
        await executor.run(run_of("echo", {"text": ""}), Observer())
        await until(lambda: len(watching.started) == 2)
        outcome = await executor.run(run_of("die"), Observer())
        assert outcome.content.startswith("MCP server 'notes' ended with code 3")
        for process in watching.started:
            await process.wait_for_end()


async def test_a_server_that_was_killed_says_by_which_signal() -> None:
    async with endless_call() as (process, _, outcomes):
        os.kill(process.pid, signal.SIGKILL)
    assert outcomes == [Failed("MCP server 'notes' was ended by signal 9")]


async def test_a_flood_on_standard_error_neither_blocks_nor_is_kept() -> None:
    logging.getLogger("jp_lsp.toolsets.mcp.tail").setLevel(logging.WARNING)
    async with watched_pool() as (watching, servers):
        executor = McpExecutor(servers, {"notes": watching.server()})
        assert await executor.run(run_of("flood"), Observer()) == Succeeded("dry again")
        outcome = await executor.run(run_of("die"), Observer())
        assert outcome.content.endswith("panic: out of luck")
        assert len(outcome.content) < 10_000


async def test_noise_between_messages_is_passed_over() -> None:
    assert await call("noise") == Succeeded("heard")


# ------------------------------------------------------------------------------------------ limits


@pytest.mark.requirement("T11")
@ERAS
async def test_a_call_that_never_returns_runs_into_its_limit(era: str) -> None:
    async with watched_pool() as (watching, servers):
        executor = McpExecutor(servers, {"notes": watching.server(era=era)})
        await executor.run(run_of("echo", {"text": ""}), Observer())
        outcome = await executor.run(run_of("never", timeout=0.05), Observer())
        assert outcome == Failed("Tool 'never' timed out after 0.05 s.")
        process = await watching.next_process()
        await process.wait_for("notifications/cancelled")
        assert await executor.run(run_of("echo", {"text": "next"}), Observer()) == Succeeded("next")


# ------------------------------------------------------------------------------------------ progress


@ERAS
async def test_progress_is_told(era: str) -> None:
    async with watched_pool() as (watching, servers):
        executor = McpExecutor(servers, {"notes": watching.server(era=era)})
        observer = Observer()
        assert await executor.run(run_of("progress"), observer) == Succeeded("done")
        assert observer.told == [("begun", 25), (None, None), (None, 100)]


class _Clumsy:
    def progress(self, message: str | None, percentage: int | None) -> None:
        raise RuntimeError("clumsy")


async def test_an_observer_that_breaks_does_not_break_the_call() -> None:
    async with watched_pool() as (watching, servers):
        executor = McpExecutor(servers, {"notes": watching.server()})
        assert await executor.run(run_of("progress"), _Clumsy()) == Succeeded("done")


# ------------------------------------------------------------------------------------------ cancelling


async def cancel_during(executor: McpExecutor, watching: Watch, tool: str) -> tuple[Process, float]:
    """Start a call, cancel it while it runs, and give the server and the seconds that cancelling took."""
    stopwatch = Stopwatch()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(executor.run, run_of(tool), Observer())
        await (await watching.next_process()).wait_for("tools/call")
        stopwatch.start()
        tasks.cancel_scope.cancel()
    return watching.started[0], stopwatch.seconds


@pytest.mark.requirement("R146", "R174", "T11")
@ERAS
async def test_cancelling_returns_at_once_and_tells_the_server(era: str) -> None:
    async with watched_pool() as (watching, servers):
        executor = McpExecutor(servers, {"notes": watching.server(era=era)})
        process, seconds = await cancel_during(executor, watching, "never")
        assert seconds < 0.1
        asked = process.messages[-1]
        told = await process.wait_for("notifications/cancelled")
        assert told["params"]["requestId"] == asked["id"]
        assert await executor.run(run_of("echo", {"text": "next"}), Observer()) == Succeeded("next")
        assert len(watching.started) == 1


@pytest.mark.requirement("R174")
async def test_a_late_answer_is_ignored() -> None:
    async with watched_pool() as (watching, servers):
        executor = McpExecutor(servers, {"notes": watching.server()})
        process, _ = await cancel_during(executor, watching, "late")
        await process.wait_for_event("answered late")
        assert await executor.run(run_of("echo", {"text": "next"}), Observer()) == Succeeded("next")


@pytest.mark.requirement("R146", "T11")
async def test_cancelling_returns_at_once_although_the_server_reads_nothing_any_more() -> None:
    async with watched_pool() as (watching, servers):
        stopwatch = Stopwatch()
        executor = McpExecutor(servers, {"notes": watching.server()})
        await executor.run(run_of("stop_reading"), Observer())
        stopwatch.start()
        for _ in range(3):
            # More than a pipe holds, so that the messages after it cannot be written.
            with anyio.move_on_after(0.01):
                await executor.run(run_of("echo", {"text": "x" * 300_000}), Observer())
        assert stopwatch.seconds < 0.5
        stopwatch.start()
        await servers.aclose()
        assert stopwatch.seconds < 2


@pytest.mark.requirement("T11")
async def test_cancelling_during_the_start_returns_at_once() -> None:
    async with watched_pool() as (watching, servers):
        stopwatch = Stopwatch()
        executor = McpExecutor(servers, {"notes": watching.server(start="silent")})
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(executor.run, run_of("echo"), Observer())
            await watching.next_process()
            stopwatch.start()
            tasks.cancel_scope.cancel()
        assert stopwatch.seconds < 0.1


async def test_calls_run_side_by_side() -> None:
    async with watched_pool() as (watching, servers):
        executor = McpExecutor(servers, {"notes": watching.server()})
        outcomes: list[ToolOutcome] = []

        async def hold() -> None:
            outcomes.append(await executor.run(run_of("hold"), Observer()))

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(hold)
            process = await watching.next_process()
            for _ in range(5):
                await process.wait_for("tools/call")
            assert await executor.run(run_of("echo", {"text": "quick"}), Observer()) == Succeeded("quick")
            assert outcomes == []
            for _ in range(5):
                process.go_on()
        assert outcomes == [Succeeded("held")] * 5


# ------------------------------------------------------------------------------------------ checking


SCHEMA = {
    "type": "object",
    "properties": {"count": {"type": "integer", "minimum": 1}, "tag": {"$ref": "#/$defs/Tag"}},
    "required": ["count"],
    "$defs": {"Tag": {"enum": ["a", "b"]}},
}


@pytest.mark.requirement("R273")
async def test_arguments_that_break_the_servers_schema_are_not_sent() -> None:
    async with watched_pool() as (watching, servers):
        executor = McpExecutor(servers, {"notes": watching.server()})
        definition = ToolDefinition("echo", {}, schema=SCHEMA)
        outcome = await executor.run(
            run_of("echo", {"count": "1", "tag": "c"}, definition=definition), Observer()
        )
        assert outcome == Failed(
            "Invalid arguments; the tool did not run:\n"
            "- count: '1' is not of type 'integer'\n"
            "- tag: 'c' is not one of ['a', 'b']"
        )
        assert watching.started == []


async def test_what_the_server_was_sent_is_what_the_model_wrote() -> None:
    async with watched_pool() as (watching, servers):
        executor = McpExecutor(servers, {"notes": watching.server()})
        arguments: Any = {"text": "t", "nested": {"list": [1, 2.5, None, True], "leer": {}}}
        await executor.run(run_of("echo", arguments), Observer())
        sent = await (await watching.next_process()).wait_for("tools/call")
        assert json.loads(json.dumps(sent["params"]["arguments"])) == arguments
        assert sent["params"]["name"] == "echo"


@pytest.mark.requirement("R146")
async def test_a_pool_that_ends_fails_the_calls_that_run() -> None:
    async with endless_call() as (_, servers, outcomes):
        await servers.aclose()
    assert outcomes == [Failed("MCP server 'notes' was closed")]


async def test_a_pool_without_servers_ends_at_once() -> None:
    async with pool() as servers:
        with anyio.fail_after(1):
            await servers.aclose()

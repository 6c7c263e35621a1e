"""Local tools that are really run: the parts fit together."""

import json
import sys
import tracemalloc
from pathlib import Path

import anyio
import pytest

from jp_lsp.conversation.ids import CallId, ConversationId
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.ports.process import STDOUT_LIMIT
from jp_lsp.ports.toolset import ToolRun
from jp_lsp.tools.definition import ToolDefinition
from jp_lsp.tools.limits import limit_text
from jp_lsp.tools.outcome import Failed, NeedsInput, Succeeded, ToolOutcome, ToolQuestion
from jp_lsp.tools.spec import Command, LocalSource, ToolPolicy, ToolSpec
from jp_lsp.toolsets.local import LocalExecutor
from jp_lsp.toolsets.process import SystemProcesses
from tests.support.processes import Signpost

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="POSIX")]

TOOL = """
import json, sys
tool, context = (json.loads(text) for text in sys.argv[1:])
if "branch" not in tool["answers"]:
    question = {"id": "branch", "text": "Which?", "answer_type": {"Select": {"options": ["main", "dev"]}}}
    print(json.dumps({"type": "needs_input", "question": question}))
else:
    content = f"{context['action']} {tool['arguments']['path']} on {tool['answers']['branch']}"
    print(json.dumps({"type": "success", "content": content}))
    sys.exit(9)
"""


class Observer:
    def progress(self, message: str | None, percentage: int | None) -> None:
        raise AssertionError("commands do not tell how far they are")


class Runner:
    """Runs commands in a folder."""

    def __init__(self, processes: SystemProcesses, root: Path) -> None:
        self.results = root / "results"
        self._executor = LocalExecutor(processes)
        self._root = root

    def _run_of(
        self, command: Command, policy: ToolPolicy, arguments: dict[str, JsonValue], **answers: JsonValue
    ) -> ToolRun:
        tool = ToolSpec(ToolDefinition("t", {}), LocalSource("t", command), policy)
        conversation = ConversationId("17000000000")
        root, results = str(self._root), str(self.results)
        return ToolRun(CallId("c"), tool, arguments, answers, conversation, "w", root, results)

    async def run(
        self, command: Command, path: str = "a.txt", timeout: float = 0.0, **answers: JsonValue
    ) -> ToolOutcome:
        run = self._run_of(command, ToolPolicy(timeout=timeout), {"path": path}, **answers)
        return await self._executor.run(run, Observer())

    async def format(self, command: Command) -> str:
        policy = ToolPolicy(formatter=command)
        return await self._executor.format_arguments(
            self._run_of(Command("false"), policy, {"path": "a.txt"})
        )


@pytest.fixture
def runner(processes: SystemProcesses, tmp_path: Path) -> Runner:
    return Runner(processes, tmp_path)


@pytest.mark.requirement("R108", "R275")
async def test_a_tool_in_two_passes(runner: Runner) -> None:
    command = Command(sys.executable, ("-c", TOOL, "{{tool}}", "{{context}}"))
    question = ToolQuestion("branch", "Which?", "select", options=("main", "dev"))
    assert await runner.run(command, "ä ; b") == NeedsInput(question)
    assert await runner.run(command, "ä ; b", branch="dev") == Succeeded("run ä ; b on dev")


@pytest.mark.requirement("R272")
@pytest.mark.parametrize("shell", [False, True])
async def test_an_argument_never_runs(runner: Runner, tmp_path: Path, shell: bool) -> None:
    evil = f"; touch {tmp_path}/evil $(touch {tmp_path}/evil)"
    words = Command("printf %s" if shell else "printf", ("{{tool.arguments.path}}",), shell)
    assert await runner.run(words, evil) == Succeeded(evil)
    assert not (tmp_path / "evil").exists()


async def test_failures(runner: Runner, tmp_path: Path) -> None:
    failed = await runner.run(Command("echo oops >&2; pwd; exit 3", shell=True))
    assert isinstance(failed, Failed)
    assert json.loads(failed.content) == {
        "message": "Tool 't' execution failed.",
        "stderr": "oops\n",
        "stdout": f"{tmp_path}\n",
    }
    assert await runner.run(Command("no-such-program", ("x",))) == Failed(
        "Failed to spawn command: no-such-program x"
    )
    assert await runner.run(Command("sleep", ("60",)), timeout=0.1) == Failed(
        "Tool 't' timed out after 0.1 s."
    )


@pytest.mark.requirement("T05")
async def test_50_megabytes(runner: Runner) -> None:
    """Bounded text for the model that tells of all of it, and all of it in a file."""
    outcome = await runner.run(Command("head", ("-c", "50000000", "/dev/zero")))
    assert isinstance(outcome, Succeeded)
    assert len(outcome.content) <= 262_144
    assert limit_text(outcome.content, 262_144) == outcome.content
    head, _, note = outcome.content.rpartition("\n")
    assert set(head) == {"\0"}
    assert (
        note == f"[cut here: {50_000_000 - len(head)} more bytes were left out; more is in {runner.results}]"
    )
    assert outcome.file == str(runner.results)
    assert runner.results.stat().st_size == 50_000_000


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("head -c 4096 /dev/zero", None),
        ("head -c 4097 /dev/zero", 4097),
        ("head -c 5000 /dev/zero; exit 3", 5000),
    ],
)
async def test_short_output_needs_no_file(runner: Runner, command: str, file: int | None) -> None:
    outcome = await runner.run(Command(command, shell=True))
    assert isinstance(outcome, Succeeded | Failed)
    assert outcome.file == (None if file is None else str(runner.results))
    assert (runner.results.stat().st_size if runner.results.exists() else None) == file


async def test_what_an_object_says_is_not_in_the_file(runner: Runner) -> None:
    text = "x" * 5000
    outcome = await runner.run(Command("echo", (json.dumps({"type": "success", "content": text}),)))
    assert outcome == Succeeded(text)


@pytest.mark.requirement("T05")
@pytest.mark.parametrize(
    "command",
    [
        "head -c 100000000 /dev/zero",
        "yes 'nothing new on this line' | head -c 100000000",
        "head -c 100000000 /dev/zero | tr '\\0' '\\377'",
        "printf '{'; head -c 100000000 /dev/zero",
        "head -c 100000000 /dev/zero; exit 3",
    ],
)
async def test_100_megabytes_take_no_more_than_twice_what_is_kept(runner: Runner, command: str) -> None:
    """Counted is what Python holds at most at one time, from the pipe to the result for the model."""
    await runner.run(Command("true"))
    tracemalloc.start()
    try:
        outcome = await runner.run(Command(command, shell=True))
        assert isinstance(outcome, Succeeded | Failed)
        given = limit_text(outcome.content, 262_144)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(given.encode()) > 260_000
    assert most < 2 * STDOUT_LIMIT


@pytest.mark.requirement("R147", "R208", "S12")
async def test_a_cancelled_tool_ends(runner: Runner, signpost: Signpost) -> None:
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(runner.run, Command(f"echo here > {signpost.path}; sleep 10", shell=True))
            await signpost.wait()
            tasks.cancel_scope.cancel()
            # The fixture sees whether anything is left.


async def test_a_formatter(runner: Runner) -> None:
    assert await runner.format(Command("echo", ("{{tool.arguments.path}}!",))) == "a.txt!\n"
    with pytest.raises(match="exit code 1"):
        await runner.format(Command("false"))

"""Passes of local tools, over a process runner that starts nothing."""

import json
from dataclasses import replace
from typing import Any

import anyio
import pytest

from jp_lsp.conversation.ids import CallId, ConversationId
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.ports.process import Output, ProcessEnd, Program, SpawnError, TimedOut
from jp_lsp.ports.toolset import FormatFailed, ToolExecutor, ToolRun
from jp_lsp.tools.definition import ToolDefinition
from jp_lsp.tools.outcome import Failed, NeedsInput, Succeeded, ToolOutcome, ToolQuestion
from jp_lsp.tools.spec import Command, LocalSource, McpSource, ToolPolicy, ToolSpec
from jp_lsp.toolsets.local import FORMATTER_TIMEOUT, LocalExecutor
from tests.support.processes import Forever, ScriptedProcesses, printed

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("R228")]


class Observer:
    def progress(self, message: str | None, percentage: int | None) -> None:
        raise AssertionError("commands do not tell how far they are")


def spec(*words: str, shell: bool = False, name: str = "rg", **policy: Any) -> ToolSpec:
    """The tool `grep`, whose command is told that it is called `rg`."""
    source = LocalSource(name, Command(words[0], words[1:], shell))
    return ToolSpec(ToolDefinition("grep", {}), source, ToolPolicy(**policy), {"depth": 2}, {"fs": []})


def run_of(tool: ToolSpec, arguments: dict[str, JsonValue] | None = None, **answers: JsonValue) -> ToolRun:
    given = {"path": "a b.txt"} if arguments is None else arguments
    return ToolRun(CallId("c1"), tool, given, answers, ConversationId("17000000000"), "w123", "/work space")


async def outcome(tool: ToolSpec, end: ProcessEnd | SpawnError, **answers: JsonValue) -> ToolOutcome:
    executor: ToolExecutor = LocalExecutor(ScriptedProcesses(end))
    return await executor.run(run_of(tool, None, **answers), Observer())


async def program_of(run: ToolRun) -> Program:
    processes = ScriptedProcesses(printed())
    await LocalExecutor(processes).run(run, Observer())
    return processes.programs[0]


@pytest.mark.requirement("R115", "R272")
async def test_what_a_command_is_told() -> None:
    program = await program_of(run_of(spec("grep", "{{tool}}", "{{context}}"), sure=True, which="a"))
    assert program.arguments[0] == "grep"
    assert [json.loads(word) for word in program.arguments[1:]] == [
        {
            "name": "rg",
            "arguments": {"path": "a b.txt"},
            "answers": {"sure": True, "which": "a"},
            "options": {"depth": 2},
        },
        {
            "action": "run",
            "root": "/work space",
            "access": {"fs": []},
            "workspace_id": "w123",
            "conversation_id": "17000000000",
        },
    ]


async def test_how_a_command_is_run() -> None:
    program = await program_of(run_of(spec("grep", "{{tool.arguments.path}}", timeout=12.5)))
    assert program == Program(
        ("grep", "a b.txt"), "/work space", "tool grep", timeout=12.5, text_limit=ToolPolicy().size_threshold
    )


@pytest.mark.requirement("R272")
async def test_a_shell_only_where_it_is_configured() -> None:
    run = run_of(spec("echo {{tool.name}};", "{{tool.arguments.path}}", shell=True), {"path": "; rm"})
    program = await program_of(run)
    assert program.arguments == ("sh", "-c", "echo ${JP_VALUE_0}; '; rm'")
    assert program.variables == {"JP_VALUE_0": "rg"}


@pytest.mark.requirement("T05")
async def test_the_whole_output_may_go_to_a_file() -> None:
    processes = ScriptedProcesses(printed())
    outcome = await LocalExecutor(processes).run(
        replace(run_of(spec("grep")), output_file="/gone/c1"), Observer()
    )
    assert processes.programs[0].output_file == "/gone/c1"
    assert outcome == Succeeded("")


@pytest.mark.requirement("R108")
async def test_a_question_and_the_answer_to_it() -> None:
    question = {"id": "sure", "text": "Sure?", "answer_type": "Boolean"}
    asked = printed(json.dumps({"type": "needs_input", "question": question}))
    processes = ScriptedProcesses(asked, printed("done"))
    executor, tool = LocalExecutor(processes), spec("grep", "{{tool.answers}}")

    first = await executor.run(run_of(tool), Observer())
    second = await executor.run(run_of(tool, sure=False), Observer())

    assert first == NeedsInput(ToolQuestion("sure", "Sure?", "boolean"))
    assert second == Succeeded("done")
    assert [program.arguments[1] for program in processes.programs] == ["{}", '{"sure":false}']


@pytest.mark.requirement("T10")
async def test_silence_is_an_empty_result() -> None:
    assert await outcome(spec("true"), printed()) == Succeeded("")


async def test_a_failure_names_the_tool_as_its_command_knows_it() -> None:
    message = '{"message":"Tool \'rg\' execution failed.","stderr":"bad","stdout":""}'
    assert await outcome(spec("grep"), printed(stderr="bad", code=2)) == Failed(message)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("grep", "{{a.b}}"), "Template error: undefined value: `a` is undefined, in `{{a.b}}`"),
        (
            ("grep", "{{", "tool.name", "}}"),
            "Template error: syntax error: unexpected end of input, expected expression, in `{{`\n\n"
            "the word `{{` is half an expression, because command lines are split at blanks first; write it "
            "without blanks, such as `{{tool.name}}`, or put it in quotes",
        ),
    ],
)
async def test_a_wrong_template_runs_nothing(words: tuple[str, ...], text: str) -> None:
    processes = ScriptedProcesses()
    assert await LocalExecutor(processes).run(run_of(spec(*words)), Observer()) == Failed(text)
    assert processes.programs == []


async def test_an_access_policy_that_is_wrong_runs_nothing() -> None:
    """Never unrestricted (trap 92)."""
    processes = ScriptedProcesses()
    tool = replace(spec("grep"), access=None, access_error="`../x` leads out of the workspace")
    text = "invalid access policy for tool 'grep': `../x` leads out of the workspace"
    assert await LocalExecutor(processes).run(run_of(tool), Observer()) == Failed(text)
    assert processes.programs == []


async def test_what_cannot_be_started(caplog: pytest.LogCaptureFixture) -> None:
    end = SpawnError("No such file or directory: grep")
    tool = spec("grep", "-r", "{{tool.arguments.path}}")
    assert await outcome(tool, end) == Failed("Failed to spawn command: grep -r a b.txt")
    assert caplog.messages == ["tool grep could not be started: No such file or directory: grep"]


async def test_an_argument_that_is_too_long_is_not_repeated() -> None:
    run = run_of(spec("grep", "{{tool.arguments.path}}"), {"path": "x" * 200_000})
    failure = await LocalExecutor(ScriptedProcesses(SpawnError("too long"))).run(run, Observer())
    assert isinstance(failure, Failed)
    assert failure.content.startswith("Failed to spawn command: grep xxxx")
    assert failure.content.endswith("x\n[cut here: 195953 more bytes were left out]\n\ntoo long")
    assert len(failure.content) < 5000


@pytest.mark.parametrize(
    ("word", "shown"), [("{{tool.answers}}", '{"password":"***"}'), ("{{tool.answers.password|int}}", None)]
)
async def test_an_answer_is_not_told_to_the_model(word: str, shown: str | None) -> None:
    """It may be a password (trap 81), and a failure is stored."""
    failure = await outcome(spec("login", word), SpawnError("gone"), password="12345")
    assert failure == Failed(f"Failed to spawn command: login {shown or word}")


@pytest.mark.parametrize(
    ("stdout", "text"),
    [
        (Output(), "Tool 'rg' timed out after 1.5 s."),
        (Output(b"half\n", 5), "Tool 'rg' timed out after 1.5 s.\n\nIts output until then:\nhalf\n"),
    ],
)
async def test_a_timeout(stdout: Output, text: str) -> None:
    assert await outcome(spec("sleep", timeout=1.5), TimedOut(stdout, Output())) == Failed(text)


@pytest.mark.requirement("R172", "R271")
async def test_cancelling_a_pass_cancels_its_program() -> None:
    processes = ScriptedProcesses(Forever())
    ended: list[ToolOutcome] = []

    async def run() -> None:
        ended.append(await LocalExecutor(processes).run(run_of(spec("sleep")), Observer()))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert processes.cancelled == 1
    assert ended == []


# ------------------------------------------------------------------------------------------- formatters


async def format_with(command: Command, *ends: ProcessEnd | SpawnError) -> tuple[str, list[Program]]:
    processes = ScriptedProcesses(*ends)
    tool = spec("grep", "{{tool.answers.never}}", formatter=command)
    try:
        text = await LocalExecutor(processes).format_arguments(run_of(tool, sure=True))
    except FormatFailed as error:
        text = f"failed: {error}"
    return text, processes.programs


async def test_what_a_formatter_is_told() -> None:
    text, (program,) = await format_with(Command("show", ("{{tool}}", "{{context}}")), printed("a: 1\n"))
    assert text == "a: 1\n"
    assert [json.loads(word) for word in program.arguments[1:]] == [
        {"name": "rg", "arguments": {"path": "a b.txt"}},
        {"action": "format_arguments", "root": "/work space"},
    ]
    assert (program.folder, program.timeout) == ("/work space", FORMATTER_TIMEOUT)


async def test_tools_of_servers_may_have_a_formatter_too() -> None:
    policy = ToolPolicy(formatter=Command("show", ("{{tool.name}}",)))
    tool = ToolSpec(ToolDefinition("grep", {}), McpSource("server", "their_grep"), policy)
    processes = ScriptedProcesses(printed("text"))
    assert await LocalExecutor(processes).format_arguments(run_of(tool)) == "text"
    assert processes.programs[0].arguments == ("show", "their_grep")


@pytest.mark.parametrize(
    ("end", "text"),
    [
        (printed('{"type":"success","content":"shown"}', code=1), "shown"),
        (printed(""), ""),
        (printed("out", "err\n", code=3), "failed: it ended with exit code 3: err"),
        (printed("out", code=3), "failed: it ended with exit code 3: out"),
        (printed(code=3), "failed: it ended with exit code 3"),
        (printed('{"type":"error","message":"no","trace":["a"],"transient":false}'), "failed: no\na"),
        (
            printed('{"type":"needs_input","question":{"id":"q","text":"t","answer_type":"Text"}}'),
            "failed: it asked a question, which only a tool may",
        ),
        (TimedOut(Output(), Output()), "failed: it timed out after 10 s"),
        (SpawnError("gone"), "failed: Failed to spawn command: show a b.txt"),
    ],
)
@pytest.mark.requirement("G59")
async def test_how_a_formatter_ends(end: ProcessEnd | SpawnError, text: str) -> None:
    """Trap 91: what it could not do is said, and the tool is not run."""
    assert (await format_with(Command("show", ("{{tool.arguments.path}}",)), end))[0] == text


async def test_a_formatter_with_a_wrong_template() -> None:
    text, programs = await format_with(Command("show", ("{{a.b}}",)))
    assert text == "failed: Template error: undefined value: `a` is undefined, in `{{a.b}}`"
    assert programs == []


async def test_a_tool_without_a_formatter_formats_nothing() -> None:
    with pytest.raises(match="there is none"):
        await LocalExecutor(ScriptedProcesses()).format_arguments(run_of(spec("grep")))

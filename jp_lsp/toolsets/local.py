"""Local tools: a command of the user's, run once for each pass of a call (config-and-tools 4.4).

The command learns what it needs through templates in its words, does its work in the workspace folder, and
answers on standard output. A question that it asks ends the pass; with the answer it is run again, from
scratch.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.ports.process import Exited, ProcessRunner, Program, SpawnError, TimedOut
from jp_lsp.ports.toolset import FormatFailed, RunObserver, ToolRun
from jp_lsp.tools.command_line import describe_cut_word
from jp_lsp.tools.limits import limit_text
from jp_lsp.tools.outcome import Failed, Succeeded, ToolOutcome, ToolQuestion
from jp_lsp.tools.spec import Command, LocalSource
from jp_lsp.toolsets.command_outcome import Content, Problem, Raw, head_text, read_result, to_outcome
from jp_lsp.toolsets.template import TemplateFailed, render_command

_log = logging.getLogger(__name__)

FORMATTER_TIMEOUT = 10.0
"""Seconds that a formatter may take: nothing goes on before it is done (trap 59)."""

FORMATTED_LIMIT = 256 * 1024

_QUOTED_COMMAND_SIZE = 4096
_QUOTED_OUTPUT_SIZE = 16 * 1024
_HIDDEN = "***"


class LocalExecutor:
    """Runs commands: `ports.toolset.ToolExecutor` for tools whose source is a `LocalSource`.

    Args:
        processes: runs programs.
    """

    def __init__(self, processes: ProcessRunner) -> None:
        self._processes = processes

    async def run(self, run: ToolRun, observer: RunObserver) -> ToolOutcome:
        """Do one pass. What goes wrong is a `Failed` outcome; being cancelled ends the command first."""
        tool, source = run.tool, _source_of(run)
        if tool.access_error is not None:
            return Failed(f"invalid access policy for tool '{tool.name}': {tool.access_error}")
        try:
            command = render_command(source.command, _run_context(run, run.answers))
        except TemplateFailed as error:
            return Failed(_describe_template_error(source.command, error))
        program = Program(
            command.arguments,
            run.root,
            f"tool {tool.name}",
            command.variables,
            tool.policy.timeout,
            text_limit=tool.policy.size_threshold,
            output_file=run.output_file,
        )
        try:
            end = await self._processes.run(program)
        except SpawnError as error:
            _log.warning("tool %s could not be started: %s", tool.name, error)
            return Failed(_describe_spawn_error(_words_to_show(run, source.command), error))
        if isinstance(end, TimedOut):
            return Failed(_describe_timeout(source.name, tool.policy.timeout, end))
        file = _existing(run.output_file)
        result = read_result(end, tool.policy.size_threshold, file)
        outcome = to_outcome(result, source.name)
        # What an object says is not what was printed, so it is not what the file holds.
        if isinstance(result, Raw) and isinstance(outcome, Succeeded | Failed):
            return replace(outcome, file=file)
        return outcome

    async def format_arguments(self, run: ToolRun) -> str:
        """Write the arguments of a call as its tool's formatter shows them.

        Raises:
            FormatFailed: the formatter did not do its work.
        """
        formatter = run.tool.policy.formatter
        if formatter is None:
            raise FormatFailed("there is none")
        try:
            command = render_command(formatter, _format_context(run))
        except TemplateFailed as error:
            raise FormatFailed(_describe_template_error(formatter, error)) from error
        program = Program(
            command.arguments,
            run.root,
            f"formatter of tool {run.tool.name}",
            command.variables,
            FORMATTER_TIMEOUT,
            FORMATTED_LIMIT,
        )
        try:
            end = await self._processes.run(program)
        except SpawnError as error:
            raise FormatFailed(_describe_spawn_error(command.arguments, error)) from error
        if isinstance(end, TimedOut):
            raise FormatFailed(f"it timed out after {FORMATTER_TIMEOUT:g} s")
        return _formatted(end)


def _existing(path: str | None) -> str | None:
    """Give the path if there is a file: output that is short, or a disk that refused, leaves none."""
    return path if path is not None and Path(path).exists() else None


def _formatted(end: Exited) -> str:
    result = read_result(end, FORMATTED_LIMIT)
    match result:
        case Content(text) | Raw(code=0, stdout=text):
            return text
        case Problem(message, trace):
            raise FormatFailed("\n".join([message, *trace]))
        case ToolQuestion():
            raise FormatFailed("it asked a question, which only a tool may")
        case Raw(code, stdout, stderr):
            said = limit_text((stderr or stdout).strip(), _QUOTED_OUTPUT_SIZE)
            raise FormatFailed(f"it ended with exit code {code}" + (f": {said}" if said else ""))
        case _:
            assert_never(result)


# ---------------------------------------------------------------------------------------------- contexts


def _run_context(run: ToolRun, answers: JsonObject) -> dict[str, JsonValue]:
    return {
        "tool": {
            "name": _source_of(run).name,
            "arguments": run.arguments,
            "answers": answers,
            "options": run.tool.options,
        },
        "context": {
            "action": "run",
            "root": run.root,
            "access": run.tool.access,
            "workspace_id": run.workspace_id,
            "conversation_id": run.conversation,
        },
    }


def _format_context(run: ToolRun) -> dict[str, JsonValue]:
    return {
        "tool": {"name": run.tool.source.name, "arguments": run.arguments},
        "context": {"action": "format_arguments", "root": run.root},
    }


def _source_of(run: ToolRun) -> LocalSource:
    assert isinstance(run.tool.source, LocalSource), f"{run.tool.name} is no local tool"
    return run.tool.source


# ----------------------------------------------------------------------------------------------- messages


def _describe_template_error(command: Command, error: TemplateFailed) -> str:
    cause = describe_cut_word(command)
    return f"Template error: {error}" + (f"\n\n{cause}" if cause else "")


def _words_to_show(run: ToolRun, command: Command) -> Sequence[str]:
    """Give the words of a command without the answers in them, one of which may be a password."""
    try:
        return render_command(command, _run_context(run, dict.fromkeys(run.answers, _HIDDEN))).arguments
    except TemplateFailed:
        return (command.program, *command.arguments)


def _describe_spawn_error(words: Sequence[str], error: SpawnError) -> str:
    text = " ".join(words)
    shown = limit_text(text, _QUOTED_COMMAND_SIZE)
    # The reference gives no reason. A model that wrote too long an argument would never guess it.
    return f"Failed to spawn command: {shown}" + (f"\n\n{error}" if shown != text else "")


def _describe_timeout(name: str, seconds: float, end: TimedOut) -> str:
    text = f"Tool '{name}' timed out after {seconds:g} s."
    if end.stdout.size:
        text += f"\n\nIts output until then:\n{head_text(end.stdout, _QUOTED_OUTPUT_SIZE)}"
    return text

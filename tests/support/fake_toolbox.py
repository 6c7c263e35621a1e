"""Tools that are functions of a test."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

import anyio

from jp_lsp.ports.mcp import McpServerConfig
from jp_lsp.ports.toolset import FormatFailed, LiveQuestions, RunObserver, ToolRun, Toolset
from jp_lsp.tools.definition import ToolDefinition
from jp_lsp.tools.outcome import NeedsInput, Succeeded, ToolOutcome, ToolQuestion
from jp_lsp.tools.spec import Command, LocalSource, ToolPolicy, ToolSpec

Work = Callable[[ToolRun], Awaitable[ToolOutcome]]


async def echo(run: ToolRun) -> ToolOutcome:
    """Give the arguments back."""
    return Succeeded(f"{run.tool.name} {dict(run.arguments)}")


def spec(name: str, **policy: object) -> ToolSpec:
    """A tool without parameters that asks before it runs, unless the policy says otherwise."""
    source = LocalSource(name, Command(name))
    return ToolSpec(ToolDefinition(name, {}), source, ToolPolicy(**policy))  # type: ignore[arg-type]


def asks(question: ToolQuestion, then: Callable[[object], str]) -> Work:
    """A tool that needs an answer."""

    async def work(run: ToolRun) -> ToolOutcome:
        if question.id not in run.answers:
            return NeedsInput(question)
        return Succeeded(then(run.answers[question.id]))

    return work


async def at_once() -> None:
    """Take no time."""


@dataclass(slots=True)
class FakeToolbox:
    """Runs what a test says; `echo` where it says nothing. Counts what runs at once.

    `starting` is what offering tools waits for, as it waits for servers.
    """

    work: dict[str, Work] = field(default_factory=lambda: {})
    formatted: dict[str, str] = field(default_factory=lambda: {})
    runs: list[ToolRun] = field(default_factory=lambda: [])
    cancelled: list[str] = field(default_factory=lambda: [])
    running: int = 0
    most: int = 0
    tools: Mapping[str, ToolSpec] = field(default_factory=lambda: {})
    dropped: Mapping[str, str] = field(default_factory=lambda: {})
    questions: LiveQuestions | None = None
    starting: Callable[[], Awaitable[object]] = at_once

    async def offer(
        self,
        specs: Sequence[ToolSpec],
        servers: Mapping[str, McpServerConfig],
        root: str,
        questions: LiveQuestions,
    ) -> Toolset:
        self.tools = {each.name: each for each in specs}
        self.questions = questions
        await self.starting()
        return self

    async def run(self, run: ToolRun, observer: RunObserver) -> ToolOutcome:
        self.runs.append(run)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            return await self.work.get(run.tool.name, echo)(run)
        except anyio.get_cancelled_exc_class():
            self.cancelled.append(run.call)
            raise
        finally:
            self.running -= 1

    async def format_arguments(self, run: ToolRun) -> str:
        if run.tool.name not in self.formatted:
            raise FormatFailed("exit code 1")
        return self.formatted[run.tool.name]

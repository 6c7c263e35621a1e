"""Runs a call of a tool that an MCP server has (config-and-tools 5.5, query pipeline 3.10)."""

import math
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Protocol, cast

import anyio
import anyio.to_thread

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.ports.mcp import McpError, McpServerConfig
from jp_lsp.ports.toolset import LiveQuestions, NoReply, Reply, RunObserver, ToolRun
from jp_lsp.tools.outcome import Failed, Succeeded, ToolQuestion
from jp_lsp.tools.spec import McpSource
from jp_lsp.toolsets.mcp.connection import Connection, SessionGoneError
from jp_lsp.toolsets.mcp.servers import McpServers
from jp_lsp.toolsets.mcp.session import Session

_VALIDATION = "jp_lsp.toolsets.mcp.validation"


class _ValidationModule(Protocol):
    def find_problems(self, schema: JsonObject, arguments: JsonObject) -> list[str]: ...


class McpExecutor:
    """`ports.toolset.ToolExecutor` for the servers of one query.

    Args:
        servers: the pool.
        configs: the servers that the query knows, by name.
        questions: whom a server's questions go to; without it they are declined.
    """

    def __init__(
        self,
        servers: McpServers,
        configs: Mapping[str, McpServerConfig],
        questions: LiveQuestions | None = None,
    ) -> None:
        self._servers = servers
        self._configs = configs
        self._questions = questions

    async def run(self, run: ToolRun, observer: RunObserver) -> Succeeded | Failed:
        """Do one pass. Cancelled, it returns at once and the server is told."""
        assert isinstance(run.tool.source, McpSource)
        problems = await _problems(run)
        if problems:
            listed = "\n".join(f"- {problem}" for problem in problems)
            return Failed(f"Invalid arguments; the tool did not run:\n{listed}")
        try:
            return await self._call(run, run.tool.source, observer)
        except McpError as error:
            return Failed(str(error))

    async def _call(self, run: ToolRun, source: McpSource, observer: RunObserver) -> Succeeded | Failed:
        config = self._configs.get(source.server)
        if config is None:
            raise McpError(f"Unknown MCP server: {source.server}")
        call = _Call(run, source.name, observer, self._questions)
        try:
            return await call.make(await self._servers.connect(config, run.root))
        except SessionGoneError:
            # A server that was restarted behind our back has not looked at the call.
            return await call.make(await self._servers.connect(config, run.root))


class _Call:
    """One call, with its time limit; the time that the user takes for an answer does not count.

    It is the `uses.Asker` of its own use.
    """

    def __init__(
        self, run: ToolRun, name: str, observer: RunObserver, questions: LiveQuestions | None
    ) -> None:
        self._run = run
        self._name = name
        self._observer = observer
        self._questions = questions
        self._scope = anyio.CancelScope()
        self._holds = 0
        self._seconds_left = math.inf

    async def make(self, connection: Connection) -> Succeeded | Failed:
        """Call the tool.

        Raises:
            McpError: it did not come to a result.
        """
        timeout = self._run.tool.policy.timeout
        with anyio.move_on_after(timeout or None) as self._scope:
            return await connection.use(self._call_tool, self if self._questions else None)
        return Failed(f"Tool '{self._run.tool.name}' timed out after {timeout:g} s.")

    async def _call_tool(self, session: Session) -> Succeeded | Failed:
        arguments = _clean(self._run.arguments)
        assert isinstance(arguments, Mapping)
        return await session.call_tool(self._name, arguments, self._observer.progress)

    @contextmanager
    def hold_limit(self) -> Generator[None]:
        """Stop the clock while a question is open that may be this call's."""
        if self._holds == 0:
            self._seconds_left = self._scope.deadline - anyio.current_time()
            self._scope.deadline = math.inf
        self._holds += 1
        try:
            yield
        finally:
            self._holds -= 1
            if self._holds == 0:
                self._scope.deadline = anyio.current_time() + self._seconds_left

    async def ask(self, question: ToolQuestion) -> Reply | NoReply:
        """Put a question of the server to the user."""
        assert self._questions is not None
        reply = await self._questions.ask(self._run, question)
        return Reply(_clean(reply.value)) if isinstance(reply, Reply) else reply


async def _problems(run: ToolRun) -> list[str]:
    schema = run.tool.definition.schema
    if schema is None:
        return []
    module = cast("_ValidationModule", await anyio.to_thread.run_sync(import_module, _VALIDATION))
    return module.find_problems(schema, run.arguments)


def _clean(value: JsonValue) -> JsonValue:
    """Replace halves of surrogate pairs, which a model can write and nobody can send."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, Mapping):
        return {str(_clean(name)): _clean(child) for name, child in value.items()}
    if isinstance(value, Sequence):
        return [_clean(child) for child in value]
    return value

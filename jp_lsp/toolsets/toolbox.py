"""All tools of a workspace: each call goes to whoever runs tools of its source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from jp_lsp.ports.editor import EditorDocuments
from jp_lsp.ports.mcp import McpServerConfig
from jp_lsp.ports.toolset import LiveQuestions, RunObserver, ToolExecutor, ToolRun, Toolset
from jp_lsp.tools.outcome import ToolOutcome
from jp_lsp.tools.spec import BuiltinSource, LocalSource, McpSource, ToolSpec
from jp_lsp.toolsets.builtin import BuiltinExecutor
from jp_lsp.toolsets.local import LocalExecutor
from jp_lsp.toolsets.mcp.executor import McpExecutor
from jp_lsp.toolsets.mcp.servers import McpServers
from jp_lsp.toolsets.mcp.tools import McpTools


@dataclass(frozen=True, slots=True)
class WorkspaceToolbox:
    """`ports.toolset.Toolbox`.

    Attributes:
        commands: runs commands, and formatters of whatever tool.
        servers: the MCP servers, which are shared by all queries.
        editor: the documents of the client, for the tools that are part of this program.
    """

    commands: LocalExecutor
    servers: McpServers
    editor: EditorDocuments | None

    async def offer(
        self,
        specs: Sequence[ToolSpec],
        servers: Mapping[str, McpServerConfig],
        root: str,
        questions: LiveQuestions,
    ) -> Toolset:
        """Complete the tools of servers with what these say of them.

        Raises:
            Refusal: a server that is not optional does not start, or lacks a tool.
        """
        complete = await McpTools(self.servers, servers, root).complete(specs)
        return TurnTools(
            {spec.name: spec for spec in complete.specs},
            complete.dropped,
            self.commands,
            McpExecutor(self.servers, servers, questions),
            BuiltinExecutor(lambda run: complete.specs, self.editor),
        )


@dataclass(frozen=True, slots=True)
class TurnTools:
    """`ports.toolset.Toolset`."""

    tools: Mapping[str, ToolSpec]
    dropped: Mapping[str, str]
    commands: LocalExecutor
    mcp: ToolExecutor
    builtin: ToolExecutor

    async def run(self, run: ToolRun, observer: RunObserver) -> ToolOutcome:
        """Do one pass."""
        match run.tool.source:
            case LocalSource():
                return await self.commands.run(run, observer)
            case McpSource():
                return await self.mcp.run(run, observer)
            case BuiltinSource():
                return await self.builtin.run(run, observer)
            case _:
                assert_never(run.tool.source)

    async def format_arguments(self, run: ToolRun) -> str:
        """Let the tool's formatter write the arguments.

        Raises:
            FormatFailed: it could not.
        """
        return await self.commands.format_arguments(run)

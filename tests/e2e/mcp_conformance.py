"""Our MCP client as the protocol's own conformance suite wants it: `mcp_conformance.py SERVER_URL`.

`test_mcp_conformance` has the suite run it. The suite starts a server for each scenario, appends its address to
the command, and judges what the server saw. So this does what a turn does: it lists the tools, calls each with
arguments that fit, answers questions with their defaults, and reads the documents. Scenarios about OAuth cannot
pass: a server that wants a token is given the one of `bearer_token_env`.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio

sys.path.insert(0, str(Path(__file__).parents[2]))

from jp_lsp.conversation.ids import CallId, ConversationId
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.ports.mcp import HttpServer
from jp_lsp.ports.toolset import NoReply, Reply, ToolRun
from jp_lsp.tools.arguments import prepare_arguments
from jp_lsp.tools.definition import Parameter, ToolDefinition
from jp_lsp.tools.outcome import ToolQuestion
from jp_lsp.tools.spec import McpSource, ToolSpec
from jp_lsp.toolsets.mcp.executor import McpExecutor
from jp_lsp.toolsets.mcp.resources import ServerResources
from jp_lsp.toolsets.mcp.servers import McpServers
from jp_lsp.toolsets.mcp.tools import McpTools

SECONDS_PER_CALL = 30.0
SERVER = "suite"
ECHO, FOCUS = "json_schema_echo", "json_schema_2020_12_tool"
EXAMPLES: Mapping[str, JsonValue] = {
    "string": "x",
    "integer": 1,
    "number": 1.0,
    "boolean": True,
    "array": [],
    "object": {},
}


class Defaults:
    """A user who takes what is offered."""

    async def ask(self, run: ToolRun, question: ToolQuestion) -> Reply | NoReply:
        if question.default is not None:
            return Reply(question.default)
        match question.kind:
            case "boolean":
                return Reply(True)
            case "select":
                return Reply(question.options[0])
            case _:
                return Reply("")


class Log:
    """Writes progress where the suite shows it."""

    def progress(self, message: str | None, percentage: int | None) -> None:
        write(f"progress: {message} {percentage}")


def write(text: str) -> None:
    sys.stderr.write(text + "\n")


def example(parameter: Parameter) -> JsonValue:
    """Give a value that fits."""
    if parameter.default is not None:
        return parameter.default
    if parameter.enum:
        return parameter.enum[0]
    kind = parameter.type if isinstance(parameter.type, str) else next(iter(parameter.type or ("string",)))
    return EXAMPLES.get(kind, "x")


async def main(url: str) -> None:
    servers = McpServers(os.environ)
    config = HttpServer(SERVER, url, startup_timeout=100.0)
    root = str(Path.cwd())
    try:
        connection = await servers.connect(config, root)
        listed = await connection.use(lambda session: session.list_tools())
        specs = [ToolSpec(ToolDefinition(tool.name, {}), McpSource(SERVER, tool.name)) for tool in listed]
        complete = await McpTools(servers, {SERVER: config}, root).complete(specs)
        known = {spec.name: spec for spec in complete.specs}
        executor = McpExecutor(servers, {SERVER: config}, Defaults())
        for number, (name, arguments) in enumerate(calls(known)):
            call, conversation = CallId(str(number)), ConversationId("jp-c17960412258")
            prepared = prepare_arguments(known[name], arguments)
            run = ToolRun(call, known[name], prepared.arguments, {}, conversation, "suite", root)
            with anyio.move_on_after(SECONDS_PER_CALL):
                write(f"{name}: {await executor.run(run, Log())}")
        documents = ServerResources(servers, {SERVER: config}, root)
        for document in await documents.list_resources(SERVER):
            write(f"{document.uri}: {await documents.read_resource(SERVER, document.uri)}")
    finally:
        await servers.aclose()


def calls(known: Mapping[str, ToolSpec]) -> Sequence[tuple[str, Mapping[str, JsonValue]]]:
    """Give the calls that the suite asks for, else one of each tool."""
    context: Any = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    wanted = context.get("toolCalls")
    if wanted:
        return [(call["name"], call.get("arguments") or {}) for call in wanted]
    examples = {
        name: {key: example(parameter) for key, parameter in spec.definition.parameters.items()}
        for name, spec in known.items()
    }
    if ECHO in known and FOCUS in known:
        # This one wants to see what is left of a schema on its way to a model.
        examples[ECHO]["schema"] = known[FOCUS].definition.schema
    return list(examples.items())


anyio.run(main, sys.argv[-1])

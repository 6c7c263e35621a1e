"""`jp-lsp conversations`, `models` and `config`: one request to a server, and its answer for people.

The terminal is a client like any editor, so what it shows is what editors are told.
"""

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.protocol.configuration import (
    ConfigExplainResult,
    ConfigGetResult,
    ConfigListResult,
    ConfigSetResult,
)
from jp_lsp.protocol.conversation import ConversationListResult
from jp_lsp.protocol.model import ModelListResult
from jp_lsp.protocol.reading import InvalidParams, read
from jp_lsp.terminal.connection import METHOD_NOT_FOUND, Connection, RequestError, RequestId
from jp_lsp.terminal.framing import WireBroken
from jp_lsp.terminal.looked_up import (
    config_files,
    config_outcomes,
    config_values,
    conversations,
    explanations,
    models,
)
from jp_lsp.terminal.server_process import ServerGone, ServerProcess
from jp_lsp.terminal.session import Client
from jp_lsp.terminal.words import plain

ANSWER_WITHIN = 60.0
"""Seconds; vendors have five of them."""

_END_WITHIN = 5.0

_Result = TypeVar("_Result", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Lookup:
    """One request, and how its answer is shown."""

    method: str
    params: JsonObject
    show: Callable[[JsonObject], Sequence[str]]


def conversation_lookup(params: JsonObject) -> Lookup:
    """Look conversations up."""
    return _lookup("jp/conversation/list", params, ConversationListResult, conversations)


def model_lookup(params: JsonObject) -> Lookup:
    """Look models up."""
    return _lookup("jp/model/list", params, ModelListResult, models)


def config_lookup(what: str, params: JsonObject) -> Lookup:
    """Look settings up, or change them; `what` is `explain`, `get`, `list` or `set`."""
    match what:
        case "explain":
            return _lookup("jp/config/explain", params, ConfigExplainResult, explanations)
        case "get":
            return _lookup("jp/config/get", params, ConfigGetResult, config_values)
        case "set":
            return _lookup("jp/config/set", params, ConfigSetResult, config_outcomes)
        case _:
            return _lookup("jp/config/list", {}, ConfigListResult, config_files)


def _lookup(
    method: str, params: JsonObject, model: type[_Result], show: Callable[[_Result], Sequence[str]]
) -> Lookup:
    return Lookup(method, params, lambda answer: show(read(model, answer, method)))


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where the command runs, and the server that it starts."""

    version: str
    folder: Path
    environ: Mapping[str, str]
    server: Sequence[str]


def run(lookup: Lookup, around: Surroundings, *, as_json: bool) -> tuple[list[str], int]:
    """Ask, and give the lines to print with the exit code; of a failure they are for standard error."""
    try:
        answer = asyncio.run(_ask(lookup, around))
        lines = [json.dumps(answer, ensure_ascii=False)] if as_json else list(lookup.show(answer))
    except RequestError as error:
        return [f"error: {plain(str(error))}"], 1
    except (ServerGone, WireBroken, InvalidParams, TimeoutError) as error:
        return [f"error: {str(error) or 'the server did not answer'}"], 1
    return [plain(line) for line in lines], 0


async def _ask(lookup: Lookup, around: Surroundings) -> JsonObject:
    server = await ServerProcess.start(around.server, around.folder, around.environ)
    listener = _Listener()
    connection = listener.connection = Connection(server.send, listener)
    reading = asyncio.ensure_future(_read(server, connection))
    try:
        async with asyncio.timeout(ANSWER_WITHIN):
            client = Client(around.version, around.folder, os.getpid())
            await connection.request("initialize", client.initialize_params(can_ask=False)).answer
            connection.notify("initialized", {})
            answer = await connection.request(lookup.method, lookup.params).answer
    finally:
        with suppress(RequestError, ServerGone, WireBroken, TimeoutError):
            async with asyncio.timeout(_END_WITHIN):
                await connection.request("shutdown", {}).answer
            connection.notify("exit", {})
        await server.end(_END_WITHIN)
        await reading
    return answer if isinstance(answer, Mapping) else {}


async def _read(server: ServerProcess, connection: Connection) -> None:
    try:
        while data := await server.read():
            connection.receive(data)
    except WireBroken as problem:
        connection.end(problem)
    else:
        connection.end(ServerGone("The server ended before it had answered."))


class _Listener:
    """Hears notices, and has no answers: nobody looks something up to be asked."""

    connection: Connection | None = None

    def on_request(self, request_id: RequestId, method: str, params: JsonObject) -> None:
        """See `Listener`."""
        if self.connection is not None:
            self.connection.refuse(request_id, METHOD_NOT_FOUND, f"nobody is here to answer {method}")

    def on_notification(self, method: str, params: JsonObject) -> None:
        """See `Listener`."""

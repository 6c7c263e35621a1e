"""Calls the features of pygls: typed parameters, and handlers of every kind that pygls knows.

A built-in feature of pygls is a generator that yields the user's handler to be called. It is run here as far
as it goes without waiting, so that synchronous handlers of document notifications keep the order of the
messages (trap 61), and as one task from the first wait on, so that a cancellation reaches what it waits for.
"""

import asyncio
import inspect
import logging
import re
from collections.abc import Awaitable, Callable, Generator, Mapping
from functools import partial
from typing import Any, cast

import cattrs
from pygls.constants import ATTR_EXECUTE_IN_THREAD
from pygls.exceptions import JsonRpcException
from pygls.feature_manager import FeatureManager
from pygls.lsp.server import LanguageServer

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.server.message import as_object
from jp_lsp.server.wire_error import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    REQUEST_CANCELLED,
    WireError,
    edge_error,
    invalid_params,
    new_trace,
)

_log = logging.getLogger(__name__)

_CAPABILITY_GROUP = re.compile(r"^params\.capabilities\.(\w+)")


def find_feature(features: FeatureManager, method: str) -> Callable[..., Any] | None:
    """Find who handles a method; a built-in feature calls the user's handler itself."""
    built_in: dict[str, Callable[..., Any]] = cast(Any, features).builtin_features
    return built_in.get(method) or find_user_feature(features, method)


def find_user_feature(features: FeatureManager, method: str) -> Callable[..., Any] | None:
    """Find the handler that was registered with `server.feature`."""
    registered: dict[str, Callable[..., Any]] = cast(Any, features).features
    return registered.get(method)


def announced_commands(features: FeatureManager) -> dict[str, Callable[..., Any]]:
    """Give the commands by name, as they are announced to the client and may be added to."""
    commands: dict[str, Callable[..., Any]] = cast(Any, features).commands
    return commands


def structure_params(converter: cattrs.Converter, method: str, whole: JsonObject, message_type: Any) -> Any:
    """Make the typed parameters of a standard message.

    Raises:
        WireError: -32602, naming each field that does not fit.
    """
    try:
        return converter.structure(whole, message_type).params
    except Exception as error:  # the hooks of a converter raise what they like
        raise invalid_params(method, structure_problems(error)) from None


def structure_initialize(converter: cattrs.Converter, whole: JsonObject, message_type: Any) -> Any:
    """Make the typed parameters of `initialize`, from a client that may be newer than we are.

    A group of capabilities that cannot be read is left out, because a client that cannot be initialized is
    not served at all.

    Raises:
        WireError: -32602, something else does not fit.
    """
    try:
        return structure_params(converter, "initialize", whole, message_type)
    except WireError as error:
        fewer = _without_unreadable_capabilities(whole, error)
        if fewer is None:
            raise
    return structure_initialize(converter, fewer, message_type)


def structure_problems(error: Exception) -> list[str]:
    """Say what did not fit and where, in the wire's own spelling of names."""
    problems: list[str] = []
    for problem in cattrs.transform_error(error, path=""):
        what, _, place = problem.partition(" @ ")
        path = re.sub(r"_([a-z])", lambda found: found[1].upper(), place).removeprefix(".")
        problems.append(f"{path or 'params'}: {what}")
    return problems


def to_wire_error(error: BaseException) -> WireError:
    """Decide what a request is answered with when its handler raised; the one place where that is logged."""
    match error:
        case WireError():
            return error
        case asyncio.CancelledError():
            return edge_error(REQUEST_CANCELLED, "the request was cancelled")
        case JsonRpcException() if error.code in {INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND}:
            return edge_error(error.code, error.message)
        case _:
            trace = new_trace()
            _log.error("internal error, trace %s", trace, exc_info=error)
            message = f"Internal error; the server's log has the details under {trace}"
            return edge_error(INTERNAL_ERROR, message, trace=trace)


def call_feature(server: LanguageServer, handler: Callable[..., Any], *args: Any) -> object:
    """Call a feature's handler; gives its result, or an awaitable of it."""
    return _start(server, handler, args, {})


def _start(
    server: LanguageServer, handler: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> object:
    if getattr(handler, ATTR_EXECUTE_IN_THREAD, False):
        return asyncio.get_running_loop().run_in_executor(
            server.thread_pool, partial(handler, *args, **kwargs)
        )
    result = handler(*args, **kwargs)
    if inspect.isgenerator(result):
        return _advance(server, cast("Generator[Any, Any, Any]", result), None)
    return result


def _advance(server: LanguageServer, steps: Generator[Any, Any, Any], value: object) -> object:
    try:
        while True:
            handler, args, kwargs = steps.send(value)
            value = _start(server, handler, tuple(args or ()), kwargs or {})
            if inspect.isawaitable(value):
                return _advance_later(server, steps, value)
    except StopIteration as stop:
        return stop.value
    finally:
        if not inspect.isawaitable(value):
            steps.close()  # a failed handler ends the feature, whose own clean-up must not be forgotten


async def _advance_later(
    server: LanguageServer, steps: Generator[Any, Any, Any], waited_for: Awaitable[object]
) -> object:
    try:
        value = await waited_for
    except BaseException:
        steps.close()
        raise
    result = _advance(server, steps, value)
    return await result if inspect.isawaitable(result) else result


def _without_unreadable_capabilities(whole: JsonObject, error: WireError) -> JsonObject | None:
    """Leave the unreadable groups of capabilities out; `None` when they are not what is wrong."""
    problems = cast("dict[str, list[str]]", error.data)["chain"]
    groups = [found[1] for problem in problems if (found := _CAPABILITY_GROUP.match(problem))]
    params = as_object(whole.get("params")) or {}
    capabilities = as_object(params.get("capabilities")) or {}
    kept = {name: value for name, value in capabilities.items() if name not in groups}
    if len(kept) == len(capabilities):
        return None
    _log.warning("ignored capabilities of the client that cannot be read: %s", ", ".join(groups))
    return {**whole, "params": {**params, "capabilities": kept}}

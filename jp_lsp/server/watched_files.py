"""Asks the client to tell us of changed files, where it can (`workspace/didChangeWatchedFiles`)."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.server.wire import JpProtocol
from jp_lsp.server.wire_error import ClientAnswerError

_REGISTRATION = "jp-conversations"
_PATTERN = "conversations/**"

_log = logging.getLogger(__name__)


def can_watch(capabilities: JsonObject) -> bool:
    """Tell whether a client watches files for servers that ask."""
    return _watching(capabilities).get("dynamicRegistration") is True


async def watch_conversations(protocol: JpProtocol, capabilities: JsonObject, places: Sequence[str]) -> bool:
    """Ask to be told of changes of conversations.

    Args:
        protocol: the way to the client.
        capabilities: what it can do.
        places: the paths of the folders that hold a folder `conversations`.

    Returns:
        Whether it will.
    """
    is_relative = _watching(capabilities).get("relativePatternSupport") is True
    watchers: list[JsonValue] = [
        {"globPattern": _pattern(place, is_relative=is_relative)} for place in places
    ]
    registration: JsonObject = {
        "id": _REGISTRATION,
        "method": "workspace/didChangeWatchedFiles",
        "registerOptions": {"watchers": watchers},
    }
    try:
        await protocol.send_request_raw("client/registerCapability", {"registrations": [registration]})
    except ClientAnswerError as refusal:
        _log.info("the client does not watch files for us: %s", refusal)
        return False
    return True


def _pattern(place: str, *, is_relative: bool) -> JsonValue:
    path = Path(place)
    return {"baseUri": path.as_uri(), "pattern": _PATTERN} if is_relative else f"{path.as_posix()}/{_PATTERN}"


def _watching(capabilities: JsonObject) -> JsonObject:
    workspace = capabilities.get("workspace")
    watching = workspace.get("didChangeWatchedFiles") if isinstance(workspace, Mapping) else None
    return watching if isinstance(watching, Mapping) else {}

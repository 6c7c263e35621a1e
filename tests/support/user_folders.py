"""A pretended user: home, workspace, data and configuration in a scratch folder, and nothing of the real one.

A server that is started with `environment` finds no key, no setting and no conversation of whoever runs the
tests, and leaves nothing behind outside the scratch folder.
"""

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jp_lsp.workspace.paths import FIRST_RUN
from tests.support.wire_process import ROOT

_KEPT = ("PATH", "SYSTEMROOT", "LANG", "LC_ALL", "TMPDIR", "PYTHONDEVMODE")
"""What a process needs of the real environment."""

_PATIENCE = 30.0

Json = dict[str, Any]


class UserFolders:
    """The folders of one user with one workspace.

    Args:
        folder: an empty folder.
        vendor_url: where the model answers; the configuration names it in the user's own file.
    """

    def __init__(self, folder: Path, vendor_url: str | None = None) -> None:
        self.home = folder / "home"
        self.workspace = folder / "workspace"
        self.data = folder / "data"
        self.config = folder / "config"
        for made in (self.home, self.workspace / ".jp", self.data, self.config):
            made.mkdir(parents=True)
        if vendor_url is not None:
            self.configure(vendor_url)

    def configure(self, vendor_url: str, *, makes_titles: bool = False, **request: int) -> None:
        """Write the user's configuration; `request` are keys of `assistant.request`.

        Titles are off unless a test is about them, so that the vendor is asked only what a test asks.
        """
        lines = [
            "[conversation.title.generate]",
            f"auto = {str(makes_titles).lower()}",
            "[assistant.model]",
            'id = "llamacpp/tiny"',
            "[assistant.request]",
            *(f"{key} = {value}" for key, value in {"base_backoff_ms": 1, **request}.items()),
            "[providers.llm.llamacpp]",
            f'base_url = "{vendor_url}"',
        ]
        (self.config / "config.toml").write_text("\n".join([*lines, ""]), encoding="utf-8")

    def write(self, name: str, text: str) -> Path:
        """Write a file of the workspace."""
        path = self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def environment(self, **extra: str) -> dict[str, str]:
        """The environment of a server that belongs to this user."""
        return {
            **{name: os.environ[name] for name in _KEPT if name in os.environ},
            "PYTHONPATH": str(ROOT),
            "HOME": str(self.home),
            "USERPROFILE": str(self.home),
            "JP_USER_DATA_DIR": str(self.data),
            "JP_GLOBAL_CONFIG_DIR": str(self.config),
            **extra,
        }

    @property
    def conversations(self) -> Path:
        """Where the user's own copies of the conversations are."""
        (silo,) = (self.data / "workspace").iterdir()
        return silo / "conversations"

    def folder_of(self, conversation: str) -> Path:
        """The folder of a conversation; its name may have a title behind the number."""
        number = conversation.removeprefix("jp-c")
        (folder,) = (each for each in self.conversations.iterdir() if each.name.split("-")[0] == number)
        return folder

    def events(self, conversation: str) -> list[Json]:
        """What is stored of a conversation, checked to be the same in both places."""
        path = self.folder_of(conversation) / "events.json"
        text = path.read_text(encoding="utf-8")
        copy = self.workspace / ".jp" / "conversations" / path.parent.name / "events.json"
        assert copy.read_text(encoding="utf-8") == text
        return json.loads(text)  # type: ignore[no-any-return]

    async def wait_for_copies(self) -> None:
        """Wait until the first opening of the workspace has copied its conversations."""
        async with asyncio.timeout(_PATIENCE):
            while (self.conversations.parent / FIRST_RUN).exists():
                await asyncio.sleep(0.02)

    def story(self, conversation: str) -> list[str]:
        """The stored events as short lines."""
        return [short(event) for event in self.events(conversation)]

    async def wait_for_story(self, conversation: str, is_there: Callable[[list[str]], bool]) -> list[str]:
        """Wait until what is on disk is as wanted; half a save is never seen, but one of two copies may be."""
        story: list[str] = []
        async with asyncio.timeout(_PATIENCE):
            while not story or not is_there(story):
                await asyncio.sleep(0.02)
                path = self.folder_of(conversation) / "events.json"
                story = [short(event) for event in json.loads(path.read_text(encoding="utf-8"))]
        return story

    def is_locked(self, conversation: str) -> bool:
        """Whether a lock of the conversation is left."""
        (silo,) = (self.data / "workspace").iterdir()
        return any(conversation in path.name for path in silo.rglob("*.lock"))


def short(event: Json) -> str:
    """One stored event as a short line."""
    match event:
        case {"type": "turn_start"}:
            return "turn"
        case {"type": "chat_request", "content": content}:
            return f"user: {content}"
        case {"type": "chat_response", "message": text}:
            return f"message: {text}"
        case {"type": "chat_response", "reasoning": text}:
            return f"reasoning: {text}"
        case {"type": "tool_call_request", "id": call_id, "name": name}:
            return f"call {call_id}: {name}"
        case {"type": "tool_call_response", "id": call_id, "is_error": is_error}:
            return f"{'error' if is_error else 'result'} {call_id}"
        case {"type": kind}:
            return str(kind)
        case _:
            return repr(event)

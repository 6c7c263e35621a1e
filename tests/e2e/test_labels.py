"""Labels that new conversations and forks are given, as they end up on disk."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.jp_client import Json, result_of
from tests.support.jp_server import JpServer, initialized_server
from tests.support.screen import Screen
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

STOCK: Json = {"window": {"showMessage": {"messageActionItem": {"additionalPropertiesSupport": True}}}}


def configure(path: Path, labels: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(f"[conversation.labels]\n{labels}\n")


def labels_of(user: UserFolders, conversation: str) -> Any:
    metadata = json.loads((user.folder_of(conversation) / "metadata.json").read_text(encoding="utf-8"))
    return metadata.get("labels", {})


def screen_of(server: JpServer) -> Screen:
    screen = Screen()
    server.client.answers["window/showMessageRequest"] = screen.show
    return screen


@pytest.mark.requirement("R281")
async def test_new_conversations_and_forks_are_labelled(own_user: UserFolders, vendor: ChatVendor) -> None:
    configure(
        own_user.config / "config.toml",
        "team = 'core'\n"
        "folder = { value = { cmd = 'basename .jp' }, run = 'unattended' }\n"
        "broken = { value = { cmd = 'false' }, run = 'unattended' }\n"
        "copy = { value = 'yes', apply_on = { new = false, fork = true } }",
    )
    vendor.will_answer(*[answer("ok")] * 3)
    async with initialized_server(own_user) as server:
        first = (await server.client.query("one", "t", conversation="new"))["conversation"]
        assert labels_of(own_user, first) == {"folder": ".jp", "team": "core"}
        notices = [each["text"] for each in server.client.chunks("t") if each["type"] == "notice"]
        assert "Label broken is left out: its command `false` ended with code 1." in notices
        fork = (await server.client.query("two", "u", fork={"from": first}))["conversation"]
        assert labels_of(own_user, fork) == {"copy": "yes", "folder": ".jp", "team": "core"}
        configure(own_user.workspace / ".jp" / "config.toml", "late = 'x'")
        await server.client.query("three", "v", conversation=first)
        assert labels_of(own_user, first) == {"folder": ".jp", "team": "core"}


async def test_a_command_that_is_asked_about(own_user: UserFolders, vendor: ChatVendor) -> None:
    configure(own_user.config / "config.toml", "folder = { value = { cmd = 'basename .jp' } }")
    vendor.will_answer(answer("ok"), answer("ok"))
    async with initialized_server(own_user, capabilities=STOCK) as server:
        screen = screen_of(server)
        labels: list[Any] = []
        for button in ("Don't run", "Run"):
            _, future = server.client.start_query("hi", button, conversation="new")
            question = await screen.next_question()
            assert question.params["message"] == "Run the command of label folder? basename .jp"
            question.answer({"title": button})
            labels.append(labels_of(own_user, (await result_of(future))["conversation"]))
        assert labels == [{}, {"folder": ".jp"}]
        asked = {"text": "hi", "conversation": "new", "interactive": False}
        fault = await server.client.refusal("jp/query", asked)
        assert fault.data["code"] == "config_invalid"
        assert fault.message.startswith(
            "The command of label `folder` must be asked about, and nobody can be"
        )


@pytest.mark.requirement("R306")
async def test_a_command_of_the_workspace_waits_for_trust(own_user: UserFolders, vendor: ChatVendor) -> None:
    configure(
        own_user.workspace / ".jp" / "config.toml",
        "harm = { value = { cmd = 'touch harmed' }, run = 'unattended' }\nteam = 'core'",
    )
    vendor.will_answer(answer("ok"), answer("ok"))
    async with initialized_server(own_user, capabilities=STOCK) as server:
        screen = screen_of(server)
        labels: list[Any] = []
        for button in ("Don't trust", "Trust"):
            _, future = server.client.start_query("hi", button, conversation="new")
            question = await screen.next_question()
            assert "1 label command" in question.params["message"]
            question.answer(None if button == "Don't trust" else {"title": button})
            labels.append(labels_of(own_user, (await result_of(future))["conversation"]))
            assert (own_user.workspace / "harmed").exists() == (button == "Trust")
        assert labels == [{"team": "core"}, {"harm": "", "team": "core"}]


@pytest.mark.requirement("R281")
async def test_conversations_that_are_made_without_a_query(own_user: UserFolders) -> None:
    """Nobody is asked then, so a command that must be asked about gives no label."""
    configure(
        own_user.config / "config.toml",
        "team = 'core'\n"
        "folder = { value = { cmd = 'basename .jp' }, run = 'unattended' }\n"
        "asked = { value = { cmd = 'basename .jp' } }\n"
        "copy = { value = 'yes', apply_on = { new = false, fork = true } }",
    )
    configure(
        own_user.workspace / ".jp" / "config.toml",
        "harm = { value = { cmd = 'touch x' }, run = 'unattended' }",
    )
    async with initialized_server(own_user) as server:
        made = await server.client.request(
            "jp/conversation/new",
            {"labels": [{"key": "mine", "value": "1"}, {"key": "team", "value": "edge"}]},
        )
        first = made["conversation"]
        assert labels_of(own_user, first) == {"folder": ".jp", "mine": "1", "team": "edge"}
        copied = await server.client.request("jp/conversation/fork", {"conversation": first})
        fork = copied["conversation"]
        assert labels_of(own_user, fork) == {"copy": "yes", "folder": ".jp", "mine": "1", "team": "edge"}
        assert not (own_user.workspace / "x").exists()

"""A new turn in each conversation of a real workspace: what was there before stays to the byte, in both places."""

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from jp_lsp.conversation.ids import ConversationId, counting_event_ids, created_at
from jp_lsp.conversation.sanitize import sanitize
from jp_lsp.conversation.stored import load
from tests.support.chat_vendor import ChatVendor, answer
from tests.support.jp_client import JpClient
from tests.support.jp_server import opened_workspace
from tests.support.shared import LIVE_CONVERSATIONS, copy_real_workspace
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e, pytest.mark.shared]


@pytest.fixture(scope="module")
def asking_user(tmp_path_factory: pytest.TempPathFactory, shared_vendor: ChatVendor) -> UserFolders:
    """A user who has a model, and whose workspace is a copy of a real one."""
    user = UserFolders(tmp_path_factory.mktemp("asking"), shared_vendor.url)
    copy_real_workspace(user.workspace)
    return user


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def asking_client(asking_user: UserFolders) -> AsyncIterator[JpClient]:
    async with opened_workspace(asking_user) as server:
        yield server.client


def repaired(user: UserFolders, conversation: str) -> str:
    """The text of the conversation as its repair alone would leave it, without the end of the array."""
    folder = user.folder_of(conversation)
    base = folder / "base_config.json"
    stream = load(
        (folder / "events.json").read_text(encoding="utf-8"),
        base.read_text(encoding="utf-8") if base.is_file() else None,
        created_at=created_at(ConversationId(conversation)),
        mint=counting_event_ids(),
    )
    sanitize(stream)
    return stream.events_text().removesuffix("\n]\n")


@pytest.mark.requirement("R219", "R311", "C54")
@pytest.mark.parametrize("conversation", LIVE_CONVERSATIONS)
async def test_a_turn_goes_behind_all_that_was_said(
    asking_client: JpClient, asking_user: UserFolders, vendor: ChatVendor, conversation: str
) -> None:
    before = repaired(asking_user, conversation)
    vendor.will_answer(answer("Here it is."), to="one more thing")
    config = ["assistant.model.id=llamacpp/tiny", f"providers.llm.llamacpp.base_url={vendor.url}"]
    result = await asking_client.query(
        "one more thing", conversation, conversation=conversation, config=config, tools=[{"enable": False}]
    )
    assert (result["outcome"], result["text"]) == ("completed", "Here it is.")
    texts = {
        (root / asking_user.folder_of(conversation).name / "events.json").read_text(encoding="utf-8")
        for root in (asking_user.conversations, asking_user.workspace / ".jp" / "conversations")
    }
    (text,) = texts
    assert text.startswith(before + ",\n  {\n")
    added = json.loads(text)[len(json.loads(before + "\n]")) :]
    assert [each["type"] for each in added] == [
        "config_delta",
        "turn_start",
        "chat_request",
        "chat_response",
    ]

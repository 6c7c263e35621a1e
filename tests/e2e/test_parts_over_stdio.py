"""Parts of a conversation over the wire: copies of a time, views that compactions leave, a turn asked again."""

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.jp_client import JpClient, Json
from tests.support.jp_server import JpServer, opened_workspace
from tests.support.streams import Raw, at, compaction, message, turn, user
from tests.support.user_folders import UserFolders
from tests.support.workspaces import fill

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

ID = "jp-c17912345678"
WORDS = ("one", "two", "three", "four", "five", "six", "seven")
STREAM: tuple[Raw, ...] = (
    *(
        entry
        for number, word in enumerate(WORDS)
        for entry in (
            turn(60 * number),
            user(word, 60 * number),
            message(f"re: {word}", 60 * number + 30),
        )
    ),
    compaction(1, 4, 500, summary={"summary": "Two to five in short."}),
)


@pytest_asyncio.fixture(loop_scope="session")
async def own_server(own_user: UserFolders) -> AsyncIterator[JpServer]:
    fill(own_user.workspace / ".jp", ID[4:], *STREAM)
    async with opened_workspace(own_user) as server:
        yield server


@pytest.fixture
def editor(own_server: JpServer) -> JpClient:
    return own_server.client


async def do(client: JpClient, verb: str, **params: object) -> Json:
    return await client.request(f"jp/conversation/{verb}", {"conversation": ID, **params})  # type: ignore[no-any-return]


def moment(second: int) -> str:
    return at(second).rfc3339()


@pytest.mark.requirement("R281")
@pytest.mark.parametrize(
    ("params", "kept", "compactions"),
    [
        ({}, "one two three four five six seven", 1),
        ({"until": moment(120)}, "one two", 0),
        ({"since": moment(120)}, "three four five six seven", 0),
        ({"since": moment(120), "until": moment(240)}, "three four", 0),
        ({"since": "9000w"}, None, 0),
        ({"since": "5000w"}, "one two three four five six seven", 1),
        ({"until": moment(361)}, "one two three four five six seven*", 1),
        ({"since": moment(60), "lastTurns": 1, "firstTurns": 1}, "two seven", 0),
        ({"firstTurns": 3}, "one two three", 0),
        ({"until": "0"}, "one two three four five six seven", 1),
        ({"since": "0"}, "", 0),
    ],
)
async def test_a_copy_of_what_was_said_within_a_time(
    editor: JpClient, own_user: UserFolders, params: Json, kept: str | None, compactions: int
) -> None:
    if kept is None:
        fault = await editor.refusal("jp/conversation/fork", {"conversation": ID, **params})
        assert "`since` must be" in fault.message
        return
    copy = (await do(editor, "fork", **params))["conversation"]
    folder = own_user.folder_of(copy)
    entries = json.loads((folder / "events.json").read_text(encoding="utf-8"))
    story = [entry["content"] for entry in entries if entry["type"] == "chat_request"]
    answers = [entry["message"] for entry in entries if entry["type"] == "chat_response"]
    words = kept.removesuffix("*").split()
    assert story == words
    assert answers == [f"re: {word}" for word in (words[:-1] if kept.endswith("*") else words)]
    assert sum(entry["type"] == "compaction" for entry in entries) == compactions
    path = own_user.folder_of(ID) / "events.json"
    assert json.loads(path.read_text(encoding="utf-8")) == list(STREAM)


@pytest.mark.requirement("F35", "R281")
async def test_a_compacted_view_keeps_the_numbers_of_turns(editor: JpClient) -> None:
    """Seven turns, turns 2 to 5 summed up; turn 6 is the raw sixth turn in every view."""
    whole = (await do(editor, "render", compacted=True))["md"]
    for text in ("turn 1,", "turns 2-5,", "turn 6,", "turn 7,", "Two to five in short."):
        assert text in whole
    assert "re: three" not in whole
    raw = (await do(editor, "render"))["md"]
    assert "re: three" in raw
    assert "Two to five in short." not in raw
    sixth = (await do(editor, "render", compacted=True, turns={"fromTurn": 6, "toTurn": 6}))["md"]
    assert sixth == (await do(editor, "render", turns={"fromTurn": 6, "toTurn": 6}))["md"]
    assert "re: six" in sixth
    third = await do(editor, "render", compacted=True, turns={"fromTurn": 3, "toTurn": 3})
    assert (third["turns"], "Two to five in short." in third["md"]) == (1, True)
    last = await do(editor, "render", compacted=True, turns={"last": 2})
    assert last["turns"] == 2
    wrong = {"conversation": ID, "compacted": True, "turns": {"fromTurn": 8}}
    assert "there is no turn 8" in (await editor.refusal("jp/conversation/render", wrong)).message


@pytest.mark.requirement("R281")
async def test_a_compacted_export(editor: JpClient) -> None:
    exported = await do(editor, "export", compacted=True)
    assert exported["turns"] == 4
    assert "Two to five in short." in exported["text"]
    assert "re: three" not in exported["text"]
    view = json.loads((await do(editor, "export", compacted=True, format="json", turns={"last": 3}))["text"])
    assert [event.get("content") or event.get("message") for event in view["events"]] == [
        None,
        "[Summary of previous conversation]",
        "Two to five in short.",
        None,
        "six",
        "re: six",
        None,
        "seven",
        "re: seven",
    ]


@pytest.mark.requirement("R281", "R344")
async def test_a_turn_is_asked_again(editor: JpClient, own_user: UserFolders, vendor: ChatVendor) -> None:
    vendor.will_answer(answer("again"), answer("other"))
    result = await do(editor, "replay", partialResultToken="again")
    assert (result["outcome"], result["text"]) == ("completed", "again")
    assert editor.transcript("again").endswith("again")
    assert own_user.story(ID)[-3:] == ["turn", "user: seven", "message: again"]
    command = {
        "command": "jp.conversation.replay",
        "arguments": [{"conversation": ID, "turn": 6, "text": "sechs"}],
    }
    result = await editor.request("workspace/executeCommand", command)
    assert result["text"] == "other"
    story = own_user.story(ID)
    assert story[-3:] == ["turn", "user: sechs", "message: other"]
    assert "user: six" not in story
    assert "user: five" in story
    asked = [each["content"] for each in vendor.queries[-1]["messages"] if each["role"] == "user"]
    assert asked == ["one", "[Summary of previous conversation]", "sechs"]


async def test_what_cannot_be_asked_again(editor: JpClient) -> None:
    empty = await editor.request("jp/conversation/new", {})
    for params, problem in (
        ({"conversation": empty["conversation"]}, "so there is nothing to ask again"),
        ({"conversation": ID, "turn": 9}, "7 turns"),
        ({"conversation": "jp-c1"}, "There is no conversation jp-c1"),
    ):
        assert problem in (await editor.refusal("jp/conversation/replay", params)).message

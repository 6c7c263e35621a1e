"""Settings of the server, and options of a request, that a user can see the effect of."""

import os
from typing import Any

import pytest

from tests.e2e.test_tools import until_exists
from tests.support.chat_vendor import ChatVendor, answer
from tests.support.http_server import Hold
from tests.support.jp_client import result_of
from tests.support.jp_server import initialized_server
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]


def settings(**sections: dict[str, Any]) -> dict[str, Any]:
    return {"options": {"jp": sections}}


async def test_text_is_gathered_as_long_as_the_user_likes(own_user: UserFolders, vendor: ChatVendor) -> None:
    """With a minute to gather, the first paragraph is there at once, and all others come together."""
    paragraphs = [f"Paragraph {number}.\n\n" for number in range(5)]
    held = Hold()
    vendor.will_answer(answer(*paragraphs[:3], held, *paragraphs[3:]))
    options = settings(render={"coalesce_ms": 60_000}, limits={"record_events": True})
    async with initialized_server(own_user, **options) as server:
        _, future = server.client.start_query("go", "t")
        await server.client.wait_for_text("t", "Paragraph 0.")
        (recording,) = (own_user.data / "recordings").iterdir()
        await until_exists(recording, "Paragraph 2.")
        for _ in range(20):  # more than the time that text is gathered for otherwise
            await server.client.request("jp/turn/list", {})
        assert server.client.transcript("t").endswith("Paragraph 0.")
        held.open()
        await result_of(future)
        assert server.client.transcript("t").count("Paragraph") == 5


@pytest.mark.requirement("R288")
async def test_turns_are_shown_as_they_were_or_as_they_would_be_now(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    vendor.will_answer(answer("One."), answer("Two."))
    async with initialized_server(own_user) as server:
        first = await server.client.query("a", "t1", config=["assistant.name=Ada"])
        await server.client.query(
            "b", "t2", conversation=first["conversation"], config=["assistant.name=Bob"]
        )

        async def headers(**params: object) -> list[str]:
            asked = {"conversation": first["conversation"], **params}
            shown = await server.client.request("jp/conversation/render", asked)
            assert shown["notices"] == []
            return [line.split()[1] for line in shown["md"].splitlines() if line.startswith("## ")]

        assert await headers() == ["User", "Ada", "User", "Bob"]
        assert await headers(config="fixed") == ["User", "Bob", "User", "Bob"]
        assert await headers(turns={"fromTurn": 1, "toTurn": 1}) == ["User", "Ada"]


@pytest.mark.requirement("F30")
async def test_a_broken_conversation_is_told_beside_the_first_query_and_can_be_removed(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    vendor.will_answer(answer("One."), answer("Two."))
    async with initialized_server(own_user) as server:
        broken = (await server.client.query("a", "t"))["conversation"]
        assert await server.stop() == 0
    for place in (own_user.conversations, own_user.workspace / ".jp" / "conversations"):
        (folder,) = place.glob(f"{broken.removeprefix('jp-c')}*")
        (folder / "events.json").write_text("[{]", encoding="utf-8")
        for path in (*folder.iterdir(), folder):
            os.utime(path, (1_600_000_000, 1_600_000_000))
    capabilities = {"experimental": {"jp": {}}}
    async with initialized_server(own_user, capabilities=capabilities) as server:
        result = await server.client.query("b", "t", conversation="new")
        assert result["outcome"] == "completed"
        told = await server.client.wait_for(
            lambda: [
                notice["text"]
                for notice in server.client.received("jp/notice")
                if notice["code"] == "conversation_broken"
            ]
        )
        assert len(told) in {1, 2}
        assert f"{broken.removeprefix('jp-c')} is no usable conversation: events.json: " in told[0]
        assert told[0].endswith(f". Mend the file, or remove {broken}: that moves it to the trash.")
        await server.client.request("jp/conversation/remove", {"conversation": broken})
        listed = (await server.client.request("jp/conversation/list"))["conversations"]
        assert broken not in [each["conversation"] for each in listed]
    (kept,) = (own_user.conversations / ".trash").iterdir()
    assert (kept / "events.json").read_text(encoding="utf-8") == "[{]"


@pytest.mark.parametrize("plain", [True, False])
async def test_the_state_says_that_the_answer_arrives_while_its_first_words_are_held_back(
    own_user: UserFolders, vendor: ChatVendor, plain: bool
) -> None:
    held = Hold()
    vendor.will_answer(answer("The first **words", held, "** of a paragraph."))
    async with initialized_server(own_user) as server:
        _, future = server.client.start_query("go", "t", workDoneToken="work")
        if plain:
            await server.client.wait_for(
                lambda: [
                    value
                    for value in server.client.progress("work")
                    if value.get("message") == "receiving response data"
                ]
            )
        else:
            await server.client.wait_for_chunk(
                "t", "status", phase="streaming", detail="receiving response data"
            )
        assert "words" not in server.client.transcript("t")
        held.open()
        assert (await result_of(future))["text"] == "The first **words** of a paragraph."

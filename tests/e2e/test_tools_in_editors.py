"""Tools through editors that know nothing of us, as pytest-lsp emulates them: what each of them can do."""

import asyncio
import base64
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import pytest_asyncio

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.stock_client import StockClient
from tests.support.three_tools import call_of, forget_runs, give_tools, heard_from, let_end, times_begun
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

PATIENCE = 30.0


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory, shared_vendor: ChatVendor) -> UserFolders:
    user = UserFolders(tmp_path_factory.mktemp("user"), shared_vendor.url)
    give_tools(user)
    return user


@pytest.fixture(autouse=True)
def never_slept(user: UserFolders) -> Iterator[None]:
    forget_runs(user)
    yield
    let_end(user)


@pytest_asyncio.fixture(
    scope="module", loop_scope="session", params=["visual-studio-code", "neovim", "emacs"]
)
async def editor(request: pytest.FixtureRequest, user: UserFolders) -> AsyncIterator[StockClient]:
    client = StockClient(request.param)
    await client.begin(user)
    yield client
    await client.end()


def asking(editor: StockClient, vendor: ChatVendor, name: str, **arguments: str) -> "asyncio.Future[Any]":
    """Ask, and let the model call a tool and then be done."""
    vendor.will_answer(call_of(name, **arguments), answer("Done."))
    return asyncio.ensure_future(editor.ask("go", token_of(editor, name)))


def token_of(editor: StockClient, name: str) -> str:
    return f"{editor.kind}-{name}-{len(editor.values)}"


def opens_documents(editor: StockClient) -> bool:
    return editor.kind != "emacs"


def opened(editor: StockClient) -> Path:
    """The document that was opened last."""
    return Path(unquote(urlsplit(editor.shown_documents[-1].uri).path))


def stored(text: str) -> str:
    """An argument as it stands in a file."""
    return base64.b64encode(text.encode()).decode()


async def until_begun(user: UserFolders, times: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while times_begun(user) < times:
            await asyncio.sleep(0.02)


@pytest.mark.requirement("S2", "R276", "R340")
async def test_a_tool_runs_once_it_is_allowed(editor: StockClient, vendor: ChatVendor) -> None:
    running = asking(editor, vendor, "greet", who="Ada")
    question = await editor.question()
    assert question.params.message == "Run local tool greet?"
    assert question.titles[:2] == ["Skip", "Run"]
    question.press("Run")
    result = await running
    assert (result.outcome, result.text) == ("completed", "Done.")
    assert heard_from(vendor).strip() == "hello Ada"


@pytest.mark.requirement("S2", "R276")
async def test_a_tool_that_is_skipped_does_not_run(editor: StockClient, vendor: ChatVendor) -> None:
    running = asking(editor, vendor, "greet", who="Ada")
    (await editor.question()).press("Skip")
    assert (await running).outcome == "completed"
    assert heard_from(vendor) == "Tool skipped by user."


@pytest.mark.requirement("R276", "R334")
async def test_arguments_are_edited_in_a_document(
    editor: StockClient, vendor: ChatVendor, user: UserFolders
) -> None:
    """Where no document can be opened, editing is not offered (query pipeline 4.7 D)."""
    running = asking(editor, vendor, "greet", who="Ada")
    approval = await editor.question()
    if not opens_documents(editor):
        assert not any("dit" in title for title in approval.titles)
        approval.press("Run")
        await running
        return
    approval.press("Edit arguments...")
    beside = await editor.question()
    assert beside.titles == ["Keep editing", "Send", "Discard"]
    document = opened(editor)
    assert document.suffix == ".json"
    assert document.read_text(encoding="utf-8") == '{\n  "who": "Ada"\n}'
    document.write_text('{"who": }', encoding="utf-8")
    beside.press("Send")
    again = await editor.question()
    assert (
        again.params.message.startswith(f"{document.name} was not sent:") or "line 1" in again.params.message
    )
    assert document.exists()
    document.write_text('{"who": "Grace"}\n', encoding="utf-8")
    again.press("Send")
    result = await running
    assert result.outcome == "completed"
    assert "hello Grace" in heard_from(vendor)
    assert not document.exists()
    asked_for = user.events(result.conversation)[2]
    assert (asked_for["arguments"], asked_for["metadata"]["edited_arguments"]) == (
        {"who": stored("Ada")},
        {"who": stored("Grace")},
    )


@pytest.mark.requirement("R276", "R334")
async def test_a_tool_asks_for_a_text(editor: StockClient, vendor: ChatVendor, user: UserFolders) -> None:
    """Where no text can be asked for, it is as if nobody were there to ask (query pipeline 4.7 D)."""
    before = len(editor.asked)
    running = asking(editor, vendor, "paint")
    if not opens_documents(editor):
        result = await running
        assert len(editor.asked) == before
        assert user.story(result.conversation)[-2:] == ["error call-0", "message: Done."]
        return
    question = await editor.question()
    assert question.params.message.startswith("paint: Which colour?")
    assert opened(editor).name in question.params.message
    opened(editor).write_text("deep blue\n", encoding="utf-8")
    question.press("Send")
    result = await running
    assert heard_from(vendor).strip() == "painted deep blue"
    assert user.story(result.conversation)[3:5] == ["inquiry_request", "inquiry_response"]


@pytest.mark.requirement("R147", "S12")
async def test_a_running_tool_is_stopped_from_the_menu(
    editor: StockClient, vendor: ChatVendor, user: UserFolders
) -> None:
    vendor.will_answer(call_of("sleep"))
    running = asyncio.ensure_future(editor.ask("go", token := token_of(editor, "stop")))
    await until_begun(user, 1)
    report = await editor.call("jp/interrupt", {"turn": token})
    assert (report.handled, report.phase) == ("menu", "interrupted_tools")
    menu = await editor.question()
    assert menu.titles == ["Continue", "Stop and respond", "Restart", "Stop"]
    menu.press("Stop")
    result = await running
    assert (result.outcome, result.persisted) == ("stopped", True)
    assert sum(line.endswith(" call-0") for line in user.story(result.conversation)) == 1
    assert times_begun(user) == 1


@pytest.mark.requirement("R144")
async def test_a_running_tool_is_restarted_from_the_menu(
    editor: StockClient, vendor: ChatVendor, user: UserFolders
) -> None:
    vendor.will_answer(call_of("sleep"), answer("Done."))
    running = asyncio.ensure_future(editor.ask("go", token := token_of(editor, "restart")))
    await until_begun(user, 1)
    await editor.call("jp/interrupt", {"turn": token})
    (await editor.question()).press("Restart")
    await until_begun(user, 2)
    let_end(user)
    result = await running
    assert (result.outcome, result.text) == ("completed", "Done.")
    assert heard_from(vendor).strip() == "slept"
    assert times_begun(user) == 2

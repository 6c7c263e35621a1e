"""Whole queries through editors that know nothing of us, as pytest-lsp emulates them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import pytest_asyncio
from lsprotocol import types

from tests.support.chat_vendor import ChatVendor, answer, called, thought
from tests.support.http_server import Hold
from tests.support.jp_client import PATIENCE
from tests.support.stock_client import StockClient
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]


@pytest_asyncio.fixture(
    scope="module", loop_scope="session", params=["visual-studio-code", "neovim", "emacs"]
)
async def editor(request: pytest.FixtureRequest, user: UserFolders) -> AsyncIterator[StockClient]:
    client = StockClient(request.param)
    await client.begin(user)
    yield client
    await client.end()


class Held:
    """A query that is held in the middle of its answer, with its first paragraph on the screen."""

    def __init__(self, editor: StockClient, vendor: ChatVendor, token: str) -> None:
        self.editor = editor
        self.token = token
        self._gate = Hold()
        vendor.will_answer(answer("First.\n\n", self._gate, "Second."))
        self.running = asyncio.ensure_future(editor.ask("hi", token, request_id=f"id-{token}"))

    async def shown(self) -> "Held":
        await self.editor.wait_for_text(self.token, "First.")
        return self

    async def press(self, **params: object) -> Any:
        return await self.editor.call("jp/interrupt", {"turn": self.token, **params})

    def go_on(self) -> None:
        self._gate.open()

    async def result(self) -> Any:
        return await self.running


async def held(editor: StockClient, vendor: ChatVendor, token: str) -> Held:
    return await Held(editor, vendor, token).shown()


@pytest.mark.requirement("R325", "R326", "R327", "R340", "R88")
async def test_an_answer_streams_and_all_three_accounts_of_it_agree(
    editor: StockClient, vendor: ChatVendor, user: UserFolders
) -> None:
    vendor.will_answer(answer(thought("Let me see."), "Two ", "paragraphs.\n\nHere ", "is the other."))
    text = "Two paragraphs.\n\nHere is the other."
    token = f"{editor.kind}-stream"
    before = len(editor.order)
    result = await editor.ask("hi", token)
    assert (result.outcome, result.text, result.persisted) == ("completed", text, True)
    assert result.lastSeq == len(editor.values[token])
    assert user.story(result.conversation) == [
        "turn",
        "user: hi",
        "reasoning: Let me see.",
        f"message: {text}",
    ]
    assert editor.transcript(token) == (
        f"## User\n\nhi\n\n## Assistant (llamacpp/tiny)\n\nLet me see.\n\n---\n\n{text}"
    )
    came = editor.order[before:]
    assert came.count("answer") == 1
    assert came[-1] == "answer", "nothing comes behind the result"


@pytest.mark.requirement("R333", "R331")
async def test_the_progress_of_the_work_begins_reports_and_ends_before_the_result(
    editor: StockClient, vendor: ChatVendor
) -> None:
    gate = Hold()
    vendor.will_answer(answer("First.\n\n", gate, "Second."))
    token, work = f"{editor.kind}-work", f"{editor.kind}-own"
    running = asyncio.ensure_future(editor.ask("hi", token, workDoneToken=work))
    await editor.wait_for_text(token, "First.")
    gate.open()
    await running
    first, *reports, last = editor.values[work]
    assert first == {"kind": "begin", "title": "JP", "cancellable": True}
    assert reports == [
        {"kind": "report", "message": message, "cancellable": True}
        for message in ("waiting for first tokens", "receiving response data")
    ]
    assert last == {"kind": "end"}
    assert editor.order[-1] == "answer"


@pytest.mark.requirement("R333")
async def test_the_cancel_button_of_the_progress_stops_the_turn(
    editor: StockClient, vendor: ChatVendor
) -> None:
    """Without a token of its own the editor is asked for one, which its cancel button then names."""
    token = f"{editor.kind}-button"
    turn = await held(editor, vendor, token)
    created = f"jp-progress-{token}"
    assert editor.values[created][0]["kind"] == "begin"
    editor.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(created))
    with pytest.raises(Exception, match="cancelled") as caught:
        await turn.result()
    assert getattr(caught.value, "code", None) == -32800
    assert editor.values[created][-1] == {"kind": "end"}


@pytest.mark.requirement("R340", "R334")
async def test_a_command_with_a_bare_string_lets_the_user_read_the_answer(
    editor: StockClient, vendor: ChatVendor
) -> None:
    vendor.will_answer(answer("All is well."))
    shown, told = len(editor.shown_documents), len(editor.messages)
    command = types.ExecuteCommandParams("jp.query", ["How are things?"])
    async with asyncio.timeout(PATIENCE):
        result = await editor.workspace_execute_command_async(command)
    assert isinstance(result, dict)
    assert result["text"] == "All is well."
    if editor.kind == "emacs":  # which cannot be asked to show a document
        assert [message.message for message in editor.messages[told:]] == ["All is well."]
        return
    (document,) = editor.shown_documents[shown:]
    path = Path(unquote(urlsplit(document.uri).path))
    assert path.suffix == ".md"
    assert path.read_text(encoding="utf-8").endswith("\n\nAll is well.\n")
    assert editor.messages[told:] == []


@pytest.mark.requirement("R328", "R11", "R139", "R177", "S4")
async def test_continue_goes_on_with_the_same_stream(editor: StockClient, vendor: ChatVendor) -> None:
    turn = await held(editor, vendor, f"{editor.kind}-continue")
    report = await turn.press()
    assert (report.handled, report.phase) == ("menu", "interrupted_stream")
    question = await editor.question()
    assert question.params.type == types.MessageType.Warning
    assert question.titles == ["Continue", "Reply", "Stop", "Abort (discard)"]
    question.press("Continue")
    await editor.wait_for_chunk(turn.token, "prompt_closed")
    turn.go_on()
    result = await turn.result()
    assert (result.outcome, result.text) == ("completed", "First.\n\nSecond.")
    assert len(vendor.queries) == 1
    assert editor.transcript(turn.token).endswith("\n\nFirst.\n\nSecond.")


@pytest.mark.requirement("R328", "R136", "S4")
async def test_stop_keeps_what_came(editor: StockClient, vendor: ChatVendor, user: UserFolders) -> None:
    turn = await held(editor, vendor, f"{editor.kind}-stop")
    await turn.press()
    (await editor.question()).press("Stop")
    result = await turn.result()
    assert (result.outcome, result.text, result.persisted) == ("stopped", "First.\n\n", True)
    assert user.story(result.conversation)[-1] == "message: First.\n\n"


@pytest.mark.requirement("R328", "R137", "R154", "S4")
async def test_abort_discards_what_came(editor: StockClient, vendor: ChatVendor, user: UserFolders) -> None:
    turn = await held(editor, vendor, f"{editor.kind}-abort")
    conversation = editor.values[turn.token][0]["conversation"]
    await turn.press()
    (await editor.question()).press("Abort (discard)")
    result = await turn.result()
    assert (result.outcome, result.text, result.draft) == ("aborted", "", "hi")
    assert editor.transcript(turn.token) == ""
    assert all(conversation.removeprefix("jp-c") not in each.name for each in user.conversations.iterdir())


@pytest.mark.requirement("R334", "R138", "R155", "R166", "S4")
async def test_a_reply_ends_the_turn_and_opens_the_next(
    editor: StockClient, vendor: ChatVendor, user: UserFolders
) -> None:
    """The menu offers it, but asks nobody for the text: this editor has no way, so the command carries it."""
    turn = await held(editor, vendor, f"{editor.kind}-reply")
    await turn.press()
    question = await editor.question()
    vendor.will_answer(answer("Right."))
    report = await turn.press(action="reply", text="No, the other one.")
    assert report.handled == "action"
    result = await turn.result()
    assert [each.outcome for each in result.turns] == ["replied", "completed"]
    assert result.text == "Right."
    assert user.story(result.conversation) == [
        "turn",
        "user: hi",
        "message: First.\n\n",
        "turn",
        "user: No, the other one.",
        "message: Right.",
    ]
    question.press("Abort (discard)")  # the message is still on the screen, and means nothing any more
    assert (await editor.call("jp/turn/list", {})).active == []


@pytest.mark.requirement("R334")
async def test_a_reply_is_written_in_a_document_where_the_editor_opens_one(
    editor: StockClient, vendor: ChatVendor, user: UserFolders
) -> None:
    turn = await held(editor, vendor, f"{editor.kind}-written")
    await turn.press()
    (await editor.question()).press("Reply")
    question = await editor.question()
    if editor.kind == "emacs":  # it opens none, so the menu is back, with a hint
        notice = await editor.wait_for_chunk(turn.token, "notice")
        assert notice["text"] == "This client cannot ask for a text; use its reply command instead."
        question.press("Stop")
        assert (await turn.result()).outcome == "stopped"
        return
    assert question.titles == ["Keep editing", "Send", "Discard"]
    document = editor.shown_documents[-1]
    assert document.take_focus
    Path(unquote(urlsplit(document.uri).path)).write_text("Shorter!\n", encoding="utf-8")
    vendor.will_answer(answer("Right."), to="Shorter!")
    question.press("Send")
    result = await turn.result()
    assert user.story(result.conversation)[-2:] == ["user: Shorter!", "message: Right."]


@pytest.mark.requirement("R330", "R132")
async def test_a_dismissed_menu_ends_the_turn_with_its_content(
    editor: StockClient, vendor: ChatVendor, user: UserFolders
) -> None:
    turn = await held(editor, vendor, f"{editor.kind}-dismiss")
    await turn.press()
    question = await editor.question()
    await asyncio.sleep(0.06)  # no person is quicker, and a client that is shows nothing to anybody (trap 46)
    question.press(None)
    result = await turn.result()
    assert (result.outcome, result.text) == ("interrupted", "First.\n\n")
    assert user.story(result.conversation)[-1] == "message: First.\n\n"


@pytest.mark.requirement("R130", "R132", "S6", "T19")
async def test_a_second_press_ends_the_turn_and_the_menu_means_nothing_any_more(
    editor: StockClient, vendor: ChatVendor
) -> None:
    turn = await held(editor, vendor, f"{editor.kind}-twice")
    await turn.press()
    question = await editor.question()
    report = await turn.press()
    assert report.handled == "escalated"
    result = await turn.result()
    assert (result.outcome, result.text) == ("interrupted", "First.\n\n")
    closed = await editor.wait_for_chunk(turn.token, "prompt_closed")
    assert closed["how"] == "withdrawn"
    question.press("Abort (discard)")
    vendor.will_answer(answer("Still here."))
    assert (await editor.ask("hi", f"{turn.token}-after")).text == "Still here."


@pytest.mark.requirement("R331", "S9")
async def test_a_cancelled_request_tells_what_was_kept(
    editor: StockClient, vendor: ChatVendor, user: UserFolders
) -> None:
    turn = await held(editor, vendor, f"{editor.kind}-cancel")
    conversation = editor.values[turn.token][0]["conversation"]
    editor.cancel_request(types.CancelParams(f"id-{turn.token}"))
    with pytest.raises(Exception, match="what had come was saved") as caught:
        await turn.result()
    assert getattr(caught.value, "code", None) == -32800
    data: Any = getattr(caught.value, "data", None)
    assert (data["code"], data["outcome"], data["partialSaved"]) == ("cancelled", "stopped", True)
    assert user.story(conversation)[-1] == "message: First.\n\n"
    assert editor.values[turn.token][-1]["type"] == "turn_end"


@pytest.mark.requirement("R65", "R167", "R175", "R171")
async def test_a_tool_call_is_answered_and_the_turn_goes_on(
    editor: StockClient, vendor: ChatVendor, user: UserFolders
) -> None:
    vendor.will_answer(
        answer("Looking.", called("c1", "read", '{"path": "a"}'), reason="tool_calls"),
        answer("I have no tools."),
    )
    token = f"{editor.kind}-tool"
    result = await editor.ask("hi", token)
    assert (result.outcome, result.turns[0].cycles) == ("completed", 2)
    assert user.story(result.conversation) == [
        "turn",
        "user: hi",
        "message: Looking.",
        "call c1: read",
        "error c1",
        "message: I have no tools.",
    ]
    roles = [message["role"] for message in vendor.queries[1]["messages"]]
    assert roles == ["system", "user", "assistant", "tool"]

"""Texts that are asked for with a temporary document: the broker with a pretended editor in front of it."""

import stat
import sys
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from jp_lsp.protocol.prompt import AnswerParams
from jp_lsp.server.prompt_ways import PromptWays
from jp_lsp.server.text_file import ANSWER_MARK, SIZE_LIMIT
from jp_lsp.server.wire_error import METHOD_NOT_FOUND, ClientAnswerError
from jp_lsp.tools.decision import Choice, Composing, Decision, DecisionId
from jp_lsp.turn.inputs import Answered, AskFailed, Dismissed
from tests.support.document_desk import DOCUMENTS, arguments, desk, menu, reply

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("R334")]

Q = DecisionId("q")


async def test_send_takes_the_text_that_is_on_disk_at_that_moment(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        at.put(reply())
        message = await at.message()
        (opened,) = at.opened
        assert opened["takeFocus"] is True
        assert Path(unquote(urlsplit(str(opened["uri"])).path)) == at.file
        assert (at.file.name[:11], at.file.suffix) == ("your-reply-", ".md")
        assert at.file.read_text() == ""
        assert message.params["type"] == 3
        assert message.titles == ["Keep editing", "Send", "Discard"]
        assert message.text == f"Your reply: write in {at.file.name} and save it, then press Send."
        at.save("Shorter!\r\nMuch.\n")
        message.press("Send")
        assert await at.answer() == Answered(Q, text="Shorter!\nMuch.")
        await at.until_empty()
        assert at.closed == [("q", "answered")]
        assert at.unsent == []


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files are not known there")
async def test_nobody_else_can_read_the_file(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        at.put(reply())
        await at.message()
        assert stat.S_IMODE(at.file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("kind", "language", "value", "suffix", "saved", "text"),
    [
        ("text", None, None, ".md", "because\n", "because"),
        ("edit", "json", '{"n": 1}', ".json", '{"n": 2}\n', '{"n": 2}'),
        ("edit", "text", "one\n", ".txt", "one\ntwo\n", "one\ntwo\n"),
        ("edit", "text", "one", ".txt", "one\n", "one"),
        ("text", None, None, ".md", "", ""),
        ("text", None, None, ".md", " \n", " "),
        ("text", None, None, ".md", b"\xef\xbb\xbfwith a mark\n", "with a mark"),
        ("edit", "json", "{}", ".json", "\n", ""),
    ],
    ids=["reason", "arguments", "result", "last break", "empty", "blank", "byte order mark", "no arguments"],
)
async def test_what_is_sent(
    tmp_path: Path,
    kind: str,
    language: str | None,
    value: str | None,
    suffix: str,
    saved: str | bytes,
    text: str,
) -> None:
    decision = Decision(Q, kind, "Why skip it?", value=value, language=language)  # type: ignore[arg-type]
    async with desk(tmp_path) as at:
        at.put(decision)
        message = await at.message()
        assert (at.file.suffix, at.file.read_text()) == (suffix, value or "")
        at.save(saved)
        message.press("Send")
        assert await at.answer() == Answered(Q, text=text)


@pytest.mark.requirement("R330", "S14")
@pytest.mark.parametrize("how", ["Discard", "null", "nonsense, twice"])
async def test_nothing_but_send_is_consent(tmp_path: Path, how: str) -> None:
    async with desk(tmp_path) as at:
        at.put(arguments())
        message = await at.message()
        if how == "Discard":
            message.press("Discard")
        elif how == "null":
            message.give(None)
        else:
            message.give({"title": "Explode"})
            (await at.message()).give("nonsense")
        assert await at.answer() == Dismissed(Q)
        await at.until_empty()


async def test_keep_editing_takes_the_message_away_until_the_file_is_saved(tmp_path: Path) -> None:
    """An editor whose message takes all keys can be written in now (Neovim's own choice of buttons)."""
    async with desk(tmp_path) as at:
        at.put(reply())
        first = await at.message()
        await at.settle_down()
        first.press("Keep editing")
        await at.settle_down()
        assert len(at.messages) == 1
        at.save("Done.\n")
        again = await at.message()
        assert again.text == first.text
        again.press("Send")
        assert await at.answer() == Answered(Q, text="Done.")


async def test_saving_alone_sends_nothing(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        at.put(reply())
        await at.message()
        at.save("Half a th")
        await at.settle_down()
        assert at.answers == {}
        assert len(at.messages) == 1


async def test_saving_sends_where_the_user_wants_that(tmp_path: Path) -> None:
    async with desk(tmp_path, save_commits=True) as at:
        at.put(arguments())
        message = await at.message()
        at.save('{"n": ')
        problem = await at.message()
        assert "not valid JSON" in problem.text
        at.save('{"n": 3}')
        assert await at.answer() == Answered(Q, text='{"n": 3}')
        assert message.is_withdrawn
        assert problem.is_withdrawn


@pytest.mark.requirement("T21")
async def test_unsaved_changes_of_a_document_that_is_followed_count(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        at.put(reply())
        message = await at.message()
        at.in_editor[at.file.name] = "Not saved yet\n"
        message.press("Send")
        assert await at.answer() == Answered(Q, text="Not saved yet")


@pytest.mark.requirement("T21")
async def test_a_document_without_unsaved_changes_gives_way_to_the_disk(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        at.put(reply())
        message = await at.message()
        at.in_editor[at.file.name] = "First.\n"
        at.save("First.\n")
        await at.settle_down()
        at.save("Written by another program.\n")
        message.press("Send")
        assert await at.answer() == Answered(Q, text="Written by another program.")


@pytest.mark.requirement("R330")
async def test_closing_the_document_asks_again_and_it_can_be_opened_again(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        at.put(reply())
        first = await at.message()
        at.in_editor[at.file.name] = ""
        await at.settle_down()
        at.save("Half.")
        del at.in_editor[at.file.name]
        closed = await at.message()
        assert closed.titles == ["Reopen", "Send", "Discard"]
        assert "was closed and is not sent yet" in closed.text
        assert first.is_withdrawn
        closed.press("Reopen")
        opened = await at.message()
        assert [params["uri"] for params in at.opened] == [at.file.as_uri()] * 2
        assert opened.titles == ["Keep editing", "Send", "Discard"]
        assert at.answers == {}
        opened.press("Send")
        assert await at.answer() == Answered(Q, text="Half.")


@pytest.mark.requirement("R329")
@pytest.mark.parametrize("old", ["Send", "null", "error"])
async def test_a_message_that_stayed_on_the_screen_counts_only_by_its_buttons(
    tmp_path: Path, old: str
) -> None:
    async with desk(tmp_path) as at:
        at.put(arguments())
        first = await at.message()
        at.in_editor[at.file.name] = ""
        await at.settle_down()
        at.in_editor.clear()
        second = await at.message()
        if old == "Send":
            first.press("Send")
        else:
            first.give(None if old == "null" else ClientAnswerError(-32800, "cancelled", None))
            await at.settle_down()
            assert at.answers == {}
            second.press("Send")
        assert await at.answer() == Answered(Q, text='{\n  "n": 1\n}')


@pytest.mark.parametrize(
    ("saved", "problem"),
    [
        (b"x" * (SIZE_LIMIT + 1), "it is larger than 1 MiB. Make it shorter and save it."),
        (b"one\ntwo \xff\n", "line 2 is not UTF-8. Save it with that encoding."),
        (b'{"n": 1,}', "this is not valid JSON"),
        (b"[1]", "an object is needed, not an array."),
    ],
    ids=["huge", "bytes", "no JSON", "no object"],
)
async def test_a_text_that_cannot_be_taken_stays_open(tmp_path: Path, saved: bytes, problem: str) -> None:
    async with desk(tmp_path) as at:
        at.put(arguments())
        message = await at.message()
        at.save(saved)
        message.press("Send")
        again = await at.message()
        assert again.text.startswith(f"{at.file.name} was not sent: {problem}")
        assert len(again.text) <= 200
        assert at.file.read_bytes() == saved
        at.save('{"n": 2}')
        again.press("Send")
        assert await at.answer() == Answered(Q, text='{"n": 2}')
        assert len(at.opened) == 1


async def test_a_text_that_is_too_large_in_the_editor(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        at.put(reply())
        message = await at.message()
        at.in_editor[at.file.name] = "ä" * (SIZE_LIMIT // 2 + 1)
        message.press("Send")
        assert "larger than 1 MiB" in (await at.message()).text
        assert at.answers == {}


async def test_a_file_that_the_user_deleted_can_come_back(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        at.put(arguments())
        message = await at.message()
        at.file.unlink()
        message.press("Send")
        gone = await at.message()
        assert gone.titles == ["Reopen", "Send", "Discard"]
        assert "is gone" in gone.text
        gone.press("Reopen")
        message = await at.message()
        assert at.file.read_text() == '{\n  "n": 1\n}'
        message.press("Send")
        assert await at.answer() == Answered(Q, text='{\n  "n": 1\n}')


# Clients that do not open documents.


@pytest.mark.parametrize("answer", [{"success": False}, None, ClientAnswerError(-32603, "E37", None)])
async def test_a_document_that_was_not_opened_is_no_question(tmp_path: Path, answer: object) -> None:
    async with desk(tmp_path) as at:
        at.opening = answer
        at.put(reply())
        assert await at.answer() == AskFailed(Q, "the client did not open a document for the text")
        await at.until_empty()
        assert at.messages == []
        assert at.unsent == []
        at.opening = {"success": True}
        at.put(reply("again"))
        await at.message()


async def test_a_client_that_knows_no_documents_is_not_asked_again(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        at.opening = ClientAnswerError(METHOD_NOT_FOUND, "no such method", None)
        at.put(arguments())
        assert isinstance(await at.answer(), AskFailed)
        at.put(reply("again"))
        assert isinstance(at.answers["again"], AskFailed)
        assert len(at.opened) == 1
        assert at.broker.can_prompt
        choices = (Choice("skip", "Skip"), Choice("run", "Run"), Choice("edit", "Edit arguments..."))
        at.put(Decision(DecisionId("run"), "approval", "Run it?", choices))
        assert (await at.message()).titles == ["Skip", "Run"]


async def test_editing_is_offered_where_it_can_be_done(tmp_path: Path) -> None:
    choices = (Choice("skip", "Skip"), Choice("run", "Run"), Choice("edit", "Edit arguments..."))
    async with desk(tmp_path) as at:
        at.put(Decision(DecisionId("run"), "approval", "Run it?", choices))
        assert (await at.message()).titles == ["Skip", "Run", "Edit arguments..."]


async def test_a_client_that_opens_slowly_is_not_waited_for(tmp_path: Path) -> None:
    async with desk(tmp_path, show_seconds=0.01) as at:
        at.opens_at_once = False
        at.put(reply())
        (await at.message()).press("Discard")
        assert await at.answer() == Dismissed(Q)


async def test_no_place_for_the_file(tmp_path: Path) -> None:
    (tmp_path / "scratch").write_text("a file stands where the folder should be")
    async with desk(tmp_path) as at:
        at.put(reply())
        assert isinstance(await at.answer(), AskFailed)
        assert at.requests == []


@pytest.mark.requirement("S14")
async def test_a_client_without_message_requests_cannot_be_asked(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        at.put(reply())
        message = await at.message()
        at.save("Precious.\n")
        message.give(ClientAnswerError(METHOD_NOT_FOUND, "no such method", None))
        assert await at.answer() == AskFailed(Q, "no such method")
        await at.until_empty()
        assert not at.broker.can_prompt
        assert at.unsent == ["Precious."]


# Questions that end first, and those that wait.


@pytest.mark.requirement("T19", "R329")
async def test_a_question_that_ends_first_leaves_a_draft(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        at.put(reply())
        message = await at.message()
        at.save("What I was going to s\n")
        at.broker.withdraw(Q, "withdrawn")
        assert message.is_withdrawn
        await at.until_empty()
        assert at.unsent == ["What I was going to s"]
        assert at.closed == [("q", "withdrawn")]
        message.press("Send")
        await at.settle_down()
        assert at.answers == {}


@pytest.mark.parametrize("written", ["", " \n", None], ids=["empty", "blank", "deleted"])
async def test_nothing_written_is_no_draft(tmp_path: Path, written: str | None) -> None:
    async with desk(tmp_path) as at:
        at.put(reply())
        await at.message()
        if written is None:
            at.file.unlink()
        else:
            at.save(written)
        at.broker.withdraw(Q, "withdrawn")
        await at.until_empty()
        await at.settle_down()
        assert at.unsent == []


async def test_edited_arguments_are_no_draft(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        at.put(arguments())
        await at.message()
        at.save('{"n": 5}')
        at.broker.withdraw(Q, "withdrawn")
        await at.until_empty()
        assert at.unsent == []


async def test_a_question_that_ends_before_the_document_is_open(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        at.put(reply())
        at.broker.withdraw(Q, "withdrawn")
        await at.settle_down()
        assert at.requests == []
        at.opens_at_once = False
        at.put(reply("slow"))
        await at.settle_down()
        at.broker.withdraw(DecisionId("slow"), "withdrawn")
        await at.until_empty()
        assert at.messages == []


@pytest.mark.requirement("R329")
async def test_an_answer_beside_the_document_counts(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        at.put(reply())
        message = await at.message()
        at.save("Half.")
        at.broker.answer(AnswerParams.model_validate({"decisionId": "q", "text": "Whole."}))
        assert await at.answer() == Answered(Q, text="Whole.")
        await at.until_empty()
        assert message.is_withdrawn
        assert at.unsent == []


@pytest.mark.requirement("R337", "R329", "S23")
async def test_documents_of_two_conversations_come_one_after_the_other(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        at.put(arguments("one"))
        at.put(arguments("two"))
        first = await at.message()
        await at.settle_down()
        assert len(at.opened) == 1
        at.save('{"n": 11}')
        first.press("Send")
        second = await at.message()
        assert await at.answer("one") == Answered(DecisionId("one"), text='{"n": 11}')
        second.press("Send")
        assert await at.answer("two") == Answered(DecisionId("two"), text='{\n  "n": 1\n}')
        await at.until_empty()


@pytest.mark.requirement("R337", "R329", "S23")
async def test_a_menu_goes_first_and_the_document_is_shown_again(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        at.put(arguments())
        first = await at.message()
        at.put(menu())
        shown = await at.message()
        assert shown.titles == ["Continue", "Stop"]
        at.save('{"n": 7}')
        await at.settle_down()
        assert len(at.messages) == 2
        assert not first.is_withdrawn
        shown.press("Continue")
        again = await at.message()
        assert again.text == first.text
        assert at.shown == ["q", "m", "q"]
        assert len(at.opened) == 2
        assert at.file.read_text() == '{"n": 7}'
        again.press("Send")
        assert await at.answer() == Answered(Q, text='{"n": 7}')
        await at.until_empty()


async def test_the_old_message_still_sends_while_a_menu_is_open(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        at.put(arguments())
        first = await at.message()
        at.put(menu())
        shown = await at.message()
        first.press("Send")
        assert isinstance(await at.answer(), Answered)
        assert not shown.is_withdrawn
        shown.press("Stop")
        assert await at.answer("m") == Answered(DecisionId("m"), choice="stop")


async def test_a_menu_that_comes_at_once_leaves_one_document(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        at.put(arguments())
        at.put(menu())
        (await at.message()).press("Continue")
        message = await at.message()
        await at.settle_down()
        assert len(at.files) == 1
        message.press("Discard")
        assert await at.answer() == Dismissed(Q)
        await at.until_empty()


async def test_a_menu_that_comes_while_the_document_opens_stays_alone(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        at.opens_at_once = False
        at.put(arguments())
        await at.settle_down()
        (opening,) = (request for request in at.requests if request.method == "window/showDocument")
        at.put(menu())
        shown = await at.message()
        opening.give({"success": True})
        await at.settle_down()
        assert len(at.messages) == 1
        at.opens_at_once = True
        shown.press("Continue")
        (await at.message()).press("Discard")
        assert await at.answer() == Dismissed(Q)


async def test_the_end_of_the_server_leaves_no_file_but_a_draft(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        at.put(reply())
        await at.message()
        at.save("Not lost.")
    assert at.files == []
    assert at.unsent == ["Not lost."]


# Other ways.


def can(*kinds: str, **more: object) -> PromptWays:
    return PromptWays(frozenset(kinds), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "ways", "way"),
    [
        ("text", can("text", shows_documents=True, collects_text=True), "prompt"),
        ("text", can("edit", shows_documents=True, collects_text=True), "client"),
        ("text", can(shows_documents=True), "document"),
        ("text", can(), "none"),
        ("edit", can("edit", shows_documents=True), "prompt"),
        ("edit", can("text", shows_documents=True), "document"),
        ("edit", can("edit", shows_documents=True, text_transport="document"), "document"),
        ("text", can("text", text_transport="document"), "none"),
        ("text", can("text", shows_documents=True, text_transport="client"), "client"),
        ("text", can(shows_documents=True, text_transport="prompt"), "none"),
        ("text", can("text", collects_text=True, text_transport="prompt"), "prompt"),
        ("text", can("text", shows_documents=True, text_transport="off"), "none"),
        ("secret", can("secret", shows_documents=True), "prompt"),
        ("secret", can("secret", shows_documents=True, text_transport="document"), "prompt"),
        ("secret", can("text", shows_documents=True, collects_text=True), "none"),
        ("secret", can(shows_documents=True, text_transport="document"), "none"),
        ("secret", can(collects_text=True, text_transport="client"), "none"),
        ("secret", can("secret", text_transport="off"), "none"),
        ("menu", can(shows_documents=True), "message"),
        ("menu", can("menu", text_transport="off"), "prompt"),
        ("approval", can("pick"), "prompt"),
    ],
)
def test_the_way_of_a_question(kind: str, ways: PromptWays, way: str) -> None:
    choices = (Choice("continue", "Continue"),) if kind in {"menu", "approval"} else ()
    assert ways.way_of(Decision(Q, kind, "?", choices)) == way  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("composing", "ways", "way"),
    [
        ("inline", can("text", "edit", shows_documents=True), ("prompt", "text")),
        ("editor", can("text", "edit", shows_documents=True), ("prompt", "edit")),
        ("editor", can("text", shows_documents=True), ("document", "text")),
        ("editor", can("text"), ("prompt", "text")),
        ("editor", can(), ("none", "text")),
        ("editor_only", can("text", "edit"), ("prompt", "edit")),
        ("editor_only", can("text", shows_documents=True, collects_text=True), ("document", "text")),
        ("editor_only", can("text", collects_text=True), ("none", "text")),
        ("editor", can("text", shows_documents=True, text_transport="prompt"), ("prompt", "text")),
    ],
)
def test_where_a_text_is_composed(composing: Composing, ways: PromptWays, way: tuple[str, str]) -> None:
    """`interrupt.*.compose_in_editor`; the editor's own setting has the last word."""
    question = replace(reply(), composing=composing)
    assert (ways.way_of(question), ways.as_prompt(question).kind) == way


async def test_a_menu_that_nobody_looks_at_is_dismissed(tmp_path: Path) -> None:
    async with desk(tmp_path, menu_seconds=0.01) as at:
        at.put(menu())
        shown = await at.message()
        assert await at.answer("m") == Dismissed(DecisionId("m"))
        assert shown.is_withdrawn
        at.put(reply())
        await at.message()
        await at.settle_down()
        assert "q" not in at.answers, "only menus are in a hurry"


async def test_a_menu_that_was_answered_in_time_is_over(tmp_path: Path) -> None:
    async with desk(tmp_path, menu_seconds=0.05) as at:
        at.put(menu())
        (await at.message()).press("Continue")
        assert await at.answer("m") == Answered(DecisionId("m"), "continue")
        await at.settle_down()


@pytest.mark.parametrize(
    ("saved", "text"),
    [
        ("{all}blue\n", "blue"),
        ("{all}\n\n  blue\ngreen\n\n", "\n\n  blue\ngreen\n"),
        ("my own file\n", "my own file"),
        ("{all}", ""),
    ],
)
async def test_what_there_is_to_know_stands_above_the_answer(tmp_path: Path, saved: str, text: str) -> None:
    async with desk(tmp_path) as at:
        at.put(Decision(Q, "text", "paint: Which colour?", detail="Blue is *cheap*.\nGreen is not."))
        message = await at.message()
        there = at.file.read_text()
        assert there == f"Blue is *cheap*.\nGreen is not.\n\n{ANSWER_MARK}\n\n"
        at.save(saved.replace("{all}", there))
        message.press("Send")
        assert await at.answer() == Answered(Q, text=text)


async def test_what_there_is_to_know_is_no_draft(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        at.put(Decision(Q, "text", "paint: Which colour?", detail="Blue is cheap.", value="red"))
        await at.message()
        at.broker.withdraw(Q, "withdrawn")
        await at.until_empty()
    assert at.unsent == []


async def test_a_client_that_asks_by_itself_is_only_told(tmp_path: Path) -> None:
    async with desk(tmp_path, can(collects_text=True, shows_documents=True)) as at:
        at.put(reply())
        await at.settle_down()
        assert (at.shown, at.requests) == (["q"], [])
        at.broker.answer(AnswerParams.model_validate({"decisionId": "q", "text": "By myself."}))
        assert await at.answer() == Answered(Q, text="By myself.")


@pytest.mark.parametrize("kind", ["text", "edit", "secret"])
async def test_without_a_way_there_is_no_question(tmp_path: Path, kind: str) -> None:
    ways = DOCUMENTS if kind == "secret" else PromptWays()
    async with desk(tmp_path, ways) as at:
        at.put(Decision(Q, kind, "Key?"))  # type: ignore[arg-type]
        assert isinstance(await at.answer(), AskFailed)
        assert (at.requests, at.files) == ([], [])

"""Attachments of whole queries, with fakes at every port."""

from collections.abc import Sequence

import anyio
import pytest
from anyio import wait_all_tasks_blocked

from jp_lsp.conversation.thread import TextAttachment
from jp_lsp.driver.runner import Refused
from jp_lsp.driver.trust import apply_trust, needed_items
from jp_lsp.ports.attachment import AttachmentEntry, AttachmentError, Fetched
from jp_lsp.ports.mcp import StdioServer
from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.settings import QuerySettings
from jp_lsp.ports.trust import TrustItem
from jp_lsp.turn.failure import FailureKind
from jp_lsp.turn.inputs import CancelRequested
from jp_lsp.turn.outcome import Outcome, QueryResult
from jp_lsp.turn.shown import NoticeGiven
from tests.support.query_world import world
from tests.support.turns import done, failure, message

pytestmark = pytest.mark.anyio

README = AttachmentEntry("file:README.md", "file", "README.md")
SEEN = TextAttachment("README.md", "text of README.md")


def attaching(*entries: AttachmentEntry, **more: object) -> QuerySettings:
    return QuerySettings(ModelId("test", "big"), {}, attachments=entries, **more)  # type: ignore[arg-type]


@pytest.mark.requirement("R44", "R224", "F26")
async def test_every_request_of_a_turn_has_what_preparation_fetched() -> None:
    scripts = ([failure(FailureKind.TRANSIENT)], [message("a"), done()], [message("b"), done()])
    async with world(*scripts, settings=attaching(README)) as here:
        runner = here.ask(attachments=("file:b.md",))
        await here.clock.advance(2)
        await here.answer(runner)
        assert here.provider is not None
        first, again = (request.thread.attachments for request in here.provider.requests)
        assert first == again == (SEEN, TextAttachment("b.md", "text of b.md"))
        await here.clock.advance(61)
        await here.answer(here.ask(token="u"))
        assert here.provider.requests[2].thread.attachments == (SEEN,)
        assert len(here.attachments.fetched) == 2


async def test_what_was_left_out_is_told() -> None:
    async def fetch(entries: Sequence[AttachmentEntry]) -> Fetched:
        return Fetched((), ("b.md was left out",))

    async with world([message("a"), done()], settings=attaching(README)) as here:
        here.attachments.fetching = fetch
        await here.answer(here.ask())
        told = [item.notice.text for item in here.frontend.shown if isinstance(item, NoticeGiven)]
        assert told == ["b.md was left out"]


async def test_one_that_cannot_be_had_is_an_error_that_names_it_and_lets_everything_go() -> None:
    async def fetch(entries: Sequence[AttachmentEntry]) -> Fetched:
        raise AttachmentError("README.md is too large", "file:README.md") from OSError("no space")

    async with world(settings=attaching(README)) as here:
        here.attachments.fetching = fetch
        runner = here.ask()
        with anyio.fail_after(5):
            await runner.finished.wait()
        assert isinstance(runner.outcome, Refused)
        error = runner.outcome.error
        assert (error.code, error.message, error.origin) == (
            "attachment_failed",
            "README.md is too large",
            "file:README.md",
        )
        assert error.chain == ("no space",)
        assert runner.outcome.draft == "hi"
        assert (here.store.held, here.store.stored) == (set(), {})


async def test_a_query_is_stopped_while_it_fetches() -> None:
    was_cancelled: list[bool] = []

    async def fetch(entries: Sequence[AttachmentEntry]) -> Fetched:
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            was_cancelled.append(True)
            raise
        raise AssertionError("nothing else ends it")

    async with world(settings=attaching(README)) as here:
        here.attachments.fetching = fetch
        runner = here.ask()
        await wait_all_tasks_blocked()
        runner.post(CancelRequested())
        with anyio.fail_after(5):
            await runner.finished.wait()
        assert isinstance(runner.outcome, QueryResult)
        assert runner.outcome.outcome is Outcome.CANCELLED_BEFORE_START
        assert was_cancelled == [True]
        assert here.store.held == set()


COMMAND = AttachmentEntry("cmd:git log", "cmd", "git log")
OWN_COMMAND = AttachmentEntry("cmd:date", "cmd", "date")
DOCUMENT = AttachmentEntry("mcp+notes+memo://x", "mcp+notes+memo", "//x")
OWN_DOCUMENT = AttachmentEntry("mcp+mine+memo://x", "mcp+mine+memo", "//x")
SERVERS = {name: StdioServer(name, "serve") for name in ("notes", "mine", "idle")}
UNTRUSTED = (
    TrustItem("attachment", "cmd:git log", "cmd:git log"),
    TrustItem("mcp_server", "idle", "serve"),
    TrustItem("mcp_server", "notes", "serve"),
)


@pytest.mark.requirement("T15", "R306")
def test_without_trust_what_the_workspace_runs_is_not_attached() -> None:
    entries = (README, COMMAND, OWN_COMMAND, DOCUMENT, OWN_DOCUMENT)
    settings = attaching(*entries, mcp_servers=SERVERS, untrusted=UNTRUSTED)
    left = apply_trust(settings, is_trusted=False)
    assert left.attachments == (README, OWN_COMMAND, OWN_DOCUMENT)
    assert list(left.mcp_servers) == ["mine"]
    assert left.warnings == (
        "The workspace is not trusted to run its programs. For this query: it does not start MCP server "
        "`notes`; it leaves out 1 attachment command.",
    )
    assert apply_trust(settings, is_trusted=True).attachments == entries


@pytest.mark.requirement("T15")
def test_a_document_of_a_server_is_a_reason_to_ask_for_trust() -> None:
    settings = attaching(DOCUMENT, mcp_servers=SERVERS, untrusted=UNTRUSTED[1:])
    assert [item.name for item in needed_items(settings)] == ["notes"]

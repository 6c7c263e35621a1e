"""All handlers together: order, side by side, failures; and documents of MCP servers."""

import anyio
import pytest

from jp_lsp.attachments.resource import resource_uri
from jp_lsp.conversation.thread import BinaryAttachment, TextAttachment
from jp_lsp.ports.attachment import AttachmentEntry, AttachmentError
from jp_lsp.ports.mcp import HttpServer, McpContent
from jp_lsp.ports.process import Exited, Output, ProcessEnd, Program, SpawnError
from tests.adapters.attachments.fetching import Folder, sources, table, texts, to_entry

pytestmark = pytest.mark.anyio


class Together:
    """Ends each program only when all of them have begun."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.begun = 0
        self.all_begun = anyio.Event()
        self.cancelled = 0

    async def run(self, program: Program) -> ProcessEnd:
        self.begun += 1
        if self.begun == self.count:
            self.all_begun.set()
        if program.arguments[0] == "broken":
            raise SpawnError("no such program")
        try:
            await self.all_begun.wait()
            if program.arguments[0] == "endless":
                await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            self.cancelled += 1
            raise
        return Exited(0, Output(), Output())


@pytest.mark.requirement("F26")
async def test_everything_is_fetched_side_by_side_and_stands_in_order(folder: Folder) -> None:
    folder.write(**{"a.md": "a", "b.md": "b"})
    folder.runner.run = Together(3).run  # type: ignore[method-assign]
    with anyio.fail_after(5):
        fetched = await folder.fetch("file:b.md", "cmd:one", "cmd:two", "file:a.md", "cmd:three", "cmd:one")
    assert sources(fetched) == ["b.md", "one", "two", "a.md", "three"]


async def test_the_first_failure_ends_the_others(folder: Folder) -> None:
    together = Together(3)
    folder.runner.run = together.run  # type: ignore[method-assign]
    with anyio.fail_after(5), pytest.raises(AttachmentError, match="failed to run command 'broken'"):
        await folder.fetch("cmd:endless", "cmd:endless now", "cmd:broken")
    assert together.cancelled == 2


@pytest.mark.requirement("G31")
async def test_an_unknown_kind_may_be_the_name_of_a_file(folder: Folder) -> None:
    """Trap 31."""
    folder.write(**{"notes:today.md": "n"})
    assert texts(await folder.fetch("notes:today.md")) == {"notes:today.md": "n"}
    with pytest.raises(
        AttachmentError, match="Attachment handler 'notes' not found, for attachment 'notes:x'"
    ):
        await folder.fetch("notes:x")


URIS: dict[str, tuple[AttachmentEntry, str, str]] = {
    "a URL": (to_entry("mcp+Notes+memo://a/b?c=d"), "Notes", "memo://a/b?c=d"),
    "a table": (table("mcp+notes+memo", "a/b"), "notes", "memo://a/b"),
    "a scheme with a plus": (to_entry("mcp+notes+git+ssh://x"), "notes", "git+ssh://x"),
    "two parts": (to_entry("mcp+memo://x"), "mcp", "memo://x"),
}


@pytest.mark.parametrize("case", URIS)
def test_which_document_of_which_server(case: str) -> None:
    entry, server, uri = URIS[case]
    assert (entry.handler, entry.server, resource_uri(entry)) == ("mcp", server, uri)


async def test_documents_of_servers_are_attached(folder: Folder) -> None:
    folder.documents.held = {
        "notes memo://all": [
            McpContent("memo://1", "text/plain", "a < b"),
            McpContent("memo://2", None, "plain"),
            McpContent("memo://3", "image/png", b"\x00"),
            McpContent("memo://4", None, b"\xff\x00"),
        ],
        "notes memo://empty": [],
    }
    servers = {"notes": HttpServer("notes", "http://127.0.0.1")}
    entries = [to_entry("mcp+notes+memo://all"), to_entry("mcp+notes+memo://empty")]
    fetched = await folder.attachments.fetch(entries, servers)
    assert fetched.items == (
        TextAttachment("memo://1", '<resource uri="memo://1" mimeType="text/plain">\na &lt; b\n</resource>'),
        TextAttachment("memo://2", '<resource uri="memo://2">\nplain\n</resource>'),
        BinaryAttachment("memo://3", b"\x00", "image/png"),
    )
    assert fetched.warnings == (
        "Attachment 'mcp+notes+memo://all': left out 'memo://4', which is bytes of no known kind.",
        "Attachment 'mcp+notes+memo://empty' was left out: the server says that it is empty.",
    )
    assert folder.documents.servers == servers


async def test_a_document_that_cannot_be_read_ends_the_query(folder: Folder) -> None:
    with pytest.raises(AttachmentError, match=r"no memo://x in notes\. Correct or remove the attachment\."):
        await folder.fetch("mcp+notes+memo://x")

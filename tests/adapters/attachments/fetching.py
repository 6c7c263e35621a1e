"""A workspace folder whose attachments are fetched as a query would, with fakes at every port."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jp_lsp.attachments.registry import WorkspaceAttachments
from jp_lsp.conversation.thread import TextAttachment
from jp_lsp.ports.attachment import AttachmentEntry, Fetched, NamedAttachments
from jp_lsp.ports.editor import EditOutcome, OpenDocument, Replacement
from jp_lsp.ports.mcp import McpContent, McpError, McpResource, McpServerConfig
from jp_lsp.ports.process import Exited, Output, ProcessEnd, Program
from jp_lsp.workspace.memory import MemoryStore


@dataclass(slots=True)
class Desk:
    """Documents that are open."""

    documents: list[OpenDocument] = field(default_factory=lambda: [])

    def folders(self) -> Sequence[str]:
        return ()

    def open_documents(self) -> Sequence[OpenDocument]:
        return self.documents

    async def apply_edit(
        self,
        uri: str,
        version: int | None,
        text: str,
        edits: Sequence[Replacement],
        label: str,
        *,
        is_proposal: bool = True,
    ) -> EditOutcome:
        raise AssertionError("attachments change nothing")


@dataclass
class Runner:
    """Runs no program but notes it, and gives what a test says; an exception is raised."""

    end: ProcessEnd | Exception = field(default_factory=lambda: Exited(0, Output(), Output()))
    programs: list[Program] = field(default_factory=lambda: [])

    async def run(self, program: Program) -> ProcessEnd:
        self.programs.append(program)
        if isinstance(self.end, Exception):
            raise self.end
        return self.end


@dataclass(slots=True)
class Documents:
    """The documents of servers: what `server uri` holds."""

    held: Mapping[str, Sequence[McpContent]] = field(default_factory=lambda: {})
    servers: Mapping[str, McpServerConfig] = field(default_factory=lambda: {})

    async def list_resources(self, server: str) -> Sequence[McpResource]:
        raise AssertionError("nobody lists them for a query")

    async def read_resource(self, server: str, uri: str) -> Sequence[McpContent]:
        if (found := self.held.get(f"{server} {uri}")) is None:
            raise McpError(f"no {uri} in {server}")
        return found


class Folder:
    """A workspace folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.desk = Desk()
        self.runner = Runner()
        self.store = MemoryStore()
        self.documents = Documents()

        def resources_of(servers: Mapping[str, McpServerConfig]) -> Documents:
            self.documents.servers = servers
            return self.documents

        self.environ: dict[str, str] = {}
        self.attachments = WorkspaceAttachments(
            str(path), self.desk, self.runner, self.store, resources_of, self.environ
        )

    def write(self, **files: str | bytes) -> None:
        """Write files by path."""
        for name, content in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def remove(self, name: str) -> None:
        shutil.rmtree(self.path / name)

    def open(self, name: str, text: str, *, state: str = "dirty", loaded: str | None = None) -> None:
        """Open a document in the editor; a name with a colon is a URI."""
        path = None if ":" in name else str(self.path / name)
        uri = name if path is None else Path(path).as_uri()
        self.desk.documents.append(OpenDocument(uri, path, "", 1, state, text, loaded))  # type: ignore[arg-type]

    async def fetch(self, *entries: str | AttachmentEntry) -> Fetched:
        read = [to_entry(each) if isinstance(each, str) else each for each in entries]
        return await self.attachments.fetch(read, {})

    async def name(self, *names: str) -> NamedAttachments:
        return await self.attachments.read_names(names)


def to_entry(url: str) -> AttachmentEntry:
    """An entry as the configuration has it."""
    kind, _, path = url.partition(":")
    return AttachmentEntry(url, kind, path)


def table(kind: str, path: str, **params: str | list[str]) -> AttachmentEntry:
    """An entry in the form of a table."""
    values = {name: (value,) if isinstance(value, str) else tuple(value) for name, value in params.items()}
    return AttachmentEntry(f"{kind} table {path}", kind, path, values)


def texts(fetched: Fetched) -> dict[str, str]:
    """What was fetched as text, by its source, in order."""
    return {item.source: item.text for item in fetched.items if isinstance(item, TextAttachment)}


def sources(fetched: Fetched) -> list[str]:
    return [item.source for item in fetched.items]

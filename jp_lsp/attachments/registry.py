"""Who fetches what: `ports.attachment.Attachments` for one workspace.

Every query fetches anew and everything side by side; the first failure ends the rest. What came stands in the
order of the entries, however long each took.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence

import anyio

from jp_lsp.attachments.command import CommandHandler
from jp_lsp.attachments.conversation import ConversationHandler
from jp_lsp.attachments.file import FileHandler
from jp_lsp.attachments.github import GitHub
from jp_lsp.attachments.naming import Namer
from jp_lsp.attachments.pull_request import PullRequestHandler
from jp_lsp.attachments.resource import ResourceHandler, ResourcesOf
from jp_lsp.attachments.web import WebHandler
from jp_lsp.ports.attachment import AttachmentEntry, AttachmentError, Fetched, NamedAttachments
from jp_lsp.ports.editor import EditorDocuments
from jp_lsp.ports.mcp import McpServerConfig
from jp_lsp.ports.process import ProcessRunner
from jp_lsp.ports.store import ConversationStore

_FetchAll = Callable[[Sequence[AttachmentEntry]], Awaitable[Sequence[Fetched]]]
_FetchOne = Callable[[AttachmentEntry], Awaitable[Fetched]]
_FILE = "file"


class WorkspaceAttachments:
    """What can be attached in a workspace.

    Args:
        root: the absolute path of the workspace folder.
        editor: the documents of the client, where there is an editor.
        processes: runs programs.
        store: the conversations of the workspace.
        resources_of: gives the documents of MCP servers.
        environ: the environment, for what is asked of GitHub.
    """

    def __init__(
        self,
        root: str,
        editor: EditorDocuments | None,
        processes: ProcessRunner,
        store: ConversationStore,
        resources_of: ResourcesOf,
        environ: Mapping[str, str],
    ) -> None:
        self._namer = Namer(root, editor)
        self._files = FileHandler(root, editor)
        web = WebHandler()
        self._handlers: Mapping[str, _FetchOne] = {
            "cmd": CommandHandler(root, processes).fetch,
            "gh": PullRequestHandler(root, GitHub(environ)).fetch,
            "http": web.fetch,
            "https": web.fetch,
            "jp": ConversationHandler(store).fetch,
        }
        self._resources_of = resources_of

    async def read_names(self, names: Sequence[str]) -> NamedAttachments:
        """Make entries of what a query names; see the port.

        Raises:
            AttachmentError: a path does not exist, or lies outside of the workspace.
        """
        return await self._namer.read(names)

    async def fetch(
        self, entries: Sequence[AttachmentEntry], servers: Mapping[str, McpServerConfig]
    ) -> Fetched:
        """Fetch entries; see the port.

        Raises:
            AttachmentError: one of them cannot be had, or there is no handler for it.
        """
        handlers = {**self._handlers, "mcp": ResourceHandler(self._resources_of(servers)).fetch}
        known = (*handlers, _FILE)
        distinct = [
            entry if entry.handler in known else await self._files.as_file(entry, known)
            for entry in {entry.text: entry for entry in entries}.values()
        ]
        slots = [Fetched()] * len(distinct)
        failures: dict[int, AttachmentError] = {}
        files = [index for index, entry in enumerate(distinct) if entry.handler == _FILE]
        async with anyio.create_task_group() as tasks:

            async def run(indices: Sequence[int], fetch: _FetchAll) -> None:
                try:
                    results = await fetch([distinct[index] for index in indices])
                except AttachmentError as error:
                    failures[indices[0]] = error
                    tasks.cancel_scope.cancel()
                    return
                for index, result in zip(indices, results, strict=True):
                    slots[index] = result

            if files:
                tasks.start_soon(run, files, self._files.fetch)
            for index, entry in enumerate(distinct):
                if entry.handler in handlers:
                    tasks.start_soon(run, [index], _one(handlers[entry.handler]))
        if failures:
            raise failures[min(failures)]
        return Fetched(
            tuple(item for slot in slots for item in slot.items),
            tuple(warning for slot in slots for warning in slot.warnings),
        )


def _one(fetch: _FetchOne) -> _FetchAll:
    async def fetch_one(entries: Sequence[AttachmentEntry]) -> Sequence[Fetched]:
        return [await fetch(entry) for entry in entries]

    return fetch_one

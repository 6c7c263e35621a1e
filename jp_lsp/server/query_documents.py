"""The query documents of one client: which are open, what is wrong in them, and what is sent of them."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import unquote

from anyio import to_thread
from lsprotocol import types
from pygls.uris import to_fs_path

from jp_lsp.attachments.survey import find_paths, survey
from jp_lsp.attachments.walk import Tree
from jp_lsp.config.files import is_file
from jp_lsp.config.named_list import NamedConfiguration
from jp_lsp.config.settings import WorkspaceSettings
from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.driver.shelf import Wanted, choose
from jp_lsp.language.findings import Mark
from jp_lsp.language.positions import Lines
from jp_lsp.language.query_document import (
    QueryDocument,
    conversations,
    id_in,
    read_query,
    to_params,
)
from jp_lsp.language.query_findings import find_query_marks, is_attachment
from jp_lsp.language.query_known import KnownToQuery
from jp_lsp.language.query_name import is_query
from jp_lsp.ports.editor import EditorDocuments, OpenDocument
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.upkeep import ConversationFacts
from jp_lsp.server.checks import Checks
from jp_lsp.server.configuration_files import ConfigurationFiles
from jp_lsp.server.diagnostics import publish_diagnostics, write_diagnostics
from jp_lsp.server.wire import JpProtocol
from jp_lsp.server.workplace import Workplace
from jp_lsp.tools.switches import ToolSwitch

_MOST_BYTES = 1024 * 1024
_SHOWN_PROBLEMS = 20
_UNNAMED = "untitled:"


@dataclass(frozen=True, slots=True)
class OpenQuery:
    """A query document as it is in the editor."""

    uri: str
    version: int | None
    document: QueryDocument
    lines: Lines


@dataclass(frozen=True, slots=True)
class Filled:
    """What a document asks for, as members of `jp/query`.

    `path` is its file's; the URI of one that is no file, which may be a stranger's just as well, and nothing for one
    that has no name yet.
    """

    params: JsonObject
    path: str | None


class QueryDocuments:
    """The query documents of one client.

    Args:
        protocol: the way to the client.
        files: has the open documents, and the models that were listed.
        workplace: the workspace.
        documents: what is open in the editor, as attachments see it.
        used_last: gives the conversation that this client used last.
    """

    def __init__(
        self,
        protocol: JpProtocol,
        files: ConfigurationFiles,
        workplace: Workplace,
        documents: EditorDocuments,
        used_last: Callable[[], ConversationId | None],
    ) -> None:
        self._protocol = protocol
        self._files = files
        self._workplace = workplace
        self._documents = documents
        self._used_last = used_last
        self._checks = Checks(self._check, files.version)
        self._published: set[str] = set()
        self._running: dict[str, int | str] = {}

    async def edited(self, uri: str) -> OpenQuery | None:
        """Give an open query document, for what is asked about it; `None` if the document is none."""
        self._checks.note_question()
        document = self._files.document(uri)
        if document is None or not is_query(uri, document.language_id):
            return None
        text, version, encoding = document.source, document.version, self._files.encoding
        return await to_thread.run_sync(
            lambda: OpenQuery(uri, version, read_query(text), Lines(text, encoding))
        )

    async def check(self, uri: str) -> None:
        """Publish what is wrong in a document, or that nothing is any more when it was closed."""
        await self._checks.run(uri)

    async def check_others(self, uri: str) -> None:
        """Check the other open documents again, since they may name the file that was saved."""
        await self._checks.run_others(uri)

    async def marks(self, query: OpenQuery) -> Sequence[Mark]:
        """Give what is wrong in a document."""
        return await self._marks(query.document, query.uri)

    async def known(
        self, uri: str, *, with_conversations: bool = True, with_archived: bool = False
    ) -> KnownToQuery:
        """Give what can be named in a document; listing conversations takes a moment where there are many."""
        settings = self._workplace.configuration()
        documents = [each for each in self._documents.open_documents() if each.uri != uri]
        folder = settings.folder
        tree = Tree(folder)

        @cache
        def values(overrides: tuple[str, ...]) -> JsonObject:
            return settings.values(overrides)

        return KnownToQuery(
            values=lambda overrides: values(tuple(overrides)),
            problems=settings.problems,
            locked=lambda overrides, switches: _locked(settings, overrides, switches),
            named=cache(settings.named),
            sets=lambda named: _sets(settings, named),
            survey=lambda name: survey(name, tree, documents),
            paths=lambda below, fits, limit: find_paths(tree, below, fits, limit),
            models=self._files.models,
            conversations=await self._conversations(is_archived=False) if with_conversations else (),
            archived=await self._conversations(is_archived=True) if with_archived else (),
            open_names=[_open_name(each, folder) for each in documents],
            runs_commands=self._workplace.is_trusted,
        )

    async def destination(self, document: QueryDocument) -> str | None:
        """Say what the conversation is called that a document would go to, by its title where it has one."""
        named = document.word("fork") or document.word("conversation")
        wanted = self._used_last() if named is None else id_in(named)
        if wanted is None:
            return None
        with suppress(Refusal):
            return (await self._workplace.upkeep().facts(ConversationId(wanted))).title or wanted
        return wanted

    async def turns_of(self, conversation: str) -> int | None:
        """Count the turns of a conversation; `None` where it cannot be read."""
        try:
            return (await self._workplace.read(ConversationId(conversation))).stream.turn_count
        except Refusal:
            return None

    async def fill(self, uri: str) -> Filled:
        """Read what a document asks for: the open one, else the file.

        Raises:
            Refusal: it cannot be read, says something wrong, or has no text; with the place.
        """
        path = to_fs_path(uri)
        opened = self._files.document(uri)
        text = opened.source if opened is not None else await to_thread.run_sync(_read, uri, path)
        document = await to_thread.run_sync(read_query, text)
        wrong = [mark for mark in await self._marks(document, uri) if mark.severity == "error"]
        if wrong:
            raise await to_thread.run_sync(self._refusal, uri, text, wrong)
        known = await self.known(uri, with_conversations=False)

        def is_there(name: str) -> bool:
            return is_attachment(known, name)

        is_own = path is not None or uri.startswith(_UNNAMED)
        return Filled(await to_thread.run_sync(to_params, document, is_there), path if is_own else uri)

    @contextmanager
    def sending(self, uri: str, token: int | str) -> Generator[None]:
        """Show that a turn of a document runs, for as long as it does."""
        uri = unquote(uri)  # editors do not always write it in the same way
        self._running[uri] = token
        self._refresh_lenses()
        try:
            yield
        finally:
            if self._running.get(uri) == token:
                del self._running[uri]
            self._refresh_lenses()

    def token_of(self, uri: str) -> int | str | None:
        """Give the token of the query that a document was sent with, while it runs."""
        return self._running.get(unquote(uri))

    def name_of(self, uri: str) -> str:
        """Name a document for people: by its path in the workspace, where it has one."""
        path, folder = to_fs_path(uri), self._workplace.configuration().folder
        if path is None:
            return uri
        is_inside = Path(path).is_relative_to(folder)
        return Path(path).relative_to(folder).as_posix() if is_inside else path

    async def _marks(self, document: QueryDocument, uri: str) -> Sequence[Mark]:
        names_some = bool(conversations(document))
        known = await self.known(uri, with_conversations=names_some, with_archived=names_some)
        return await to_thread.run_sync(find_query_marks, document, known)

    async def _conversations(self, *, is_archived: bool) -> Sequence[ConversationFacts]:
        try:
            listed = await self._workplace.upkeep().list(is_archived=is_archived)
        except Refusal:
            return ()
        return choose(listed, Wanted())

    def _refusal(self, uri: str, text: str, marks: Sequence[Mark]) -> Refusal:
        """Say what is wrong, each with its place, counted from 1."""
        lines, name = Lines(text, "utf-32"), self.name_of(uri)
        places = [lines.position(mark.span.start) for mark in marks[:_SHOWN_PROBLEMS]]
        origins = [f"{name}:{place.line + 1}:{place.character + 1}" for place in places]
        told = [f"{origin}: {mark.text}" for origin, mark in zip(origins, marks, strict=False)]
        message = told[0]
        if len(marks) > 1:
            more = [f"- and {len(marks) - len(told)} more"] if len(marks) > len(told) else []
            listed = "\n".join([*(f"- {line}" for line in told), *more])
            message = f"The query has {len(marks)} problems:\n{listed}"
        return Refusal("invalid_params", message, chain=tuple(told), origin=origins[0])

    async def _check(self, uri: str) -> bool:
        query = await self.edited(uri)
        if query is None:
            if uri in self._published:
                self._published.discard(uri)
                publish_diagnostics(self._protocol, uri, None, [])
            return False
        self._files.list_models()
        marks = await self._marks(query.document, uri)
        found = await to_thread.run_sync(write_diagnostics, self._protocol, marks, query.lines)
        self._published.add(uri)
        if self._files.document(uri) is None:
            self._checks.again(uri)  # it was closed meanwhile
        else:
            publish_diagnostics(self._protocol, uri, query.version, found)
        return True

    def _refresh_lenses(self) -> None:
        if self._protocol.capability("workspace", "codeLens", "refreshSupport") is True:
            self._protocol.send_request_raw(types.WORKSPACE_CODE_LENS_REFRESH, {})


def _open_name(document: OpenDocument, folder: Path) -> str:
    """Name an open document as a query does: by its path in the workspace, else by its URI."""
    is_inside = document.path is not None and Path(document.path).is_relative_to(folder)
    return Path(document.path or "").relative_to(folder).as_posix() if is_inside else document.uri


def _read(uri: str, path: str | None) -> str:
    """Read a document that is not open.

    Raises:
        Refusal: there is no such file, or it is no text.
    """
    if path is None:
        raise Refusal("invalid_params", f"Document {uri} is not open, and is no file.", origin="document")
    try:
        place = Path(path)
        if place.exists() and not (place.is_dir() or is_file(place)):  # to open one could take for ever
            text = f"Document {path} is no ordinary file."
            raise Refusal("invalid_params", text, origin="document")
        with place.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "it is no text in UTF-8"
        text = f"Document {path} cannot be read: {reason}."
        raise Refusal("invalid_params", text, origin="document") from error
    if len(data) > _MOST_BYTES:
        text = f"Document {path} is larger than {_MOST_BYTES // 1024 // 1024} MiB."
        raise Refusal("invalid_params", text, origin="document")
    return text


def _locked(
    settings: WorkspaceSettings, overrides: Sequence[str], switches: Sequence[tuple[bool, str | None]]
) -> str | None:
    """Say why tools cannot be switched, if it is because of the tools."""
    try:
        settings.switched(overrides, None, [ToolSwitch(is_on, name) for is_on, name in switches])
    except Refusal as refusal:
        return refusal.error.message if refusal.error.origin == "tools" else None
    return None


def _sets(settings: WorkspaceSettings, named: NamedConfiguration) -> Sequence[tuple[str, JsonValue]]:
    """Give the settings that hold because of a named file, what it extends included."""
    found = settings.explain_all((named.expression,))
    return [(each.key, each.value) for each in found if each.origin.kind == "request"]

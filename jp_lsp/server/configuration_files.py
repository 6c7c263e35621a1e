"""The configuration files that a client has open: which ones they are, and what is wrong in them.

A check reads other files and folds all layers, so it is done beside the event loop, and once more if the text
changed meanwhile: however quickly somebody types, at most one check of a file runs.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from anyio import to_thread
from lsprotocol import types
from pygls.uris import to_fs_path
from pygls.workspace import TextDocument

from jp_lsp.config.about_file import FileFacts
from jp_lsp.config.settings import WorkspaceSettings
from jp_lsp.driver.background import Background
from jp_lsp.driver.model_catalogue import ModelCatalogue
from jp_lsp.language.completion import Known, Offer
from jp_lsp.language.findings import Mark, find_marks
from jp_lsp.language.positions import Encoding, Lines
from jp_lsp.server.language_to_wire import diagnostic
from jp_lsp.server.wire import JpProtocol

SUFFIX = ".toml"
_MOST_FILES = 500


@dataclass(frozen=True, slots=True)
class EditedFile:
    """A configuration file as it is in the editor; `settings` are those with its text."""

    uri: str
    path: Path
    text: str
    version: int | None
    settings: WorkspaceSettings
    lines: Lines


class ConfigurationFiles:
    """The open configuration files of one client.

    Args:
        protocol: has the documents, and is the way to the client.
        settings: gives the settings of the workspace.
        models: gives what models there are.
        background: lists models beside what the user does.
    """

    def __init__(
        self,
        protocol: JpProtocol,
        settings: Callable[[], WorkspaceSettings],
        models: Callable[[], ModelCatalogue],
        background: Background,
    ) -> None:
        self._protocol = protocol
        self._settings = settings
        self._models = models
        self._background = background
        self._is_configuration: dict[str, bool] = {}
        self._published: set[str] = set()
        self._wanted: set[str] = set()
        self._checking: set[str] = set()
        self._offered: tuple[Offer, ...] = ()
        self._is_listing = False

    @property
    def encoding(self) -> Encoding:
        """The units of positions that were agreed on."""
        match str(self._protocol.workspace.position_encoding):
            case "utf-8":
                return "utf-8"
            case "utf-32":
                return "utf-32"
            case _:
                return "utf-16"

    def document(self, uri: str) -> TextDocument | None:
        """Give an open document of any kind."""
        documents: Mapping[str, TextDocument] = self._protocol.workspace.text_documents
        return documents.get(unquote(uri)) or documents.get(uri)

    async def edited(self, uri: str) -> EditedFile | None:
        """Give an open configuration file; `None` if the document is none."""
        document, path = self.document(uri), to_fs_path(uri)
        if document is None or path is None or not path.endswith(SUFFIX):
            return None
        settings = self._settings()
        if uri not in self._is_configuration:
            self._is_configuration[uri] = await to_thread.run_sync(settings.is_configuration, Path(path))
        if not self._is_configuration[uri]:
            return None
        text = document.source
        return EditedFile(
            uri,
            Path(path),
            text,
            document.version,
            settings.with_text(Path(path), text),
            await to_thread.run_sync(Lines, text, self.encoding),
        )

    async def check(self, uri: str) -> None:
        """Publish what is wrong in a file, or that nothing is any more when it was closed."""
        self._wanted.add(uri)
        if uri in self._checking:
            return
        self._checking.add(uri)
        try:
            while uri in self._wanted:
                self._wanted.discard(uri)
                await self._check(uri)
        finally:
            self._checking.discard(uri)
            self._wanted.discard(uri)

    async def check_others(self, uri: str) -> None:
        """Check the other open files again, since one that was saved may matter for them."""
        self._is_configuration.clear()
        for other in sorted(self._published - {uri}):
            await self.check(other)

    def known(self, file: EditedFile) -> Known:
        """Give what completion may offer; models are those that were listed by now."""
        return Known(
            values=lambda: file.settings.values(file.settings.about_file(file.path).overrides),
            models=lambda: self._offered,
            files=lambda: tuple(_extendable(file.path, self._settings())),
        )

    def list_models(self) -> None:
        """Find out what models there are, without waiting for it."""
        if self._is_listing:
            return
        self._is_listing = True
        settings = self._settings()

        async def list_them() -> None:
            try:
                names = await to_thread.run_sync(settings.model_names)
                listing = await self._models().list(names, vendor=None, is_fresh=False)
                self._offered = tuple(
                    Offer(str(model.id), model.display_name or "") for model in listing.models
                )
            finally:
                self._is_listing = False

        self._background.spawn("listing models", list_them)

    async def _check(self, uri: str) -> None:
        file = await self.edited(uri)
        if file is None:
            self._is_configuration.pop(uri, None)
            if uri in self._published:
                self._published.discard(uri)
                self._publish(uri, None, [])
            return
        diagnostics = await to_thread.run_sync(self._diagnostics, file)
        if self.document(uri) is None:
            self._wanted.add(uri)  # it was closed meanwhile
            return
        self._published.add(uri)
        self._publish(uri, file.version, diagnostics)

    def _diagnostics(self, file: EditedFile) -> Sequence[types.Diagnostic]:
        support = self._protocol.capability("textDocument", "publishDiagnostics", "tagSupport")
        has_tags = support is not None and support is not False
        return [diagnostic(mark, file.lines, has_tags=has_tags) for mark in marks_of(file)]

    def _publish(self, uri: str, version: int | None, diagnostics: Sequence[types.Diagnostic]) -> None:
        params = types.PublishDiagnosticsParams(uri, list(diagnostics), version=version)
        self._protocol.notify(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params)


def marks_of(file: EditedFile) -> list[Mark]:
    """Give all that is wrong or doubtful in a file; may take a moment."""
    return find_marks(file.text, facts_of(file))


def facts_of(file: EditedFile) -> FileFacts:
    """Say what a file means among the others; may take a moment."""
    return file.settings.about_file(file.path)


def _extendable(path: Path, settings: WorkspaceSettings) -> Iterator[Offer]:
    """Give the files that can be extended: those beside the file, and those that have a name."""
    titles = {named: each.title or "" for each in settings.named() for named in each.paths}
    beside = sorted(other for other in path.parent.glob(f"*{SUFFIX}") if other.is_file())
    for other in list(dict.fromkeys([*beside, *sorted(titles)]))[:_MOST_FILES]:
        if other != path:
            name = os.path.relpath(other, path.parent).replace(os.sep, "/")
            yield Offer(name, titles.get(other, ""))

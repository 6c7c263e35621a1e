"""The configuration files that a client has open: which ones they are, and what is wrong in them.

A text is read once for each of its versions, beside the event loop. A check of it also reads other files and folds
all layers, so it waits for its moment (`checks`). What it found is kept, so that completion and code actions need not
find it again.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote

from anyio import to_thread
from pygls.uris import to_fs_path
from pygls.workspace import TextDocument

from jp_lsp.config.about_file import FileFacts
from jp_lsp.config.settings import WorkspaceSettings
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.driver.background import Background
from jp_lsp.driver.model_catalogue import ModelCatalogue
from jp_lsp.language.completion import Known, Offer
from jp_lsp.language.document import MAX_SIZE, Document
from jp_lsp.language.findings import Mark, find_marks
from jp_lsp.language.formats import SUFFIXES, read_document
from jp_lsp.language.model_facts import model_summary
from jp_lsp.language.positions import Encoding, Lines
from jp_lsp.ports.provider import ModelDetails
from jp_lsp.server.checks import Checks
from jp_lsp.server.diagnostics import publish_diagnostics, write_diagnostics
from jp_lsp.server.wire import JpProtocol

_MOST_FILES = 500


@dataclass(frozen=True, slots=True)
class EditedFile:
    """A configuration file as it is in the editor; `settings` are those with its text, `base` those without."""

    uri: str
    path: Path
    version: int | None
    base: WorkspaceSettings
    settings: WorkspaceSettings
    document: Document
    lines: Lines

    @property
    def is_too_large(self) -> bool:
        """Whether the text is longer than any that is looked at."""
        return len(self.document.text) > MAX_SIZE


@dataclass(frozen=True, slots=True)
class _Checked:
    """What the last check of a file found, and the effective configuration then."""

    file: EditedFile
    marks: Sequence[Mark]
    values: JsonObject


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
        self._edited: dict[str, EditedFile] = {}
        self._checked: dict[str, _Checked] = {}
        self._checks = Checks(self._check, self.version)
        self._models_listed: tuple[ModelDetails, ...] = ()
        self._is_listing = False
        self._are_models_wanted = False

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

    @property
    def models(self) -> Sequence[ModelDetails]:
        """The models that were listed by now."""
        return self._models_listed

    def document(self, uri: str) -> TextDocument | None:
        """Give an open document of any kind."""
        documents: Mapping[str, TextDocument] = self._protocol.workspace.text_documents
        return documents.get(unquote(uri)) or documents.get(uri)

    def version(self, uri: str) -> int | None:
        """Give the version of a document of any kind; `None` if it is not open."""
        document = self.document(uri)
        return None if document is None else document.version

    async def edited(self, uri: str) -> EditedFile | None:
        """Give an open configuration file, for what is asked about it; `None` if the document is none."""
        self._checks.note_question()
        document, path = self.document(uri), to_fs_path(uri)
        if document is None or path is None or not path.endswith(SUFFIXES):
            return None
        settings = self._settings()
        if uri not in self._is_configuration:
            self._is_configuration[uri] = await to_thread.run_sync(settings.is_configuration, Path(path))
        if not self._is_configuration[uri]:
            return None
        text, version = document.source, document.version
        known = self._edited.get(uri)
        if known is None or known.base is not settings or known.document.text != text:
            known = await to_thread.run_sync(self._read, uri, Path(path), text, version, settings)
            self._edited[uri] = known
        return known if known.version == version else replace(known, version=version)

    def _read(
        self, uri: str, path: Path, text: str, version: int | None, settings: WorkspaceSettings
    ) -> EditedFile:
        document = read_document(text, path.suffix)
        lines = Lines(text, self.encoding)
        return EditedFile(uri, path, version, settings, settings.with_text(path, text), document, lines)

    async def check(self, uri: str) -> None:
        """Publish what is wrong in a file, or that nothing is any more when it was closed."""
        await self._checks.run(uri)

    async def check_others(self, uri: str) -> None:
        """Check the other open files again, since one that was saved may matter for them."""
        self._is_configuration.clear()
        await self._checks.run_others(uri)

    def known(self, file: EditedFile) -> Known:
        """Give what completion may offer; values are those of the last check, models those listed by now."""

        def values() -> JsonObject:
            checked = self._checked.get(file.uri)
            return values_of(file) if checked is None else checked.values

        def models() -> Sequence[Offer]:
            self._are_models_wanted = True
            return [Offer(str(each.id), model_summary(each)) for each in self.models]

        return Known(values, models, lambda: tuple(_extendable(file.path, file.base)))

    def list_wanted_models(self) -> None:
        """Find out what models there are if completion asked for them, without waiting for it."""
        if self._are_models_wanted:
            self._are_models_wanted = False
            self.list_models()

    async def marks(self, file: EditedFile) -> Sequence[Mark]:
        """Give what is wrong in a file: what the last check found, or what its text tells if it changed since."""
        checked = self._checked.get(file.uri)
        if checked is not None and checked.file.document is file.document:
            return checked.marks
        return await to_thread.run_sync(find_marks, file.document, FileFacts())

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
                self._models_listed = listing.models
            finally:
                self._is_listing = False

        self._background.spawn("listing models", list_them)

    async def _check(self, uri: str) -> bool:
        file = await self.edited(uri)
        if file is None:
            self._is_configuration.pop(uri, None)
            self._edited.pop(uri, None)
            if self._checked.pop(uri, None) is not None:
                publish_diagnostics(self._protocol, uri, None, [])
            return False
        checked = await to_thread.run_sync(_check, file)
        self._checked[uri] = checked
        if self.document(uri) is None:
            self._checks.again(uri)  # it was closed meanwhile
        else:
            found = write_diagnostics(self._protocol, checked.marks, file.lines)
            publish_diagnostics(self._protocol, uri, file.version, found)
        return True


def values_of(file: EditedFile) -> JsonObject:
    """Give the configuration in which a file counts; may take a moment."""
    return file.settings.values(file.settings.expressions_for(file.path) or ())


def _check(file: EditedFile) -> _Checked:
    """Find all that is wrong or doubtful in a file; takes a moment."""
    if file.is_too_large:
        return _Checked(file, find_marks(file.document, FileFacts()), {})
    facts = file.settings.about_file(file.path)
    return _Checked(file, find_marks(file.document, facts), file.settings.values(facts.overrides))


def _extendable(path: Path, settings: WorkspaceSettings) -> Iterator[Offer]:
    """Give the files that can be extended: those beside the file, and those that have a name."""
    titles = {named: each.title or "" for each in settings.named() for named in each.paths}
    beside = sorted(
        other for other in path.parent.glob("*.*") if other.suffix in SUFFIXES and other.is_file()
    )
    for other in list(dict.fromkeys([*beside, *sorted(titles)]))[:_MOST_FILES]:
        if other != path:
            name = os.path.relpath(other, path.parent).replace(os.sep, "/")
            yield Offer(name, titles.get(other, ""))

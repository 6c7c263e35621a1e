"""`jp-lsp doctor` and `jp-lsp init`: what is set up here, what would answer, and what to do about the rest.

`diagnose` looks and changes nothing, asks nobody over the network, and never holds the value of a key.
`report_lines` turns what it found into lines for people.
"""

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from jp_lsp import __version__
from jp_lsp.config.problem import Problem
from jp_lsp.config.server_settings import ServerSettings
from jp_lsp.config.settings import WorkspaceSettings
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.driver.trust import apply_trust
from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.providers import LOCAL, PROVIDER_DEFAULTS, ProviderSettings
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.settings import QuerySettings
from jp_lsp.providers.local.installed import current_installation
from jp_lsp.providers.local.settings import LocalModelSettings, check_settings, default_model
from jp_lsp.providers.registry import ProviderRegistry
from jp_lsp.render.text import clean
from jp_lsp.workspace.init import initialise
from jp_lsp.workspace.locate import find_workspace, user_config_folder, user_data_folder
from jp_lsp.workspace.paths import Roots, WorkspaceError, view_roots
from jp_lsp.workspace.store import DiskStore
from jp_lsp.workspace.trust import TRUST_FILE, DiskTrustStore

_MODEL_KEY = "assistant.model.id"


@dataclass(frozen=True, slots=True)
class Answering:
    """Which model would answer, and why; `obstacle` says what would keep it from doing so."""

    model: str | None
    why: str
    obstacle: str | None = None


@dataclass(frozen=True, slots=True)
class Vendor:
    """A vendor, the variable with its key, and whether that is set; `obstacle` says why it cannot be asked."""

    name: str
    key_name: str | None
    has_key: bool
    obstacle: str | None


@dataclass(frozen=True, slots=True)
class LastConversation:
    """The conversation that a query without further words would go on with."""

    id: str
    answering: Answering


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything that was found.

    Attributes:
        folder: where we looked from.
        root: the workspace, if there is one.
        user_config: the folder of the user's own configuration.
        user_data: the folder of the user's own data.
        new: who would answer in a new conversation.
        last: the last conversation, if there is one that can be read.
        vendors: those that can be asked for, the embedded model not among them.
        local: the state of the embedded model.
        problems: what is wrong or doubtful in the configuration.
        untrusted: what the workspace says about vendors, and does not count before it is trusted.
    """

    folder: Path
    root: Path | None
    user_config: Path
    user_data: Path
    new: Answering
    last: LastConversation | None = None
    vendors: tuple[Vendor, ...] = ()
    local: str = "missing"
    problems: tuple[Problem, ...] = ()
    untrusted: tuple[str, ...] = ()

    @property
    def is_ready(self) -> bool:
        """Whether a query here would reach a model."""
        return (self.new if self.last is None else self.last.answering).obstacle is None


def diagnose(folder: Path, environ: Mapping[str, str], *, home: Path) -> Diagnosis:
    """Look at everything that decides what a query in `folder` would do."""
    return _Examination(folder, environ, home).diagnose()


class _Examination:
    """One look at one folder."""

    def __init__(self, folder: Path, environ: Mapping[str, str], home: Path) -> None:
        self._folder = folder
        self._environ = environ
        self._root = find_workspace(folder)
        self._user_config = user_config_folder(environ, platform=sys.platform, home=home)
        self._user_data = user_data_folder(environ, platform=sys.platform, home=home)
        self._local = LocalModelSettings(self._user_data)
        self._roots = None if self._root is None else view_roots(self._root, self._user_data)
        silo = None if self._roots is None else self._roots.silo
        self._settings = WorkspaceSettings(
            self._root,
            folder,
            environ,
            self._user_config,
            None if silo is None else silo.path,
            ServerSettings(),
            lambda: default_model(self._user_data),
        )

    def diagnose(self) -> Diagnosis:
        return Diagnosis(
            self._folder,
            self._root,
            self._user_config,
            self._user_data,
            self._answering(None),
            None if self._roots is None else self._last(self._roots),
            self._vendors(),
            self._local_state(),
            self._settings.problems(),
            tuple(str(endpoint) for endpoint in self._settings.untrusted_endpoints()),
        )

    def _answering(self, conversation: ConversationStream | None) -> Answering:
        try:
            settings = self._settings.resolve((), conversation)
            settings = apply_trust(settings, is_trusted=self._is_trusted(settings))
        except Refusal as refusal:
            return Answering(None, "", refusal.error.message)
        try:
            self._check(settings.model, settings.providers)
        except Refusal as refusal:
            return Answering(str(settings.model), self._why(conversation), refusal.error.message)
        return Answering(str(settings.model), self._why(conversation))

    def _is_trusted(self, settings: QuerySettings) -> bool:
        """Look up whether the user trusts all that the workspace wants; nobody is asked."""
        if self._root is None:
            return not settings.untrusted
        return not DiskTrustStore(self._user_data / TRUST_FILE, self._root).changes(settings.untrusted)

    def _check(self, model: ModelId, providers: Mapping[str, ProviderSettings]) -> None:
        """Find out, without the network, whether the model can be asked.

        Raises:
            Refusal: it cannot; says what to do.
        """
        if model.provider == LOCAL:
            check_settings(self._local)
        else:
            ProviderRegistry(providers, self._environ).get(model)

    def _why(self, conversation: ConversationStream | None) -> str:
        explanation = self._settings.explain(_MODEL_KEY, (), conversation)
        if explanation.value is None:
            return "nothing else is set, and this one is installed"
        where = "the conversation" if explanation.origin.kind == "conversation" else str(explanation.origin)
        return "; ".join([f"set in {where}", *explanation.notes])

    def _last(self, roots: Roots) -> LastConversation | None:
        async def find() -> LastConversation | None:
            store = DiskStore(roots, now=lambda: Timestamp(time.time_ns()))
            last = await store.last()
            if last is None:
                return None
            try:
                stream = (await store.copy(last)).stream
            except Refusal as refusal:
                return LastConversation(last, Answering(None, "", refusal.error.message))
            return LastConversation(last, self._answering(stream))

        return anyio.run(find)

    def _vendors(self) -> tuple[Vendor, ...]:
        settings = self._settings.provider_settings()
        registry = ProviderRegistry(settings, self._environ)
        return tuple(self._vendor(name, registry, settings.get(name)) for name in registry.known)

    def _vendor(self, name: str, registry: ProviderRegistry, settings: ProviderSettings | None) -> Vendor:
        key_name = (settings or PROVIDER_DEFAULTS[name]).api_key_env or PROVIDER_DEFAULTS[name].api_key_env
        has_key = key_name is not None and bool(self._environ.get(key_name, "").strip())
        obstacle: str | None = None
        try:
            registry.get(ModelId(name, "any"))
        except Refusal as refusal:
            obstacle = refusal.error.message
        return Vendor(name, key_name, has_key, obstacle)

    def _local_state(self) -> str:
        installation = current_installation(self._user_data)
        if not installation.folder.exists():
            return "missing"
        return "broken" if installation.find_problem() else "installed"


def report_lines(found: Diagnosis) -> list[str]:
    """Write what was found for people, the most important last; no line has the value of a key.

    Names from files, which may be a stranger's, are for a terminal: no line controls it.
    """
    lines = [
        f"jp-lsp {__version__}, Python {sys.version.split()[0]}",
        _workspace_line(found),
        f"Your configuration: {found.user_config}",
        f"Your data:          {found.user_data}",
        "",
        "Vendors:",
        *_vendor_lines(found.vendors),
        _local_line(found.local),
        *_section("The configuration has problems:", [_problem_line(problem) for problem in found.problems]),
        *_section("Not used, because the workspace is not trusted:", found.untrusted),
        "",
        *_answering_lines("A new conversation", found.new),
        *_last_lines(found.last),
        *(['Ready. Ask something: jp-lsp query "..."'] if found.is_ready else []),
    ]
    return [clean(line) for line in lines]


def _workspace_line(found: Diagnosis) -> str:
    if found.root is not None:
        return f"Workspace:          {found.root}"
    return f"Workspace:          none at or above {found.folder}; the first query makes one here, or `jp-lsp init`"


def _vendor_lines(vendors: Sequence[Vendor]) -> list[str]:
    width = max((len(vendor.name) for vendor in vendors), default=0)
    return [f"  {vendor.name:<{width}}  {_vendor_words(vendor)}" for vendor in vendors]


def _vendor_words(vendor: Vendor) -> str:
    if vendor.obstacle is not None:
        return vendor.obstacle
    if vendor.has_key:
        return f"ready, with the key in {vendor.key_name}"
    return "can be asked; no key is needed"


def _local_line(state: str) -> str:
    match state:
        case "installed":
            return "Local model: installed"
        case "broken":
            return "Local model: damaged; `jp-lsp local install` replaces it"
        case _:
            return (
                "Local model: not installed; `jp-lsp local install` installs it (about 127 MB, no key needed)"
            )


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return ["", title, *(f"  {line}" for line in lines)] if lines else []


def _problem_line(problem: Problem) -> str:
    return f"{problem.severity}: {problem}"


def _answering_lines(where: str, answering: Answering) -> list[str]:
    obstacle = None if answering.obstacle is None else answering.obstacle.removesuffix(".")
    if answering.model is None:
        return [f"{where} cannot begin: {obstacle}."]
    would = f"{where} would ask {answering.model} ({answering.why})"
    return [f"{would}." if obstacle is None else f"{would}, but cannot: {obstacle}."]


def _last_lines(last: LastConversation | None) -> list[str]:
    return [] if last is None else _answering_lines(f"The last one, {last.id},", last.answering)


def init_workspace(
    folder: Path, model: str | None, environ: Mapping[str, str], *, home: Path
) -> tuple[list[str], int]:
    """Make a workspace, and give the lines to print and the exit code.

    Args:
        folder: becomes the workspace, even below another one.
        model: the model to use in it.
        environ: says where the user's own files are, and which keys there are.
        home: the user's home folder.
    """
    storage = folder / ".jp"
    had = set(storage.iterdir()) if storage.is_dir() else None
    try:
        initialise(folder, Timestamp(time.time_ns()), model=model)
    except WorkspaceError as error:
        return [f"error: {error}"], 1
    lines = [f"Made a workspace: {storage}" if had is None else f"There was a workspace already: {storage}"]
    if model is not None and had is not None and any(path.stem == "config" for path in had):
        lines.append(f"Its configuration was left as it is; set {_MODEL_KEY} in it to {model!r} yourself.")
    found = diagnose(folder, environ, home=home)
    return [*lines, *_answering_lines("A new conversation", found.new)], 0

"""The settings of a workspace: everything else in this package, behind the port `SettingsSource`.

Files are looked at anew for each query, so an edit holds from the next one on; a query itself runs with
settings that never change. Nothing is remembered between queries but files that did not change.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path as FilePath

from jp_lsp.config import document, options, sections
from jp_lsp.config.about_file import (
    EditedFiles,
    FileFacts,
    expression_of,
    is_read_by,
    is_same_file,
    lies_below,
    shadowed_in,
    why_unread,
)
from jp_lsp.config.attachments import attachment_entries, named_layer
from jp_lsp.config.delta import compute_change
from jp_lsp.config.endpoints import UntrustedEndpoint, provider_settings, untrusted_endpoints
from jp_lsp.config.explain import Explanation, explain, explain_all, value_origin
from jp_lsp.config.files import FileCache
from jp_lsp.config.fold import OUR_ORDER, REFERENCE_ORDER, Order, fold, in_order
from jp_lsp.config.gather import Gathered, Places, gather, load_paths
from jp_lsp.config.labels import label_rules
from jp_lsp.config.layer import Layer, Source
from jp_lsp.config.model_id import STORED_PROVIDER
from jp_lsp.config.models import ALIASES, MAIN_MODEL
from jp_lsp.config.named_list import NamedConfiguration, list_named
from jp_lsp.config.problem import Problem, dotted, errors_in, refusal
from jp_lsp.config.resolve import complete_configuration, resolve
from jp_lsp.config.rules import Violation
from jp_lsp.config.schema import SCHEMA
from jp_lsp.config.server_settings import ServerSettings
from jp_lsp.config.snapshot import from_stored, to_stored, without_private
from jp_lsp.config.stored import StoredChange, StoredSettings, read_stored, stored_layer
from jp_lsp.config.titles import TITLE_MODEL, names_title_model, title_settings
from jp_lsp.config.tool_switches import switch_expressions
from jp_lsp.config.tools import TOOLS, ToolSettings, outdated, tool_settings
from jp_lsp.config.trace import locate, narrowed
from jp_lsp.config.trust import trust_hash, trust_items
from jp_lsp.config.value import (
    ABSENT,
    Partial,
    Path,
    entries_of,
    value_at,
    with_value,
    without_manner,
)
from jp_lsp.config.write import write_table
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.providers import ModelNames, ProviderSettings
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.settings import QuerySettings
from jp_lsp.ports.trust import TrustItem
from jp_lsp.tools.switches import ImpossibleSwitch, ToolSwitch
from jp_lsp.turn.explanation import ValueOrigin

NO_MODEL = (
    "no model is set: run `jp-lsp local install` for the small built-in one, which needs no key, or set "
    "`assistant.model.id` (or pass `--model`) to a vendor's model and the vendor's API key in the environment"
)


@dataclass(frozen=True, slots=True)
class _Sources:
    """What one query's settings come from."""

    gathered: Gathered
    stored: StoredSettings | None

    def attaching(self, attachments: Sequence[str]) -> "_Sources":
        """Give the same, with what the query attaches."""
        sources = (*self.gathered.sources, named_layer(attachments))
        return replace(self, gathered=replace(self.gathered, sources=sources))

    def ordered(self, order: Order) -> Sequence[Source]:
        conversation = () if self.stored is None else (stored_layer(self.stored.tree),)
        return in_order((*self.gathered.sources, *conversation), order)

    @property
    def is_order_free(self) -> bool:
        """Whether the order of conversation and environment makes no difference."""
        return not any(
            isinstance(source, Layer) and source.kind == "environment" and source.steps
            for source in self.gathered.sources
        )

    @property
    def problems(self) -> tuple[Problem, ...]:
        return (*self.gathered.problems, *(() if self.stored is None else self.stored.problems))


class WorkspaceSettings:
    """Implements `SettingsSource` for one workspace, or for a folder without one.

    Args:
        root: the workspace, the folder that holds `.jp`; `None` outside one.
        cwd: the folder that requests come from.
        environ: the environment.
        user_config_dir: the folder of the user's own `config.toml`.
        user_workspace_dir: what the user keeps for this workspace alone.
        server: the server's settings.
        default_model: gives the model to use when nothing sets one, if there is any; asked also to
            recognise it in conversations.
        order: which layer lies above which.
    """

    def __init__(
        self,
        root: FilePath | None,
        cwd: FilePath,
        environ: Mapping[str, str],
        user_config_dir: FilePath,
        user_workspace_dir: FilePath | None,
        server: ServerSettings,
        default_model: Callable[[], ModelId | None],
        *,
        order: Order = OUR_ORDER,
    ) -> None:
        self._places = Places(root, cwd, user_config_dir, user_workspace_dir)
        self._environ = environ
        self._server = server
        self._default_model = default_model
        self._order = order
        self._cache = FileCache()

    @property
    def order(self) -> Order:
        """Which layer lies above which, lowest first."""
        return self._order

    def with_server(self, server: ServerSettings) -> "WorkspaceSettings":
        """Give the same with other server settings; what was read of files is shared."""
        other = copy(self)
        other._server = server
        return other

    def with_text(self, path: FilePath, text: str) -> "WorkspaceSettings":
        """Give the same with a file as it is being edited; what was read of other files is shared."""
        other = copy(self)
        other._cache = EditedFiles(self._cache, path, text)
        return other

    def default_conversation(self, overrides: Sequence[str]) -> str | None:
        """Read `conversation.default_id`, which no conversation can decide.

        Gives `ask`, `last-activated`, `last-created`, `previous`, a conversation's id, or nothing.

        Raises:
            Refusal: the configuration is invalid.
        """
        sources = self._sources(overrides, None)
        folded = fold(sources.ordered(self._order))
        _refuse_errors((*sources.problems, *folded.problems))
        return options.optional_text(folded.tree, "conversation", "default_id")

    def lock_timeout(self, overrides: Sequence[str]) -> float:
        """Read how long to wait for a conversation that another program holds, in seconds.

        Raises:
            Refusal: the configuration is invalid.
        """
        sources = self._sources(overrides, None)
        resolved = resolve(sources.ordered(self._order))
        _refuse_errors((*sources.problems, *resolved.problems))
        return options.lock_timeout(resolved.tree)

    def resolve(
        self,
        overrides: Sequence[str],
        conversation: ConversationStream | None,
        attachments: Sequence[str] = (),
    ) -> QuerySettings:
        """Merge all layers.

        Args:
            overrides: `--cfg` expressions.
            conversation: an existing one.
            attachments: entries that the query adds to those of the configuration.

        Raises:
            Refusal: the configuration is invalid; says file, key and what is allowed.
        """
        sources = self._sources(overrides, conversation)
        if attachments:
            sources = sources.attaching(attachments)
        ordered = sources.ordered(self._order)
        resolved = resolve(ordered)
        problems = (*sources.problems, *resolved.problems)
        _refuse_errors(problems)
        tree = self._with_model(resolved.tree)
        model = self._served_by(tree, ordered, MAIN_MODEL)
        title_model = self._served_by(tree, ordered, TITLE_MODEL) if names_title_model(tree) else None
        connecting = in_order(sources.gathered.sources, self._order)
        strangers = self._strangers(connecting)
        tools = tool_settings(tree, self._server, self._places.root, self._places.user_workspace_dir)
        violations = (*tools.violations, *self._outdated(tools, sources))
        problems = (*problems, *_located(violations, ordered, problems))
        _refuse_errors(problems)
        untrusted = self._untrusted(tree, ordered, strangers)
        partial, lost = self._to_store(tree, sources)
        return QuerySettings(
            model=model,
            partial=partial,
            parameters=options.main_parameters(tree),
            retry=options.retry_policy(tree),
            guards=options.stream_guards(tree),
            interrupt=options.interrupt_options(tree, self._server),
            display=options.display_options(tree, self._server),
            system_prompt=sections.system_prompt(tree),
            sections=sections.sections(tree),
            assistant_name=options.optional_text(tree, "assistant", "name"),
            user_name=options.optional_text(tree, "user", "name"),
            lock_timeout=options.lock_timeout(tree),
            max_cycles=self._server.limits.cycles,
            max_tool_calls=self._server.limits.tool_calls,
            start_local=options.flag(tree, "conversation", "start_local"),
            providers=provider_settings(connecting, self._server, strangers),
            tools=tools.offered,
            idle_tools=tools.idle,
            tool_choice=tools.choice,
            mcp_servers=tools.servers,
            attachments=tuple(attachment_entries(tree)),
            untrusted=untrusted,
            trust_hash=trust_hash(untrusted),
            trust_policy=self._server.trust,
            trusted_providers=provider_settings(connecting, self._server) if strangers else None,
            title=title_settings(tree, model, title_model),
            labels=label_rules(tree),
            template_values=options.template_values(tree),
            warnings=tuple(dict.fromkeys((*_warnings(problems), *map(_not_kept, lost)))),
        )

    def switched(
        self,
        overrides: Sequence[str],
        conversation: ConversationStream | None,
        switches: Sequence[ToolSwitch],
    ) -> Sequence[str]:
        """Give the expressions with those behind them that switch tools.

        Raises:
            Refusal: the configuration is invalid, a tool is unknown, or it is locked.
        """
        if not switches:
            return overrides
        sources = self._sources(overrides, conversation)
        resolved = resolve(sources.ordered(self._order))
        _refuse_errors((*sources.problems, *resolved.problems))
        try:
            return (*overrides, *switch_expressions(resolved.tree, switches))
        except ImpossibleSwitch as problem:
            raise Refusal("invalid_params", str(problem), origin="tools") from None

    def write_document(self, settings: QuerySettings) -> str:
        """Give the piece of TOML that a user may change while writing a query."""
        return document.write_document(settings.model, from_stored(settings.partial))

    def read_document(self, text: str) -> Sequence[str]:
        """Give the expressions that say what a changed piece of TOML says.

        Raises:
            Refusal: it is no TOML, or holds a value that no setting has.
        """
        return document.read_document(text)

    def delta(self, conversation: ConversationStream, settings: QuerySettings) -> JsonObject | None:
        """Give the change from the conversation's stored settings to these; `None` when there is none."""
        stored = read_stored(conversation.base_config, _changes(conversation))
        return compute_change(stored.tree, from_stored(settings.partial)).delta or None

    def origins(
        self,
        overrides: Sequence[str],
        conversation: ConversationStream | None,
        attachments: Sequence[str] = (),
    ) -> Sequence[ValueOrigin]:
        """Say where each setting that somebody made comes from; what is asked for is as in `resolve`."""
        sources = self._sources(overrides, conversation)
        if attachments:
            sources = sources.attaching(attachments)
        return [value_origin(each) for each in explain_all(sources.ordered(self._order), self._order)]

    def explain(
        self, key: str, overrides: Sequence[str] = (), conversation: ConversationStream | None = None
    ) -> Explanation:
        """Say where the value of a dotted key comes from, and what it hides.

        Raises:
            Refusal: there is no such key.
        """
        sources = self._sources(overrides, conversation)
        return explain(key, sources.ordered(self._order), self._order)

    def problems(
        self, overrides: Sequence[str] = (), conversation: ConversationStream | None = None
    ) -> tuple[Problem, ...]:
        """Give all that is wrong or doubtful, hints included; each with its file and line where known."""
        sources = self._sources(overrides, conversation)
        resolved = resolve(sources.ordered(self._order))
        return tuple(dict.fromkeys((*sources.problems, *resolved.problems)))

    def explain_all(
        self, overrides: Sequence[str] = (), conversation: ConversationStream | None = None
    ) -> Sequence[Explanation]:
        """Say of each setting that somebody made where it comes from."""
        sources = self._sources(overrides, conversation)
        return list(explain_all(sources.ordered(self._order), self._order))

    def values(
        self, overrides: Sequence[str] = (), conversation: ConversationStream | None = None
    ) -> JsonObject:
        """Give the complete configuration, for people: how its parts were merged no longer shows."""
        sources = self._sources(overrides, conversation)
        return write_table(SCHEMA, entries_of(without_manner(resolve(sources.ordered(self._order)).tree)))

    def named(self) -> Sequence[NamedConfiguration]:
        """List the files that an expression can apply by name."""
        paths = load_paths(self._places, self._environ, self._cache)
        return list_named(self._places.cwd, self._places.search_roots(), paths, self._cache)

    def is_configuration(self, path: FilePath) -> bool:
        """Tell whether a file lies where configuration is looked for, whether or not it counts."""
        places = self._places
        if any(
            path.stem == stem and is_same_file(folder, path.parent) for _, folder, stem in places.candidates()
        ):
            return True
        folders = [] if places.root is None else [places.root / ".jp"]
        for root in places.search_roots():
            folders += [root.folder / each for each in load_paths(places, self._environ, self._cache)]
        return any(lies_below(path, folder) for folder in folders)

    def about_file(self, path: FilePath) -> FileFacts:
        """Say what a configuration file means among all others; a file that a query must name as if it did."""
        is_shared = self._places.holds(path)
        overrides: tuple[str, ...] = ()
        sources = self._sources(overrides, None).ordered(self._order)
        if not is_read_by(sources, path):
            expression = expression_of(path, self.named(), self._cache)
            if expression is None:
                place = self._places.name_of(path.parent / f"{path.stem}.*")
                return FileFacts(is_shared=is_shared, unreachable=why_unread(path, place, sources))
            overrides = (expression,)
            sources = self._sources(overrides, None).ordered(self._order)
        own = tuple(
            each
            for each in self.problems(overrides)
            if each.origin is not None and is_same_file(each.origin.path, path)
        )
        return FileFacts(overrides, is_shared, own, shadowed_in(path, sources, self._order))

    def model_names(
        self, overrides: Sequence[str] = (), conversation: ConversationStream | None = None
    ) -> ModelNames:
        """Say which models there are names for, and which one would be asked; never fails."""
        sources = self._sources(overrides, conversation)
        ordered = sources.ordered(self._order)
        tree = resolve(ordered).tree
        connecting = in_order(sources.gathered.sources, self._order)
        strangers = self._strangers(connecting)
        try:
            effective = self._served_by(self._with_model(tree), ordered, MAIN_MODEL)
        except Refusal:
            effective = None
        return ModelNames(
            effective,
            {name: options.model_id(model) for name, model in entries_of(value_at(tree, ALIASES)).items()},
            provider_settings(connecting, self._server, strangers),
            provider_settings(connecting, self._server) if strangers else None,
            self._untrusted(tree, ordered, strangers),
        )

    def provider_settings(self, overrides: Sequence[str] = ()) -> Mapping[str, ProviderSettings]:
        """Give what vendors' adapters are made from.

        Files, environment and `overrides` decide. What a conversation once stored does not count: it may be
        a stranger's, and a server that moved has moved for old conversations too. What a workspace may not
        decide does not count either. Never fails: what is wrong in a file is for `resolve` to say.
        """
        ordered = in_order(self._gather(overrides).sources, self._order)
        return provider_settings(ordered, self._server, self._strangers(ordered))

    def untrusted_endpoints(self) -> tuple[UntrustedEndpoint, ...]:
        """Give what the workspace's files say about vendors and must not decide, trusted or not."""
        ordered = in_order(self._gather(()).sources, self._order)
        return untrusted_endpoints(ordered, self._places.root, self._environ)

    def _strangers(self, ordered: Sequence[Source]) -> tuple[UntrustedEndpoint, ...]:
        """Give what must not count as long as the workspace is not trusted."""
        if self._server.trust == "always":
            return ()
        return untrusted_endpoints(ordered, self._places.root, self._environ)

    def _outdated(self, tools: ToolSettings, sources: _Sources) -> Iterator[Violation]:
        if sources.stored is not None:
            others = narrowed(in_order(sources.gathered.sources, self._order), TOOLS)
            yield from outdated(tools.offered, fold(others).tree)

    def _untrusted(
        self, tree: Partial, ordered: Sequence[Source], strangers: Sequence[UntrustedEndpoint]
    ) -> tuple[TrustItem, ...]:
        """Give what the user must trust before it counts."""
        if self._server.trust == "always":
            return ()
        return trust_items(tree, ordered, self._places.root, strangers)

    def _gather(self, overrides: Sequence[str]) -> Gathered:
        return gather(self._places, self._environ, overrides, self._cache)

    def _sources(self, overrides: Sequence[str], conversation: ConversationStream | None) -> _Sources:
        stored = None
        if conversation is not None:
            stored = read_stored(conversation.base_config, _changes(conversation))
        return _Sources(self._gather(overrides), stored)

    def _with_model(self, tree: Partial) -> Partial:
        if value_at(tree, MAIN_MODEL) is not ABSENT:
            return tree
        model = self._default_model()
        if model is None:
            raise Refusal("config_invalid", NO_MODEL, origin=dotted(MAIN_MODEL))
        return with_value(tree, MAIN_MODEL, {"provider": model.provider, "name": model.name})

    def _served_by(self, tree: Partial, ordered: Sequence[Source], path: Path) -> ModelId:
        """Give the model that is named at `path` with the provider that answers for it.

        A conversation keeps our own providers under another name (3.1); which one it is, the name of the
        embedded model and the server's settings tell.
        """
        model = options.model_id(value_at(tree, path))
        origin = locate(ordered, path)
        if model.provider != STORED_PROVIDER or origin is None or origin.kind != "conversation":
            return model
        embedded = self._default_model()
        if embedded is not None and embedded.name == model.name:
            return embedded
        if self._server.lmstudio_base_url is not None:
            return ModelId("lmstudio", model.name)
        if self._server.compatible_base_url is not None:
            return ModelId("compatible", model.name)
        return model

    def _to_store(self, tree: Partial, sources: _Sources) -> tuple[JsonObject, Sequence[str]]:
        """Give the configuration as the conversation should have it, and the keys that it cannot keep."""
        if sources.stored is None:
            return to_stored(tree), ()
        ordered = sources.ordered(REFERENCE_ORDER)
        present = from_stored(to_stored(complete_configuration(sources.stored.tree)[0]))
        target = from_stored(to_stored(tree if sources.is_order_free else resolve(ordered).tree))
        wanted = without_private(target, present, ordered)
        return to_stored(wanted), compute_change(sources.stored.tree, wanted).lost


def _changes(conversation: ConversationStream) -> Sequence[StoredChange]:
    return [change for _, change in conversation.config_deltas()]


def _located(
    violations: Sequence[Violation], sources: Sequence[Source], known: Sequence[Problem]
) -> Iterator[Problem]:
    """Give problems with the place of the key, or of the nearest table around it; none about a key twice."""
    told = {problem.key for problem in known}
    for violation in violations:
        if (key := dotted(violation.path)) not in told:
            prefixes = (violation.path[:end] for end in range(len(violation.path), 1, -1))
            origin = next((found for prefix in prefixes if (found := locate(sources, prefix))), None)
            yield Problem(key, violation.text, origin, violation.severity)


def _refuse_errors(problems: Sequence[Problem]) -> None:
    errors = tuple(dict.fromkeys(errors_in(problems)))
    if errors:
        raise refusal(errors)


def _warnings(problems: Sequence[Problem]) -> Sequence[str]:
    return [str(problem) for problem in problems if problem.severity == "warning"]


def _not_kept(key: str) -> str:
    return f"`{key}`: this change holds for this query only; the conversation's file format cannot keep it"

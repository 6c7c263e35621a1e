"""The settings of a workspace: everything else in this package, behind the port `SettingsSource`.

Files are looked at anew for each query, so an edit holds from the next one on; a query itself runs with
settings that never change. What was made of files and environment is kept until one of them changes (`kept`);
what a conversation adds is worked out each time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from pathlib import Path as FilePath

from jp_lsp.config import document, options, sections
from jp_lsp.config.about_file import (
    EditedFiles,
    FileFacts,
    expression_of,
    is_read_by,
    is_same_file,
    lies_among,
    shadowed_in,
    why_unread,
)
from jp_lsp.config.attachments import attachment_entries
from jp_lsp.config.compaction import compaction_rules
from jp_lsp.config.delta import compute_change
from jp_lsp.config.endpoints import UntrustedEndpoint, provider_settings, untrusted_endpoints
from jp_lsp.config.explain import Explanation, explain, value_origin
from jp_lsp.config.files import FileCache
from jp_lsp.config.fold import ORDERS, Order, fold, in_order
from jp_lsp.config.foreign import Foreign
from jp_lsp.config.gather import Gathered, Places, Standing, gather, read_standing
from jp_lsp.config.kept import Kept
from jp_lsp.config.labels import label_rules
from jp_lsp.config.layer import Source
from jp_lsp.config.models import ALIASES, MAIN_MODEL
from jp_lsp.config.named_list import NamedConfiguration, list_named
from jp_lsp.config.problem import Problem, refuse_errors, warnings_in
from jp_lsp.config.resolve import located
from jp_lsp.config.rules import Violation
from jp_lsp.config.served_model import served_model, with_default_model
from jp_lsp.config.server_settings import ServerSettings
from jp_lsp.config.snapshot import from_stored
from jp_lsp.config.sources import Sources
from jp_lsp.config.stored import StoredChange, read_stored
from jp_lsp.config.titles import TITLE_MODEL, names_title_model, title_settings
from jp_lsp.config.tool_switches import switch_expressions
from jp_lsp.config.tools import TOOLS, ToolSettings, outdated, tool_settings
from jp_lsp.config.trace import locate, narrowed
from jp_lsp.config.trust import trust_hash, trust_items
from jp_lsp.config.value import Partial, Path, entries_of, value_at
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.providers import ModelNames, ProviderSettings
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.settings import QuerySettings
from jp_lsp.ports.trust import TrustItem
from jp_lsp.tools.switches import ImpossibleSwitch, ToolSwitch
from jp_lsp.turn.explanation import ValueOrigin


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
    ) -> None:
        self._places = Places(root, cwd, user_config_dir, user_workspace_dir)
        self._environ = environ
        self._server = server
        self._default_model = default_model
        self._cache = FileCache()
        self._document: FilePath | None = None
        self._kept = Kept(environ)

    @property
    def order(self) -> Order:
        """Which layer lies above which, lowest first."""
        return ORDERS[self._server.layer_order]

    @property
    def places(self) -> Places:
        """Where configuration lives."""
        return self._places

    def with_text(self, path: FilePath, text: str) -> "WorkspaceSettings":
        """Give the same with a file as it is being edited; what was read of other files is shared."""
        other = self._copy()
        other._cache = EditedFiles(self._cache, path, text)
        return other

    @property
    def folder(self) -> FilePath:
        """The workspace, or the folder that requests come from where there is none."""
        return self._places.root or self._places.cwd

    def written_in(self, document: str) -> "WorkspaceSettings":
        """Give the same for a query that a file asks for, which may be a stranger's as any other file may."""
        other = self._copy()
        other._document = FilePath(document)
        return other

    def default_conversation(self, overrides: Sequence[str]) -> str | None:
        """Read `conversation.default_id`, which no conversation can decide.

        Gives `ask`, `last-activated`, `last-created`, `previous`, a conversation's id, or nothing.

        Raises:
            Refusal: the configuration is invalid.
        """
        sources = self._sources(overrides, None)
        folded = fold(sources.ordered(self.order))
        refuse_errors((*sources.problems, *folded.problems))
        return options.optional_text(folded.tree, "conversation", "default_id")

    def lock_timeout(self, overrides: Sequence[str]) -> float:
        """Read how long to wait for a conversation that another program holds, in seconds.

        Raises:
            Refusal: the configuration is invalid.
        """
        sources = self._sources(overrides, None)
        resolved = sources.resolved(self.order)
        refuse_errors((*sources.problems, *resolved.problems))
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
        ordered = sources.ordered(self.order)
        resolved = sources.resolved(self.order)
        problems = (*sources.problems, *resolved.problems)
        refuse_errors(problems)
        tree = with_default_model(resolved.tree, self._default_model)
        model = self._served_by(tree, ordered, MAIN_MODEL)
        title_model = self._served_by(tree, ordered, TITLE_MODEL) if names_title_model(tree) else None
        connecting = in_order(sources.gathered.sources, self.order)
        strangers = self._strangers(connecting)
        tools = tool_settings(tree, self._server, self._places.root, self._places.user_workspace_dir)
        violations = (*tools.violations, *self._outdated(tools, sources))
        problems = (*problems, *located(violations, ordered, problems))
        refuse_errors(problems)
        untrusted = self._untrusted(tree, ordered, strangers)
        partial, lost = sources.to_store(tree)
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
            compaction=compaction_rules(tree),
            template_values=options.template_values(tree),
            warnings=tuple(dict.fromkeys((*warnings_in(problems), *map(_not_kept, lost)))),
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
        resolved = sources.resolved(self.order)
        refuse_errors((*sources.problems, *resolved.problems))
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
        return [value_origin(each) for each in sources.explained(self.order)]

    def explain(
        self, key: str, overrides: Sequence[str] = (), conversation: ConversationStream | None = None
    ) -> Explanation:
        """Say where the value of a dotted key comes from, and what it hides.

        Raises:
            Refusal: there is no such key.
        """
        sources = self._sources(overrides, conversation)
        return explain(key, sources.ordered(self.order), self.order)

    def problems(
        self, overrides: Sequence[str] = (), conversation: ConversationStream | None = None
    ) -> tuple[Problem, ...]:
        """Give all that is wrong or doubtful, hints included; each with its file and line where known."""
        sources = self._sources(overrides, conversation)
        resolved = sources.resolved(self.order)
        return tuple(dict.fromkeys((*sources.problems, *resolved.problems)))

    def explain_all(
        self, overrides: Sequence[str] = (), conversation: ConversationStream | None = None
    ) -> Sequence[Explanation]:
        """Say of each setting that somebody made where it comes from."""
        return self._sources(overrides, conversation).explained(self.order)

    def values(
        self, overrides: Sequence[str] = (), conversation: ConversationStream | None = None
    ) -> JsonObject:
        """Give the complete configuration, for people: how its parts were merged no longer shows."""
        sources = self._sources(overrides, conversation)
        return sources.values(self.order)

    def sources(
        self, overrides: Sequence[str] = (), conversation: ConversationStream | None = None
    ) -> Sequence[Source]:
        """Give what the settings come from, in order, lowest first."""
        return self._sources(overrides, conversation).ordered(self.order)

    def load_paths(self) -> Sequence[str]:
        """Give `config_load_paths`: the folders with the files that an expression can name."""
        return self._read_standing().load_paths

    def named(self) -> Sequence[NamedConfiguration]:
        """List the files that an expression can apply by name."""
        return self._kept.get("named", self._list_named)

    def is_configuration(self, path: FilePath) -> bool:
        """Tell whether a file lies where configuration is looked for, whether or not it counts."""
        return lies_among(path, self._places, self.load_paths())

    def expressions_for(self, path: FilePath) -> tuple[str, ...] | None:
        """Give the expressions with which a file counts: none if it always does, `None` if nothing reads it."""
        if is_read_by(self._sources((), None).ordered(self.order), path):
            return ()
        expression = expression_of(path, self.named(), self._cache)
        return None if expression is None else (expression,)

    def about_file(self, path: FilePath) -> FileFacts:
        """Say what a configuration file means among all others; a file that a query must name as if it did."""
        is_shared = self._places.holds(path)
        overrides = self.expressions_for(path)
        sources = self._sources(overrides or (), None).ordered(self.order)
        if overrides is None:
            place = self._places.name_of(path.parent / f"{path.stem}.*")
            return FileFacts(is_shared=is_shared, unreachable=why_unread(path, place, sources))
        own = tuple(
            each
            for each in self.problems(overrides)
            if each.origin is not None and is_same_file(each.origin.path, path)
        )
        return FileFacts(overrides, is_shared, own, shadowed_in(path, sources, self.order))

    def model_names(
        self, overrides: Sequence[str] = (), conversation: ConversationStream | None = None
    ) -> ModelNames:
        """Say which models there are names for, and which one would be asked; never fails."""
        sources = self._sources(overrides, conversation)
        ordered = sources.ordered(self.order)
        tree = sources.resolved(self.order).tree
        connecting = in_order(sources.gathered.sources, self.order)
        strangers = self._strangers(connecting)
        try:
            effective = self._served_by(with_default_model(tree, self._default_model), ordered, MAIN_MODEL)
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
        ordered = in_order(self._gather(overrides).sources, self.order)
        return provider_settings(ordered, self._server, self._strangers(ordered))

    def untrusted_endpoints(self) -> tuple[UntrustedEndpoint, ...]:
        """Give what the workspace's files say about vendors and must not decide, trusted or not."""
        ordered = in_order(self._gather(()).sources, self.order)
        return untrusted_endpoints(ordered, self._foreign(), self._environ)

    def to_be_trusted(self, overrides: Sequence[str] = ()) -> tuple[TrustItem, ...]:
        """Give what the user must trust before a new query may use it."""
        sources = self._sources(overrides, None)
        ordered = sources.ordered(self.order)
        return self._untrusted(sources.resolved(self.order).tree, ordered, self._strangers(ordered))

    def _strangers(self, ordered: Sequence[Source]) -> tuple[UntrustedEndpoint, ...]:
        """Give what must not count as long as the workspace is not trusted."""
        if self._server.trust == "always":
            return ()
        return untrusted_endpoints(ordered, self._foreign(), self._environ)

    def _served_by(self, tree: Partial, ordered: Sequence[Source], path: Path) -> ModelId:
        """Give the model that is named at `path` with the provider that answers for it."""
        model = options.model_id(value_at(tree, path))
        return served_model(model, locate(ordered, path), self._default_model, self._server)

    def _foreign(self) -> Foreign:
        places = self._places
        own = [places.user_config_dir, *filter(None, [places.user_workspace_dir])]
        return Foreign(places.root, self._document, own)

    def _outdated(self, tools: ToolSettings, sources: Sources) -> Iterator[Violation]:
        if sources.stored is not None:
            others = narrowed(in_order(sources.gathered.sources, self.order), TOOLS)
            yield from outdated(tools.offered, fold(others).tree)

    def _untrusted(
        self, tree: Partial, ordered: Sequence[Source], strangers: Sequence[UntrustedEndpoint]
    ) -> tuple[TrustItem, ...]:
        """Give what the user must trust before it counts."""
        if self._server.trust == "always":
            return ()
        return trust_items(tree, ordered, self._foreign(), strangers)

    def _gather(self, overrides: Sequence[str]) -> Gathered:
        return self._standing(overrides).gathered

    def _standing(self, overrides: Sequence[str]) -> Sources:
        """Give what holds without a conversation; kept with what is made of it."""

        def read() -> Sources:
            standing = self._read_standing()
            gathered = gather(self._places, standing, overrides, self._cache, self._document)
            return Sources(gathered, None, self._document)

        return self._kept.get(("sources", *overrides), read)

    def _read_standing(self) -> Standing:
        return self._kept.get("standing", lambda: read_standing(self._places, self._environ, self._cache))

    def _copy(self) -> "WorkspaceSettings":
        """Give the same, to be changed; what was read of files is shared, what was made of them is not."""
        other = copy(self)
        other._kept = Kept(self._environ)
        return other

    def _list_named(self) -> Sequence[NamedConfiguration]:
        return tuple(
            list_named(self._places.cwd, self._places.search_roots(), self.load_paths(), self._cache)
        )

    def _sources(self, overrides: Sequence[str], conversation: ConversationStream | None) -> Sources:
        standing = self._standing(overrides)
        if conversation is None:
            return standing
        stored = read_stored(conversation.base_config, _changes(conversation))
        return Sources(standing.gathered, stored, self._document)


def _changes(conversation: ConversationStream) -> Sequence[StoredChange]:
    return [change for _, change in conversation.config_deltas()]


def _not_kept(key: str) -> str:
    return f"`{key}`: this change holds for this query only; the conversation's file format cannot keep it"

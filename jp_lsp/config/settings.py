"""The settings of a workspace's queries: everything else in this package, behind the port `SettingsSource`.

Files are looked at anew for each query, so an edit holds from the next one on; a query itself runs with
settings that never change.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

from jp_lsp.config import document, options, sections
from jp_lsp.config.attachments import attachment_entries
from jp_lsp.config.compaction import compaction_rules
from jp_lsp.config.configuration import Configuration
from jp_lsp.config.delta import compute_change
from jp_lsp.config.endpoints import UntrustedEndpoint, provider_settings, untrusted_endpoints
from jp_lsp.config.fold import fold, in_order
from jp_lsp.config.foreign import Foreign
from jp_lsp.config.labels import label_rules
from jp_lsp.config.layer import Source
from jp_lsp.config.models import ALIASES, MAIN_MODEL
from jp_lsp.config.outside import outside_folders
from jp_lsp.config.problem import Report, errors_in, refusal, refuse_errors, warnings_in
from jp_lsp.config.reasoning_summary import SUMMARY_MODEL, names_summary_model, reasoning_summary
from jp_lsp.config.resolve import located
from jp_lsp.config.rules import Violation
from jp_lsp.config.served_model import served_model, with_default_model
from jp_lsp.config.snapshot import from_stored
from jp_lsp.config.sources import Sources
from jp_lsp.config.stored import StoredSettings, stored_changes, stored_settings, stored_trees
from jp_lsp.config.titles import TITLE_MODEL, names_title_model, title_settings
from jp_lsp.config.tool_switches import switch_expressions
from jp_lsp.config.tools import TOOLS, ToolSettings, outdated, tool_settings
from jp_lsp.config.trace import locate, narrowed
from jp_lsp.config.trust import trust_hash, trust_items
from jp_lsp.config.value import ABSENT, Partial, Path, entries_of, value_at
from jp_lsp.conversation.directive import ConfigDelta
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.providers import ModelNames, ProviderSettings
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.settings import QuerySettings
from jp_lsp.ports.trust import TrustItem
from jp_lsp.render.options import Labels, Look
from jp_lsp.tools.switches import ImpossibleSwitch, ToolSwitch


class WorkspaceSettings(Configuration):
    """Implements `SettingsSource` for one workspace, or for a folder without one."""

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
        summary_model = self._served_by(tree, ordered, SUMMARY_MODEL) if names_summary_model(tree) else None
        connecting = in_order(sources.gathered.sources, self.order)
        strangers = self._strangers(connecting)
        tools = tool_settings(tree, self._server, self._places.root, self._places.user_workspace_dir)
        violations = (*tools.violations, *self._outdated(tools, sources))
        problems = (*problems, *located(violations, ordered, problems))
        refuse_errors(problems)
        untrusted = self._untrusted(tree, ordered, strangers)
        partial, passing = sources.to_store(tree)
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
            reasoning_summary=reasoning_summary(tree, model, summary_model),
            labels=label_rules(tree),
            compaction=compaction_rules(tree),
            template_values=options.template_values(tree),
            warnings=tuple(dict.fromkeys((*warnings_in(problems), *passing))),
        )

    def looks(self, conversation: ConversationStream) -> Callable[[int], Look]:
        """Give a way to find out how a conversation is shown after so many of its changes of settings.

        Never fails: what is wrong leaves the rest as it is. What it costs to ask does not grow with the number of
        changes.
        """
        gathered = self._standing(()).gathered
        trees = tuple(stored_trees(conversation.base_config, stored_changes(conversation), Report()))
        return lambda count: self._look(Sources(gathered, StoredSettings(trees[count]), self._document))

    def _look(self, sources: Sources) -> Look:
        resolved = sources.resolved(self.order)
        tree = resolved.tree
        errors = tuple(dict.fromkeys(errors_in((*sources.problems, *resolved.problems))))
        model: ModelId | None = None
        with suppress(Refusal):  # a model that nobody knows any more, or none
            named = tree if errors else with_default_model(tree, self._default_model)
            if value_at(named, MAIN_MODEL) is not ABSENT:
                model = self._served_by(named, sources.ordered(self.order), MAIN_MODEL)
        usual = Labels()
        labels = Labels(
            options.optional_text(tree, "user", "name") or usual.user,
            options.optional_text(tree, "assistant", "name") or usual.assistant,
            None if model is None else str(model),
        )
        problem = refusal(errors).error.message if errors else None
        return Look(options.display_options(tree, self._server), labels, problem)

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

    def delta(self, conversation: ConversationStream, settings: QuerySettings) -> ConfigDelta | None:
        """Give the change from the conversation's stored settings to these, as far as its files can keep it.

        `None` when there is none.
        """
        return compute_change(stored_settings(conversation), from_stored(settings.partial)).to_record()

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
        root = self._places.root
        folders = () if root is None else outside_folders(root)
        return tuple(sorted((*trust_items(tree, ordered, self._foreign(), strangers), *folders)))

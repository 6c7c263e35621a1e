"""What the files, the environment and the server's settings say, read and merged when somebody asks.

Files are looked at anew each time. What was made of files and environment is kept until one of them changes (`kept`);
what a conversation adds is worked out each time. What a query makes of all that is the next storey (`settings`).
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from pathlib import Path as FilePath
from typing import Self

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
from jp_lsp.config.explain import explain
from jp_lsp.config.explanation import Explanation, value_origin
from jp_lsp.config.files import FileCache
from jp_lsp.config.fold import ORDERS, Order
from jp_lsp.config.gather import Gathered, Places, Standing, gather, read_standing
from jp_lsp.config.kept import Kept
from jp_lsp.config.layer import Source
from jp_lsp.config.named_list import NamedConfiguration, list_named
from jp_lsp.config.problem import Problem
from jp_lsp.config.server_settings import ServerSettings
from jp_lsp.config.sources import Sources
from jp_lsp.config.stored import stored_settings
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.ports.provider import ModelId
from jp_lsp.turn.explanation import ValueOrigin


class Configuration:
    """The configuration of one workspace, or of a folder without one.

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

    @property
    def folder(self) -> FilePath:
        """The workspace, or the folder that requests come from where there is none."""
        return self._places.root or self._places.cwd

    def with_text(self, path: FilePath, text: str) -> Self:
        """Give the same with a file as it is being edited; what was read of other files is shared."""
        other = self._copy()
        other._cache = EditedFiles(self._cache, path, text)
        return other

    def written_in(self, document: str) -> Self:
        """Give the same for a query that a file asks for, which may be a stranger's as any other file may."""
        other = self._copy()
        other._document = FilePath(document)
        return other

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

    def _gather(self, overrides: Sequence[str]) -> Gathered:
        return self._standing(overrides).gathered

    def _sources(self, overrides: Sequence[str], conversation: ConversationStream | None) -> Sources:
        standing = self._standing(overrides)
        if conversation is None:
            return standing
        return Sources(standing.gathered, stored_settings(conversation), self._document)

    def _standing(self, overrides: Sequence[str]) -> Sources:
        """Give what holds without a conversation; kept with what is made of it."""

        def read() -> Sources:
            standing = self._read_standing()
            gathered = gather(self._places, standing, overrides, self._cache, self._document)
            return Sources(gathered, None, self._document)

        return self._kept.get(("sources", *overrides), read)

    def _read_standing(self) -> Standing:
        return self._kept.get("standing", lambda: read_standing(self._places, self._environ, self._cache))

    def _list_named(self) -> Sequence[NamedConfiguration]:
        return tuple(
            list_named(self._places.cwd, self._places.search_roots(), self.load_paths(), self._cache)
        )

    def _copy(self) -> Self:
        """Give the same, to be changed; what was read of files is shared, what was made of them is not."""
        other = copy(self)
        other._kept = Kept(self._environ)
        return other

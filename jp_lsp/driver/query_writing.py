"""Asking for the text of a query that came without one (query pipeline 1.4, config-and-tools 7.5).

The user writes it in a document of the editor, which holds the draft of an earlier query and the settings that
matter most. What is changed there counts for this very query: it is read before settings are final. Where
there are no documents, a line will do.
"""

import logging
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from jp_lsp.driver.asking import ask_user
from jp_lsp.driver.query_document import QueryDocument, read_document, write_document
from jp_lsp.ports.frontend import Frontend
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.settings import QuerySettings, SettingsSource
from jp_lsp.ports.store import OpenConversation, StoreError
from jp_lsp.tools.decision import Decision, DecisionId
from jp_lsp.turn.inputs import Answered
from jp_lsp.turn.query import Query

_log = logging.getLogger(__name__)

QUESTION = "What do you want to ask?"


@dataclass(frozen=True, slots=True)
class QueryWriting:
    """How a query is written.

    Attributes:
        frontend: asks.
        source: writes and reads settings.
        resolve: gives the settings that come of expressions; raises `Refusal`.
        on_written: told of each text as it comes.
    """

    frontend: Frontend
    source: SettingsSource
    resolve: Callable[[Sequence[str]], QuerySettings]
    on_written: Callable[[str], None]

    async def write(
        self, query: Query, settings: QuerySettings, conversation: OpenConversation
    ) -> tuple[Query, QuerySettings]:
        """Ask until there is a text with settings that can be used, or the user gives up.

        Args:
            query: has no text yet.
            settings: those that the query has without anything being written.
            conversation: where it is asked; its draft becomes what is written, and goes when that is nothing.

        Returns:
            The query as it was written, blank if nothing was, and its settings.
        """
        offered = self.source.write_document(settings)
        present = await self._begin_with(conversation, offered)
        problem: str | None = None
        while True:
            answer = await ask_user(self.frontend, self._decision(present, conversation, problem))
            if not isinstance(answer, Answered):
                return query, settings
            written = read_document(answer.text or "")
            await self._keep(written.query, conversation)
            if not written.query.strip():
                return query, settings
            try:
                asked = f"{written.query}\n\n{query.quote}" if query.quote.strip() else written.query
                return self._settled(replace(query, text=asked), settings, written.settings, offered)
            except Refusal as refusal:
                if refusal.error.code != "config_invalid" or self.frontend.text_place != "document":
                    raise
                problem, present = refusal.error.message, replace(present, query=written.query)
                present = replace(present, settings=written.settings or "")

    def _settled(
        self, query: Query, settings: QuerySettings, written: str | None, offered: str
    ) -> tuple[Query, QuerySettings]:
        """Give the query with what was changed in the settings, on top of all else."""
        if written is None or written.strip() == offered.strip():
            return query, settings
        overrides = (*query.overrides, *self.source.read_document(written))
        return replace(query, overrides=overrides), self.resolve(overrides)

    async def _begin_with(self, conversation: OpenConversation, offered: str) -> QueryDocument:
        """Give what there is to begin with: a text that was not sent before, with its settings."""
        left = read_document(await conversation.draft() or "")
        return replace(left, settings=left.settings or offered)

    def _decision(
        self, present: QueryDocument, conversation: OpenConversation, problem: str | None
    ) -> Decision:
        name = DecisionId(f"query-{secrets.token_hex(4)}")
        if self.frontend.text_place != "document":
            return Decision(name, "text", QUESTION, value=present.query or None)
        text = write_document(present.query, present.settings or "", conversation.stream.events(), problem)
        return Decision(name, "text", QUESTION, value=text, language="markdown", composing="editor_only")

    async def _keep(self, text: str, conversation: OpenConversation) -> None:
        """Put what was written in the place of the draft that it began with; the turn will clear it."""
        self.on_written(text)
        try:
            await conversation.clear_draft()
            if text.strip():
                await conversation.keep_draft(text)
        except StoreError as error:
            _log.warning("what was written could not be kept as a draft: %s", error)

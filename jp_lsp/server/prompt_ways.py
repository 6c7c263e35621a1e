"""How a question can reach the user: what the client can show, and what the user wants (query pipeline 4.7)."""

from dataclasses import dataclass, replace
from typing import Literal, assert_never

from jp_lsp.config.server_settings import TextTransport
from jp_lsp.ports.frontend import TextPlace
from jp_lsp.server.to_wire import shown_as
from jp_lsp.tools.decision import Decision, DecisionId, DecisionKind

Way = Literal["prompt", "message", "client", "document", "none"]
"""`jp/prompt`; a message request; the client asks by itself; a document and a message request; not at all."""


@dataclass(frozen=True, slots=True)
class PromptWays:
    """What the client can show.

    Attributes:
        kinds: the kinds of `jp/prompt` that it knows.
        max_actions: how many buttons it shows at once; `None` for all.
        collects_text: it asks for texts by itself and sends them with `jp/answer`.
        shows_documents: it opens a file when it is told to.
        text_transport: the one way by which texts are to be asked for; `auto` for the best there is.
    """

    kinds: frozenset[str] = frozenset()
    max_actions: int | None = None
    collects_text: bool = False
    shows_documents: bool = False
    text_transport: TextTransport = "auto"

    def way_of(self, decision: Decision) -> Way:
        """Choose the way of a question."""
        match decision.kind:
            case "text" if decision.composing != "inline" and self.text_transport == "auto":
                return self._way_of_composing(decision)
            case "text" | "secret" | "edit":
                return self._way_of_text(decision.kind)
            case "menu" | "approval" | "pick":
                if shown_as(decision.kind, self.kinds) is not None:
                    return "prompt"
                return "message" if decision.choices else "none"
            case _:
                assert_never(decision.kind)

    @property
    def text_place(self) -> TextPlace | None:
        """Where a longer text can be written."""
        way = self.way_of(Decision(DecisionId(""), "text", "", composing="editor_only"))
        if way == "document" or (way == "prompt" and "edit" in self.kinds):
            return "document"
        return None if self._way_of_text("text") == "none" else "line"

    def as_prompt(self, decision: Decision) -> Decision:
        """Give the question as `jp/prompt` shows it: a text that is to be composed gets the editor's own document."""
        is_composed = decision.kind == "text" and decision.composing != "inline" and "edit" in self.kinds
        return replace(decision, kind="edit") if is_composed else decision

    def without_documents(self) -> "PromptWays":
        """Give the ways that are left when the client turns out to open no files."""
        return replace(self, shows_documents=False)

    def offered(self, decision: Decision) -> Decision:
        """Take *Edit* out of an approval where nothing can be edited (4.7 D)."""
        if decision.kind != "approval" or self._way_of_text("edit") != "none":
            return decision
        return replace(decision, choices=tuple(choice for choice in decision.choices if choice.id != "edit"))

    def _way_of_composing(self, decision: Decision) -> Way:
        """A document of the client's comes first, then one of ours; a line only where that will do."""
        if "edit" in self.kinds:
            return "prompt"
        if self.shows_documents:
            return "document"
        return "none" if decision.composing == "editor_only" else self._way_of_text(decision.kind)

    def _way_of_text(self, kind: DecisionKind) -> Way:
        """A secret goes by `jp/prompt` only: everything else would show it or keep it."""
        transport = self.text_transport
        if kind == "secret" and transport != "off":
            transport = "prompt"
        if transport == "auto":
            transport = self._best_transport(kind)
        match transport:
            case "prompt":
                return "prompt" if kind in self.kinds else "none"
            case "client":
                return "client"
            case "document":
                return "document" if self.shows_documents else "none"
            case "off":
                return "none"
            case _:
                assert_never(transport)

    def _best_transport(self, kind: DecisionKind) -> Literal["prompt", "client", "document"]:
        if kind in self.kinds:
            return "prompt"
        return "client" if self.collects_text else "document"

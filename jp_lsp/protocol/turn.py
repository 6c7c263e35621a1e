"""Wire types about turns: asking, steering, listing, and how a query ended (query pipeline 1.10)."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator
from typing_extensions import TypeAliasType

from jp_lsp.protocol.base import Array, ProgressToken, WireModel
from jp_lsp.protocol.conversation import ConversationSelector
from jp_lsp.protocol.explanation import QueryExplanation
from jp_lsp.protocol.model import Failure, Usage
from jp_lsp.protocol.notice import Notice
from jp_lsp.protocol.prompt import PromptParams
from jp_lsp.protocol.tool import Call, NamedTool, ToolSwitch

Outcome = TypeAliasType(
    "Outcome",
    Literal[
        "completed",
        "truncated",
        "empty",
        "refused",
        "stopped",
        "aborted",
        "interrupted",
        "killed",
        "failed",
        "replied",
        "waiting_for_input",
        "empty_query",
        "cancelled_before_start",
    ],
)
"""How a turn or a query ended. `replied` stands only in the list of turns."""

Phase = TypeAliasType(
    "Phase",
    Literal[
        "idle",
        "preparing",
        "opening",
        "waiting",
        "streaming",
        "interrupted_stream",
        "replying",
        "backoff",
        "evaluating",
        "executing",
        "interrupted_tools",
        "continuing",
        "finishing",
        "closing",
        "complete",
        "aborted",
        "failed",
    ],
)
"""Where a turn stands."""

Handled = TypeAliasType("Handled", Literal["menu", "action", "escalated", "killed", "latched", "none"])
"""What a press did.

A menu opened, an action was taken at once, the turn is being ended, it is being ended without waiting, the
press is kept for the next moment that can take it, or nothing.
"""


class TextContent(WireModel):
    """A piece of the query's text."""

    type: Literal["text"]
    text: str


class ResourceContent(WireModel):
    """Something to show the model beside the query, named by its URI."""

    type: Literal["resource"]
    uri: str


Content = TypeAliasType("Content", Annotated[TextContent | ResourceContent, Field(discriminator="type")])
"""A piece of a query."""


class Fork(WireModel):
    """The conversation to copy before the query, and how much of it."""

    source: Annotated[ConversationSelector, Field(alias="from")]
    keep_turns: Annotated[int, Field(ge=0)] | None = None
    """Keep only the last so many turns; all when left out, none for 0."""

    @model_validator(mode="after")
    def _has_a_source(self) -> Self:
        if self.source == "new":
            raise ValueError("`fork.from` must be a conversation that exists: its id, or 'last'")
        return self


class QueryDocument(WireModel):
    """A Markdown file, saved or not, that a query is written in."""

    uri: str


class QueryParams(WireModel):
    """What to ask, where, and how."""

    document: QueryDocument | None = None
    """Ask what is written in this document: its front matter and text give what is left out here.

    Its name ends in `.jp.md`, or it is open with the language id `jp-query`. What is given here too counts instead;
    of `config`, `tools` and `attachments` it comes behind.
    """
    text: str | None = None
    """The query. Without any text the user is asked for one in the editor, if that can be."""
    content: Array[Content] = ()
    """More of the query: texts, each a paragraph of its own after `text`, and things to attach."""
    quote: str | None = None
    """What the text is about, such as a piece of code: the last paragraphs of the query.

    It is no text by itself: without any, the user is still asked for one.
    """
    conversation: ConversationSelector | None = None
    """Where to ask: when left out, where this client asked last, else the default, else `last`."""
    fork: Fork | None = None
    """Ask in a copy of another conversation."""
    replay: Annotated[int, Field(ge=1)] | None = None
    """Take the conversation back to before this turn and ask its query again, or `text` in its place.

    With `fork` that happens in the copy.
    """
    resume: bool = False
    """Go on with a turn that was cut off: run the calls that wait, then ask the model again."""
    config: Array[str] = ()
    """Settings for this query, each an expression such as `assistant.model.id=anthropic/claude-sonnet-4-5`."""
    attachments: Array[str] = ()
    """What to show the model, now and later in the conversation.

    URIs of files, open documents, web pages or commands such as `cmd:git diff`; paths and patterns in the
    workspace; ids of conversations. `!` in front of a path leaves it out.
    """
    tools: Array[ToolSwitch] = ()
    """Tools to switch on or off, one after the other; it lasts in the conversation like other settings."""
    tool_choice: Literal["auto", "none", "required"] | NamedTool | None = None
    """Whether the first response may, must not or must call tools, or the one that it must call."""
    json_schema: Annotated[str | None, Field(alias="schema")] = None
    """The schema of the answer, which becomes a value that fits it.

    A JSON schema as JSON text, or fields such as `title, ?tags [str], size "s"|"m"|"l": shirt size`.
    """
    template: bool = False
    """Fill in the text as a Jinja2 template, with the values that the settings have under `template.values`.

    They can come with `config`, as `template.values.file=main.py`.
    """
    title: str | None = None
    """The title of the conversation; an empty one asks for no title to be made."""
    compact: bool = False
    """Make what models are shown of the conversation shorter first, by the rules of the settings.

    If a summary cannot be made, or is no shorter than what it would replace, the query does not begin.
    """
    persist: bool = True
    """False works on a copy that is thrown away."""
    interactive: bool = True
    """False asks the user nothing; what would need an answer is decided by the settings."""
    explain: bool = False
    """Prepare only, and tell in `explanation` what would be sent; no model is asked and nothing is stored."""
    expires: str | None = None
    """Remove the conversation after this time, such as `2h 30m`, at a start of the server that finds it not in use.

    The time begins with a new conversation, else with this query.
    """
    queue: bool = False
    """Wait while another query runs in the same conversation, instead of being refused."""
    work_done_token: ProgressToken | None = None
    """The phase of the turn arrives as `$/progress` on this token; it can be cancelled."""
    partial_result_token: ProgressToken | None = None
    """The chunks arrive as `$/progress` on this token, which also names the turn."""

    @model_validator(mode="after")
    def _make_sense(self) -> Self:
        if self.fork is not None and self.conversation not in {None, "new"}:
            raise ValueError("`fork` makes a new conversation, so `conversation` must be left out")
        if self.resume and (self.text is not None or self.content):
            raise ValueError("`resume` goes on with what was asked, so `text` and `content` must be left out")
        if self.resume and (self.replay is not None or self.fork is not None or self.conversation == "new"):
            raise ValueError("`resume` goes on where a turn was cut off, so it takes no other place to ask")
        return self


class TurnSummary(WireModel):
    """One turn of a query."""

    index: int
    """Its number in the conversation, counted from 1."""
    outcome: Outcome
    cycles: int
    """How many responses it took, retries not counted."""
    events_from: int
    """The position of its first entry in the conversation's stream."""
    events_to: int
    """The position after its last entry."""


class QueryResult(WireModel):
    """How a query ended. This is the truth; chunks are its preview."""

    conversation: str | None = None
    """Left out when no conversation came of it."""
    outcome: Outcome
    turns: Array[TurnSummary] = ()
    """One turn, and one more for every reply that was given while an answer was interrupted."""
    text: str = ""
    """The message text of the last turn."""
    data: Any = None
    """The value that was asked for with `schema`, which may be null; `dataValid` is there with it."""
    data_valid: bool | None = None
    """Whether `data` is JSON and fits the schema."""
    data_errors: Array[str] | None = None
    """What does not fit."""
    usage: Usage | None = None
    draft: str | None = None
    """The text of a query that did not become part of the conversation, or a reply that was not sent."""
    error: Failure | None = None
    notices: Array[Notice] = ()
    persisted: bool
    """Whether everything is on disk."""
    recovery_uri: str | None = None
    """A copy of the conversation that was saved elsewhere because its own place refused it."""
    explanation: QueryExplanation | None = None
    """What the query would send, when it asked with `explain` for nothing else."""
    last_seq: int = 0
    """The number of the last chunk; 0 when none was sent."""


class InterruptParams(WireModel):
    """A press, and perhaps what it should do."""

    turn: ProgressToken | None = None
    """The turn's token. Without a target the press is for the query that was started last."""
    conversation: str | None = None
    action: str | None = None
    """The choice, made already: the id of one of the menu's actions. Without it the menu opens."""
    text: str | None = None
    """The text that goes with `reply` or `respond`."""


class InterruptResult(WireModel):
    """What became of a press."""

    handled: Handled
    phase: Phase
    """Where the turn stands now; `idle` when there is none."""
    allowed: Array[str] | None = None
    """The actions that the phase knows, when the given one is not among them."""


class TurnListParams(WireModel):
    """Nothing."""


class ActiveTurn(WireModel):
    """A query that is running."""

    turn: ProgressToken
    """Its token, the `turn` of its chunks and of `jp/interrupt`."""
    conversation: str | None = None
    """Left out while it is not yet known."""
    phase: Phase
    calls: Array[Call] = ()
    """The tool calls of the current cycle, in the order of the requests."""
    decisions: Array[PromptParams] = ()
    """The questions that wait for an answer, the one that is shown first."""


class OpenInquiry(WireModel):
    """A question of a tool that nobody has answered."""

    inquiry_id: str
    text: str


class UnfinishedTurn(WireModel):
    """A turn on disk that was cut off; `jp/query` with `resume` goes on with it."""

    conversation: str
    index: int
    """Its number in the conversation, counted from 1."""
    calls: Array[Call] = ()
    """Its tool calls, in the order of the requests; what is not `completed` runs when it is resumed."""
    inquiries: Array[OpenInquiry] = ()


class TurnListResult(WireModel):
    """What runs, and what could be resumed."""

    active: Array[ActiveTurn] = ()
    unfinished: Array[UnfinishedTurn] = ()

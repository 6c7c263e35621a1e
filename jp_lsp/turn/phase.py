"""Where a turn stands, and what may happen to it there.

The table is data: it draws the diagram, feeds the property tests, and makes a forgotten input show as a
missing cell. The sentences come from query pipeline 1.1.
"""

from enum import Enum

from jp_lsp.turn import inputs


class Phase(Enum):
    """The phases of a query; the value is the word that clients see."""

    IDLE = "idle"
    """No query is active."""
    PREPARING = "preparing"
    """Lock, settings, provider and request text are being found."""
    OPENING = "opening"
    """The turn's request is being stored; nothing was sent yet."""
    WAITING = "waiting"
    """A request is out or about to go, and no content came yet."""
    STREAMING = "streaming"
    """Content is arriving."""
    INTERRUPTED_STREAM = "interrupted_stream"
    """The streaming menu is open; what arrives is held."""
    REPLYING = "replying"
    """The user writes a text."""
    BACKOFF = "backoff"
    """The next attempt waits for its time."""
    EVALUATING = "evaluating"
    """The response is complete; are there calls to run? Never seen from outside."""
    EXECUTING = "executing"
    """Tools are decided on and run."""
    INTERRUPTED_TOOLS = "interrupted_tools"
    """The tool menu is open; tools go on."""
    CONTINUING = "continuing"
    """The cycle is being stored; the follow-up goes out next."""
    FINISHING = "finishing"
    """The turn's last save."""
    CLOSING = "closing"
    """The server or the client ends; what came is being stored."""
    COMPLETE = "complete"
    """Over, and on disk."""
    ABORTED = "aborted"
    """Over, and taken back."""
    FAILED = "failed"
    """Over, with an error."""

    @property
    def is_terminal(self) -> bool:
        """Whether the query is over."""
        return self in {Phase.COMPLETE, Phase.ABORTED, Phase.FAILED}


_ALWAYS: frozenset[type] = frozenset(
    {
        inputs.Pressed,
        inputs.CancelRequested,
        inputs.ShutdownRequested,
        inputs.ClientGone,
        inputs.Crashed,
    }
)
"""May come at any time; each phase says what it means."""

_LATE: frozenset[type] = frozenset(
    {
        inputs.FromProvider,
        inputs.StreamEnded,
        inputs.UsageReported,
        inputs.Answered,
        inputs.Dismissed,
        inputs.AskFailed,
        inputs.Saved,
        inputs.SaveFailed,
        inputs.ToolFinished,
        inputs.ToolCrashed,
        inputs.ToolEnded,
        inputs.ToolProgressed,
        inputs.ArgumentsFormatted,
        inputs.InquiryAnswered,
    }
)
"""Carry the name of what they belong to, so a late one is recognised and ignored."""

_COMMON = _ALWAYS | _LATE

_OF_PREPARATION: frozenset[type] = frozenset(
    {inputs.Written, inputs.NothingToAsk, inputs.Prepared, inputs.PrepareFailed}
)

ACCEPTS: dict[Phase, frozenset[type]] = {
    Phase.IDLE: _ALWAYS | {inputs.Start},
    Phase.PREPARING: _COMMON | _OF_PREPARATION,
    Phase.OPENING: _COMMON,
    Phase.WAITING: _COMMON,
    Phase.STREAMING: _COMMON,
    Phase.INTERRUPTED_STREAM: _COMMON,
    Phase.REPLYING: _COMMON,
    Phase.BACKOFF: _COMMON | {inputs.TimerElapsed},
    Phase.EVALUATING: frozenset(),
    Phase.EXECUTING: _COMMON,
    Phase.INTERRUPTED_TOOLS: _COMMON,
    Phase.CONTINUING: _COMMON,
    Phase.FINISHING: _COMMON,
    Phase.CLOSING: _COMMON,
    **dict.fromkeys((Phase.COMPLETE, Phase.ABORTED, Phase.FAILED), _COMMON | _OF_PREPARATION),
}
"""Which inputs each phase accepts. Any other is a mistake of the driver (`IllegalInput`)."""


class IllegalInput(Exception):
    """The driver broke the contract of the table; the message names phase and input."""

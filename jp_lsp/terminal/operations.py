"""What the screen wants done on the terminal: the values between the reducer and the painter."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind = Literal["answer", "thought", "tool"]
"""Whose words they are: what the model says, what it thinks, what its tools were asked and said."""

Level = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Write:
    """Append text to the transcript. It is a piece: it need not end where a line does.

    Where the transcript is not on a terminal, thoughts go to standard error.
    """

    text: str
    kind: Kind = "answer"


@dataclass(frozen=True, slots=True)
class Link:
    """Append a title that leads to a URI; where nothing can be followed, both are written."""

    title: str
    uri: str
    kind: Kind = "answer"


@dataclass(frozen=True, slots=True)
class Say:
    """Tell the user something beside the transcript, in lines of its own."""

    text: str
    level: Level = "info"


@dataclass(frozen=True, slots=True)
class ShowStatus:
    """Show one line at the bottom, in place of the one before."""

    text: str


@dataclass(frozen=True, slots=True)
class HideStatus:
    """Remove that line."""


@dataclass(frozen=True, slots=True)
class EndLine:
    """Let what was written so far end with a line."""


Operation: TypeAlias = Write | Link | Say | ShowStatus | HideStatus | EndLine

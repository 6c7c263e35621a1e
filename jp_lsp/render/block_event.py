"""What the block buffer makes of text: finished blocks, slices of paragraphs, lines of code.

`indent` is the column at which the source had the text; it was taken off and is put back when the text is
written. `list_id` names the outermost list that an event is in, and `is_after_blank` says whether its source
had an empty line before it; together they decide whether two parts of a list stand close.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

BlockKind = Literal["paragraph", "heading", "list_item", "html", "table", "rule", "code_indented", "other"]


@dataclass(frozen=True, slots=True)
class Block:
    """A finished block with its trailing empty line, if it had one.

    `open_run` is the size of the backtick run of a code span that was still open at its end.
    """

    text: str
    kind: BlockKind
    indent: int = 0
    list_id: int | None = None
    is_after_blank: bool = False
    open_run: int = 0


@dataclass(frozen=True, slots=True)
class Tail:
    """What a flush found unfinished; otherwise like a block.

    `missing_end` is what must be added lest it swallows what follows: the end of a comment, for instance.
    """

    text: str
    kind: BlockKind
    indent: int = 0
    list_id: int | None = None
    is_after_blank: bool = False
    open_run: int = 0
    missing_end: str = ""


@dataclass(frozen=True, slots=True)
class Slice:
    """A piece of a long paragraph, shown while the rest of it is still to come."""

    text: str
    kind: BlockKind
    is_first: bool
    is_last: bool
    open_run: int = 0


@dataclass(frozen=True, slots=True)
class CodeOpen:
    """The opening of a fence. `lead` is a list marker that stands on the same line."""

    run: str
    info: str
    language: str | None
    indent: int = 0
    lead: str = ""
    list_id: int | None = None
    is_after_blank: bool = False


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of code with its line end."""

    text: str
    indent: int = 0


@dataclass(frozen=True, slots=True)
class CodeClose:
    """The end of a fence; `is_missing` when the text had none."""

    run: str
    indent: int = 0
    list_id: int | None = None
    is_missing: bool = False


BlockEvent: TypeAlias = Block | Tail | Slice | CodeOpen | CodeLine | CodeClose

"""The document in which a user writes a query (config-and-tools 7.5). Text only; nothing is asked here.

    what to ask

    ---8<---------------------------------------
    Nothing below this line is part of the query.
    --------------------------------------------

    # Active Configuration

    ```toml
    ...
    ```

The settings may be changed. What stands below them is there to be read. A text without the rule is a query as
a whole, so that whoever takes it away, or writes elsewhere, loses nothing.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from jp_lsp.conversation.event import (
    ChatRequest,
    ConversationEvent,
    MessageResponse,
    StructuredResponse,
    ToolCallRequest,
)

_WIDTH = 72
_CUT = "---8<---".ljust(_WIDTH, "-")
_IGNORED = "Nothing below this line is part of the query. The settings may be changed."
_HEADING = "# Active Configuration"
_HISTORY = "# What was said last, to look at"
_NOTE = "<!-- The settings below cannot be used: "
_NOTE_END = " -->"

_RULE = re.compile(r"^-{3,}8<-{3,}[ \t]*$", re.MULTILINE)
_NOTED = re.compile(rf"\A\s*{re.escape(_NOTE)}.*?{re.escape(_NOTE_END)}[ \t]*\n*", re.DOTALL)
_SETTINGS = re.compile(r"^(`{3,})toml[ \t]*\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)

RECENT_COUNT = 10
"""So many things that were said last are shown."""

_LONGEST_SHOWN = 2000


@dataclass(frozen=True, slots=True)
class QueryDocument:
    """What a user wrote: the query, and the settings as TOML if there are any."""

    query: str
    settings: str | None = None


def write_document(
    query: str, settings: str, recent: Sequence[ConversationEvent], problem: str | None = None
) -> str:
    """Write the document.

    Args:
        query: what was written before.
        settings: TOML.
        recent: events of the conversation, the last ones of which are shown.
        problem: what is wrong with the settings.
    """
    note = "" if problem is None else f"{_NOTE}{problem.replace('-->', '-- >')}{_NOTE_END}\n\n"
    cut = f"{_CUT}\n{_IGNORED}\n{'-' * _WIDTH}\n\n"
    return f"{note}{query.rstrip()}\n\n{cut}{_HEADING}\n\n{_fenced(settings)}{_history(recent)}"


def read_document(text: str) -> QueryDocument:
    """Read what became of a document, or any other text."""
    text = _NOTED.sub("", text.replace("\r\n", "\n"), count=1)
    rule = _RULE.search(text)
    if rule is None:
        return QueryDocument(text.strip("\n"))
    _, heading, below = text[rule.end() :].partition(f"\n{_HEADING}\n")
    settings = _SETTINGS.search(below.partition(f"\n{_HISTORY}\n")[0]) if heading else None
    return QueryDocument(text[: rule.start()].strip("\n"), None if settings is None else settings[2])


def _fenced(settings: str) -> str:
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", settings))])
    return f"{fence}toml\n{settings.rstrip()}\n{fence}\n"


def _history(events: Sequence[ConversationEvent]) -> str:
    said = [line for line in map(_said, events) if line is not None][-RECENT_COUNT:]
    return "".join(f"\n{part}\n" for part in (_HISTORY, *said)) if said else ""


def _said(event: ConversationEvent) -> str | None:
    match event.kind:
        case ChatRequest(content=text):
            return f"**You:** {_short(text)}"
        case MessageResponse(text) if text.strip():
            return _short(text)
        case StructuredResponse(data):
            return _short(json.dumps(data, ensure_ascii=False))
        case ToolCallRequest(name=name):
            return f"(Tool `{name}` was called.)"
        case _:
            return None


def _short(text: str) -> str:
    text = text.strip()
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]} ..."

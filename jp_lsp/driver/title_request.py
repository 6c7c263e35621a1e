"""What a query means for the title of its conversation, and how a model is asked for one.

Pure functions: the decision, the request, and the reading of the answer (query pipeline 7.1, providers 9).
Who asks, and who stores the title, is the business of `titles`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from jp_lsp.conversation.event import ChatRequest, ConversationEvent
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.conversation.section import Section
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.thread import Thread, ThreadEvent, build_thread
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.settings import TitleSettings
from jp_lsp.render.heading import leading_heading
from jp_lsp.render.text import clean_line
from jp_lsp.turn.query import Query

LONGEST_TITLE = 200
"""So many characters of a title are kept."""

ASKED_LENGTH = 50
"""So many characters a model is asked to stay within."""

_REQUEST = "Generate a title for this conversation."

_INSTRUCTION = Section(
    tag="instruction",
    title="Title Generation",
    content=(
        "The last message asks for a title of the conversation that precedes it.\n\n"
        "- Give one title that tells this conversation from others: concise, and concrete about its subject.\n"
        f"- Use at most {ASKED_LENGTH} characters, and the language of the conversation.\n"
        "- Answer with a JSON object that has a `titles` array, and nothing else.\n"
        "- Do not mention the request for a title, and do not answer what the conversation asks."
    ),
)

_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "titles": {
            "type": "array",
            "items": {"type": "string", "description": "A concise title that describes the conversation"},
            "minItems": 1,
            "maxItems": 1,
        }
    },
    "required": ["titles"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class TitleFound:
    """The request says it itself."""

    title: str


@dataclass(frozen=True, slots=True)
class TitleWanted:
    """A model is to be asked. Its title counts only while the present one is still `instead_of`."""

    model: ModelId
    instead_of: str | None


def decide_title(
    query: Query, present: str | None, settings: TitleSettings
) -> TitleFound | TitleWanted | None:
    """Decide what becomes of a conversation's title when a query begins; `None` leaves it alone.

    A fork begins with the title of its source, which counts like none until there is one of its own.

    Args:
        query: what was asked.
        present: the conversation's title.
        settings: what the user wants.
    """
    is_untitled = present is None or query.fork is not None
    if not is_untitled or not query.is_stored or query.title is not None:
        return None
    if settings.from_heading and (heading := leading_heading(query.text)) is not None:
        return TitleFound(shortened(heading))
    return None if settings.model is None else TitleWanted(settings.model, present)


def title_thread(stream: ConversationStream, now: Timestamp) -> Thread:
    """Give what the model is shown: the conversation as it is now, and the request for its title."""
    thread = build_thread(stream, sections=(_INSTRUCTION,))
    request = ThreadEvent(ConversationEvent(now, ChatRequest(_REQUEST, _SCHEMA)), None)
    return replace(thread, events=(*thread.events, request), schema=_SCHEMA)


def read_title(value: JsonValue) -> str | None:
    """Give the first usable title of the answer, on one line; `None` if there is none."""
    titles = value.get("titles") if isinstance(value, Mapping) else None
    if not isinstance(titles, list):
        return None
    cleaned = (shortened(clean_line(title)) for title in titles if isinstance(title, str))
    return next(filter(None, cleaned), None)


def shortened(title: str) -> str:
    """Cut a title that is too long for one."""
    return title[:LONGEST_TITLE].rstrip()

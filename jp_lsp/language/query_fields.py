"""The names that the front matter of a query document may have: what each takes, and what it asks of `jp/query`."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from jp_lsp.config import duration
from jp_lsp.config.model_id import REASONING
from jp_lsp.conversation.ids import parse_conversation_id
from jp_lsp.language.front_matter import Word
from jp_lsp.tools.choice import near_names
from jp_lsp.tools.schema_notation import SchemaTextError, read_schema_text

Names = Literal["model", "persona", "tool", "attachment", "conversation", "expression", "none"]
"""What kind of thing is named, which decides what is offered and where it is looked up."""

_FLAG_WORDS = ("true", "false")
_TOOL_CHOICES = ("auto", "none", "required")


@dataclass(frozen=True, slots=True)
class QueryField:
    """One name.

    Attributes:
        doc: what it is for.
        takes: what may stand there, for people.
        names: the kind of thing that is named.
        words: fixed words that may stand there.
        is_list: whether there may be several.
        is_flag: whether it is true or false.
        check: says what is wrong with a word, if anything can be said by itself.
    """

    doc: str
    takes: str
    names: Names = "none"
    words: tuple[str, ...] = ()
    is_list: bool = False
    is_flag: bool = False
    check: Callable[[str], str | None] | None = None


def problem_of(field: QueryField, word: Word) -> str | None:
    """Say what is wrong with a word as it stands there, as far as the text alone tells."""
    if word.kind == "nothing":
        return None
    if word.kind == "table":
        return f"expected {field.takes}, got a list or table within it"
    if field.is_flag and word.kind != "boolean":
        return _not_among(word.text, field.takes, _FLAG_WORDS)
    return None if field.check is None else field.check(word.text)


def near_word(field: QueryField, word: Word) -> str | None:
    """Give the fixed word that was most likely meant."""
    return _nearest(word.text, _FLAG_WORDS if field.is_flag else field.words)


def near_name(name: str) -> str | None:
    """Give the name of a field that was most likely meant."""
    return _nearest(name.replace("-", "_"), FIELDS)


def _nearest(text: str, known: Collection[str]) -> str | None:
    return next(iter(near_names(text[:60].lower(), known)), None)


def _not_among(text: str, takes: str, words: tuple[str, ...]) -> str:
    meant = _nearest(text, words)
    return f"expected {takes}, got `{text[:60]}`" + ("" if meant is None else f"; did you mean `{meant}`?")


def _conversation(text: str, *words: str) -> str | None:
    if text in words:
        return None
    try:
        parse_conversation_id(text)
    except ValueError:
        listed = " or ".join(f"`{word}`" for word in words)
        return _not_among(text, f"the id of a conversation such as `jp-c17912345678`, or {listed}", words)
    return None


def _schema(text: str) -> str | None:
    try:
        read_schema_text(text)
    except SchemaTextError as problem:
        return f"the schema cannot be read: {problem}"
    return None


def _expires(text: str) -> str | None:
    return None if duration.parse(text) else _not_among(text, "a duration such as `2h 30m`", ())


def _tool(text: str) -> str | None:
    return None if text.removeprefix("-").strip() else "the name of a tool is missing behind the `-`"


FIELDS: Mapping[str, QueryField] = MappingProxyType(
    {
        "model": QueryField(
            "The model to ask, now and later in the conversation.", "`provider/name` or an alias", "model"
        ),
        "persona": QueryField(
            "Files to apply by name, as `--cfg` does: personas, skills and the like.",
            "a name, or a list of names",
            "persona",
            is_list=True,
        ),
        "tools": QueryField(
            "Tools to switch on, or off with `-` in front, one after the other; `*` and `-*` mean all that need "
            "not be named, as `true` and `false` do.",
            "names of tools, or true or false",
            "tool",
            is_list=True,
            check=_tool,
        ),
        "attachments": QueryField(
            "What to show the model, as `@` in the text does: paths, patterns, addresses, conversations.",
            "a path or address, or a list of them",
            "attachment",
            is_list=True,
        ),
        "conversation": QueryField(
            "Where to ask: an id, `new`, or `last`. Without it, where you asked last.",
            "an id, `new` or `last`",
            "conversation",
            ("new", "last"),
            check=lambda text: _conversation(text, "new", "last"),
        ),
        "fork": QueryField(
            "Ask in a copy of this conversation.",
            "an id or `last`",
            "conversation",
            ("last",),
            check=lambda text: _conversation(text, "last"),
        ),
        "reasoning": QueryField(
            "How much the model thinks before it answers.",
            "`off`, `auto`, an effort, or a number of tokens",
            words=REASONING.scalar.words,
        ),
        "cfg": QueryField(
            "Settings for this query, as `--cfg` takes them: `assistant.name=Ada`, or names of files.",
            "an expression, or a list of them",
            "expression",
            is_list=True,
        ),
        "tool_choice": QueryField(
            "Whether the first response may, must not or must call tools, or the one that it must call.",
            "`auto`, `none`, `required` or the name of a tool",
            "tool",
            _TOOL_CHOICES,
        ),
        "schema": QueryField(
            "What the answer must be: a JSON schema as JSON text, or fields such as `title, ?tags [str]`.",
            "a schema as text",
            check=_schema,
        ),
        "template": QueryField(
            "Fill in the text as a template, with the settings under `template.values`.",
            "true or false",
            is_flag=True,
        ),
        "title": QueryField("The title of the conversation.", "text"),
        "expires": QueryField(
            "Remove the conversation after this time, such as `2h 30m`.", "a duration", check=_expires
        ),
        "persist": QueryField(
            "Whether anything is stored; `false` works on a copy that is thrown away.",
            "true or false",
            is_flag=True,
        ),
        "explain": QueryField("Say what would be sent, and send nothing.", "true or false", is_flag=True),
    }
)
"""All of them, in the order in which they are offered."""

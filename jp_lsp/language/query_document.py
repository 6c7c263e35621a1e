"""A query as a markdown file: an optional front matter, and the text, with `@` in front of what it attaches.

    ---
    model: anthropic/claude-sonnet-4-5
    persona: dev
    tools: [fs_read_file, -web_fetch]
    ---

    Why does @src/main.py subtract?

Here it is read, and made into the members of `jp/query`. What is wrong with it by itself is told by `flaws`; what
only shows beside the workspace is for `query_findings`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from jp_lsp.config import duration
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.language.findings import Mark, Replacement
from jp_lsp.language.front_matter import Field, FrontMatter, Word, read_front_matter
from jp_lsp.language.mentions import MOST_MENTIONS, Mention, find_mentions
from jp_lsp.language.positions import Span
from jp_lsp.language.query_fields import FIELDS, near_name, near_word, problem_of

_ID = re.compile(r"jp-c[0-9]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class QueryDocument:
    """A document that was read.

    Attributes:
        text: all of it.
        front: its front matter, if it has one.
        fields: the names that are known, each as it stands there first.
        mentions: those of the body, at most `MOST_MENTIONS`.
        has_more_mentions: whether it has more than these.
    """

    text: str
    front: FrontMatter | None
    fields: Mapping[str, Field]
    mentions: tuple[Mention, ...]
    has_more_mentions: bool

    @property
    def body_start(self) -> int:
        """The offset of what is behind the front matter."""
        return 0 if self.front is None else self.front.body

    @property
    def body(self) -> str:
        """The text of the query."""
        return self.text[self.body_start :].lstrip("\ufeff").strip("\r\n")

    def words(self, name: str) -> tuple[Word, ...]:
        """Give what a name is given, without what is empty or no word at all."""
        field = self.fields.get(name)
        words = () if field is None else field.words
        return tuple(word for word in words if word.kind not in {"nothing", "table"})

    def word(self, name: str) -> str | None:
        """Give the one thing that a name is given."""
        words = self.words(name)
        return words[0].text if words else None


def read_query(text: str) -> QueryDocument:
    """Read a document; whatever is in it, there is something to read."""
    front = read_front_matter(text)
    fields: dict[str, Field] = {}
    for field in () if front is None else front.fields:
        if field.name in FIELDS:
            fields.setdefault(field.name, field)
    found = find_mentions(text, 0 if front is None else front.body, MOST_MENTIONS + 1)
    return QueryDocument(
        text, front, fields, tuple(found[:MOST_MENTIONS]), has_more_mentions=len(found) > MOST_MENTIONS
    )


def flaws(document: QueryDocument) -> Iterator[Mark]:
    """Give what is wrong with a document, as far as its own text tells."""
    front = document.front
    if front is not None and front.problem is not None:
        yield Mark(front.problem.span, front.problem.text, "error", "not-yaml")
    for field in () if front is None else front.fields:
        yield from _flaws_of(document, field)
    if document.has_more_mentions:
        last = document.mentions[-1]
        yield Mark(
            last.span,
            f"what follows this is text: only {MOST_MENTIONS} `@` are looked at",
            "warning",
            "problem",
        )


def expressions(document: QueryDocument) -> list[tuple[str, Word]]:
    """Give the `--cfg` expressions that a document comes to, in their order, each with the word that it is from."""
    found = [(_by_name(word.text), word) for word in document.words("persona")]
    found += [(word.text, word) for word in document.words("cfg")]
    found += [(f"assistant.model.id={word.text}", word) for word in document.words("model")]
    found += [
        (f"assistant.model.parameters.reasoning={word.text}", word) for word in document.words("reasoning")
    ]
    return found


def switches(document: QueryDocument) -> Iterator[tuple[bool, str | None, Word]]:
    """Give the switches of tools: whether each is on, its name (`None` is all), and the word."""
    for word in document.words("tools"):
        if word.kind == "boolean":
            yield word.text.lower() == "true", None, word
            continue
        name = word.text.removeprefix("-").strip()
        yield not word.text.startswith("-"), None if name == "*" else name, word


def conversations(document: QueryDocument) -> set[str]:
    """Give the ids of all conversations that a document names."""
    texts = [word.text for name in ("conversation", "fork", "attachments") for word in document.words(name)]
    texts += [mention.name for mention in document.mentions]
    return {found for text in texts for found in _ID.findall(text)}


def id_in(text: str) -> str | None:
    """Give the id of a conversation that a name or an address has in it."""
    found = _ID.search(text)
    return None if found is None else found[0]


def to_params(document: QueryDocument, is_there: Callable[[str], bool]) -> JsonObject:
    """Give the members of `jp/query` that a document fills in.

    Args:
        document: one without flaws.
        is_there: tells of a mention that is not certain whether there is such an attachment.
    """
    params: dict[str, JsonValue] = {"text": document.body}
    if asked := [expression for expression, _ in expressions(document)]:
        params["config"] = asked
    if switched := [_switch(is_on, name) for is_on, name, _ in switches(document)]:
        params["tools"] = switched
    named = [word.text for word in document.words("attachments")]
    named += [each.name for each in document.mentions if each.is_certain or is_there(each.name)]
    if named:
        params["attachments"] = list(dict.fromkeys(named))
    for name in ("conversation", "schema", "title"):
        if (text := document.word(name)) is not None:
            params[name] = text
    for name in ("template", "persist", "explain"):
        if (text := document.word(name)) is not None:
            params[name] = text.lower() == "true"
    if (text := document.word("fork")) is not None:
        params["fork"] = {"from": text}
    if (text := document.word("expires")) is not None:
        params["expires"] = duration.normal(text)
    if (text := document.word("tool_choice")) is not None:
        params["toolChoice"] = text if text in FIELDS["tool_choice"].words else {"name": text}
    return params


def _switch(is_on: bool, name: str | None) -> JsonObject:
    return {"enable": is_on} if name is None else {"enable": is_on, "name": name}


def _by_name(name: str) -> str:
    """Write the name of a file so that it is nothing else, whatever is in it."""
    return name if name.startswith("@") else f"@{name}"


def _flaws_of(document: QueryDocument, field: Field) -> Iterator[Mark]:
    known = FIELDS.get(field.name)
    if known is None:
        meant = near_name(field.name)
        text = "unknown key" if meant is None else f"unknown key; did you mean `{meant}`?"
        remedy = None if meant is None else Replacement(field.span, meant)
        yield Mark(field.span, text, "error", "unknown-key", remedy)
        return
    if document.fields[field.name] is not field:
        yield Mark(field.span, f"`{field.name}` is here for the second time", "error", "wrong-value")
        return
    if field.is_list and not known.is_list and field.words:
        place = Span(field.words[0].span.start, field.words[-1].span.end)
        yield Mark(place, f"expected {known.takes}, got a list", "error", "wrong-value")
        return
    for word in field.words:
        problem = problem_of(known, word)
        if problem is not None:
            near = near_word(known, word)
            remedy = None if near is None else Replacement(word.span, near)
            yield Mark(word.span, problem, "error", "wrong-value", remedy)
    if field.name == "fork" and document.word("conversation") not in {None, "new"}:
        text = "`fork` makes a new conversation, so `conversation` must be left out"
        yield Mark(field.span, text, "error", "wrong-value")

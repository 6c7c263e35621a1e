"""What can be written at a place of a query document.

Completion has to make sense of a front matter that is half written, so its lines are looked at, not its YAML: the
name at the begin of a line, or above a list, says what may stand there.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from jp_lsp.conversation.ids import created_at
from jp_lsp.driver.shelf import activity_of
from jp_lsp.language.completion import Proposal, ProposalKind
from jp_lsp.language.findings import Replacement
from jp_lsp.language.front_matter import FrontMatter, read_front_matter, written_word
from jp_lsp.language.mentions import BegunMention, begun_mention, written
from jp_lsp.language.model_facts import model_summary
from jp_lsp.language.positions import Span
from jp_lsp.language.query_document import expressions, read_query
from jp_lsp.language.query_fields import FIELDS, QueryField
from jp_lsp.language.query_known import KnownToQuery, aliases_of, entries_at, servers_of, tools_of
from jp_lsp.language.query_settings import complete_expression
from jp_lsp.ports.upkeep import ConversationFacts

MOST_FILES = 100
_MOST_CONVERSATIONS = 50
_BEGINNINGS = ("/", ":", "+")
"""What ends so is the begin of an address; it is left open, so that writing goes on in it."""

_SCHEMES = (
    ("https://", "a web page"),
    ("jp://", "a conversation"),
    ("gh://", "a pull request of GitHub"),
)

_LINE = re.compile(r"(?P<name>[A-Za-z_]*)(?:(?P<colon>[ \t]*:)(?P<value>.*))?", re.DOTALL)
_NAME = re.compile(r"^([A-Za-z_]+)[ \t]*:", re.MULTILINE)
_OPEN_LIST = re.compile(r"^[A-Za-z_]+[ \t]*:[ \t]*\r?\n(?:[ \t]*-[^\n]*\n)*\Z", re.MULTILINE)
"""A name without a value beside it, with items below it up to here."""

_ITEM = re.compile(r"[ \t]*-[ \t]+(?P<value>.*)|[ \t]+(?P<more>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Offer:
    """Something that can be named; `search` is what it is found by beside its name."""

    name: str
    kind: ProposalKind
    detail: str = ""
    documentation: str = ""
    search: str = ""
    label: str = ""


def complete_query(text: str, offset: int, known: KnownToQuery) -> list[Proposal]:
    """Give what can be written at an offset, in the order in which it is to be shown."""
    front = read_front_matter(text)
    if front is not None and _is_in(front, text, offset):
        return list(_in_front_matter(text, offset, front, known))
    begun = begun_mention(text, 0 if front is None else front.body, offset)
    return [] if begun is None else list(_in_mention(begun, known))


def may_name_conversation(text: str, offset: int) -> bool:
    """Tell whether conversations can be offered at an offset; listing them takes a moment where there are many."""
    front = read_front_matter(text)
    if front is None or not _is_in(front, text, offset):
        return begun_mention(text, 0 if front is None else front.body, offset) is not None
    names = _NAME.findall(text, front.span.start, offset)
    field = FIELDS.get(names[-1]) if names else None
    return field is not None and field.names in {"conversation", "attachment"}


def _is_in(front: FrontMatter, text: str, offset: int) -> bool:
    """Tell whether an offset is in the front matter; behind the last line of one that is not closed too."""
    return front.span.start <= offset and (offset < front.span.end or front.span.end == len(text))


def _in_front_matter(text: str, offset: int, front: FrontMatter, known: KnownToQuery) -> Iterator[Proposal]:
    start = max(text.rfind("\n", 0, offset) + 1, front.span.start)
    end = min((found for found in (text.find("\n", offset), front.span.end) if found >= 0), default=len(text))
    before = text[start:offset]
    item = _ITEM.fullmatch(before)
    if item is not None:
        above = _NAME.findall(text, front.span.start, start)
        field = FIELDS.get(above[-1]) if above else None
        if field is not None and item["value"] is not None:
            yield from _values(text, offset, len(item["value"]), above[-1], field, known)
        elif field is not None and field.is_list and _OPEN_LIST.search(text, front.span.start, start):
            typed = item["more"].removeprefix("-")
            lead = "- " if typed == item["more"] else " "
            yield from _values(text, offset, len(typed), above[-1], field, known, lead=lead)
        return
    line = _LINE.fullmatch(before)
    if line is None:
        return
    if line["colon"] is None:
        rest = re.compile(r"[A-Za-z_]*").match(text, offset)
        span = Span(start, offset if rest is None else rest.end())
        yield from _names(text, span, is_given=":" in text[span.end : end], front=front)
    elif (field := FIELDS.get(line["name"])) is not None:
        value = line["value"].lstrip(" \t")
        is_inside = value.startswith("[")
        if is_inside:
            value = re.split(r"[\[,]", value)[-1].lstrip(" \t")
        elif line["value"] == value:  # without a blank it would be no value
            yield from _values(text, offset, len(value), line["name"], field, known, lead=" ")
            return
        yield from _values(text, offset, len(value), line["name"], field, known, is_inside=is_inside)


def _names(text: str, span: Span, *, is_given: bool, front: FrontMatter) -> Iterator[Proposal]:
    written_here = text[front.span.start : span.start] + text[span.end : front.span.end]
    taken = set(_NAME.findall(written_here))
    for name, field in FIELDS.items():
        if name not in taken:
            edit = Replacement(span, name if is_given else f"{name}: ")
            yield Proposal(name, "key", edit, field.takes, field.doc)


def _values(
    text: str,
    offset: int,
    typed: int,
    name: str,
    field: QueryField,
    known: KnownToQuery,
    *,
    is_inside: bool = False,
    lead: str = "",
) -> Iterator[Proposal]:
    """Offer values; `typed` characters of one stand before the cursor, `is_inside` tells of a list in brackets."""
    rest = re.compile(r"[^\n,\]]*" if is_inside else r"[^\n]*").match(text, offset)
    end = offset if rest is None else offset + len(rest[0].rstrip())
    span = Span(offset - typed, end)
    search = text[offset - typed : offset].strip("\"'")
    words = ("true", "false") if field.is_flag else field.words
    for word in words:
        yield Proposal(word, "word", Replacement(span, lead + word), field.takes, field.doc)
    for offer in _offers(text, name, field, search, known):
        yield _proposal(offer, Replacement(span, lead + written_word(offer.name)))


def _proposal(offer: _Offer, edit: Replacement) -> Proposal:
    search = f"{offer.name} {offer.search}" if offer.search else ""
    label = offer.label or offer.name
    return Proposal(label, offer.kind, edit, offer.detail, offer.documentation, search)


def _offers(text: str, name: str, field: QueryField, search: str, known: KnownToQuery) -> Iterator[_Offer]:
    match field.names:
        case "model":
            yield from _models(known)
        case "persona":
            yield from _personas(known)
        case "expression":
            yield from _personas(known)
            for each in complete_expression(search, lambda path: entries_at(known.values(()), path)):
                yield _Offer(each.text, "word", each.takes, each.documentation)
        case "tool":
            document = read_query(text)
            values = known.values([expression for expression, _ in expressions(document)])
            for tool, facts in tools_of(values).items():
                yield _Offer(tool, "name", facts.summary or ("on" if facts.is_on else "off"))
                if name == "tools" and facts.is_on:
                    yield _Offer(f"-{tool}", "name", "switched off")
        case "conversation":
            yield from _conversations(known.conversations, lambda each: str(each.id))
        case "attachment":
            yield from _attachments(search, known)
        case "none":
            return


def _models(known: KnownToQuery) -> Iterator[_Offer]:
    for alias, model in aliases_of(known.values(())).items():
        yield _Offer(alias, "name", f"an alias of {model}")
    for listed in known.models:
        yield _Offer(str(listed.id), "model", model_summary(listed))


def _personas(known: KnownToQuery) -> Iterator[_Offer]:
    for each in known.named():
        if each.problem is None:
            yield _Offer(each.name, "file", each.title or "", each.description or "")


def _conversations(
    conversations: Sequence[ConversationFacts], address: Callable[[ConversationFacts], str]
) -> Iterator[_Offer]:
    for each in conversations[:_MOST_CONVERSATIONS]:
        day = activity_of(each).rfc3339()[:10]
        title = each.title or f"of {created_at(each.id).rfc3339()[:10]}"
        yield _Offer(address(each), "name", f"{each.id}, {day}", search=title, label=title)


def _in_mention(begun: BegunMention, known: KnownToQuery) -> Iterator[Proposal]:
    for offer in _attachments(begun.name, known):
        is_open = offer.name.endswith(_BEGINNINGS)
        has_blanks = offer.name.startswith("cmd:") or written(f"{offer.name}x") != f"{offer.name}x"
        quoted = begun.is_quoted or has_blanks or (not is_open and written(offer.name) != offer.name)
        text = f'"{offer.name}' + ("" if is_open else '"') if quoted else offer.name
        yield _proposal(offer, Replacement(begun.span, text))


def _attachments(search: str, known: KnownToQuery) -> Iterator[_Offer]:
    """Offer what can be attached: open documents, files, conversations, and how addresses begin."""
    wanted = search.removeprefix("!").casefold()
    bang = "!" if search.startswith("!") else ""
    folder = wanted.rpartition("/")[0]
    given = search.removeprefix("!").rpartition("/")[0]

    def fits(path: str) -> bool:
        return wanted in path.casefold()

    paths = known.paths(given if folder else "", fits, MOST_FILES)
    seen: set[str] = set()
    for name in known.open_names:
        if wanted in name.casefold():
            seen.add(name)
            yield _Offer(f"{bang}{name}", "file", "open in the editor")
    for path in paths:
        inner = path[len(given) + 1 :] if given else path
        if "/" in inner:
            name = f"{given}/" if given else ""
            name += inner.partition("/")[0] + "/"
            if name not in seen and wanted in name.casefold():
                seen.add(name)
                yield _Offer(f"{bang}{name}", "file", "folder")
    for path in paths:
        if path not in seen:
            yield _Offer(f"{bang}{path}", "file")
    if bang:
        return
    if not folder:
        yield from _conversations(known.conversations, lambda each: str(each.id))
    yield from _beginnings(wanted, known)


def _beginnings(wanted: str, known: KnownToQuery) -> Iterator[_Offer]:
    """Offer how addresses begin, as long as one is still to be written; only some need a look at settings."""

    def can_be(beginning: str) -> bool:
        return beginning.casefold().startswith(wanted) and len(wanted) < len(beginning)

    for scheme, detail in _SCHEMES:
        if can_be(scheme):
            yield _Offer(scheme, "word", detail)
    if can_be("mcp+") or wanted.startswith("mcp+"):
        for server in servers_of(known.values(())):
            if can_be(f"mcp+{server}+"):
                yield _Offer(f"mcp+{server}+", "word", f"a resource of the MCP server {server}")
    if can_be("cmd:") and known.runs_commands():
        yield _Offer("cmd:", "word", "the output of a command")

"""What a name in a query document means, as Markdown for a hover."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jp_lsp.attachments.survey import Survey
from jp_lsp.config.named_list import NamedConfiguration
from jp_lsp.conversation.ids import created_at
from jp_lsp.driver.shelf import activity_of
from jp_lsp.language.model_facts import model_facts
from jp_lsp.language.positions import Span
from jp_lsp.language.query_document import QueryDocument, expressions, id_in
from jp_lsp.language.query_fields import FIELDS
from jp_lsp.language.query_known import KnownToQuery, ToolFacts, aliases_of, tools_of
from jp_lsp.language.query_settings import describe_expression
from jp_lsp.language.schema_view import show_value
from jp_lsp.ports.attachment import AttachmentError
from jp_lsp.ports.upkeep import ConversationFacts
from jp_lsp.render.text import clean_line
from jp_lsp.render.tool import code_span

_MOST_SETTINGS = 12


@dataclass(frozen=True, slots=True)
class QuerySubject:
    """What a hover is about: a field as such (without `text`), or what it names."""

    field: str
    span: Span
    text: str | None = None


def query_subject_at(document: QueryDocument, offset: int) -> QuerySubject | None:
    """Find what stands at an offset; `None` where there is nothing to be said about."""
    for mention in document.mentions:
        if mention.span.holds(offset):
            return QuerySubject("attachments", mention.span, mention.name)
    for name, field in document.fields.items():
        if field.span.holds(offset):
            return QuerySubject(name, field.span)
        for word in field.words:
            if word.span.holds(offset) and word.kind not in {"nothing", "table"}:
                return QuerySubject(name, word.span, word.text)
    return None


def describe_subject(
    subject: QuerySubject, document: QueryDocument, known: KnownToQuery, turns: int | None
) -> str | None:
    """Describe what was found; `None` for a name that says nothing.

    Args:
        subject: what it is about.
        document: where it stands.
        known: what there is.
        turns: how many the conversation has that the subject names; `None` where that cannot be said.
    """
    field = FIELDS[subject.field]
    text = subject.text
    if text is None:
        return "\n".join([f"**{code_span(subject.field)}**", "", field.doc, "", f"- takes {field.takes}"])
    match field.names:
        case "model":
            return _model(text, known)
        case "persona":
            return _persona(text, known)
        case "expression":
            return _persona(text, known) or describe_expression(text)
        case "tool":
            values = known.values([expression for expression, _ in expressions(document)])
            found = tools_of(values).get(text.removeprefix("-"))
            return None if found is None else _tool(text.removeprefix("-"), found)
        case "conversation":
            return _conversation(text, known, turns)
        case "attachment":
            return _attachment(text, known, turns)
        case "none":
            return None


def conversation_named(subject: QuerySubject) -> str | None:
    """Give the id of the conversation that a subject names."""
    named = {"conversation", "attachment"}
    is_named = subject.text is not None and FIELDS[subject.field].names in named
    return id_in(subject.text or "") if is_named else None


def _model(text: str, known: KnownToQuery) -> str:
    meant = aliases_of(known.values(())).get(text)
    lines = [f"**{code_span(text)}**" + ("" if meant is None else f" is an alias of {code_span(meant)}"), ""]
    details = next((each for each in known.models if str(each.id) == (meant or text)), None)
    lines += ["- nothing more is known of it by now"] if details is None else model_facts(details)
    return "\n".join(lines)


def _persona(text: str, known: KnownToQuery) -> str | None:
    name = text.removeprefix("@")
    found = next((each for each in known.named() if each.name == name), None)
    if found is None:
        return None
    lines = [f"**{code_span(name)}**" + ("" if found.title is None else f" {_inert(found.title)}"), ""]
    if found.description is not None:
        lines += [_inert(found.description), ""]
    if found.problem is not None:
        lines.append(f"- cannot be applied: {found.problem}")
    lines += _settings(found, known)
    return "\n".join(lines)


def _settings(named: NamedConfiguration, known: KnownToQuery) -> Sequence[str]:
    sets = known.sets(named)
    lines = [f"- sets {code_span(f'{key} = {show_value(value)}')}" for key, value in sets[:_MOST_SETTINGS]]
    rest = len(sets) - _MOST_SETTINGS
    return [*lines, f"- and {rest} more"] if rest > 0 else lines


def _tool(name: str, tool: ToolFacts) -> str:
    lines = [f"**{code_span(name)}**", ""]
    lines += [text for part in (tool.summary, tool.description) if part for text in (_inert(part), "")]
    lines.append(f"- {'on' if tool.is_on else 'off'} unless it is switched")
    lines.append(f"- run: {code_span(tool.run)}")
    return "\n".join(lines)


def _inert(text: str) -> str:
    """Keep the Markdown of a file, which may be a stranger's, from fetching anything: no pictures, and no HTML."""
    return text.replace("![", "\\![").replace("<", "\\<")


def _conversation(text: str, known: KnownToQuery, turns: int | None) -> str | None:
    if text == "new":
        return "A new conversation."
    if text == "last":
        latest = known.conversations[0] if known.conversations else None
        return None if latest is None else _described(latest, turns)
    facts = _facts(text, known)
    return None if facts is None else _described(facts, turns)


def _facts(text: str, known: KnownToQuery) -> ConversationFacts | None:
    wanted = id_in(text)
    return next((each for each in (*known.conversations, *known.archived) if str(each.id) == wanted), None)


def _described(facts: ConversationFacts, turns: int | None) -> str:
    lines = [f"**{_inert(clean_line(facts.title or 'Without a title'))}** {code_span(str(facts.id))}", ""]
    if turns is not None:
        lines.append(f"- {turns} turn{'' if turns == 1 else 's'}")
    lines.append(f"- last active {_time(activity_of(facts).rfc3339())}")
    lines.append(f"- made {_time(created_at(facts.id).rfc3339())}")
    return "\n".join(lines)


def _time(rfc3339: str) -> str:
    return f"{rfc3339[:10]} {rfc3339[11:16]} UTC"


def _attachment(text: str, known: KnownToQuery, turns: int | None) -> str | None:
    try:
        found = known.survey(text)
    except AttachmentError:
        return None
    lines = [f"**{code_span(found.name)}**", "", *_sent(found)]
    if found.name.startswith("jp:") and (facts := _facts(found.name, known)) is not None:
        lines += ["", _described(facts, turns)]
    return "\n".join(lines)


def _sent(found: Survey) -> Iterator[str]:
    match found.kind:
        case "file":
            kind = "neither text nor a known kind of file" if found.content is None else found.content
            yield f"- file, {kind}, {_size(found.size)}"
            if found.problem is not None:
                yield f"- is not sent: {found.problem}"
            elif found.content is None:
                yield "- is left out"
            elif found.content == "text":
                yield "- its text is sent, with what is unsaved in the editor"
            else:
                yield "- is sent as it is, where the model takes that kind"
        case "folder" | "pattern":
            more = "at least " if found.is_cut else ""
            yield f"- {found.kind}: {more}{found.files} file{'' if found.files == 1 else 's'}, {_size(found.size)}"
            yield from (f"- {code_span(name)}" for name in found.names)
            if found.files > len(found.names):
                yield f"- and {found.files - len(found.names)} more"
        case "document":
            yield f"- open in the editor, {found.size:,} characters; is sent with this query only"
        case "exclusion":
            yield "- is left out of what else is attached"
        case "address":
            is_run = found.name.startswith("cmd:")
            yield f"- {'is run, and its output fetched,' if is_run else 'is fetched'} when the query is sent"


def _size(size: int) -> str:
    if size == 1:
        return "1 byte"
    return f"{size:,} bytes" if size < 10_000 else f"{size / 1024:,.0f} KiB"

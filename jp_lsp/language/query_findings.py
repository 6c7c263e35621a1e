"""What a query document names and the workspace does not have, with its place and, where known, the remedy.

An error is something for which the query would be refused; a warning or a hint is not in its way.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from jp_lsp.attachments.survey import Survey
from jp_lsp.config.problem import Problem, Severity
from jp_lsp.language.findings import Mark, Replacement
from jp_lsp.language.front_matter import Word, written_word
from jp_lsp.language.mentions import Mention, written
from jp_lsp.language.positions import Span
from jp_lsp.language.query_document import QueryDocument, expressions, flaws, id_in, switches
from jp_lsp.language.query_known import KnownToQuery, aliases_of, servers_of, tools_of
from jp_lsp.ports.attachment import AttachmentEntry, AttachmentError
from jp_lsp.ports.upkeep import ConversationFacts
from jp_lsp.tools.choice import near_names

_MOST = 200
"""So many findings are shown for one document."""

_MOST_LOOKED_UP = 100
"""So many attachments, and so many settings and tools, of one document are looked at before it is sent."""

_HANDLERS = ("cmd", "gh", "http", "https", "jp", "mcp")
_NOT_MEANT = "; write `\\@` for a plain at sign"


def find_query_marks(document: QueryDocument, known: KnownToQuery) -> list[Mark]:
    """Give what there is to say about a document, in the order of the text."""
    marks = [
        *flaws(document),
        *_settings(document, known),
        *_tools(document, known),
        *_conversations(document, known),
        *_attachments(document, known),
    ]
    marks.sort(key=lambda mark: (mark.span.start, mark.span.end, mark.text))
    return marks[:_MOST]


def is_attachment(known: KnownToQuery, name: str) -> bool:
    """Tell whether a single word behind an `@` names something in the workspace."""
    try:
        known.survey(name)
    except AttachmentError:
        return False
    return True


def _settings(document: QueryDocument, known: KnownToQuery) -> Iterator[Mark]:
    """Say what is wrong with models, personas and settings: what the configuration has to say about each."""
    asked = expressions(document)
    if not asked:
        return
    before = set(known.problems(()))

    def errors(overrides: Sequence[str]) -> Sequence[Problem]:
        found = [each for each in known.problems(overrides) if each not in before]
        return [each for each in found if each.severity == "error"]

    is_sound = not errors([expression for expression, _ in asked])  # as a rule, so not each is looked at
    for expression, word in asked[:_MOST_LOOKED_UP]:
        wrong = () if is_sound else errors((expression,))
        if wrong:
            text = f"`{word.text}`: {'; '.join(map(_told, wrong))}"
            yield _not_found(word.span, text, word.text, _meant(document, known, word))
        elif word in document.words("model"):
            yield from _unlisted(known, word)


def _told(problem: Problem) -> str:
    """Tell of a problem with its file, where it is one of a file."""
    return problem.text if problem.origin is None or problem.origin.path is None else str(problem)


def _meant(document: QueryDocument, known: KnownToQuery, word: Word) -> Sequence[str]:
    """Give the names that a misspelt one could have been."""
    if word in document.words("model"):
        return (*aliases_of(known.values(())), *(str(model.id) for model in known.models))
    if word in document.words("persona"):
        return [each.name for each in known.named()]
    return ()


def _unlisted(known: KnownToQuery, word: Word) -> Iterator[Mark]:
    """Doubt a model that its vendor does not list; lists are not always whole."""
    provider, slash, _ = word.text.partition("/")
    listed = [str(model.id) for model in known.models if model.id.provider == provider]
    if slash and len(listed) > 1 and word.text not in listed:
        text = f"{provider} does not list a model `{word.text}`"
        yield _not_found(word.span, text, word.text, listed, severity="warning")


def _tools(document: QueryDocument, known: KnownToQuery) -> Iterator[Mark]:
    asked = list(switches(document))
    chosen = [word for word in document.words("tool_choice") if word.text not in {"auto", "none", "required"}]
    if not asked and not chosen:
        return
    overrides = [expression for expression, _ in expressions(document)]
    tools = tools_of(known.values(overrides))
    # A conversation that exists may know tools that no file has any more.
    severity: Severity = "error" if document.word("conversation") == "new" else "warning"
    named = [(name, word) for _, name, word in asked if name is not None]
    missing = [(name, word) for name, word in named if name and name not in tools]
    missing += [(word.text, word) for word in chosen if word.text not in tools]
    for name, word in missing:
        text = f"there is no tool `{name}`"
        yield _not_found(
            word.span, text, name, tuple(tools), severity=severity, prefix=word.text[: -len(name)]
        )
    if missing or known.locked(overrides, [(is_on, name) for is_on, name, _ in asked]) is None:
        return
    for is_on, switched, word in asked[:_MOST_LOOKED_UP]:
        problem = known.locked(overrides, [(is_on, switched)])
        if problem is not None:
            yield Mark(word.span, problem, severity, "wrong-value")


def _conversations(document: QueryDocument, known: KnownToQuery) -> Iterator[Mark]:
    live, readable = _ids(known.conversations), _readable(known)
    for field, usable in (("conversation", live), ("fork", readable)):
        for word in document.words(field):
            wanted = id_in(word.text)
            if wanted is None or wanted in usable:
                continue
            text = f"there is no conversation {wanted}"
            if wanted in readable:
                text = (
                    f"conversation {wanted} is archived: unarchive it, or name it as `fork` to ask in a copy"
                )
            yield Mark(word.span, text, "error", "not-found")


def _ids(conversations: Sequence[ConversationFacts]) -> set[str]:
    return {str(each.id) for each in conversations}


def _readable(known: KnownToQuery) -> set[str]:
    return _ids(known.conversations) | _ids(known.archived)


def _attachments(document: QueryDocument, known: KnownToQuery) -> Iterator[Mark]:
    for word in document.words("attachments")[:_MOST_LOOKED_UP]:
        yield from _attachment(word.text, word.span, known, written_word)
    for mention in document.mentions[:_MOST_LOOKED_UP]:
        if mention.is_certain:
            yield from _attachment(mention.name, mention.span, known, _as_mention, hint=_NOT_MEANT)
        elif not is_attachment(known, mention.name):
            yield _plain_text(mention)


def _plain_text(mention: Mention) -> Mark:
    text = f"`@{mention.name}` is text: there is no file or folder of that name"
    return Mark(mention.span, text, "hint", "not-found")


def _as_mention(name: str) -> str:
    return f"@{written(name)}"


def _attachment(
    name: str, span: Span, known: KnownToQuery, write: Callable[[str], str], *, hint: str = ""
) -> Iterator[Mark]:
    try:
        found = known.survey(name)
    except AttachmentError as error:
        near = _near_path(name, known)
        told = str(error) if near is None else str(error).partition(". ")[0]
        text = told.rstrip(".") + ("" if near is None else f"; did you mean `{near}`?")
        remedy = None if near is None else Replacement(span, write(near))
        yield Mark(span, text if near is not None else f"{text}{hint}", "error", "not-found", remedy)
        return
    if found.problem is not None:
        yield Mark(span, f"`{name}` cannot be attached: {found.problem}", "error", "wrong-value")
    elif found.kind in {"pattern", "folder"} and found.files == 0 and not found.is_cut:
        yield Mark(
            span, f"nothing is attached: no file in the workspace fits `{name}`", "warning", "not-found"
        )
    elif found.kind == "file" and found.content is None:
        text = f"`{name}` is left out: it is neither text in UTF-8 nor a known kind of file"
        yield Mark(span, text, "warning", "wrong-value")
    elif found.kind == "address":
        yield from _address(found, span, known)


def _address(found: Survey, span: Span, known: KnownToQuery) -> Iterator[Mark]:
    kind, _, path = found.name.partition(":")
    entry = AttachmentEntry(found.name, kind, path)
    handler, server = entry.handler, entry.server
    if handler not in _HANDLERS:
        listed = ", ".join(f"`{each}:`" for each in _HANDLERS)
        yield Mark(span, f"nothing here fetches `{kind}:`; there are {listed}", "error", "not-found")
    elif server is not None and server not in servers_of(known.values(())):
        yield Mark(span, f"there is no MCP server `{server}`", "error", "not-found")
    elif handler == "jp":
        wanted = id_in(found.name)
        if wanted not in _readable(known):
            text = f"nothing is attached: there is no conversation {wanted or path.strip('/')}"
            yield Mark(span, text, "warning", "not-found")


def _near_path(name: str, known: KnownToQuery) -> str | None:
    """Give a path that the name of a missing file was most likely meant to be."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:|jp-c", name):
        return None
    folder = name.rpartition("/")[0]
    paths = known.paths("", lambda path: not folder or path.startswith(f"{folder}/"), 500)
    if not paths:
        last = name.rpartition("/")[2]
        paths = known.paths("", lambda path: path.rpartition("/")[2] == last, 20)
        return paths[0] if len(paths) == 1 else None
    return next(iter(near_names(name, paths)), None)


def _not_found(
    span: Span,
    text: str,
    name: str,
    candidates: Sequence[str],
    *,
    severity: Severity = "error",
    prefix: str = "",
) -> Mark:
    near = next(iter(near_names(name, candidates)), None)
    if near is not None and "did you mean" not in text:
        text = f"{text.rstrip('.')}; did you mean `{near}`?"
    remedy = None if near is None else Replacement(span, written_word(f"{prefix}{near}"))
    return Mark(span, text, severity, "not-found", remedy)

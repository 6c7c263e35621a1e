"""What editors ask about a query document, and sending it."""

import logging
from collections.abc import Awaitable, Callable, Sequence

from anyio import to_thread
from lsprotocol import types

from jp_lsp.attachments.address import address_of
from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.language.completion import Proposal
from jp_lsp.language.query_completion import complete_query, may_name_conversation
from jp_lsp.language.query_document import id_in
from jp_lsp.language.query_hover import conversation_named, describe_subject, query_subject_at
from jp_lsp.language.query_known import KnownToQuery
from jp_lsp.language.query_lens import lens_of
from jp_lsp.ports.attachment import AttachmentEntry, AttachmentError
from jp_lsp.ports.refusal import Refusal
from jp_lsp.protocol.reading import read
from jp_lsp.protocol.turn import QueryParams
from jp_lsp.server.handlers.conversation import keep_transcript
from jp_lsp.server.language_to_wire import completion_item, markup, range_of
from jp_lsp.server.query_documents import OpenQuery
from jp_lsp.server.refusals import refusals_answered
from jp_lsp.server.session import Session

Start = Callable[[QueryParams, str | None], Awaitable[JsonObject]]
"""Starts a query, given the path of the file that it is in, if it is in one; gives its result."""

_LISTS = ("config", "tools", "attachments")
_PAGES = ("file:", "http:", "https:")
_MOST_LINKS = 200

_log = logging.getLogger(__name__)


async def send(session: Session, uri: str, params: QueryParams, token: int | str, start: Start) -> JsonObject:
    """Send a document as a query; what the params say beside the document comes first.

    Args:
        session: the client.
        uri: the document.
        params: what the client says.
        token: names the query.
        start: starts it, and gives its result.

    Raises:
        WireError: the document cannot be sent as it is, or the query is refused.
    """
    with refusals_answered("jp/query"):
        filled = await session.query_documents.fill(uri)
        asked = read(QueryParams, _merged(filled.params, params), "jp/query")
        if not (asked.text or "").strip() and not (
            asked.content or asked.resume or asked.replay or asked.explain
        ):
            text = f"{session.query_documents.name_of(uri)} has no text below its front matter: write what to ask."
            raise Refusal("invalid_params", text, origin="document")
    with session.query_documents.sending(uri, token):
        return await start(asked, filled.path)


async def completion_in(session: Session, query: OpenQuery, position: types.Position) -> types.CompletionList:
    """Offer what can be written at a place."""
    session.configuration_files.list_models()
    text, offset = query.document.text, query.lines.offset(position.line, position.character)
    is_wanted = await to_thread.run_sync(may_name_conversation, text, offset)
    known = await session.query_documents.known(query.uri, with_conversations=is_wanted)

    def complete() -> Sequence[Proposal]:
        return complete_query(text, offset, known)

    formats = session.protocol.capability(
        "textDocument", "completion", "completionItem", "documentationFormat"
    )
    items = [
        completion_item(proposal, index, query.lines, formats)
        for index, proposal in enumerate(await to_thread.run_sync(complete))
    ]
    return types.CompletionList(is_incomplete=True, items=items)


async def hover_in(session: Session, query: OpenQuery, position: types.Position) -> types.Hover | None:
    """Describe what is named at a place."""
    offset = query.lines.offset(position.line, position.character)
    subject = query_subject_at(query.document, offset)
    if subject is None:
        return None
    conversation = conversation_named(subject)
    known = await session.query_documents.known(query.uri, with_archived=conversation is not None)
    if subject.text == "last" and known.conversations:
        conversation = str(known.conversations[0].id)
    turns = None if conversation is None else await session.query_documents.turns_of(conversation)
    text = await to_thread.run_sync(describe_subject, subject, query.document, known, turns)
    if text is None:
        return None
    formats = session.protocol.capability("textDocument", "hover", "contentFormat")
    return types.Hover(markup(text, formats), range_of(subject.span, query.lines))


async def links_in(session: Session, query: OpenQuery) -> Sequence[types.DocumentLink]:
    """Give links to the files, pages and conversations that a document names; the last are written when followed."""
    known = await session.query_documents.known(query.uri, with_conversations=False)
    document = query.document
    named = [(word.text, word.span) for word in document.words("attachments")]
    named += [(mention.name, mention.span) for mention in document.mentions]
    found = await to_thread.run_sync(
        lambda: [(span, _target(name, known)) for name, span in named[:_MOST_LINKS]]
    )
    found += [(word.span, word.text) for field in ("conversation", "fork") for word in document.words(field)]
    links: list[types.DocumentLink] = []
    for span, target in found:
        place = range_of(span, query.lines)
        if target is not None and target.startswith(_PAGES):
            links.append(types.DocumentLink(place, target))
        elif target is not None and (conversation := id_in(target)) is not None:
            links.append(types.DocumentLink(place, data=conversation))
    return links


async def resolve_link(session: Session, link: types.DocumentLink) -> types.DocumentLink:
    """Write the conversation that a link leads to, for the client to open; one that is gone leads nowhere."""
    conversation = id_in(link.data) if isinstance(link.data, str) else None
    if conversation is None:
        return link
    try:
        uri, _ = await keep_transcript(session, ConversationId(conversation))
    except (Refusal, OSError) as problem:
        _log.warning("conversation %s could not be opened as a document: %s", conversation, problem)
        return link
    return types.DocumentLink(link.range, uri)


async def code_lens(session: Session, params: types.CodeLensParams) -> Sequence[types.CodeLens]:
    """Offer to send a query document, or to interrupt the turn that it began."""
    uri = params.text_document.uri
    query = await session.query_documents.edited(uri)
    if query is None:
        return []
    token = session.query_documents.token_of(uri)
    destination = await session.query_documents.destination(query.document)
    lens = lens_of(query.document, destination, is_running=token is not None)
    if lens is None:
        return []
    place = range_of(lens.span, query.lines)
    if lens.does == "interrupt":
        return [
            types.CodeLens(
                place, types.Command(lens.title, command="jp.interrupt", arguments=[{"turn": token}])
            )
        ]
    return [
        types.CodeLens(
            place, types.Command(lens.title, command="jp.query", arguments=[{"document": {"uri": uri}}])
        )
    ]


def _merged(filled: JsonObject, params: QueryParams) -> JsonObject:
    """Put what the client said itself on top of what the document says; lists are added to."""
    given: JsonObject = params.model_dump(
        by_alias=True, exclude_unset=True, exclude={"document"}, mode="json"
    )
    base = dict(filled)
    if "text" in given or "content" in given or params.resume:
        base.pop("text", None)
    if "conversation" in given or "fork" in given or params.resume:
        base.pop("conversation", None)
        base.pop("fork", None)
    lists = {name: [*_items(base, name), *_items(given, name)] for name in _LISTS if name in {*base, *given}}
    return {**base, **given, **lists}


def _items(params: JsonObject, name: str) -> Sequence[JsonValue]:
    value = params.get(name, ())
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def _target(name: str, known: KnownToQuery) -> str | None:
    """Give where a name leads: a URI, or an address of ours."""
    try:
        found = known.survey(name)
    except AttachmentError:
        return None
    if found.path is not None:
        return found.path.as_uri() if found.kind in {"file", "document"} else None
    if found.kind != "address":
        return None
    kind, _, path = found.name.partition(":")
    if kind == "gh":
        address = address_of(AttachmentEntry(found.name, kind, path)).path.strip("/")
        parts = address.split("/")
        is_pull = len(parts) >= 4 and parts[2] == "pull"
        return f"https://github.com/{'/'.join(parts[:4])}" if is_pull else None
    return found.name if kind in {"http", "https", "jp"} else None

"""What editors send, as domain values, written by hand.

The models in `jp_lsp.protocol` have checked the shape already (`reading.read`). Here the rest is checked: JSON
within strings, durations, and whether an answer is one that was asked for.
"""

import re
from collections.abc import Mapping, Sequence
from typing import assert_never

from jp_lsp.config.file_edits import Express, SetKey, UnsetKey, Wish
from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.protocol.capability import ClientCapabilities
from jp_lsp.protocol.configuration import ConfigSetParams
from jp_lsp.protocol.prompt import AnswerParams, PromptResult
from jp_lsp.protocol.reading import InvalidParams, read
from jp_lsp.protocol.tool import NamedTool as WireNamedTool
from jp_lsp.protocol.turn import Content, InterruptParams, QueryParams, ResourceContent, TextContent
from jp_lsp.protocol.turn import Fork as WireFork
from jp_lsp.server.message_request import UnknownAnswer
from jp_lsp.tools.decision import Decision
from jp_lsp.tools.definition import NamedTool, ToolChoice
from jp_lsp.tools.schema_notation import SchemaTextError, read_schema_text
from jp_lsp.tools.switches import ToolSwitch
from jp_lsp.turn.inputs import Answered, Dismissed, Pressed
from jp_lsp.turn.query import ConversationSelector, Fork, Query

_SECONDS_OF_UNIT: Mapping[str, float] = {
    "ms": 0.001,
    "s": 1,
    "m": 60,
    "h": 3_600,
    "d": 86_400,
    "w": 604_800,
}
_LONGEST_DURATION = 5_200 * 604_800
"""Seconds; a later time might not fit the conversation's files."""

_DURATION = re.compile(r"(?:[0-9]{1,9} *(?:ms|[smhdw]) *)+|0", re.ASCII)
_AMOUNT = re.compile(r"([0-9]+) *(ms|[smhdw])", re.ASCII)


def query(params: QueryParams) -> Query:
    """Read the params of `jp/query`; tokens are the handler's.

    Raises:
        InvalidParams: a field of the right type says something that makes no sense.
    """
    texts = [] if params.text is None else [params.text]
    uris = list(params.attachments)
    for piece in params.content:
        _add_content(piece, texts, uris)
    quote = params.quote or ""
    if quote.strip() and any(text.strip() for text in texts):
        texts.append(quote)
        quote = ""
    return Query(
        text="\n\n".join(texts),
        conversation=None if params.conversation is None else _selector(params.conversation),
        fork=None if params.fork is None else _fork(params.fork),
        replay=params.replay,
        resume=params.resume,
        overrides=params.config,
        attachments=tuple(uris),
        tool_switches=tuple(ToolSwitch(each.enable, each.name) for each in params.tools),
        tool_choice=_tool_choice(params.tool_choice),
        schema=None if params.json_schema is None else _schema(params.json_schema),
        is_template=params.template,
        title=params.title,
        compacts=params.compact,
        persist=params.persist,
        interactive=params.interactive,
        explain=params.explain,
        expires_after=None if params.expires is None else duration(params.expires, "jp/query"),
        queue=params.queue,
        quote=quote,
    )


def config_wishes(params: ConfigSetParams) -> tuple[Wish, ...]:
    """Read what is to be changed in a configuration file, in its order.

    Raises:
        InvalidParams: nothing is.
    """
    wishes: list[Wish] = [SetKey(each.key, each.value) for each in params.set]
    wishes += [Express(text) for text in params.config]
    wishes += [UnsetKey(key) for key in params.unset]
    if not wishes:
        raise InvalidParams("jp/config/set: say what to change, in `set`, `config` or `unset`")
    return tuple(wishes)


def press(params: InterruptParams) -> Pressed:
    """Read what a press is to do; whom it is for is the handler's to find."""
    return Pressed(params.action, params.text)


def answer(decision: Decision, params: AnswerParams) -> Answered | Dismissed:
    """Read the params of `jp/answer` for the decision that they name.

    Raises:
        UnknownAnswer: it is not one of the answers that the decision takes.
    """
    return _answer(decision, params.action, params.text)


def prompt_answer(decision: Decision, result: JsonValue) -> Answered | Dismissed:
    """Read the result of `jp/prompt`. Null, and a result that says nothing, dismiss the question.

    Raises:
        UnknownAnswer: it is not one of the answers that the decision takes.
    """
    if result is None:
        return Dismissed(decision.id)
    try:
        given = read(PromptResult, result, "the answer to jp/prompt")
    except InvalidParams as problem:
        raise UnknownAnswer(str(problem)) from None
    return _answer(decision, given.action, given.text)


def client_capabilities(experimental: JsonValue) -> tuple[ClientCapabilities, str | None]:
    """Read `capabilities.experimental` of a client.

    Returns:
        What the client can do, and what is wrong with what it said. A client that says nothing, or something
        wrong, is treated as one that knows only standard LSP.
    """
    said = experimental.get("jp") if isinstance(experimental, Mapping) else None
    if said is None:
        return ClientCapabilities(), None
    try:
        return read(ClientCapabilities, said, "capabilities.experimental.jp"), None
    except InvalidParams as problem:
        return ClientCapabilities(), str(problem)


def _answer(decision: Decision, action: str | None, text: str | None) -> Answered | Dismissed:
    if action is not None and all(choice.id != action for choice in decision.choices):
        offered = ", ".join(repr(choice.id) for choice in decision.choices) or "none"
        raise UnknownAnswer(f"action {action[:60]!r} was not offered; the actions are: {offered}")
    if action is not None:
        return Answered(decision.id, choice=action, text=text)
    if text is None:
        return Dismissed(decision.id)
    match decision.kind:
        case "text" | "secret" | "edit":
            return Answered(decision.id, text=text)
        case "menu" | "approval" | "pick":
            raise UnknownAnswer("a text came where one of the actions was asked for")
        case _:
            assert_never(decision.kind)


def _add_content(piece: Content, texts: list[str], uris: list[str]) -> None:
    match piece:
        case TextContent():
            texts.append(piece.text)
        case ResourceContent():
            uris.append(piece.uri)
        case _:
            assert_never(piece)


def _selector(text: str) -> ConversationSelector:
    match text:
        case "new" | "last":
            return text
        case _:
            return conversation_id(text)


def conversation_id(text: str) -> ConversationId:
    """Take the long form of an id, which names its workspace, for the short one (conversation format 2.1)."""
    return ConversationId("-".join(text.split("-")[:2]))


def _fork(fork: WireFork) -> Fork:
    if fork.source == "last":
        return Fork("last", fork.keep_turns)
    return Fork(conversation_id(fork.source), fork.keep_turns)


def _tool_choice(choice: str | WireNamedTool | None) -> ToolChoice | None:
    match choice:
        case WireNamedTool(name=name):
            return NamedTool(name)
        case "auto" | "none" | "required" | None:
            return choice
        case _:
            raise InvalidParams(f"jp/query: `toolChoice` {choice!r} is unknown")


def _schema(text: str) -> JsonObject:
    try:
        return read_schema_text(text)
    except SchemaTextError as problem:
        raise InvalidParams(f"jp/query: `schema` cannot be read: {problem}") from None


def wanted_labels(labels: Sequence[str]) -> tuple[tuple[str, str | None], ...]:
    """Read labels that must be there: `key`, or `key=value` where the value matters too."""
    parted = [label.partition("=") for label in labels]
    return tuple((key, value if equals else None) for key, equals, value in parted)


def duration(text: str, method: str, field: str = "expires") -> float:
    """Read a field that says how long, in seconds.

    Raises:
        InvalidParams: it is no duration, or too long.
    """
    if _DURATION.fullmatch(text.strip()) is None:
        raise InvalidParams(f"{method}: `{field}` must be a duration such as '2h 30m', not {text[:60]!r}")
    seconds = sum(int(amount) * _SECONDS_OF_UNIT[unit] for amount, unit in _AMOUNT.findall(text))
    if seconds > _LONGEST_DURATION:
        raise InvalidParams(f"{method}: `{field}` must be at most 5200 weeks, which is about 100 years")
    return seconds

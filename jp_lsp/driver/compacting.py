"""Makes a conversation shorter for models, by rules of the settings or one of the user's (conversation format 7.10).

A summary is asked for once. One that is no shorter than what it would replace is not used, and nothing is tried
again: a conversation that does not shrink would be summed up for ever (T14).
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from jp_lsp.conversation.amend import AmendError
from jp_lsp.conversation.compact import Policies, TurnsWanted, compact, resolve
from jp_lsp.conversation.shown_size import shown_size
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.conversation.turn_bounds import Bound
from jp_lsp.driver.beside import beside_when_long
from jp_lsp.driver.collected import CollectError, collect
from jp_lsp.driver.model_details import model_details
from jp_lsp.driver.preparation import Surroundings
from jp_lsp.driver.summary_request import read_summary, summary_thread
from jp_lsp.ports.compaction import CompactionRule, SummaryWish
from jp_lsp.ports.provider import CachePolicy, CycleRequest
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.settings import QuerySettings, StreamGuards


@dataclass(frozen=True, slots=True)
class CompactionWanted:
    """What is to be made shorter.

    Attributes:
        rule: how; `None` for the rules of the settings.
        first: where every rule's turns begin, in place of what it says itself.
        last: where they end.
        overrides: `--cfg` expressions on top of the settings, such as which model writes summaries.
        asks_no_model: only find out which turns it would be; summaries are empty then.
    """

    rule: CompactionRule | None = None
    first: tuple[Bound, ...] = ()
    last: tuple[Bound, ...] = ()
    overrides: tuple[str, ...] = ()
    asks_no_model: bool = False

    @property
    def needs_settings(self) -> bool:
        """Whether it can be done while the settings are broken."""
        return self.rule is None or (self.rule.summary is not None and not self.asks_no_model)


async def add_compactions(
    stream: ConversationStream,
    wanted: CompactionWanted,
    around: Surroundings,
    report: Callable[[str], None] = lambda _: None,
) -> None:
    """Append the compactions of all rules whose turns are there; a rule that does nothing is passed over.

    Args:
        stream: what is changed; after a failure it may hold some of the compactions, and is not to be stored.
        wanted: which ones.
        around: the workspace.
        report: told what is being done, where that takes time.

    Raises:
        Refusal: the settings are not valid or have no rule, one is not possible, or a summary could not be made
            or is of no use.
    """
    settings: QuerySettings | None = None
    if wanted.needs_settings:
        settings = around.settings.resolve(wanted.overrides, stream)
    rules = (wanted.rule,) if wanted.rule is not None else () if settings is None else settings.compaction
    if not rules:
        text = (
            "The settings have no rules for this: add one to `conversation.compaction.rules`, or say what to leave "
            "out: `summary`, `summarize`, `reasoning` or `toolCalls`."
        )
        raise Refusal("invalid_params", text, origin="conversation.compaction.rules")
    write = _Writer(around, settings, report).write
    for rule in rules:
        turns = TurnsWanted(wanted.first or rule.turns.first, wanted.last or rule.turns.last)
        now = Timestamp(around.clock.now().nanoseconds)
        if rule.summary is not None:
            await _add_summary(
                stream, replace(rule, turns=turns), None if wanted.asks_no_model else write, now
            )
        elif rule is wanted.rule or (rule.reasoning, rule.tool_calls) != (None, None):
            _add(stream, turns, Policies(rule.text, rule.reasoning, rule.tool_calls), now)


_Write = Callable[[ConversationStream, int, int, SummaryWish], Awaitable[str]]


async def _add_summary(
    stream: ConversationStream, rule: CompactionRule, write: _Write | None, now: Timestamp
) -> None:
    found = resolve(stream, rule.turns, now, is_summary=True)
    if found is None or rule.summary is None:
        return
    text = "(not written)" if write is None else await write(stream, *found, rule.summary)
    before = shown_size(stream)
    _add(stream, rule.turns, Policies(text, rule.reasoning, rule.tool_calls), now)
    if write is not None and (after := shown_size(stream)) >= before:
        raise _failed(
            f"The summary of {_turns(*found)} is not shorter than what it would replace: models would be shown "
            f"{after} bytes in place of {before}. Take in more turns, or ask for less in the instructions."
        )


def _add(stream: ConversationStream, turns: TurnsWanted, policies: Policies, now: Timestamp) -> None:
    try:
        compact(stream, turns, policies, now)
    except AmendError as error:
        raise Refusal("invalid_params", f"{error}.") from error


@dataclass(frozen=True, slots=True)
class _Writer:
    """Has summaries written."""

    around: Surroundings
    settings: QuerySettings | None
    report: Callable[[str], None]

    async def write(self, stream: ConversationStream, first: int, last: int, wish: SummaryWish) -> str:
        """Ask for a summary of the turns.

        Raises:
            Refusal: there is none.
        """
        settings, clock = self.settings, self.around.clock
        assert settings is not None, "they are resolved where a summary is wanted"
        if wish.problem is not None:
            text = f"The model of the rule for compaction cannot be used: {wish.problem}."
            raise Refusal("config_invalid", text, origin="conversation.compaction.rules")
        is_named = wish.model is not None
        model = wish.model or settings.model
        self.report(f"Summing up {_turns(first, last)}")
        provider = self.around.providers.get(model, settings.providers)
        parameters = wish.parameters if is_named else settings.parameters
        copy, now = stream.copy(), Timestamp(clock.now().nanoseconds)
        request = CycleRequest(
            await model_details(provider, model),
            await beside_when_long(len(copy), lambda: summary_thread(copy, first, last, wish, now)),
            replace(parameters, cache=CachePolicy(0)),  # it is asked once
        )
        guards = StreamGuards(max_response_bytes=settings.guards.max_response_bytes)
        try:
            answer = read_summary(await collect(provider, request, guards, clock))
        except CollectError as error:
            raise _failed(f"{model} made no summary: {str(error).rstrip('.')}.") from error
        if answer is None:
            raise _failed(f"{model} made no summary: it answered without a text.")
        return answer


def _failed(problem: str) -> Refusal:
    return Refusal("compaction_failed", f"{problem} The conversation is as it was.")


def _turns(first: int, last: int) -> str:
    return f"turn {first + 1}" if first == last else f"turns {first + 1} to {last + 1}"

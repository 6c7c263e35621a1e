"""The coordinator under random inputs: rules taken from the phase table, invariants of every turn."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, precondition, rule

from jp_lsp.conversation.directive import ConfigDelta
from jp_lsp.conversation.event import ChatRequest, ToolCallRequest, ToolCallResponse
from jp_lsp.conversation.ids import CallId
from jp_lsp.conversation.incomplete import incomplete_turn
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.tools.actions import CancelPass, RunPass
from jp_lsp.tools.outcome import Failed, Succeeded, ToolOutcome
from jp_lsp.turn import actions
from jp_lsp.turn import inputs as happen
from jp_lsp.turn.actions import Action
from jp_lsp.turn.coordinator import TurnCoordinator
from jp_lsp.turn.failure import FailureKind, QueryError, StreamFailure
from jp_lsp.turn.options import InterruptOptions, RetryPolicy, TurnOptions
from jp_lsp.turn.outcome import Outcome
from jp_lsp.turn.phase import ACCEPTS, Phase
from jp_lsp.turn.stream_event import (
    Completed,
    Finished,
    Flush,
    KeepAlive,
    MaxTokens,
    MetadataPatch,
    OtherReason,
    Patch,
    Refused,
    RetryRequested,
    StreamEvent,
    ToolCallArguments,
    ToolCallStart,
    Usage,
)
from tests.support.calls import asks, spec
from tests.support.streams import summary
from tests.support.turns import CONVERSATION, message, reasoning, structured

indices = st.integers(0, 4)
texts = st.text(alphabet='ab \n`{}[]"', max_size=6)
provider_events = st.one_of(
    st.builds(message, texts, indices),
    st.builds(reasoning, texts, indices),
    st.builds(message, texts, indices, k=st.just("v")),
    st.builds(structured, texts, indices),
    st.builds(
        ToolCallStart, indices, st.sampled_from(["", "c1", "c2"]), st.sampled_from(["", "look", "run"])
    ),
    st.builds(ToolCallArguments, indices, st.sampled_from(["{}", '{"a":', "[]", ""])),
    st.builds(Flush, indices),
    st.builds(lambda: Patch((MetadataPatch("k", "v"),))),
    st.builds(KeepAlive),
    st.builds(
        Finished,
        st.sampled_from(
            [Completed(), Completed(), MaxTokens(), RetryRequested(), Refused(), OtherReason("x")]
        ),
    ),
    st.builds(
        StreamFailure,
        st.sampled_from(list(FailureKind)),
        st.just("broken"),
        st.sampled_from([None, None, 3.0]),
    ),
)
turn_options = st.builds(
    TurnOptions,
    retry=st.builds(RetryPolicy, max_retries=st.integers(0, 2)),
    interrupt=st.builds(
        InterruptOptions,
        streaming=st.sampled_from(["prompt", "prompt", "continue", "stop", "abort", "reply"]),
        gap=st.sampled_from(["stop", "prompt", "continue", "reply"]),
        on_dismiss=st.sampled_from(["escalate", "continue"]),
        cooldown=st.sampled_from([0.0, 2.0]),
        cancel_means=st.sampled_from(["stop", "abort"]),
    ),
    can_prompt=st.booleans(),
    persist=st.just(True),
    max_cycles=st.sampled_from([0, 3]),
)


schemas = st.sampled_from([None, None, {"type": "object"}, {"items": {}}])

TOOLS = {
    "look": spec("look", run_mode="unattended", result_mode="ask"),
    "run": spec("run", detached_run="auto"),
}
outcomes = st.sampled_from(
    [Succeeded("ok"), Failed("no"), asks(), asks("pick", "select", options=("x", "y"))]
)


class Turn(RuleBasedStateMachine):
    """Feeds one query after the other; what is legal in a phase is read off `ACCEPTS`."""

    attempts = Bundle("attempts")

    def __init__(self) -> None:
        super().__init__()
        self.stream = ConversationStream.new(Timestamp(0), {})
        self.seconds = 0.0
        self.is_unfinished = False
        self.begin()

    def begin(self) -> None:
        self.core = TurnCoordinator("t")
        self.options = TurnOptions()
        self.schema: JsonObject | None = None
        self.before = [summary(event) for event in self.stream.events()]
        self.recorded: list[tuple[happen.Input, happen.Instant]] = []
        self.log: list[Action] = []
        self.unsaved: list[happen.SavePoint] = []
        self.open_attempt: happen.AttemptId | None = None
        self.is_waiting = False
        self.passes: dict[CallId, int] = {}
        self.cancelled: list[CallId] = []
        self.ends = 0

    def feed(self, item: happen.Input) -> None:
        self.seconds += 0.5
        now = happen.Instant(int(self.seconds * 1e9), self.seconds)
        was_over = self.core.phase.is_terminal
        self.recorded.append((item, now))
        out = self.core.handle(item, now)
        assert not (was_over and out), "a query that is over asks for nothing"
        for action in out:
            assert not self.ends, "nothing is asked for behind the answer"
            self.log.append(action)
            match action:
                case actions.Save(point):
                    self.unsaved.append(point)
                case actions.RequestCycle(attempt):
                    assert not {"P1", "P4", "P6"} & set(self.unsaved), "a request goes out behind its saves"
                    assert self.open_attempt is None, "one request at a time"
                    assert not self.open_calls(), "a request goes out behind the answers to all calls"
                    self.open_attempt = attempt
                case actions.CloseStream(attempt):
                    assert self.open_attempt in {attempt, None}, "None: it ended while a menu was open"
                    self.open_attempt = None
                case actions.Wait():
                    assert not self.is_waiting
                    self.is_waiting = True
                case actions.CancelWait():
                    assert self.is_waiting
                    self.is_waiting = False
                case RunPass(call):
                    assert call not in self.passes, "one pass of a call at a time"
                    self.passes[call] = action.pass_number
                case CancelPass(call):
                    self.cancelled.append(call)
                    self.passes.pop(call, None)
                case actions.Finish() | actions.Refuse():
                    self.ends += 1
                case _:
                    pass

    def may(self, kind: type) -> bool:
        return kind in ACCEPTS[self.core.phase]

    @initialize()
    def first(self) -> None:
        self.feed(happen.Start("hi"))

    @precondition(lambda self: self.core.phase is Phase.PREPARING)
    @rule(
        options=turn_options,
        is_new=st.booleans(),
        delta=st.booleans(),
        schema=schemas,
        is_resumed=st.booleans(),
    )
    def is_prepared(
        self,
        options: TurnOptions,
        is_new: bool = False,
        delta: bool = False,
        schema: JsonObject | None = None,
        is_resumed: bool = False,
    ) -> None:
        self.options, self.schema = options, schema
        change = ConfigDelta({"x": 1}) if delta else None
        is_new = is_new and not self.before
        prepared = happen.PreparedTurn(
            CONVERSATION,
            self.stream,
            ChatRequest("hi", schema),
            options,
            is_new=is_new,
            config_delta=change,
            tools=TOOLS,
            is_resumed=is_resumed and self.is_unfinished and incomplete_turn(self.stream) is not None,
        )
        self.feed(happen.Prepared(prepared))

    @precondition(lambda self: self.core.phase is Phase.PREPARING)
    @rule(text=texts)
    def the_text_is_written(self, text: str) -> None:
        self.feed(happen.Written(text))

    @precondition(lambda self: self.core.phase is Phase.PREPARING)
    @rule()
    def there_is_nothing_to_ask(self) -> None:
        self.feed(happen.NothingToAsk())

    @precondition(lambda self: self.core.phase is Phase.PREPARING)
    @rule()
    def preparation_fails(self) -> None:
        self.feed(happen.PrepareFailed(QueryError("model_unknown", "no")))

    @precondition(lambda self: self.open_attempt is not None)
    @rule(event=provider_events)
    def provider_says(self, event: StreamEvent) -> None:
        assert self.open_attempt is not None
        self.say(event)

    @precondition(lambda self: self.open_attempt is not None)
    @rule(events=st.lists(provider_events, max_size=8))
    def provider_says_much(self, events: list[StreamEvent]) -> None:
        for event in events:
            if self.open_attempt is not None:
                self.say(event)

    @precondition(lambda self: self.open_attempt is not None)
    @rule(
        is_text_open=st.booleans(),
        tool=st.sampled_from(["look", "run", "unknown"]),
        arguments=st.sampled_from(["{}", "[]"]),
    )
    def provider_calls_a_tool(self, is_text_open: bool, tool: str, arguments: str) -> None:
        """Chance alone hardly ever says anything that hangs together."""
        self.say(message("I look", 0, k="v"))
        if not is_text_open:
            self.say(Flush(0))
        for event in ToolCallStart(3, "", tool), ToolCallArguments(3, arguments), Flush(3):
            self.say(event)

    @precondition(lambda self: self.open_attempt is not None)
    @rule()
    def provider_wants_to_be_asked_again(self) -> None:
        self.say(Patch((MetadataPatch("k", "v"),)))
        self.say(Finished(RetryRequested()))

    def say(self, event: StreamEvent) -> None:
        attempt = self.open_attempt
        assert attempt is not None
        if isinstance(event, Finished | StreamFailure):
            self.open_attempt = None  # the driver's iterator is over
        self.feed(happen.FromProvider(attempt, event))

    @precondition(lambda self: self.open_attempt is not None)
    @rule()
    def stream_ends(self) -> None:
        attempt, self.open_attempt = self.open_attempt, None
        assert attempt is not None
        self.feed(happen.StreamEnded(attempt))

    @precondition(lambda self: self.may(happen.FromProvider))
    @rule(event=provider_events)
    def an_old_attempt_speaks(self, event: StreamEvent) -> None:
        before = self.stored
        self.feed(happen.FromProvider(happen.AttemptId(-1), event))
        assert self.stored == before

    @precondition(lambda self: bool(self.unsaved))
    @rule()
    def save_is_done(self) -> None:
        self.feed(happen.Saved(self.unsaved.pop(0)))

    @precondition(lambda self: bool(self.unsaved))
    @rule()
    def all_saves_are_done(self) -> None:
        while self.unsaved:
            self.feed(happen.Saved(self.unsaved.pop(0)))

    @precondition(lambda self: bool(self.unsaved))
    @rule()
    def save_fails(self) -> None:
        self.feed(happen.SaveFailed(self.unsaved.pop(0), "disk full", None))

    @precondition(lambda self: self.is_waiting and self.may(happen.TimerElapsed))
    @rule()
    def the_wait_is_over(self) -> None:
        self.is_waiting = False
        self.feed(happen.TimerElapsed())

    @rule(pause=st.sampled_from([0.0, 5.0]))
    def press(self, pause: float) -> None:
        self.seconds += pause
        self.feed(happen.Pressed())

    @rule(
        action=st.sampled_from(["continue", "stop", "abort", "reply", "nonsense"]),
        text=st.sampled_from([None, "", "why"]),
    )
    def press_with_choice(self, action: str, text: str | None) -> None:
        self.seconds += 5
        self.feed(happen.Pressed(action, text))

    @precondition(lambda self: bool(self.core.open_decisions))
    @rule(data=st.data())
    def answer(self, data: st.DataObject) -> None:
        decision = data.draw(st.sampled_from(list(self.core.open_decisions.values())))
        kind = data.draw(st.sampled_from(["choose", "dismiss", "fail"]))
        if kind == "dismiss":
            self.feed(happen.Dismissed(decision.id))
        elif kind == "fail":
            self.feed(happen.AskFailed(decision.id, "no"))
        elif decision.choices:
            self.feed(
                happen.Answered(decision.id, data.draw(st.sampled_from([c.id for c in decision.choices])))
            )
        else:
            self.feed(happen.Answered(decision.id, text=data.draw(st.sampled_from(["", "because"]))))

    @precondition(lambda self: bool(self.passes) and self.may(happen.ToolFinished))
    @rule(outcome=outcomes, crashes=st.booleans())
    def a_tool_ends(self, outcome: ToolOutcome, crashes: bool) -> None:
        call, number = next(iter(self.passes.items()))
        del self.passes[call]
        item = (
            happen.ToolCrashed(call, number, "bug") if crashes else happen.ToolFinished(call, number, outcome)
        )
        self.feed(item)

    @precondition(lambda self: bool(self.cancelled) and self.may(happen.ToolEnded))
    @rule()
    def a_cancelled_tool_has_ended(self) -> None:
        self.feed(happen.ToolEnded(self.cancelled.pop(0)))

    @precondition(lambda self: self.may(happen.UsageReported))
    @rule()
    def usage(self) -> None:
        self.feed(happen.UsageReported(Usage(1, 1)))

    @rule(
        item=st.sampled_from(
            [
                happen.CancelRequested(),
                happen.ShutdownRequested(),
                happen.ClientGone(),
                happen.Crashed("bug", ""),
            ]
        )
    )
    def something_ends_it(self, item: happen.Input) -> None:
        self.feed(item)

    @precondition(lambda self: self.core.phase.is_terminal)
    @rule()
    def the_next_query(self) -> None:
        self.check_the_end()
        self.begin()
        self.feed(happen.Start("again"))

    @property
    def stored(self) -> list[str]:
        return [summary(event) for event in self.stream.events()]

    @invariant()
    def one_menu_at_most(self) -> None:
        assert sum(decision.call_id is None for decision in self.core.open_decisions.values()) <= 1

    @invariant()
    def evaluating_is_never_seen(self) -> None:
        assert self.core.phase is not Phase.EVALUATING

    @invariant()
    def an_answer_has_at_most_one_request(self) -> None:
        self.open_calls()

    def open_calls(self) -> list[str]:
        """The calls without a response; a response without a call fails."""
        open_calls: list[str] = []
        for event in self.stream.events():
            if isinstance(event.kind, ToolCallRequest):
                open_calls.append(event.kind.id)
            elif isinstance(event.kind, ToolCallResponse):
                open_calls.remove(event.kind.id)
        return open_calls

    def check_the_end(self) -> None:
        assert self.ends == 1, "a query is answered exactly once"
        assert self.open_attempt is None or self.log[-1], "the stream was closed"
        assert self.core.open_decisions == {}
        finish = self.log[-1]
        if isinstance(finish, actions.Finish) and finish.result.turns:
            self.is_unfinished = "P8" in [a.point for a in self.log if isinstance(a, actions.Save)]
        assert self.is_unfinished or not self.open_calls(), "each call has exactly one response"
        if isinstance(finish, actions.Finish) and finish.result.outcome is Outcome.COMPLETED:
            has_schema = self.schema is not None and len(finish.result.turns) == 1
            assert (finish.result.structured is not None) == has_schema, "a schema brings a value"
        if isinstance(finish, actions.Finish) and finish.result.outcome is Outcome.ABORTED:
            summaries = finish.result.turns
            if len(summaries) == 1 and summaries[0].cycles <= 1:
                assert self.stored == self.before, "nothing is stored after an abort"

    def teardown(self) -> None:
        if self.core.phase.is_terminal:
            self.check_the_end()


Turn.TestCase.settings = settings(stateful_step_count=40, deadline=None)
TestTurn = pytest.mark.requirement("R63", "R73", "R74", "R46", "S25", "R101", "R175", "S20")(Turn.TestCase)


@pytest.mark.requirement("R101", "R175", "D15")
def test_a_call_behind_an_open_text_is_answered_when_the_stream_is_lost_for_good() -> None:
    """The machine found this one: the call was kept with the text, and no tool had heard of it."""
    state = Turn()
    state.first()
    state.is_prepared(TurnOptions(retry=RetryPolicy(max_retries=0)))
    state.all_saves_are_done()
    state.provider_says_much([message("", 0), ToolCallStart(3, "", "look"), Flush(3)])
    state.stream_ends()
    assert list(state.passes) == state.open_calls() == ["look_3"]
    state.something_ends_it(happen.CancelRequested())
    state.all_saves_are_done()
    assert state.core.phase is Phase.COMPLETE
    state.check_the_end()

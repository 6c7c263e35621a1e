"""Several calls under random events: consent, one response for each, no pass beside another."""

import itertools

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from jp_lsp.conversation.event import ConversationEvent, ToolCallRequest, ToolCallResponse
from jp_lsp.conversation.ids import CallId
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.tools import actions
from jp_lsp.tools.coordinator import ToolCoordinator
from jp_lsp.tools.decision import Decision, DecisionId
from jp_lsp.tools.memory import ToolMemory
from jp_lsp.tools.outcome import Failed, Succeeded
from tests.support.calls import asks, spec

AT = Timestamp(1)
SPECS = {
    "ask": spec("ask"),
    "edit": spec("edit", run_mode="edit"),
    "free": spec("free", run_mode="unattended"),
    "result": spec("result", run_mode="unattended", result_mode="ask"),
    "skip": spec("skip", run_mode="skip"),
}
OUTCOMES = [Succeeded("ok"), Failed("no"), asks(), asks("pick", "select", options=("x", "y"))]
GRANTS = {"run", "run_remember", "edit", "unattended", "turn", "session", "conversation"}
"""Answers that may lead to a run; whoever gave none of them to a call or its tool has not consented."""


class Calls(RuleBasedStateMachine):
    """Keeps what was allowed, what runs and what was answered, and holds the coordinator against it."""

    @initialize(can_prompt=st.booleans())
    def begin(self, can_prompt: bool) -> None:
        numbers = itertools.count(1)
        self.tools = ToolCoordinator(
            ToolMemory(), lambda: DecisionId(f"d{next(numbers)}"), {}, can_prompt=can_prompt
        )
        self.names: dict[CallId, str] = {}
        self.open: dict[DecisionId, Decision] = {}
        self.granted: set[str] = set()
        self.passes: dict[CallId, int] = {}
        self.cancelled: set[CallId] = set()
        self.responses: dict[CallId, int] = {}

    def take(self, out: list[actions.ToolAction]) -> None:
        for action in out:
            match action:
                case actions.AskUser(decision):
                    self.open[decision.id] = decision
                case actions.CloseQuestion(decision):
                    assert self.open.pop(decision, None) is not None, "it was not open"
                case actions.RunPass(call, number):
                    name = self.names[call]
                    assert name in {"free", "result"} or {call, name} & self.granted, (
                        "nobody allowed this run"
                    )
                    assert call not in self.passes, "it runs already"
                    assert self.responses.get(call, 0) == 0, "it was answered already"
                    self.passes[call] = number
                case actions.CancelPass(call):
                    self.cancelled.add(call)
                case actions.StoreEvents(events):
                    for event in events:
                        if isinstance(event.kind, ToolCallResponse):
                            self.responses[event.kind.id] = self.responses.get(event.kind.id, 0) + 1
                case _:
                    pass
        assert all(count == 1 for count in self.responses.values()), "two responses for one call"

    @rule(name=st.sampled_from([*SPECS, "unknown"]), may_have_run=st.booleans())
    def the_model_calls(self, name: str, may_have_run: bool) -> None:
        if len(self.names) == 6:
            return
        call = CallId(f"c{len(self.names)}")
        self.names[call] = name
        event = ConversationEvent(AT, ToolCallRequest(call, name, {}))
        self.take(self.tools.dispatch(event, SPECS.get(name), AT, may_have_run=may_have_run))

    @rule()
    def the_response_is_complete(self) -> None:
        self.take(self.tools.begin(AT))

    @rule()
    def a_menu_opens(self) -> None:
        self.tools.hold()

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def the_user_answers(self, data: st.DataObject) -> None:
        decision = data.draw(st.sampled_from(list(self.open.values())))
        choices = [choice.id for choice in decision.choices]
        choice = data.draw(st.sampled_from([*choices, None]))
        text = data.draw(st.sampled_from([None, "", "{}", '{"path": "a"}', "no json"]))
        if choice in GRANTS or (decision.kind == "edit" and text):
            assert decision.call_id is not None
            self.granted |= {decision.call_id, self.names[decision.call_id]}
        self.take(self.tools.answered(decision.id, choice, text, AT))

    @precondition(lambda self: self.open)
    @rule(data=st.data(), fails=st.booleans())
    def the_user_does_not(self, data: st.DataObject, fails: bool) -> None:
        decision = data.draw(st.sampled_from(list(self.open)))
        close = self.tools.ask_failed if fails else self.tools.dismissed
        self.take(close(decision, AT))

    @precondition(lambda self: self.passes)
    @rule(data=st.data(), outcome=st.sampled_from(OUTCOMES), crashes=st.booleans())
    def a_pass_ends(self, data: st.DataObject, outcome: object, crashes: bool) -> None:
        call = data.draw(st.sampled_from(list(self.passes)))
        number = self.passes.pop(call)
        if call in self.cancelled:
            self.cancelled.discard(call)
            self.take(self.tools.pass_cancelled(call, AT))
        elif crashes:
            self.take(self.tools.pass_crashed(call, number, "a bug", AT))
        else:
            self.take(self.tools.pass_finished(call, number, outcome, AT))  # type: ignore[arg-type]

    @rule()
    def a_late_answer_means_nothing(self) -> None:
        assert self.tools.answered(DecisionId("d0"), "run", None, AT) == []

    @rule(text=st.sampled_from([None, "not like this"]))
    def all_is_cancelled(self, text: str | None) -> None:
        self.take(self.tools.cancel(AT, text=text))

    @precondition(lambda self: self.names and not self.tools.is_done)
    @rule()
    def all_is_restarted(self) -> None:
        self.take(self.tools.restart(AT))

    def teardown(self) -> None:
        """However it went, closing every question and ending every pass answers every call once."""
        if not hasattr(self, "tools"):
            return
        self.take(self.tools.begin(AT))
        for _ in range(200):
            if self.tools.is_done:
                break
            for decision in list(self.open):
                if decision in self.open:
                    self.take(self.tools.dismissed(decision, AT))
            for call, number in list(self.passes.items()):
                del self.passes[call]
                if call in self.cancelled:
                    self.cancelled.discard(call)
                    self.take(self.tools.pass_cancelled(call, AT))
                else:
                    self.take(self.tools.pass_finished(call, number, Succeeded("ok"), AT))
        assert self.tools.is_done, "calls hang"
        assert set(self.responses) == set(self.names)
        assert not self.open


TestCalls = Calls.TestCase

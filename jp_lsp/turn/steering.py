"""What the user wants of a running turn: presses, menus, replies, answers, cancelling (query pipeline 4).

The third storey of the turn's state machine. Nothing here knows how a request is made or what a tool is; it
decides whether they go on.
"""

from jp_lsp.tools.decision import DecisionId
from jp_lsp.turn import actions, shown
from jp_lsp.turn.inputs import Pressed
from jp_lsp.turn.interrupt import (
    MENU_OF_PHASE,
    Handled,
    PressReport,
    choices_in,
    judge_press,
    menu,
    reply_question,
)
from jp_lsp.turn.machine import IllegalState
from jp_lsp.turn.outcome import Outcome
from jp_lsp.turn.phase import Phase
from jp_lsp.turn.streaming import CycleMachine


class SteeredMachine(CycleMachine):
    """Hears the user in whatever phase."""

    def _pressed(self, press: Pressed) -> None:
        """Steer: a ready-made choice, a menu, or the next step of the escalation (4.3)."""
        if press.action is not None:
            self._pressed_with_choice(press.action, press.text)
            return
        count = self._presses.press(self._now.monotonic)
        has_menu, can_prompt = self._menu is not None, self._options.can_prompt
        verdict = judge_press(
            self.phase, count, self._options.interrupt, has_menu=has_menu, can_prompt=can_prompt
        )
        match verdict.then:
            case "nothing":
                pass
            case "menu":
                self._interrupt()
                self._open_menu()
            case "back_to_menu":
                self._close_decisions("withdrawn")
                self._back_to_menu()
            case "choose":
                self._reply_came_from_menu = False
                self._interrupt()
                self._choose(verdict.choice, None)
            case "escalate":
                self._end_now(Outcome.INTERRUPTED)
            case "kill":
                self._end_now(Outcome.KILLED)
        self._answer_press(verdict.handled)

    def _pressed_with_choice(self, choice: str, text: str | None) -> None:
        if choice not in self._choices:
            self._answer_press("none")
            return
        if self.phase is Phase.REPLYING:
            self.phase = self._replying_from
        self._close_decisions("superseded")
        self._reply_came_from_menu = False
        self._interrupt()
        self._choose_on_purpose(choice, text)
        self._answer_press("action")

    def _answer_press(self, handled: Handled) -> None:
        """Tell where the press has led; where it meant nothing, also what would have meant something."""
        allowed = self._choices if handled == "none" else ()
        self.last_press = PressReport(handled, self.phase, allowed)

    @property
    def _choices(self) -> tuple[str, ...]:
        """What may be chosen now; who writes a reply may still choose what the menu before it offered."""
        return choices_in(self._replying_from if self.phase is Phase.REPLYING else self.phase)

    def _cancel_requested(self) -> None:
        self._report.was_cancelled = True
        match self.phase:
            case Phase.PREPARING:
                self._cancel_before_start()
            case Phase.FINISHING | Phase.CLOSING:
                self._give_up_reply()
            case Phase.IDLE:
                pass
            case _ if self._options.interrupt.cancel_means == "abort" and self._response is not None:
                self._abort()
            case _:
                self._finish(Outcome.STOPPED)

    def _answered(self, decision: DecisionId, choice: str | None, text: str | None) -> None:
        if decision == self._menu:
            offered = {each.id for each in self.open_decisions[decision].choices}
            self._close_decisions("answered")
            if choice in offered:
                self._choose_on_purpose(choice or "", text)
            else:
                self._menu_was_dismissed()
        elif decision == self._question:
            self._close_decisions("answered")
            self._reply(text or "")
        else:
            self._tool_event(self._tools.answered(decision, choice, text, self._at))

    def _dismissed(self, decision: DecisionId) -> None:
        if decision == self._menu:
            self._close_decisions("answered")
            self._menu_was_dismissed()
        elif decision == self._question:
            self._close_decisions("answered")
            self._reply_was_cancelled()
        else:
            self._tool_event(self._tools.dismissed(decision, self._at))

    def _ask_failed(self, decision: DecisionId) -> None:
        if decision == self._question:
            text = "This client cannot ask for a text; use its reply command instead."
            self._notice("info", "reply_command", text, is_durable=False)
        if decision in {self._menu, self._question}:
            self._dismissed(decision)
        else:
            self._tool_event(self._tools.ask_failed(decision, self._at))

    def _open_menu(self) -> None:
        is_over_question = any(decision.call_id for decision in self.open_decisions.values())
        kind = MENU_OF_PHASE[self.phase]
        question = menu(kind, self._next_decision(), is_over_question=is_over_question)
        self._menu = question.id
        self._reply_came_from_menu = True
        self._ask(question)

    def _menu_was_dismissed(self) -> None:
        """Escalate, unless configured to continue; before the turn, keep waiting (D11)."""
        if self.phase is Phase.PREPARING:
            return
        if self._options.interrupt.on_dismiss == "continue":
            self._choose("continue", None)
        else:
            self._finish(Outcome.INTERRUPTED)

    def _choose_on_purpose(self, choice: str, text: str | None) -> None:
        """Do what the user chose. Only that forgets the presses: a configured Continue can be escalated (4.3)."""
        if choice in {"continue", "back"}:
            self._presses.reset()
        self._choose(choice, text)

    def _choose(self, choice: str, text: str | None) -> None:
        """Do what was chosen in a menu, or configured in its place."""
        match choice:
            case "stop" if self.phase is Phase.PREPARING:
                self._cancel_before_start()
            case "stop":
                self._finish(Outcome.STOPPED)
            case "abort":
                self._abort()
            case "reply" | "respond":
                self._ask_for_reply(text)
            case "restart":
                self._restart_tools()
            case "continue" | "back":
                self._go_on()
            case _:
                raise IllegalState(f"no menu offers {choice!r}")

    def _interrupt(self) -> None:
        """Hold the stream or the start of tools, if there is one; gaps and an open menu stay as they are."""
        if self.phase is Phase.EXECUTING:
            self._tools.hold()
            self.phase = Phase.INTERRUPTED_TOOLS
        if self.phase in {Phase.WAITING, Phase.STREAMING, Phase.BACKOFF}:
            self._cancel_wait()
            self._interrupted_phase = self.phase
            self.phase = Phase.INTERRUPTED_STREAM
            self._show(shown.Paused())

    def _go_on(self) -> None:
        """Continue: with the tools, the live stream, a new request, or the gap's next step (6.1)."""
        if self.phase is Phase.INTERRUPTED_TOOLS:
            self._go_on_with_tools()
            return
        if self.phase in {Phase.OPENING, Phase.CONTINUING}:
            if self._is_gap_saved:
                self._leave_gap()
            return
        if self.phase is not Phase.INTERRUPTED_STREAM:
            return
        self._show(shown.Resumed())
        self.phase = self._interrupted_phase
        response = self._response
        if self._interrupted_phase is Phase.BACKOFF or response is None or not response.is_open:
            self.phase = Phase.WAITING
            self._send_when_saved()
            return
        held, is_dead = response.take_held()
        if response.is_paused and not is_dead:
            response.is_paused = False
            self._do(actions.ResumeReading(response.attempt))
        for item in held:
            if response.is_open:
                self._receive(response, item)
        if is_dead and response.is_open:
            self._go_on_without_stream(response)

    def _ask_for_reply(self, text: str | None) -> None:
        self._replying_from = self.phase
        self.phase = Phase.REPLYING
        if text is not None:
            self._reply(text)
        elif self._options.can_prompt:
            to_tools = self._replying_from is Phase.INTERRUPTED_TOOLS
            question = reply_question(self._next_decision(), self._options.interrupt, to_tools=to_tools)
            self._question = question.id
            self._ask(question)
        else:
            self._reply("")

    def _reply(self, text: str) -> None:
        """End this turn and let the text open the next one; a blank text goes back one level."""
        if self._replying_from is Phase.INTERRUPTED_TOOLS:
            self._respond_to_tools(text)
        elif text.strip():
            self._pending_reply = text
            self._finish(Outcome.REPLIED)
        else:
            self._reply_was_cancelled()

    def _reply_was_cancelled(self) -> None:
        """Nothing was written: back to the menu, or on with what the configured action had interrupted."""
        are_tools_done = self._replying_from is Phase.INTERRUPTED_TOOLS and self._tools.is_done
        if self._reply_came_from_menu and not are_tools_done:
            self._back_to_menu()
        else:
            self.phase = self._replying_from
            self._go_on()

    def _back_to_menu(self) -> None:
        self.phase = self._replying_from
        self._open_menu()

    def _respond_to_tools(self, text: str) -> None:
        """Stop the tools and let the user's words stand in for their results."""
        if self._tools.is_done and text.strip():
            self._pending_reply = text
            self._finish(Outcome.REPLIED)
            return
        self.phase = Phase.EXECUTING
        if not self._tools.is_done:
            self._perform_tools(self._tools.cancel(self._at, text=text))
        self._after_tool_event()

    def _restart_tools(self) -> None:
        if self._tools.is_done:
            self._notice("info", "nothing_to_restart", "All tools had finished already.", is_durable=False)
        self._perform_tools(self._tools.restart(self._at))
        self._go_on_with_tools()

    def _go_on_with_tools(self) -> None:
        """Leave the tool menu: what was approved meanwhile starts, and what ended meanwhile counts."""
        self.phase = Phase.EXECUTING
        self._perform_tools(self._tools.begin(self._at))
        self._after_tool_event()

    def _end_now(self, outcome: Outcome) -> None:
        """End the query without a further question; a forced end does not wait for the last save."""
        if self.phase is Phase.PREPARING:
            self._cancel_before_start()
        elif self.phase in {Phase.FINISHING, Phase.CLOSING}:
            self._give_up_reply()
            self._ending = outcome
            self._turn_over(is_persisted=False)
        else:
            self._finish(outcome)

    def _cancel_before_start(self) -> None:
        self._close_decisions("withdrawn")
        self.phase = Phase.COMPLETE
        self._ending = Outcome.CANCELLED_BEFORE_START
        self._do(actions.CancelPreparation())
        self._answer(is_persisted=False)

    def _give_up_reply(self) -> None:
        """The turn is ending for a reply, and now nothing may follow: the text becomes a draft."""
        if self._pending_reply is not None:
            self._keep_draft(self._pending_reply)
            self._pending_reply = None
            self._ending = Outcome.STOPPED

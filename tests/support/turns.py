"""A turn of the core under test: feed it inputs, see its actions, its shown things and its stream.

`Desk` stands in for the driver: it reports each save as done at once (unless told to fail or to hold
them), remembers which requests are out, and tags what the provider says with the attempt that is out.
"""

from collections.abc import Iterable

from jp_lsp.conversation.event import ChatRequest
from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.tools.actions import RunPass
from jp_lsp.tools.decision import Decision, DecisionId
from jp_lsp.tools.outcome import Succeeded, ToolOutcome
from jp_lsp.turn import actions, shown
from jp_lsp.turn.actions import Action
from jp_lsp.turn.coordinator import TurnCoordinator
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.turn.inputs import (
    Answered,
    AttemptId,
    Dismissed,
    FromProvider,
    Input,
    Instant,
    Prepared,
    PreparedTurn,
    Pressed,
    Saved,
    SaveFailed,
    SavePoint,
    Start,
    StreamEnded,
    ToolFinished,
)
from jp_lsp.turn.options import TurnOptions
from jp_lsp.turn.outcome import QueryResult
from jp_lsp.turn.phase import Phase
from jp_lsp.turn.stream_event import (
    Completed,
    Finished,
    FinishReason,
    Flush,
    Part,
    StreamEvent,
    TextPart,
    ToolCallArguments,
    ToolCallStart,
)
from tests.support.streams import lines

CONVERSATION = ConversationId("jp-c17912345678")


def message(text: str, index: int = 0, **metadata: str) -> TextPart:
    return TextPart(index, "message", text, metadata)


def reasoning(text: str, index: int = 0, **metadata: str) -> TextPart:
    return TextPart(index, "reasoning", text, metadata)


def structured(text: str, index: int = 0) -> TextPart:
    return TextPart(index, "structured", text)


def tool_call(index: int, id: str, name: str, arguments: str = "{}") -> tuple[Part | Flush, ...]:
    return ToolCallStart(index, id, name), ToolCallArguments(index, arguments), Flush(index)


def done(reason: FinishReason | None = None) -> Finished:
    return Finished(reason or Completed())


def failure(
    kind: str = "transient", message: str = "broken", retry_after: float | None = None
) -> StreamFailure:
    return StreamFailure(FailureKind(kind), message, retry_after)


class Desk:
    """Drives one coordinator by hand."""

    def __init__(
        self,
        *,
        options: TurnOptions | None = None,
        stream: ConversationStream | None = None,
        is_new: bool = True,
        holds_saves: Iterable[SavePoint] = (),
        failing_saves: Iterable[SavePoint] = (),
    ) -> None:
        self.core = TurnCoordinator("t")
        self.stream = stream or ConversationStream.new(Timestamp(0), {})
        self.log: list[Action] = []
        self.shown: list[shown.Shown] = []
        self.requests: list[actions.RequestCycle] = []
        self.waits: list[float] = []
        self.asked: list[Decision] = []
        self.saved: list[SavePoint] = []
        self.pending_saves: list[SavePoint] = []
        self.seconds = 100.0
        self._options = options or TurnOptions()
        self._is_new = is_new
        self._holds = set(holds_saves)
        self._failing = set(failing_saves)

    def feed(self, *items: Input) -> "Desk":
        for item in items:
            self.seconds += 0.001
            for action in self.core.handle(item, Instant(int(self.seconds * 1e9), self.seconds)):
                self._note(action)
            self._report_saves()
        return self

    def start(self, text: str = "hi", schema: JsonObject | None = None, **changes: object) -> "Desk":
        prepared = PreparedTurn(
            CONVERSATION,
            self.stream,
            ChatRequest(text, schema),
            self._options,
            is_new=self._is_new,
            **changes,  # type: ignore[arg-type]
        )
        return self.feed(Start(text), Prepared(prepared))

    def says(self, *events: StreamEvent) -> "Desk":
        """The provider says this in the attempt that is out."""
        for event in events:
            self.feed(FromProvider(self.attempt, event))
        return self

    def tool_returns(self, call: str, outcome: ToolOutcome | str = "done") -> "Desk":
        """The pass of a call that is under way ends with this."""
        run = next(
            action for action in reversed(self.log) if isinstance(action, RunPass) and action.call == call
        )
        result = Succeeded(outcome) if isinstance(outcome, str) else outcome
        return self.feed(ToolFinished(run.call, run.pass_number, result))

    @property
    def runs(self) -> list[str]:
        """The calls that were started, in order."""
        return [action.call for action in self.log if isinstance(action, RunPass)]

    def stream_ends(self) -> "Desk":
        return self.feed(StreamEnded(self.attempt))

    def press(self, action: str | None = None, text: str | None = None, *, later: float = 0.0) -> "Desk":
        self.seconds += later
        return self.feed(Pressed(action, text))

    def choose(self, choice: str | None = None, text: str | None = None) -> "Desk":
        return self.feed(Answered(self.open_decision, choice, text))

    def dismiss(self) -> "Desk":
        return self.feed(Dismissed(self.open_decision))

    def report_saved(self) -> "Desk":
        """Let the saves that were held come through."""
        self._holds.clear()
        self._report_saves()
        return self

    @property
    def attempt(self) -> AttemptId:
        return self.requests[-1].attempt

    @property
    def open_decision(self) -> DecisionId:
        return next(reversed(self.core.open_decisions))

    @property
    def phase(self) -> Phase:
        return self.core.phase

    @property
    def stored(self) -> list[str]:
        return lines(self.stream.events())

    @property
    def result(self) -> QueryResult:
        (finish,) = [action for action in self.log if isinstance(action, actions.Finish)]
        return finish.result

    def actions_of(self, kind: type[Action]) -> list[Action]:
        return [action for action in self.log if isinstance(action, kind)]

    def notices(self) -> list[str]:
        return [item.notice.code for item in self.shown if isinstance(item, shown.NoticeGiven)]

    def _note(self, action: Action) -> None:
        self.log.append(action)
        match action:
            case actions.Publish(what):
                self.shown.append(what)
            case actions.RequestCycle():
                self.requests.append(action)
            case actions.Wait(seconds):
                self.waits.append(seconds)
            case actions.Ask(decision):
                self.asked.append(decision)
            case actions.Save(point):
                self.pending_saves.append(point)
            case _:
                pass

    def _report_saves(self) -> None:
        while self.pending_saves and self.pending_saves[0] not in self._holds:
            point = self.pending_saves.pop(0)
            if point in self._failing:
                self.feed(SaveFailed(point, "the disk is full"))
            else:
                self.saved.append(point)
                self.feed(Saved(point))

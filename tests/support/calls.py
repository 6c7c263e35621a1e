"""The tool calls of a cycle under test: dispatch them, play the user and the tools, see what is asked for."""

from dataclasses import replace

from jp_lsp.conversation.event import (
    Answered,
    Cancelled,
    ConversationEvent,
    InquiryRequest,
    InquiryResponse,
    Redacted,
    ToolCallRequest,
    ToolCallResponse,
)
from jp_lsp.conversation.ids import CallId
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.tools import actions
from jp_lsp.tools.actions import ToolAction
from jp_lsp.tools.call import Call
from jp_lsp.tools.coordinator import ToolCoordinator
from jp_lsp.tools.decision import Decision, DecisionId
from jp_lsp.tools.definition import Parameter, ToolDefinition
from jp_lsp.tools.memory import ToolMemory
from jp_lsp.tools.outcome import Failed, NeedsInput, Succeeded, ToolOutcome, ToolQuestion
from jp_lsp.tools.spec import Command, LocalSource, ToolPolicy, ToolSpec

AT = Timestamp(5)


def spec(name: str = "look", **policy: object) -> ToolSpec:
    parameters = {"path": Parameter("string"), "count": Parameter("integer")}
    definition = ToolDefinition(name, parameters, summary="Looks at something.")
    return ToolSpec(definition, LocalSource(name, Command("look")), ToolPolicy(**policy))  # type: ignore[arg-type]


class Calls:
    """Drives one coordinator."""

    def __init__(self, *, can_prompt: bool = True, memory: ToolMemory | None = None) -> None:
        self.memory = memory or ToolMemory()
        self._count = 0
        self.tools = ToolCoordinator(self.memory, self._next, {}, can_prompt=can_prompt)
        self.log: list[ToolAction] = []
        self.asked: list[Decision] = []
        self.events: list[ConversationEvent] = []
        self.metadata: dict[CallId, dict[str, JsonValue]] = {}
        self.runs: list[actions.RunPass] = []

    def _next(self) -> DecisionId:
        self._count += 1
        return DecisionId(f"q{self._count}")

    def do(self, out: list[ToolAction]) -> "Calls":
        for action in out:
            self.log.append(action)
            match action:
                case actions.AskUser(decision):
                    self.asked.append(decision)
                case actions.StoreEvents(events):
                    self.events += events
                case actions.AmendCall(call, metadata):
                    self.metadata.setdefault(call, {}).update(metadata)
                case actions.RunPass():
                    self.runs.append(action)
                case _:
                    pass
        return self

    def call(
        self,
        tool: ToolSpec | None,
        id: str = "c1",
        arguments: JsonObject | None = None,
        **metadata: JsonValue,
    ) -> "Calls":
        name = tool.name if tool else "gone"
        request = ToolCallRequest(CallId(id), name, arguments if arguments is not None else {"path": "a.txt"})
        return self.do(self.tools.dispatch(ConversationEvent(AT, request, metadata), tool, AT))

    def begin(self) -> "Calls":
        return self.do(self.tools.begin(AT))

    def choose(self, choice: str | None = None, text: str | None = None, *, asked: int = -1) -> "Calls":
        return self.do(self.tools.answered(self.asked[asked].id, choice, text, AT))

    def dismiss(self) -> "Calls":
        return self.do(self.tools.dismissed(self.asked[-1].id, AT))

    def cannot_ask(self) -> "Calls":
        return self.do(self.tools.ask_failed(self.asked[-1].id, AT))

    def returns(self, outcome: ToolOutcome | str, id: str = "c1") -> "Calls":
        result = Succeeded(outcome) if isinstance(outcome, str) else outcome
        call = self.of(id)
        return self.do(self.tools.pass_finished(CallId(id), call.pass_number, result, AT))

    def of(self, id: str) -> Call:
        return next(call for call in self.tools.calls if call.id == id)

    @property
    def open(self) -> list[str]:
        """The messages of the questions that are open."""
        return [decision.message for decision in self.asked if decision.id in self.tools.open_questions]

    @property
    def responses(self) -> list[str]:
        """What the calls were answered with."""
        return [
            f"{'error' if event.kind.is_error else 'ok'} {event.kind.id}: {event.kind.content}"
            for event in self.events
            if isinstance(event.kind, ToolCallResponse)
        ]

    @property
    def inquiries(self) -> list[str]:
        """The recorded questions and their ends."""
        lines: list[str] = []
        for event in self.events:
            match event.kind:
                case InquiryRequest(id=id):
                    lines.append(f"asked {id}")
                case InquiryResponse(id, Answered(answer)):
                    lines.append(f"answered {id}: {answer!r}")
                case InquiryResponse(id, Cancelled(reason)):
                    lines.append(f"cancelled {id}: {reason}")
                case InquiryResponse(id, Redacted()):
                    lines.append(f"redacted {id}")
                case _:
                    pass
        return lines


def asks(id: str = "sure", kind: str = "boolean", **more: object) -> NeedsInput:
    question = ToolQuestion(id, "Sure?", kind)  # type: ignore[arg-type]
    return NeedsInput(replace(question, **more))  # type: ignore[arg-type]


def failed(content: str) -> Failed:
    return Failed(content)

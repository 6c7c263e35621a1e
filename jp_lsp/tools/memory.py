"""What the user decided once and for longer: permissions, modes and answers (query pipeline 3.5)."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.tools.spec import ResultMode, RunMode

Scope = Literal["turn", "session", "conversation"]
Permission = Literal["run", "skip"]

SCOPES: tuple[tuple[Scope, str], ...] = (
    ("turn", "for this turn"),
    ("session", "until the server ends"),
    ("conversation", "for this conversation"),
)
"""The scopes with the words that buttons use, shortest first."""


@dataclass(slots=True)
class MemoryLayer:
    """What is remembered in one scope, by tool, or by tool and question."""

    permissions: dict[str, Permission] = field(default_factory=dict[str, Permission])
    run_modes: dict[str, RunMode] = field(default_factory=dict[str, RunMode])
    result_modes: dict[str, ResultMode] = field(default_factory=dict[str, ResultMode])
    answers: dict[tuple[str, str], JsonValue] = field(default_factory=dict[tuple[str, str], JsonValue])

    def copy(self) -> "MemoryLayer":
        """Give the same, apart from what is going to be remembered."""
        return MemoryLayer(
            dict(self.permissions), dict(self.run_modes), dict(self.result_modes), dict(self.answers)
        )


@dataclass(frozen=True, slots=True)
class RememberPermission:
    """Run, or skip, calls of this tool without asking."""

    tool: str
    permission: Permission


@dataclass(frozen=True, slots=True)
class RememberRunMode:
    """Treat calls of this tool so."""

    tool: str
    mode: RunMode


@dataclass(frozen=True, slots=True)
class RememberResultMode:
    """Treat results of this tool so."""

    tool: str
    mode: ResultMode


@dataclass(frozen=True, slots=True)
class RememberAnswer:
    """Give this answer when the tool asks the same again."""

    tool: str
    question: str
    answer: JsonValue


Memory: TypeAlias = RememberPermission | RememberRunMode | RememberResultMode | RememberAnswer


class ToolMemory:
    """All scopes, looked up from the shortest to the longest.

    Args:
        session: what holds until the server ends; shared by its turns.
        conversation: what holds in this conversation.
    """

    def __init__(self, session: MemoryLayer | None = None, conversation: MemoryLayer | None = None) -> None:
        self._layers: dict[Scope, MemoryLayer] = {
            "turn": MemoryLayer(),
            "session": session or MemoryLayer(),
            "conversation": conversation or MemoryLayer(),
        }

    @property
    def conversation(self) -> MemoryLayer:
        """What holds in this conversation, to be kept."""
        return self._layers["conversation"]

    @property
    def session(self) -> MemoryLayer:
        """What holds until the server ends; other turns may change it at any time."""
        return self._layers["session"]

    def copy(self) -> "ToolMemory":
        """Give what is remembered now beyond the turn, apart from what is going to be."""
        return ToolMemory(self.session.copy(), self.conversation.copy())

    def for_turn(self) -> "ToolMemory":
        """Give the memory of a new turn: what holds longer is shared, the rest begins empty."""
        return ToolMemory(self._layers["session"], self._layers["conversation"])

    def permission(self, tool: str) -> Permission | None:
        """Tell what was decided about the tool."""
        return next((found for layer in self._all if (found := layer.permissions.get(tool))), None)

    def run_mode(self, tool: str) -> RunMode | None:
        """Tell the run mode that the user chose."""
        return next((found for layer in self._all if (found := layer.run_modes.get(tool))), None)

    def result_mode(self, tool: str) -> ResultMode | None:
        """Tell the result mode that the user chose."""
        return next((found for layer in self._all if (found := layer.result_modes.get(tool))), None)

    def answer(self, tool: str, question: str) -> tuple[JsonValue] | None:
        """Give the remembered answer in a tuple, since it may be null or false."""
        key = tool, question
        return next(((layer.answers[key],) for layer in self._all if key in layer.answers), None)

    def remember(self, memory: Memory, scope: Scope) -> None:
        """Remember in a scope."""
        layer = self._layers[scope]
        match memory:
            case RememberPermission(tool, permission):
                layer.permissions[tool] = permission
            case RememberRunMode(tool, mode):
                layer.run_modes[tool] = mode
                for each in self._all:  # a mode that is chosen now counts more than an older permission
                    each.permissions.pop(tool, None)
            case RememberResultMode(tool, mode):
                layer.result_modes[tool] = mode
            case RememberAnswer(tool, question, answer):
                layer.answers[tool, question] = answer

    @property
    def _all(self) -> tuple[MemoryLayer, ...]:
        return tuple(self._layers.values())

"""The port towards model vendors: what a cycle sends, and what a model can do (providers 1)."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Literal, Protocol, TypeAlias

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.conversation.thread import Thread
from jp_lsp.tools.definition import ToolChoice, ToolDefinition
from jp_lsp.turn.failure import StreamFailure
from jp_lsp.turn.stream_event import StreamEvent, Usage

EffortLevel = Literal["none", "auto", "xlow", "low", "medium", "high", "xhigh", "max"]


@dataclass(frozen=True, slots=True)
class ModelId:
    """`provider/name`; the name may hold further slashes."""

    provider: str
    name: str

    def __str__(self) -> str:
        return f"{self.provider}/{self.name}"


@dataclass(frozen=True, slots=True)
class Unsupported:
    """The model does not reason."""


@dataclass(frozen=True, slots=True)
class Budgetted:
    """Reasoning is limited by a number of tokens."""

    can_disable: bool
    min_tokens: int
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Leveled:
    """Reasoning is set by a word, of which the model knows `levels`."""

    can_disable: bool
    levels: frozenset[EffortLevel]


@dataclass(frozen=True, slots=True)
class Adaptive:
    """The model decides, within an effort; `xhigh` and `max` are not known to all."""

    can_disable: bool
    xhigh: bool
    max: bool


STREAMING_UNSUPPORTED = "streaming_unsupported"
"""The feature of a model whose vendor gives its answer in one piece."""

ReasoningSupport: TypeAlias = Unsupported | Budgetted | Leveled | Adaptive


@dataclass(frozen=True, slots=True)
class ModelDetails:
    """What is known of a model; `None` is unknown.

    `structured_output` says whether the vendor holds the model to a schema. A model that it does not hold can be
    asked in words, unless it does not even answer in text.
    """

    id: ModelId
    display_name: str | None = None
    context_window: int | None = None
    max_output_tokens: int | None = None
    reasoning: ReasoningSupport | None = None
    knowledge_cutoff: date | None = None
    deprecated: bool | None = None
    structured_output: bool | None = None
    answers_in_text: bool = True
    prefill: bool | None = None
    features: frozenset[str] = frozenset()

    @property
    def streams(self) -> bool:
        """Whether the answer comes piece by piece; one that does not is silent until it is whole."""
        return STREAMING_UNSUPPORTED not in self.features


@dataclass(frozen=True, slots=True)
class Effort:
    """A wish for reasoning: a word, or a number of tokens.

    With `exclude` the model thinks and nobody is shown what: a vendor that can keep it to itself is asked to, and what
    comes all the same is stored, since later requests may need it, and not displayed.
    """

    effort: EffortLevel | int
    exclude: bool = False


ReasoningWish: TypeAlias = Literal["off", "auto"] | Effort | None
"""`None` is unset, which lets the provider pick the model's default."""


@dataclass(frozen=True, slots=True)
class CachePolicy:
    """How long a vendor should keep the prompt; zero seconds is off."""

    seconds: int = 300


@dataclass(frozen=True, slots=True)
class ModelParameters:
    """Settings of a request; unset ones are not sent."""

    max_tokens: int | None = None
    reasoning: ReasoningWish = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop_words: tuple[str, ...] = ()
    other: Mapping[str, JsonValue] = field(default_factory=lambda: {})
    cache: CachePolicy = CachePolicy()

    @property
    def excludes_reasoning(self) -> bool:
        """Whether the model shall think without anybody seeing what (`exclude`)."""
        return isinstance(self.reasoning, Effort) and self.reasoning.exclude


@dataclass(frozen=True, slots=True)
class CycleRequest:
    """Everything one provider request is made from."""

    model: ModelDetails
    thread: Thread
    parameters: ModelParameters
    tools: Sequence[ToolDefinition] = ()
    tool_choice: ToolChoice = "auto"


class CycleObserver(Protocol):
    """Learns of things beside the stream of events."""

    def bytes_received(self) -> None:
        """Something arrived from the vendor, a comment included: the connection lives."""

    def usage_reported(self, usage: Usage) -> None:
        """The vendor told how many tokens the response took."""


class Provider(Protocol):
    """One vendor's API. Never retries, renders or stores."""

    @property
    def pauses_in_arguments(self) -> bool:
        """Whether the vendor is known to fall silent while it writes a tool call's arguments."""
        ...

    async def models(self) -> Sequence[ModelDetails]:
        """List what the vendor offers, by id.

        Raises:
            ProviderError: the vendor could not be asked.
        """
        ...

    async def model_details(self, name: str) -> ModelDetails:
        """Look one model up; an unknown one gives details that are all unknown.

        Raises:
            ProviderError: the vendor could not be asked, or says that there is no such model.
        """
        ...

    def stream(self, request: CycleRequest, observer: CycleObserver) -> AsyncGenerator[StreamEvent, None]:
        """Send one request and give its events; the last one is `Finished` or a `StreamFailure`.

        Nothing is sent before the first event is asked for. The call itself may put a long request into the vendor's
        words, so a worker thread may make it; the iterator belongs to the event loop, and so does the observer.
        Closing the iterator closes the connection at once.
        """
        ...


class ProviderError(Exception):
    """A question to a vendor beside the stream failed; `failure` says how."""

    def __init__(self, failure: StreamFailure) -> None:
        super().__init__(failure.message)
        self.failure = failure

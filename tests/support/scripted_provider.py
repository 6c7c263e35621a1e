"""A provider that plays a script."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import anyio
from anyio.lowlevel import checkpoint

from jp_lsp.ports.provider import CycleObserver, CycleRequest, ModelDetails, ModelId
from jp_lsp.turn.stream_event import StreamEvent


@dataclass(frozen=True, slots=True)
class Gate:
    """Holds the stream here until the test opens it."""

    opened: anyio.Event = field(default_factory=anyio.Event)


class Silence:
    """The stream says nothing more, and does not end."""


class Bytes:
    """Bytes that are no event, such as a comment."""


class Bug(Exception):
    """A mistake in an adapter."""


Step = StreamEvent | Gate | Silence | Bytes | Bug


class ScriptedProvider:
    """Plays the n-th list of steps for the n-th request, and remembers what it was asked.

    `describing` is what a question about a model waits for.
    """

    def __init__(
        self,
        *scripts: Sequence[Step],
        pauses_in_arguments: bool = False,
        answers_in_text: bool = True,
        features: frozenset[str] = frozenset(),
    ) -> None:
        self.requests: list[CycleRequest] = []
        self.closed = 0
        self.describing: Callable[[], Awaitable[object]] = checkpoint
        self.pauses_in_arguments = pauses_in_arguments
        self._answers_in_text = answers_in_text
        self._features = features
        self._scripts = list(scripts)

    def will_play(self, *scripts: Sequence[Step]) -> None:
        """Add scripts behind those that are left."""
        self._scripts.extend(scripts)

    async def models(self) -> Sequence[ModelDetails]:
        return [await self.model_details("big")]

    async def model_details(self, name: str) -> ModelDetails:
        await self.describing()
        return ModelDetails(
            ModelId("test", name), answers_in_text=self._answers_in_text, features=self._features
        )

    async def stream(
        self, request: CycleRequest, observer: CycleObserver
    ) -> AsyncGenerator[StreamEvent, None]:
        self.requests.append(request)
        script = self._scripts.pop(0)
        try:
            for step in script:
                match step:
                    case Gate(opened):
                        await opened.wait()
                    case Silence():
                        await anyio.sleep_forever()
                    case Bytes():
                        observer.bytes_received()
                    case Bug():
                        raise step
                    case _:
                        yield step
        finally:
            self.closed += 1

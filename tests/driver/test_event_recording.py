"""Recording queries: beside the turn, without secrets, and such that the same comes of it when it is played back.

Every query of every other test of this folder is recorded and played back too (`tests.support.query_world`).
"""

import json
import threading
from collections.abc import Callable
from itertools import count
from typing import Any

import anyio
import pytest
from anyio import wait_all_tasks_blocked

from jp_lsp.conversation.directive import ConfigDelta
from jp_lsp.conversation.event import ChatRequest
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.driver import recorder as recorder_module
from jp_lsp.driver.recorder import Recorder
from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.settings import QuerySettings
from jp_lsp.tools.memory import RememberPermission, ToolMemory
from jp_lsp.tools.outcome import ToolQuestion
from jp_lsp.turn.coordinator import TurnCoordinator
from jp_lsp.turn.inputs import (
    Answered,
    AttemptId,
    FromProvider,
    Input,
    Instant,
    Prepared,
    PreparedTurn,
    Saved,
    Start,
    TimerElapsed,
)
from jp_lsp.turn.options import TurnOptions
from jp_lsp.turn.outcome import Outcome
from jp_lsp.turn.phase import IllegalInput
from jp_lsp.turn.replay import DamagedRecording
from tests.support.fake_toolbox import asks, spec
from tests.support.query_world import World, world
from tests.support.recordings import MemoryRecordings, play_back, reasons_to_stop
from tests.support.scripted_provider import Gate
from tests.support.turns import done, failure, message, tool_call

pytestmark = pytest.mark.anyio

ANSWER = [message("Hello"), done()]
SECRET = "hunter2"


def text_of(here: World) -> str:
    (recording,) = here.recordings.files
    assert recording.is_closed
    return recording.text


def members(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.requirement("S25", "R320", "R288")
async def test_a_recording_has_every_input_with_its_time_and_what_came_of_it() -> None:
    async with world(ANSWER) as here:
        result = await here.answer(here.ask("hi", token="t/1"))
    lines = members(text_of(here))
    assert lines[0] == {"recording": 1, "token": "t/1"}
    assert [line["input"]["is"].rpartition(".")[2] for line in lines[1:]] == [
        "Start",
        "Prepared",
        "Saved",
        "FromProvider",
        "FromProvider",
        "StreamEnded",
        "Saved",
        "Saved",
    ][: len(lines) - 1]
    assert {line["at"] for line in lines[1:]} == {1000.0}
    assert lines[1]["actions"] == ["Prepare"]
    assert lines[-1]["actions"][-1] == "Finish"
    steps = play_back(text_of(here))
    assert len(steps) == len(lines) - 1
    assert steps[-1].actions[-1].result == result  # type: ignore[union-attr]


@pytest.mark.requirement("S25")
async def test_what_is_played_back_is_compared() -> None:
    """One word of the answer is another one: the deviation begins exactly there."""
    async with world(ANSWER) as here:
        await here.answer(here.ask())
    text = text_of(here)
    changed = text.replace('"text":"Hello"', '"text":"Hullo"', 1)
    assert changed != text
    with pytest.raises(AssertionError, match="something else in them"):
        play_back(changed)


@pytest.mark.requirement("R320")
async def test_without_the_setting_or_without_storing_nothing_is_recorded() -> None:
    async with world(ANSWER, ANSWER) as here:
        await here.answer(here.ask(persist=False))
        assert here.recordings.files == []


@pytest.mark.requirement("S25")
@pytest.mark.parametrize("secret", [SECRET, "7", "päss\nwort"])
async def test_the_answer_to_a_secret_question_is_nowhere(secret: str) -> None:
    question = ToolQuestion("pin", "PIN?", "secret")
    settings = QuerySettings(ModelId("test", "big"), {}, tools=(spec("one", run_mode="unattended"),))
    async with world([*tool_call(0, "a", "one"), done()], ANSWER, settings=settings) as here:
        here.toolbox.work = {
            "one": asks(question, lambda answer: f"used {answer}" if len(secret) > 1 else "used")
        }
        runner = here.ask()
        await wait_all_tasks_blocked()
        here.frontend.choose(text=secret)
        await here.answer(runner)
        assert here.toolbox.runs[-1].answers == {"pin": secret}
    text = text_of(here)
    assert json.dumps(secret)[1:-1] not in text if len(secret) > 1 else f'"{secret}"' not in text
    (answered,) = (step.item for step in play_back(text) if isinstance(step.item, Answered))
    assert answered.text == "***"


@pytest.mark.requirement("S25")
async def test_keys_and_headers_are_nowhere() -> None:
    config = {"servers": {"headers": {"X-Own": "mine-alone"}}, "api_key": "abc", "max_tokens": 5}
    settings = QuerySettings(ModelId("test", "big"), config)
    here = World(None)
    here.recordings = MemoryRecordings("known-secret")
    recorder = Recorder("t", here.recordings.port, lambda: 0.0)
    core = TurnCoordinator("t", recorder.jitter)
    turn = PreparedTurn(
        "c",  # type: ignore[arg-type]
        ConversationStream.new(Timestamp(0), settings.partial),
        ChatRequest("use known-secret, or Bearer abcdefghijk"),
        TurnOptions(),
        config_delta=ConfigDelta(config),
    )
    await record(recorder, core, Start("use known-secret"), Prepared(turn), Saved("P1"))
    (recording,) = here.recordings.files
    for secret in ("known-secret", "mine-alone", '"abc"', "abcdefghijk"):
        assert secret not in recording.text
    assert '"max_tokens":5' in recording.text
    play_back(recording.text)


@pytest.mark.requirement("S25")
async def test_what_another_turn_of_the_session_remembered_is_known_when_played_back() -> None:
    recordings, memory = MemoryRecordings(), ToolMemory()
    recorder = Recorder("t", recordings.port, lambda: 0.0)
    core = TurnCoordinator("t", recorder.jitter)
    turn = prepared(memory=memory, tools={"one": spec("one")})
    recording = await record(
        recorder,
        core,
        Start("hi"),
        Prepared(turn),
        Saved("P1"),
        lambda: memory.for_turn().remember(RememberPermission("one", "skip"), "session"),
        *(FromProvider(AttemptId(1), event) for event in (*tool_call(0, "a", "one"), done())),
        recordings=recordings,
    )
    assert recording.count('"session":{"is":"tools.memory.MemoryLayer"') == 2  # once within the memory
    play_back(recording)
    forgotten = recording.replace('"permissions":{"one":"skip"}', '"permissions":{}')
    with pytest.raises(AssertionError, match="something else came of"):
        play_back(forgotten)


@pytest.mark.requirement("S25", "R53")
async def test_drawn_delays_are_the_same_when_played_back() -> None:
    recordings, numbers = MemoryRecordings(), count(1)
    recorder = Recorder("t", recordings.port, lambda: next(numbers) / 10)
    core = TurnCoordinator("t", recorder.jitter)
    recording = await record(
        recorder,
        core,
        Start("hi"),
        Prepared(prepared()),
        Saved("P1"),
        FromProvider(AttemptId(1), failure()),
        Saved("P6"),
        TimerElapsed(),
        FromProvider(AttemptId(2), failure()),
        recordings=recordings,
    )
    assert '"jitter":[0.1]' in recording
    assert '"jitter":[0.2]' in recording
    play_back(recording)
    with pytest.raises(AssertionError, match="something else in them"):
        play_back(recording.replace('"jitter":[0.2]', '"jitter":[0.3]'))


@pytest.mark.requirement("S25")
async def test_what_the_core_refused_is_refused_again() -> None:
    recordings = MemoryRecordings()
    recorder = Recorder("t", recordings.port, lambda: 0.0)
    core = TurnCoordinator("t", recorder.jitter)
    recording = await record(
        recorder, core, Start("hi"), TimerElapsed(), recordings=recordings, raises=IllegalInput
    )
    assert play_back(recording)[-1].raised == "IllegalInput"


@pytest.mark.requirement("R320")
async def test_a_disk_that_hangs_does_not_stop_the_turn() -> None:
    may_write = threading.Event()
    gate = Gate()
    async with world([message("Hel"), gate, message("lo"), done()]) as here:
        here.recordings.before_write = lambda: (may_write.wait(5), None)[1]
        runner = here.ask()
        await wait_all_tasks_blocked()
        assert here.frontend.text == "Hel"
        gate.opened.set()
        await wait_all_tasks_blocked()
        assert here.frontend.text == "Hello"
        assert here.recordings.files[0].text == ""
        may_write.set()
        await here.answer(runner)
    assert "Finish" in text_of(here)


@pytest.mark.requirement("R320")
async def test_a_disk_that_fails_ends_the_recording_and_nothing_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail() -> None:
        raise OSError("disk full")

    async with world(ANSWER) as here:
        here.recordings.before_write = fail
        assert (await here.answer(here.ask())).outcome is Outcome.COMPLETED
        here.recordings.files.clear()
    assert "query t is not recorded any more: disk full" in caplog.messages


@pytest.mark.requirement("R320")
@pytest.mark.parametrize(
    ("limit", "value", "reason"),
    [
        ("MOST_BYTES", 3_000, "it has more than 3000 bytes"),
        ("MOST_WAITING", 6, "6 inputs waited to be written"),
    ],
)
async def test_a_recording_has_bounds(
    monkeypatch: pytest.MonkeyPatch, limit: str, value: int, reason: str
) -> None:
    monkeypatch.setattr(recorder_module, limit, value)
    async with world([message("x" * 900, number) for number in range(20)] + [done()]) as here:
        assert (await here.answer(here.ask())).outcome is Outcome.COMPLETED
    assert reasons_to_stop(text_of(here)) == [reason]
    assert len(text_of(here)) < 20 * 900, "not everything is in it"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda text: "", "line 1: this is no recording of version 1"),
        (lambda text: "\n" + text, "line 1: "),
        (
            lambda text: text.replace('"recording":1', '"recording":2'),
            "line 1: this is no recording of version 1",
        ),
        (lambda text: text.replace('"input"', '"output"', 1), "line 2: KeyError: 'input'"),
        (
            lambda text: text.replace("turn.inputs.Start", "turn.inputs.Stop"),
            "line 2: CodecError: 'turn.inputs.Stop'",
        ),
        (lambda text: text.replace('{"at"', '["at"', 1), "line 2: "),
        (lambda text: text.replace('"wall":1', '"wall":"x', 1), "line 2: "),
        (lambda text: text.replace("\n{", "\n7\n{", 1), "line 2: this is no object"),
    ],
)
async def test_a_damaged_recording_says_where(change: Callable[[str], str], problem: str) -> None:
    async with world(ANSWER) as here:
        await here.answer(here.ask())
    with pytest.raises(DamagedRecording) as refused:
        play_back(change(text_of(here)))
    assert str(refused.value).startswith(problem)


@pytest.mark.requirement("S25", "S11")
async def test_a_recording_may_end_anywhere() -> None:
    """The program was killed: what is whole up to there can be played back."""
    async with world(ANSWER) as here:
        await here.answer(here.ask())
    text = text_of(here)
    first = text.index("\n") + 1
    for end in range(first, len(text), 97):
        assert len(play_back(text[:end])) == text[:end].count("\n") - 1


def prepared(**more: Any) -> PreparedTurn:
    stream = ConversationStream.new(Timestamp(0), {})
    return PreparedTurn("c", stream, ChatRequest("hi"), TurnOptions(), **more)  # type: ignore[arg-type]


async def record(
    recorder: Recorder,
    core: TurnCoordinator,
    *items: Input | Callable[[], None],
    recordings: MemoryRecordings | None = None,
    raises: type[Exception] | None = None,
) -> str:
    """Let a core handle inputs a second apart; the last one may raise."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(recorder.run)
        for number, item in enumerate(items):
            if callable(item):
                item()
                continue
            now = Instant(number * 10**9, float(number))
            if raises is not None and item is items[-1]:
                with pytest.raises(raises):
                    recorder.handle(core, item, now)
            else:
                recorder.handle(core, item, now)
        recorder.close()
    return recordings.files[0].text if recordings is not None else ""

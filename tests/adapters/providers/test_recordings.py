"""Every recorded and constructed exchange decodes to its events and encodes to its body, however it is cut."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.providers.contract import violations
from tests.adapters.providers.making import model, request
from tests.adapters.providers.recorded_events import built, joined, to_json
from tests.adapters.providers.recorded_requests import comparable, corrected, load, recorded_steps, request_of
from tests.adapters.providers.replay import EXCHANGES, Cut, Json, at_random, each_byte, in_two, play, whole
from tests.support.shared import shared_files, shared_path

SMALL = 3_000
"""Bodies up to this size are cut in two at every byte; larger ones at random places, and into single bytes."""

SEEDS = range(6)

OUT_OF_ORDER = {"cerebras/tool_call_stream[1]"}
"""Recorded streams that break the contract: here reasoning comes back on an index that was flushed, which is
stored behind what is there (query pipeline 2.4).
"""


COUNTS: Counter[str] = Counter()
"""What was compared; printed by the last test of this file."""


def _is_chat(_recording: Json, step: Json) -> bool:
    return step["kind"] == "chat"


def _has_bodies(recording: Json, step: Json) -> bool:
    return step["kind"] in {"chat", "encode_request"} and all(_bodies(recording, step))


def _bodies(recording: Json, step: Json) -> list[Json]:
    return [recording["exchanges"][i]["request"]["body"] for i in step["exchanges"]]


def _answers(recording: Json, step: Json) -> list[Json]:
    return [recording["exchanges"][i]["response"] for i in step["exchanges"]]


def _cuts(answers: list[Json]) -> Iterator[tuple[str, Cut]]:
    yield "whole", whole
    yield "each byte", each_byte
    size = max(len(answer["body"].encode()) for answer in answers)
    if size <= SMALL:
        for position in range(1, size):
            yield f"in two at {position}", in_two(position)
    else:
        for seed in SEEDS:
            yield f"seed {seed}", at_random(seed)


@pytest.mark.shared
@pytest.mark.requirement("R1", "R20", "R257", "R258", "T09", "F01", "F04", "F11")
@pytest.mark.parametrize("crlf", [False, True], ids=["lf", "crlf"])
@pytest.mark.parametrize(("path", "number"), recorded_steps(EXCHANGES, _is_chat))
def test_bodies_decode_to_the_recorded_events(path: Path, number: int, crlf: bool) -> None:
    recording = load(path)
    step = recording["steps"][number]
    step_name = f"{recording['provider']}/{recording['case']}[{number}]"
    answers = _answers(recording, step)
    is_free = "split_points_free" in recording.get("flags", [])
    expected = recording["expected_events"][number]
    request = request_of(recording, step)
    is_lawful = step_name not in OUT_OF_ORDER
    flushed = recording["expected_flushed"][number] if "expected_flushed" in recording else None
    for name, cut in _cuts(answers):
        played = play(EXCHANGES[recording["provider"]](request), answers, cut, crlf=crlf)
        events = [to_json(event) for event in played.events]
        if is_free:
            events, expected = joined(events), joined(expected)
        assert events == expected, name
        assert (violations(played.events) == []) is is_lawful, name
        assert flushed is None or built(played.events) == flushed, name
        COUNTS[f"{recording['provider']}: cut bodies decoded"] += 1
    COUNTS[
        f"{recording['provider']}: {recording['origin']['kind']} steps decoded with {'CRLF' if crlf else 'LF'}"
    ] += 1


@pytest.mark.shared
@pytest.mark.requirement("R44", "R275", "F22", "F26")
@pytest.mark.parametrize(("path", "number"), recorded_steps(EXCHANGES, _has_bodies))
def test_requests_encode_to_the_recorded_bodies(path: Path, number: int) -> None:
    recording = load(path)
    step = recording["steps"][number]
    bodies = [corrected(body, step["input"]) for body in _bodies(recording, step)]
    exchange = EXCHANGES[recording["provider"]](request_of(recording, step))
    if step["kind"] == "encode_request":
        sent: list[Any] = [exchange.next_request()]
        for body in (*bodies, *sent):
            body.pop("stream", None)
    else:
        sent = play(exchange, _answers(recording, step), whole).bodies
    assert [comparable(body) for body in sent] == [comparable(body) for body in bodies]
    COUNTS[f"{recording['provider']}: bodies encoded"] += len(bodies)


def _conversations() -> list[Any]:
    return [
        pytest.param(path, id=f"{recording['provider']}/{recording['case']}")
        for provider in EXCHANGES
        for path in shared_files(f"recordings/{provider}/*.json")
        for recording in [load(path)]
        if recording["steps"][0]["kind"] == "chat"
    ]


@pytest.mark.shared
@pytest.mark.requirement("R1", "R20")
@pytest.mark.parametrize("path", _conversations())
def test_answers_make_up_the_recorded_conversation(path: Path) -> None:
    recording = load(path)
    said: list[Json] = []
    for step in recording["steps"]:
        exchange = EXCHANGES[recording["provider"]](request_of(recording, step))
        said += built(play(exchange, _answers(recording, step), at_random(1)).events)[:-1]
    kinds = {"chat_response", "tool_call_request"}
    stored = [entry for entry in recording["expected_conversation"] if entry["type"] in kinds]
    assert said == stored
    COUNTS[f"{recording['provider']}: whole conversations"] += 1


@pytest.mark.shared
@pytest.mark.parametrize("kind", ["text", "tool"])
@pytest.mark.parametrize(
    ("provider", "wire"), [("llamacpp", "chat"), ("anthropic", "anthropic"), ("openai", "responses")]
)
def test_raw_streams_of_a_real_server_are_understood(provider: str, wire: str, kind: str) -> None:
    body = shared_path("recordings", "llamacpp", "streams", f"{wire}_{kind}.sse").read_text(encoding="utf-8")
    answer = {"status": 200, "headers": {"content-type": "text/event-stream"}, "body": body}
    exchange = EXCHANGES[provider](request(of=model(f"{provider}/local", max_output_tokens=100)))
    played = play(exchange, [answer], at_random(1))
    assert violations(played.events) == []
    said = built(played.events)
    assert said[-1] == {"type": "finished", "reason": "completed"}
    if kind == "text":
        assert said[0]["message"].strip()
    else:
        assert (said[0]["name"], said[0]["arguments"].keys()) == ("get_weather", {"city", "unit"})
    assert exchange.usage is not None
    assert exchange.usage.output_tokens


@pytest.mark.shared
def test_print_what_was_compared(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print("", *(f"{what}: {count}" for what, count in sorted(COUNTS.items())), sep="\n")  # noqa: T201

"""The chat-completions decoder where the recordings are silent: faults of servers, and endings."""

import json
from typing import Any

import pytest

from jp_lsp.providers.chat.decode import ChatDecoder
from jp_lsp.providers.failure import VendorErrors
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.turn.stream_event import ToolCallStart, Usage
from tests.adapters.providers.contract import violations
from tests.adapters.providers.making import DONE, call_delta, delta, sse
from tests.adapters.providers.recorded_events import to_json
from tests.adapters.providers.replay import Json
from tests.adapters.providers.words import shown

ERRORS = VendorErrors("server")
LOST = StreamFailure(FailureKind.TRANSIENT, "connection reset")


def decode(*payloads: Any, end: str = "close", lawful: bool = True, **options: Any) -> list[Json]:
    """Decode a body; the contract holds unless said otherwise."""
    decoder = ChatDecoder(ERRORS, **options)
    events = decoder.feed(sse(*payloads))
    events += decoder.end() if end == "close" else decoder.broken(LOST)
    assert not lawful or violations(events) == []
    return [to_json(event) for event in events]


def check(payloads: list[Any], *expected: str, **options: Any) -> None:
    assert shown(decode(*payloads, **options)) == list(expected)


HI = delta(content="Hi")
STOP = delta("stop")


# Endings


@pytest.mark.requirement("R25", "F02")
@pytest.mark.parametrize("end", ["close", "abort"])
def test_what_follows_the_end_is_ignored(end: str) -> None:
    later = delta(content="more")
    check([HI, STOP, later, DONE, later, DONE], "f0", "m1:Hi", "f1", "completed", end=end)


@pytest.mark.requirement("F01", "F02")
@pytest.mark.parametrize(
    ("payloads", "expected"),
    [
        ([], ["error transient"]),
        ([HI], ["f0", "m1:Hi", "error transient"]),
        ([HI, STOP], ["f0", "m1:Hi", "f1", "completed"]),
        ([HI, delta("length")], ["f0", "m1:Hi", "f1", "max_tokens"]),
        ([DONE], ["f0", "f1", "completed"]),
        ([HI, DONE], ["f0", "m1:Hi", "f1", "completed"]),
        ([HI, " [DONE] "], ["f0", "m1:Hi", "f1", "completed"]),
    ],
)
def test_only_a_finish_word_or_the_sentinel_ends_well(payloads: list[Any], expected: list[str]) -> None:
    check(payloads, *expected)
    # A connection that breaks afterwards changes nothing, before it everything.
    check(payloads, *expected, end="abort")


def test_open_calls_are_complete_when_the_sentinel_comes_without_a_finish() -> None:
    check(
        [call_delta(0, "c1", "run", "{}"), DONE],
        "f0", "s2:c1,run", "a2:{}", "f1", "f2", "completed",
    )  # fmt: skip


@pytest.mark.requirement("F03")
def test_a_repeated_finish_flushes_nothing_twice() -> None:
    usage = {**delta("tool_calls"), "usage": {"prompt_tokens": 3, "completion_tokens": 4}}
    check(
        [call_delta(0, "c1", "run", "{}"), delta("tool_calls"), usage, DONE],
        "f0", "s2:c1,run", "a2:{}", "f1", "f2", "completed",
    )  # fmt: skip


@pytest.mark.requirement("F04", "T09")
@pytest.mark.parametrize("end", ["close", "abort"])
def test_a_call_that_is_cut_off_is_never_flushed(end: str) -> None:
    half = call_delta(0, "c1", "run", '{"te')
    check([half], "f0", "s2:c1,run", 'a2:{"te', "error transient", end=end)
    check([half, delta("length"), DONE], "f0", "s2:c1,run", 'a2:{"te', "f1", "max_tokens", end=end)
    check([half, delta("content_filter"), DONE], "f0", "s2:c1,run", 'a2:{"te', "f1", "other content_filter")


@pytest.mark.parametrize("word", ["stop", "tool_calls", "function_call"])
def test_words_for_complete(word: str) -> None:
    check([delta(word), DONE], "f0", "f1", "completed")


@pytest.mark.parametrize("word", ["content_filter", "eos", {"odd": 1}, ["x"], 7])
def test_unknown_words_are_passed_on(word: Any) -> None:
    check([delta(word), DONE], "f0", "f1", f"other {word}")


@pytest.mark.parametrize("word", [None, "", False])
def test_no_word_is_no_finish(word: Any) -> None:
    check([HI, delta(word), STOP, DONE], "f0", "m1:Hi", "f1", "completed")


@pytest.mark.parametrize("word", ["error", "insufficient_system_resource"])
def test_words_for_broken(word: str) -> None:
    check([HI, delta(word), DONE], "f0", "m1:Hi", "error transient")


# Held-back text


@pytest.mark.requirement("F11")
@pytest.mark.parametrize(
    ("last", "end", "tail"),
    [
        (STOP, "close", ["f0", "f1", "completed"]),
        ({"error": {"message": "gone"}}, "close", ["error transient"]),
        (None, "close", ["error transient"]),
        (None, "abort", ["error transient"]),
    ],
)
def test_text_that_might_have_been_a_tag_is_released(last: Any, end: str, tail: list[str]) -> None:
    after = [last] if last else []
    contents = [delta(content="a "), delta(content="<th"), *after]
    check(contents, "m1:a <th", *tail, scans_tags=True, end=end)
    thinking = [delta(content="<think>\nhm, s"), delta(content="o"), *after]
    check(thinking, "r0:hm, so", *tail, scans_tags=True, end=end)


def test_held_text_comes_before_what_interrupts_it() -> None:
    check(
        [delta(content="Let me"), call_delta(0, "c", "run", "{}"), STOP, DONE],
        "m1:Let me", "f0", "s2:c,run", "a2:{}", "f1", "f2", "completed",
        scans_tags=True,
    )  # fmt: skip
    check(
        [delta(content="<think>\nLet me think"), call_delta(0, "c", "run", "{}"), STOP, DONE],
        "r0:Let ", "r0:me think", "f0", "s2:c,run", "a2:{}", "f1", "f2", "completed",
        scans_tags=True,
    )  # fmt: skip
    check(
        [delta(content="abc"), delta(reasoning_content="", content="def"), STOP, DONE],
        "m1:abc", "f0", "m1:def", "f1", "completed",
        scans_tags=True,
    )  # fmt: skip


# Content in parts


def thinking(*texts: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": [{"type": "text", "text": text} for text in texts]}


def saying(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


@pytest.mark.parametrize("scans_tags", [False, True])
@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        (
            [[thinking("Two", " looks.")], [thinking(" Now."), saying("I ")], "look."],
            ["r0:Two looks.", "r0: Now.", "f0", "m1:I ", "m1:look.", "f1"],
        ),
        ([[saying("Only"), saying(" said.")]], ["f0", "m1:Only", "m1: said.", "f1"]),
        ([[thinking("Only thought.")]], ["r0:Only thought.", "f0", "f1"]),
        ([[{"type": "thinking", "thinking": "Whole."}]], ["r0:Whole.", "f0", "f1"]),
        ([[thinking("One."), saying("A"), thinking("Two."), saying("B")]],
         ["r0:One.", "f0", "m1:A", "f1", "r2:Two.", "f2", "m3:B", "f3"]),
        ([[saying("<think>\nno tag</think>")]], ["f0", "m1:<think>\nno tag</think>", "f1"]),
        ([[], [None, 7, "x", [], {}, thinking(), {"type": "reference", "reference_ids": [1]}]], ["f0", "f1"]),
        ([[{"text": 3, "thinking": [3, {"text": None}, None]}], {"text": "x"}, 3], ["f0", "f1"]),
    ],
)  # fmt: skip
def test_content_in_parts_is_read_in_their_order(
    contents: list[Any], expected: list[str], scans_tags: bool
) -> None:
    payloads = [delta(content=content) for content in contents]
    check([*payloads, STOP, DONE], *expected, "completed", scans_tags=scans_tags)


# Order


@pytest.mark.requirement("R27", "R28", "R23")
def test_kinds_that_come_back_get_new_indices() -> None:
    check(
        [
            delta(reasoning_content="one"),
            delta(content="two"),
            delta(reasoning="three"),
            delta(content="four"),
            call_delta(0, "c", "run", "{}"),
            delta(content="five"),
            delta(reasoning_content="six"),
            call_delta(1, "d", "run", "{}"),
            STOP,
            DONE,
        ],
        "r0:one", "f0", "m1:two", "f1", "r2:three", "f2", "m3:four", "s4:c,run", "a4:{}",
        "f3", "m5:five", "f5", "r6:six", "f6", "s8:d,run", "a8:{}", "f7", "f4", "f8", "completed",
    )  # fmt: skip


def test_a_dialect_may_reuse_them() -> None:
    check(
        [delta(reasoning="a"), delta(content="b"), delta(reasoning="c"), delta(content="d"), STOP, DONE],
        "r0:a", "f0", "m1:b", "r0:c", "m1:d", "f1", "completed",
        reuses_indices=True, lawful=False,
    )  # fmt: skip


def test_reasoning_has_two_names_and_comes_once() -> None:
    check([delta(reasoning_content="a", reasoning="a"), STOP], "r0:a", "f0", "f1", "completed")


def test_structured_text_has_its_own_kind() -> None:
    check([delta(content="{}"), STOP], "f0", "d1:{}", "f1", "completed", structured=True)


# Calls


ALPHA, BETA = ("s2:a,alpha", "a2:{}"), ("s3:b,beta", "a3:{}")
TWO_CALLS = ["f0", *ALPHA, *BETA, "f1", "f2", "f3", "completed"]


@pytest.mark.parametrize(
    "deltas",
    [
        [call_delta(0, "a", "alpha", "{}"), call_delta(1, "b", "beta", "{}")],
        [call_delta(0, "a", "alpha", "{}"), call_delta(0, "b", "beta", "{}")],
        [call_delta(None, "a", "alpha", "{}"), call_delta(None, "b", "beta", "{}")],
    ],
    ids=["numbered", "one number for both", "no number"],
)
def test_two_calls_however_they_are_numbered(deltas: list[Any]) -> None:
    check([*deltas, STOP], *TWO_CALLS)


@pytest.mark.parametrize("index", [0, None])
def test_two_calls_without_ids_are_told_apart_by_complete_arguments(index: int | None) -> None:
    check(
        [call_delta(index, None, "run", '{"a":'), call_delta(index, None, None, "1}"),
         call_delta(index, None, "run", '{"a":2}'), STOP],
        "f0", "s2:,run", 'a2:{"a":', "a2:1}", "s3:,run", 'a3:{"a":2}', "f1", "f2", "f3", "completed",
    )  # fmt: skip


def test_another_name_without_any_number_is_another_call() -> None:
    check(
        [call_delta(None, None, "alpha", ""), call_delta(None, None, "beta", ""), STOP],
        "f0", "s2:,alpha", "a2:", "s3:,beta", "a3:", "f1", "f2", "f3", "completed",
    )  # fmt: skip


def test_deltas_of_several_calls_may_interleave() -> None:
    check(
        [call_delta(0, "a", "alpha", "{"), call_delta(1, "b", "beta", "{"), call_delta(0, None, None, "}"),
         call_delta(None, "b", None, "}"), STOP],
        "f0", "s2:a,alpha", "a2:{", "s3:b,beta", "a3:{", "a2:}", "a3:}", "f1", "f2", "f3", "completed",
    )  # fmt: skip


def test_a_known_id_finds_its_call_whatever_the_number() -> None:
    check(
        [call_delta(0, "a", "alpha", "{"), call_delta(5, "a", None, "}"), STOP],
        "f0", "s2:a,alpha", "a2:{", "a2:}", "f1", "f2", "completed",
    )  # fmt: skip


def test_id_and_name_on_every_delta_open_nothing() -> None:
    check(
        [call_delta(0, "a", "alpha", "{"), call_delta(0, "a", "alpha", "}"), call_delta(0, "a", "alpha", ""), STOP],
        "f0", "s2:a,alpha", "a2:{", "a2:}", "a2:", "f1", "f2", "completed",
    )  # fmt: skip


def test_id_and_name_may_come_apart() -> None:
    check(
        [call_delta(0, "a"), call_delta(0, None, "alpha"), call_delta(0, None, None, "{}"), STOP],
        "f0", "s2:a,", "s2:a,alpha", "a2:{}", "f1", "f2", "completed",
    )  # fmt: skip


def test_the_first_name_wins() -> None:
    check(
        [call_delta(0, "a", "get_", ""), call_delta(0, None, "weather", "{}"), STOP],
        "f0", "s2:a,get_", "a2:", "a2:{}", "f1", "f2", "completed",
    )  # fmt: skip


def test_a_call_that_is_sent_again_as_a_whole_stays_one() -> None:
    pieces = [call_delta(0, "a", "alpha", '{"x"'), call_delta(0, None, None, ":1}")]
    for repeated in (call_delta(0, "a", "alpha", '{"x":1}'), call_delta(0, None, "alpha", '{"x":1}')):
        check(
            [*pieces, repeated, STOP],
            "f0", "s2:a,alpha", 'a2:{"x"', "a2::1}", "f1", "f2", "completed",
        )  # fmt: skip


def test_repeated_ids_are_made_unique() -> None:
    check(
        [call_delta(0, "x", "alpha", "{}"), call_delta(1, "x", "beta", "{"), call_delta(1, "x", None, "}"), STOP],
        "f0", "s2:x,alpha", "a2:{}", "s3:x_2,beta", "a3:{", "a3:}", "f1", "f2", "f3", "completed",
    )  # fmt: skip


def test_arguments_that_are_no_text_are_written_as_text() -> None:
    check(
        [call_delta(0, "a", "alpha", {"x": [1, "é"]}), STOP],
        "f0", "s2:a,alpha", 'a2:{"x":[1,"é"]}', "f1", "f2", "completed",
    )  # fmt: skip


@pytest.mark.parametrize("index", [10**30, -1, True, "0", 5000])
def test_nonsense_numbers_are_not_used(index: Any) -> None:
    check([call_delta(index, "a", "alpha", "{}"), STOP], "f0", *ALPHA, "f1", "f2", "completed")


def test_entries_that_say_nothing_open_nothing() -> None:
    check([delta(tool_calls=[{}, None, 5, {"index": 3}]), STOP], "f0", "f1", "completed")


def test_there_is_a_limit_to_calls() -> None:
    decoder = ChatDecoder(ERRORS)
    events = decoder.feed(sse(*(call_delta(None, f"id{i}", "run", "{}") for i in range(3000))))
    assert len({event.index for event in events if isinstance(event, ToolCallStart)}) == 1024


# Chunks


@pytest.mark.requirement("F09")
@pytest.mark.parametrize(
    "strange",
    [
        "not json",
        "[1, 2]",
        "null",
        "7",
        {},
        {"choices": None},
        {"choices": []},
        {"choices": [None, 5, "x"]},
        {"choices": [{"delta": None}]},
        {"choices": [{"delta": {"content": 5, "tool_calls": "x", "reasoning": {}}}]},
        {"choices": [{"index": 1, "delta": {"content": "another answer"}}]},
        {"choices": [], "usage": {"prompt_tokens": 1}},
        {"error": None},
        {"object": "response.glitter", "n": 1e300},
        '{"x": 1e400}',
        "   ",
    ],
)
def test_strange_chunks_change_nothing(strange: Any) -> None:
    check([HI, strange, delta(content="!"), STOP, DONE], "f0", "m1:Hi", "m1:!", "f1", "completed")


@pytest.mark.requirement("R58", "F06")
@pytest.mark.parametrize(
    ("chunk", "kind"),
    [
        ({"error": {"code": 429, "message": "slow"}}, "rate_limit"),
        ({"error": "broken"}, "transient"),
        ({"error": {"message": "no", "type": "invalid_request_error"}, "choices": []}, "malformed"),
        ({"error": {"message": "insufficient_quota"}}, "quota"),
        ({"error": {"code": "invalid_api_key"}}, "auth"),
    ],
)
def test_errors_inside_the_stream_end_it(chunk: Any, kind: str) -> None:
    check([HI, chunk, HI, DONE], "f0", "m1:Hi", f"error {kind}")


def test_a_named_error_event_needs_no_json() -> None:
    decoder = ChatDecoder(ERRORS)
    events = decoder.feed(b"event: error\ndata: Model unloaded\n\n")
    assert [(event.kind, event.message) for event in events if isinstance(event, StreamFailure)] == [
        (FailureKind.TRANSIENT, "Model unloaded")
    ]


def test_halves_of_characters_survive_in_two_deltas() -> None:
    events = decode(
        '{"choices":[{"delta":{"content":"\\ud83d"}}]}', '{"choices":[{"delta":{"content":"\\ude00"}}]}', STOP
    )
    text = "".join(event.get("text", "") for event in events)
    assert text == "\ud83d\ude00"  # the surrogate joiner makes one character of them


def test_a_broken_server_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    decode(*["not json"] * 50, STOP)
    assert [record.getMessage() for record in caplog.records] == ["server sent a chunk that is not JSON"]


def test_an_endless_event_ends_the_stream() -> None:
    decoder = ChatDecoder(ERRORS)
    events = []
    for _ in range(40):
        events += decoder.feed(b"x" * 1024 * 1024)
    assert [event.kind for event in events if isinstance(event, StreamFailure)] == [FailureKind.OTHER]


# Usage


@pytest.mark.parametrize(
    ("chunk", "usage"),
    [
        (
            {
                "choices": [],
                "usage": {
                    "prompt_tokens": 10,
                    "completion_tokens": 7,
                    "prompt_tokens_details": {"cached_tokens": 4},
                    "completion_tokens_details": {"reasoning_tokens": 2},
                },
            },
            Usage(10, 7, 4, 2),
        ),
        ({"choices": [], "timings": {"cache_n": 4, "prompt_n": 6, "predicted_n": 7}}, Usage(10, 7, 4)),
        ({"choices": [], "usage": {"prompt_tokens": "many", "completion_tokens": -1}}, Usage()),
        ({"choices": [], "usage": None}, None),
    ],
)
def test_usage_is_kept(chunk: Any, usage: Usage | None) -> None:
    decoder = ChatDecoder(ERRORS)
    decoder.feed(sse(HI, STOP, chunk, DONE))
    assert decoder.usage == usage


def test_usage_is_stronger_than_timings() -> None:
    decoder = ChatDecoder(ERRORS)
    chunk = {"choices": [], "usage": {"prompt_tokens": 1}, "timings": {"prompt_n": 99}}
    decoder.feed(sse(chunk, json.loads('{"timings": {"prompt_n": 5}}')))
    assert decoder.usage == Usage(1)

"""Answers of several responses: chaining at the output limit, tools that must be called, stale thinking."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.ports.provider import Adaptive, Budgetted, CycleRequest, Effort
from jp_lsp.providers.anthropic.adapter import ERRORS
from jp_lsp.providers.anthropic.encode import encode
from jp_lsp.providers.anthropic.exchange import MessagesExchange
from jp_lsp.providers.chaining import GO_ON, Seam
from jp_lsp.tools.definition import NamedTool
from jp_lsp.turn.stream_event import Usage
from tests.adapters.providers.contract import violations
from tests.adapters.providers.making import (
    block_delta,
    block_start,
    block_stop,
    calls,
    model,
    request,
    returns,
    says,
    sse,
    stop,
    text_block,
    thinks,
    tool,
    user,
)
from tests.adapters.providers.recorded_events import to_json
from tests.adapters.providers.replay import Json, Played, play, whole

MAX = [{"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}]
TWO_TOOLS = [tool("one"), tool("two")]


def exchange_of(asked: CycleRequest, *, chains: bool = True) -> MessagesExchange:
    structured = asked.thread.schema is not None
    return MessagesExchange(encode(asked), ERRORS, structured=structured, chains=chains, now=lambda: 0.0)


def answer(*payloads: Any, status: int = 200, end: str = "close") -> Json:
    body = sse(*payloads).decode() if status == 200 else json.dumps(payloads[0])
    content_type = "text/event-stream" if status == 200 else "application/json"
    return {"status": status, "headers": {"content-type": content_type}, "body": body, "end": end}


def converse(asked: CycleRequest, *answers: Json, lawful: bool = True, **options: Any) -> Played:
    played = play(exchange_of(asked, **options), answers, whole)
    assert not lawful or violations(played.events) == []
    return played


def texts(played: Played) -> dict[tuple[int, str], str]:
    """Give the whole text of each index and kind."""
    result: dict[tuple[int, str], str] = {}
    for event in map(to_json, played.events):
        if event["type"] == "part" and "text" in event:
            key = (event["index"], event["kind"])
            result[key] = result.get(key, "") + event["text"]
    return result


def ends(played: Played) -> Json:
    return to_json(played.events[-1])


def flushes(played: Played) -> list[int]:
    return [event["index"] for event in map(to_json, played.events) if event["type"] == "flush"]


def thinking_block(index: int, text: str, signature: str | None = None) -> list[Any]:
    signed = [block_delta(index, "signature_delta", signature=signature)] if signature else []
    return [
        block_start(index, type="thinking", thinking=""),
        block_delta(index, "thinking_delta", thinking=text),
        *signed,
        block_stop(index),
    ]


def call_block(index: int, name: str, arguments: str = "{}") -> list[Any]:
    return [
        block_start(index, type="tool_use", id=f"id_{name}", name=name),
        block_delta(index, "input_json_delta", partial_json=arguments),
        block_stop(index),
    ]


# Chaining


PLAIN = request(of=model(max_output_tokens=100, reasoning=Budgetted(True, 1024)), reasoning="off")


def test_a_cut_text_is_continued_without_a_seam() -> None:
    played = converse(
        PLAIN,
        answer(*text_block(0, "The quick brown"), *MAX),
        answer(*thinking_block(0, "let me"), *text_block(1, "quick ", "brown", " fox ", "jumps"), *stop()),
    )
    assert texts(played) == {(0, "message"): "The quick brown fox jumps"}
    assert flushes(played) == [0]
    assert ends(played) == {"type": "finished", "reason": "completed"}
    first, second = played.bodies
    assert second["messages"] == [
        *first["messages"],
        {"role": "assistant", "content": [{"type": "text", "text": "The quick brown"}]},
        {"role": "user", "content": [{"type": "text", "text": GO_ON}]},
    ]
    assert {**second, "messages": None} == {**first, "messages": None}


def test_the_chain_has_five_links() -> None:
    played = converse(PLAIN, *(answer(*text_block(0, f"part {i}. "), *MAX) for i in range(6)))
    assert len(played.bodies) == 6
    assert ends(played) == {"type": "finished", "reason": "max_tokens"}
    assert texts(played) == {(0, "message"): "".join(f"part {i}. " for i in range(6))}


@pytest.mark.parametrize(
    ("asked", "options"),
    [
        (request(of=model(max_output_tokens=100), max_tokens=50), {}),
        (request(of=model(max_output_tokens=100), schema={"type": "object"}), {}),
        (PLAIN, {"chains": False}),
    ],
    ids=["the user's own limit", "structured", "switched off"],
)
def test_some_limits_are_final(asked: CycleRequest, options: Any) -> None:
    played = converse(asked, answer(*text_block(0, "The quick"), *MAX), **options)
    assert len(played.bodies) == 1
    assert ends(played) == {"type": "finished", "reason": "max_tokens"}
    assert flushes(played) == [0]


@pytest.mark.parametrize(
    "cut",
    [
        [*text_block(0, "Let me look."), *call_block(1, "one")[:2]],
        [*call_block(0, "one"), *text_block(1, "and")],
        thinking_block(0, "so much to think"),
        text_block(0, "  \n"),
        [],
    ],
    ids=["in a call", "after a call", "in thinking", "blank", "nothing"],
)
def test_only_text_is_continued(cut: list[Any]) -> None:
    played = converse(PLAIN, answer(*cut, *MAX))
    assert len(played.bodies) == 1
    assert ends(played) == {"type": "finished", "reason": "max_tokens"}


def test_a_ping_between_end_and_limit_changes_nothing() -> None:
    ping = {"type": "ping"}
    played = converse(
        PLAIN, answer(*text_block(0, "The quick"), ping, *MAX), answer(*text_block(0, "brown"), *stop())
    )
    kinds = [event["type"] for event in map(to_json, played.events)]
    assert kinds == ["part", "keep_alive", "part", "flush", "finished"]


def test_a_text_that_ended_is_flushed_when_something_follows() -> None:
    played = converse(PLAIN, answer(*text_block(0, "One."), *text_block(1, "Two."), *stop()))
    assert [e["type"] for e in map(to_json, played.events)] == ["part", "flush", "part", "flush", "finished"]


def test_a_continuation_never_takes_an_earlier_index() -> None:
    played = converse(
        PLAIN,
        answer(*text_block(0, "One."), *text_block(1, "Two"), *MAX),
        answer(*text_block(0, " three."), *text_block(1, "Four."), *call_block(2, "one"), *stop("tool_use")),
    )
    assert texts(played) == {
        (0, "message"): "One.",
        (1, "message"): "Two three.",
        (2, "message"): "Four.",
        (3, "tool_call"): "{}",
    }
    assert flushes(played) == [0, 1, 2, 3]


@pytest.mark.parametrize("end", [stop(), MAX, [], [block_start(1, type="tool_use", id="t", name="one")]])
def test_text_that_waits_for_the_seam_is_not_lost(end: list[Any]) -> None:
    played = converse(
        PLAIN,
        answer(*text_block(0, "The quick brown"), *MAX),
        answer(*text_block(0, "quick")[:2], *end),
        *([answer(*text_block(0, "!"), *stop())] if end is MAX else []),
    )
    assert texts(played)[0, "message"].startswith("The quick brownquick")


def test_dropped_thinking_does_not_complete_the_text() -> None:
    played = converse(
        PLAIN,
        answer(*text_block(0, "The quick"), *MAX),
        answer(*thinking_block(0, "hm", "sig"), *text_block(1, " brown fox"), *stop()),
    )
    assert texts(played) == {(0, "message"): "The quick brown fox"}
    assert flushes(played) == [0]


def test_what_was_thought_goes_along_and_what_has_no_signature_does_not() -> None:
    played = converse(
        PLAIN,
        answer(
            *thinking_block(0, "hm", "sig"),
            block_start(1, type="redacted_thinking", data="opaque"),
            block_stop(1),
            *thinking_block(2, "unsigned"),
            *text_block(3, "The quick"),
            *MAX,
        ),
        answer(*text_block(0, " brown"), *stop()),
    )
    assert played.bodies[1]["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "redacted_thinking", "data": "opaque"},
        {"type": "text", "text": "The quick"},
    ]


@pytest.mark.requirement("F06")
@pytest.mark.parametrize(
    "second",
    [
        answer({"error": {"type": "overloaded_error", "message": "x"}}, status=529),
        answer(*text_block(0, "quick br")[:2]),
        answer(*text_block(0, "quick br")[:2], end="abort"),
        answer(
            {"error": {"type": "invalid_request_error", "message": "thinking cannot be modified"}}, status=400
        ),
    ],
    ids=["refused", "lost", "broken", "thinking refused"],
)
def test_a_continuation_that_fails_keeps_what_came(second: Json) -> None:
    played = converse(PLAIN, answer(*text_block(0, "The quick"), *MAX), second)
    assert ends(played)["type"] == "error"
    assert texts(played)[0, "message"] in {"The quick", "The quick br", "The quickquick br"}


def test_usage_is_added_up() -> None:
    begun = {"type": "message_start", "message": {"usage": {"input_tokens": 10, "output_tokens": 1}}}
    exchange = exchange_of(PLAIN)
    assert exchange.usage is None
    cut = {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 100}}
    play(
        exchange,
        [
            answer(begun, *text_block(0, "The quick"), cut),
            answer(begun, *text_block(0, " brown"), *stop(output_tokens=7)),
        ],
        whole,
    )
    assert exchange.usage == Usage(20, 107)


@pytest.mark.parametrize(
    ("before", "pieces", "added"),
    [
        ("The quick brown", ["quick brown fox"], " fox"),
        ("The quick brown", ["quick", " brown", " fox"], " fox"),
        ("The quick brown", list("quick brown fox"), " fox"),
        ("The quick brown", ["quick brown"], ""),
        ("The quick brown", ["The quick brown fox"], " fox"),
        ("The quick brown", ["rown fox"], "rown fox"),  # four bytes are too few to be sure
        ("The quick brown", ["brown fox"], " fox"),
        ("The quick brown", ["red fox"], "red fox"),
        ("abcabcabcabc", ["abcabc", "d"], "d"),
        ("Zoë ✓", ["oë ✓!"], "!"),
        ("x", ["✓✓"], "✓✓"),
        ("", ["text"], "text"),
        ("a" * 600, ["a" * 550], "a" * 50),
        ("The quick brown", ["", "quick brown fox"], " fox"),
        ("one two", ["two"], "two"),
    ],
)
def test_the_seam(before: str, pieces: list[str], added: str) -> None:
    seam = Seam(before)
    assert "".join(seam.feed(piece) or "" for piece in pieces) + seam.close() == added


@given(before=st.text("ab é", max_size=30), text=st.text("ab é", max_size=30), data=st.data())
def test_the_seam_does_not_depend_on_pieces(before: str, text: str, data: st.DataObject) -> None:
    whole_seam, cut_seam = Seam(before), Seam(before)
    expected = (whole_seam.feed(text) or "") + whole_seam.close()
    positions = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    pieces = [text[a:b] for a, b in zip([0, *positions], [*positions, len(text)], strict=True)]
    assert "".join(cut_seam.feed(piece) or "" for piece in pieces) + cut_seam.close() == expected
    assert text.endswith(expected)
    removed = text[: len(text) - len(expected)]
    assert before.endswith(removed)
    assert not removed or len(removed.encode()) >= 5


# Tools that must be called


THINKER = model(max_output_tokens=8000, reasoning=Budgetted(True, 1024))
ALWAYS = model(max_output_tokens=8000, reasoning=Adaptive(False, True, True))


def forced(of: Any = THINKER, choice: Any = "required") -> CycleRequest:
    return request(of=of, tools=TWO_TOOLS, choice=choice, reasoning=Effort("low"))


TALK = [*thinking_block(0, "hm", "sig"), *text_block(1, "Why should I?")]


def test_a_call_that_came_needs_no_follow_up() -> None:
    played = converse(forced(), answer(*TALK, *call_block(2, "one"), *stop("tool_use")))
    assert len(played.bodies) == 1


def test_without_the_call_thinking_is_switched_off_and_the_tool_forced() -> None:
    played = converse(
        forced(choice=NamedTool("two")),
        answer(*TALK, *stop()),
        answer(*thinking_block(0, "again"), *call_block(1, "two", '{"x":1}'), *stop("tool_use")),
    )
    first, second = played.bodies
    assert first["tool_choice"]["type"] == "auto"
    assert second["tool_choice"] == {"type": "tool", "name": "two", "disable_parallel_tool_use": False}
    assert second["thinking"] == {"type": "disabled"}
    assert "output_config" not in second
    assert second["messages"][-2:] == [
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "sig"},
                {"type": "text", "text": "Why should I?"},
            ],
        },
        {"role": "user", "content": [{"type": "text", "text": second["messages"][-1]["content"][0]["text"]}]},
    ]
    assert "'two'" in second["messages"][-1]["content"][0]["text"]
    assert texts(played) == {
        (0, "reasoning"): "hm",
        (1, "message"): "Why should I?",
        (2, "tool_call"): '{"x":1}',
    }
    # The second flush of 0 is that of the thinking that was left out; it completes nothing.
    assert flushes(played) == [0, 1, 0, 2]


def test_one_follow_up_is_enough_when_it_was_forced() -> None:
    played = converse(forced(), answer(*TALK, *stop()), answer(*text_block(0, "No."), *stop()))
    assert len(played.bodies) == 2
    assert ends(played) == {"type": "finished", "reason": "completed"}
    assert texts(played)[2, "message"] == "No."


def test_a_model_that_always_thinks_is_asked_three_times() -> None:
    played = converse(forced(ALWAYS), *(answer(*TALK, *stop()) for _ in range(4)))
    assert len(played.bodies) == 4
    demands = [body["messages"][-1]["content"][0]["text"] for body in played.bodies[1:]]
    assert len(set(demands)) == 3
    assert all(body["tool_choice"]["type"] == "auto" for body in played.bodies)
    assert all(body["thinking"] == played.bodies[0]["thinking"] for body in played.bodies)
    assert ends(played) == {"type": "finished", "reason": "completed"}


def test_another_tool_ends_the_asking() -> None:
    played = converse(forced(choice=NamedTool("two")), answer(*call_block(0, "one"), *stop("tool_use")))
    assert len(played.bodies) == 1


def test_the_format_of_the_answer_stays_when_the_effort_goes() -> None:
    adaptive = model(max_output_tokens=8000, reasoning=Adaptive(True, True, True))
    asked = request(of=adaptive, tools=TWO_TOOLS, choice="required", schema={"type": "object"})
    played = converse(asked, answer(*TALK[:4], *stop()), answer(*call_block(0, "one"), *stop()))
    assert played.bodies[0]["output_config"].keys() == {"format", "effort"}
    assert played.bodies[1]["output_config"].keys() == {"format"}


@pytest.mark.parametrize("reason", ["refusal", "pause_turn"])
def test_other_ends_are_not_followed_up(reason: str) -> None:
    assert len(converse(forced(), answer(*TALK, *stop(reason))).bodies) == 1


# Stale thinking


HISTORY = (
    user("One"),
    thinks("a", anthropic_thinking_signature="s1"),
    says("x"),
    user("Two"),
    thinks("b", anthropic_thinking_signature="s2"),
    calls("c1"),
    returns("c1"),
    thinks("c", anthropic_thinking_signature="s3"),
    thinks("", anthropic_redacted_thinking="r3"),
    calls("c2"),
    returns("c2"),
)


def refusal(message: str, kind: str = "invalid_request_error", status: int = 400) -> Json:
    return answer({"type": "error", "error": {"type": kind, "message": message}}, status=status)


@pytest.mark.requirement("F18", "F15")
@pytest.mark.parametrize(
    ("message", "values"),
    [
        # Logical turns: 0 the user, 1 the assistant, 2 the user, 3 the assistant with both round trips.
        ("messages.1.content.0: Invalid `signature` in `thinking` block", ["s1"]),
        ("messages.1.content.0: `thinking` blocks cannot be modified", ["s1"]),
        ("messages.3.content.0: Invalid `signature` in `thinking` block", ["s2"]),
        ("messages.3.content.3: `thinking` blocks cannot be modified", ["s3", "r3"]),
        ("messages.3.content.4: Invalid `signature` in `thinking` block", ["s3", "r3"]),
        # Places that hold no thinking, or do not exist
        ("messages.9.content.0: `thinking` blocks cannot be modified", ["s3", "r3"]),
        ("messages.1.content.1: Invalid `signature` in `thinking` block", ["s1"]),
        ("messages.1.content.99: Invalid `signature` in `thinking` block", ["s1"]),
        ("`thinking` blocks in the latest message cannot be modified", ["s3", "r3"]),
        ("Invalid signature in thinking block", ["s1"]),
    ],
)
def test_stale_thinking_is_taken_out(message: str, values: list[str]) -> None:
    played = converse(request(*HISTORY), refusal(message))
    patch, finished = map(to_json, played.events)
    keys = {"s": "anthropic_thinking_signature", "r": "anthropic_redacted_thinking"}
    assert [tuple(each["match"].values()) for each in patch["patches"]] == [
        (keys[value[0]], value) for value in values
    ]
    assert finished == {"type": "finished", "reason": "retry"}
    assert len(played.bodies) == 1


@pytest.mark.requirement("F15")
@pytest.mark.parametrize(
    "response",
    [
        refusal("messages.0.content.0: thinking is too long"),
        refusal("Invalid signature"),
        refusal("Invalid signature in thinking block", kind="api_error"),
        refusal("Invalid signature in thinking block", status=422),
    ],
)
def test_other_refusals_are_failures(response: Json) -> None:
    assert ends(converse(request(*HISTORY), response))["type"] == "error"


@pytest.mark.requirement("F15")
def test_without_anything_to_take_out_the_refusal_is_reported() -> None:
    played = converse(request(), refusal("Invalid signature in thinking block"))
    assert ends(played) == {"type": "error", "kind": "malformed", "retryable": False, "retry_after": None}

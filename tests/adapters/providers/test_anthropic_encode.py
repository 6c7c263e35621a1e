"""Anthropic requests beyond what the recordings hold."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.conversation.event import ChatRequest, MessageResponse, StructuredResponse
from jp_lsp.conversation.thread import BinaryAttachment, TextAttachment
from jp_lsp.ports.provider import Adaptive, Budgetted, CachePolicy, Effort, Leveled, ModelDetails, Unsupported
from jp_lsp.providers.anthropic.encode import EncodedRequest, encode
from jp_lsp.providers.anthropic.structured import transform
from jp_lsp.providers.anthropic.thinking import generation_of
from jp_lsp.providers.continuation import CONTINUE
from jp_lsp.providers.schema import types_of
from jp_lsp.tools.definition import NamedTool, Parameter
from tests.adapters.providers.making import calls, event, model, request, returns, says, thinks, tool, user

BUDGETTED = Budgetted(True, 1024)
ADAPTIVE = Adaptive(True, True, True)
INTERLEAVED = "interleaved-thinking-2025-05-14"
HELLO = {"role": "user", "content": [{"type": "text", "text": "Hello"}]}


def claude(name: str = "claude-haiku-4-5", reasoning: Any = BUDGETTED, **details: Any) -> ModelDetails:
    return model(f"anthropic/{name}", reasoning=reasoning, max_output_tokens=8000, **details)


def encoded(*events: Any, beta: tuple[str, ...] = (), **options: Any) -> EncodedRequest:
    options.setdefault("of", claude())
    options.setdefault("cache", CachePolicy(0))
    return encode(request(*events, **options), beta)


def messages(*events: Any, **options: Any) -> Any:
    return encoded(*events, **options).body["messages"]


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def assistant(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


# Messages


def test_neighbours_of_one_role_share_a_message() -> None:
    use = {"type": "tool_use", "id": "a", "name": "run", "input": {"x": 1}}
    result = {"type": "tool_result", "tool_use_id": "a", "content": "", "is_error": True}
    assert messages(
        user("Hello"),
        says("Look."),
        calls("a", "run", x=1),
        returns("a", "", is_error=True),
        user("And?"),
        event(StructuredResponse({"a": [1]})),
        user("Hello"),
    ) == [
        HELLO,
        assistant(text("Look."), use),
        {"role": "user", "content": [result, text("And?")]},
        assistant(text('{"a":[1]}')),
        HELLO,
    ]


@pytest.mark.parametrize("blank", ["", "  \n"])
def test_blank_texts_are_left_out(blank: str) -> None:
    assert messages(user("Hello"), says(blank), thinks(blank), user(blank)) == [HELLO]


@pytest.mark.requirement("R29", "F18")
def test_our_own_thinking_goes_back_as_it_came() -> None:
    signed = {"type": "thinking", "thinking": "hm", "signature": "s1"}
    empty = {"type": "thinking", "thinking": "", "signature": "s2"}
    redacted = {"type": "redacted_thinking", "data": "opaque"}
    assert messages(
        user("Hello"),
        thinks("hm", anthropic_thinking_signature="s1"),
        thinks("", anthropic_redacted_thinking="opaque"),
        thinks("", anthropic_thinking_signature="s2"),
        says("x"),
        user("Hello"),
    )[1] == assistant(signed, redacted, empty, text("x"))


def test_other_thinking_goes_as_text() -> None:
    foreign = thinks("hm", provider="openrouter", anthropic_thinking_signature="s1")
    unsigned = thinks("so", anthropic_thinking_signature="")
    hidden = thinks("", provider="openrouter", anthropic_redacted_thinking="opaque")
    assert messages(user("Hello"), foreign, unsigned, hidden, says("x"), user("Hello"))[1] == assistant(
        text("<think>\nhm\n</think>\n\n"), text("<think>\nso\n</think>\n\n"), text("x")
    )


def test_metadata_of_other_vendors_is_never_sent() -> None:
    said = event(MessageResponse("x"), openai_item_id="secret", google_thought_signature="secret")
    assert "secret" not in repr(messages(user("Hello"), said, user("Hello")))


def test_call_ids_are_made_fit_and_unique() -> None:
    sent: Any = messages(
        user("Hello"), calls("a.b/1"), calls("a_b_1"), calls(""), returns("a_b_1"), returns("a.b/1"), returns(""),
        calls("a.b/1"), returns("a.b/1", "again"), returns("never asked"),
    )  # fmt: skip
    uses = [block["id"] for message in sent for block in message["content"] if block["type"] == "tool_use"]
    results = [
        block["tool_use_id"]
        for message in sent
        for block in message["content"]
        if block["type"] == "tool_result"
    ]
    assert uses == ["a_b_1", "a_b_1_2", "call", "a_b_1_3"]
    assert results == ["a_b_1_2", "a_b_1", "call", "a_b_1_3", "never_asked"]


def test_answers_to_one_id_belong_to_its_requests_in_order() -> None:
    sent: Any = messages(user("Hello"), calls("x"), calls("x"), returns("x", "first"), returns("x", "second"))
    assert [block["id"] for block in sent[1]["content"]] == ["x", "x_2"]
    assert [(b["tool_use_id"], b["content"]) for b in sent[2]["content"]] == [
        ("x", "first"),
        ("x_2", "second"),
    ]


def test_attachments_stand_before_the_first_words() -> None:
    attachments = [
        TextAttachment("notes", "words", "What it is"),
        BinaryAttachment("p.pdf", b"\x01", "application/pdf"),
        BinaryAttachment("i.webp", b"\x02", "image/webp"),
        BinaryAttachment("s.mp3", b"\x03", "audio/mpeg"),
    ]
    result = encoded(user("Hello"), attachments=attachments)
    sent: Any = result.body["messages"]
    assert sent[0]["content"] == [
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "words"},
            "title": "notes",
            "context": "What it is",
        },
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "AQ=="},
            "title": "p.pdf",
        },
        {
            "type": "document",
            "source": {
                "type": "content",
                "content": [
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/webp", "data": "Ag=="},
                    }
                ],
            },
            "title": "i.webp",
        },
        text("Hello"),
    ]
    assert result.warnings == ("anthropic takes no audio/mpeg: attachment 's.mp3' was left out",)


def test_a_title_has_as_many_characters_as_the_api_takes() -> None:
    sources = ["s" * 500, "s" * 501]
    sent = messages(user("Hello"), attachments=[TextAttachment(source, "b") for source in sources])
    assert [block.get("title") for block in sent[0]["content"]] == ["s" * 500, "s" * 499 + "…", None]


def test_an_attachment_needs_no_words() -> None:
    sent = messages(user(""), attachments=[TextAttachment("a", "b")])
    assert [block["type"] for block in sent[0]["content"]] == ["document"]


# Trap 65, in the second cycle of such a turn: results must stand right behind their calls.
def test_an_attachment_without_words_stays_in_front_of_the_calls() -> None:
    sent = messages(user(""), calls("a"), returns("a"), attachments=[TextAttachment("a", "b")])
    kinds = [(message["role"], [block["type"] for block in message["content"]]) for message in sent]
    assert kinds == [("user", ["document"]), ("assistant", ["tool_use"]), ("user", ["tool_result"])]


def test_system_parts_are_blocks() -> None:
    assert "system" not in encoded().body
    assert encoded(system=["One", " ", "Two"]).body["system"] == [text("One"), text("Two")]


# Going on


@pytest.mark.requirement("F17", "R180", "R185", "R214")
@pytest.mark.parametrize("prefill", [None, False])
def test_models_without_prefill_are_asked_to_go_on(prefill: bool | None) -> None:
    result = encoded(user("Hello"), says("Half a sen "), of=claude("claude-opus-4-6", prefill=prefill))
    assert result.body["messages"] == [
        HELLO,
        assistant(text("Half a sen ")),
        {"role": "user", "content": [text(CONTINUE)]},
    ]
    assert result.body["thinking"] != {"type": "disabled"}


@pytest.mark.requirement("F17")
def test_models_with_prefill_write_on_without_thinking() -> None:
    result = encoded(
        user("Hello"),
        says("Half a sen \n"),
        of=claude("claude-sonnet-4-5", prefill=True),
        reasoning=Effort("high"),
    )
    assert result.body["messages"] == [HELLO, assistant(text("Half a sen"))]
    assert result.body["thinking"] == {"type": "disabled"}


@pytest.mark.requirement("F18", "F05")
@pytest.mark.parametrize("prefill", [True, False])
def test_thinking_in_the_open_message_becomes_text(prefill: bool) -> None:
    sent = messages(
        user("Hello"),
        thinks("hm", anthropic_thinking_signature="s"),
        thinks("", anthropic_redacted_thinking="opaque"),
        says("Half"),
        of=claude(prefill=prefill),
    )
    assert sent[1] == assistant(text("<think>\nhm\n</think>\n\n"), text("Half"))


@pytest.mark.requirement("F18")
def test_thinking_before_a_tool_round_trip_stays_native() -> None:
    sent = messages(
        user("Hello"),
        thinks("hm", anthropic_thinking_signature="s"),
        calls("a"),
        returns("a"),
        of=claude(prefill=False),
    )
    assert sent[1]["content"][0] == {"type": "thinking", "thinking": "hm", "signature": "s"}
    assert sent[-1]["role"] == "user"


@pytest.mark.requirement("F05")
def test_thinking_that_broke_off_is_plain_text() -> None:
    sent = messages(user("Hello"), thinks("Plan: look at the lock"), of=claude(prefill=False))
    assert sent[1] == assistant(text("<think>\nPlan: look at the lock\n</think>\n\n"))
    assert sent[2]["role"] == "user"


def test_nothing_left_to_continue_asks_for_nothing() -> None:
    hidden = thinks("", anthropic_redacted_thinking="opaque")
    assert messages(user("Hello"), hidden, of=claude(prefill=True)) == [HELLO]


# Thinking


@pytest.mark.parametrize(
    ("reasoning", "wish", "field", "effort"),
    [
        (BUDGETTED, None, {"budget_tokens": 4000}, None),
        (BUDGETTED, Effort("low"), {"budget_tokens": 1600}, None),
        (BUDGETTED, Effort("xlow"), {"budget_tokens": 1024}, None),
        (BUDGETTED, Effort("max"), {"budget_tokens": 7999}, None),
        (BUDGETTED, Effort(99999), {"budget_tokens": 7999}, None),
        (Budgetted(True, 1024, 3000), Effort("high"), {"budget_tokens": 3000}, None),
        (BUDGETTED, "off", "disabled", None),
        (Budgetted(False, 1024), "off", None, None),
        (ADAPTIVE, None, "adaptive", "high"),
        (ADAPTIVE, "auto", "adaptive", "high"),
        (ADAPTIVE, Effort("auto"), "adaptive", None),
        (ADAPTIVE, Effort("max"), "adaptive", "max"),
        (ADAPTIVE, Effort("xhigh"), "adaptive", "xhigh"),
        (ADAPTIVE, Effort("medium"), "adaptive", "medium"),
        (ADAPTIVE, Effort("xlow"), "adaptive", "low"),
        (ADAPTIVE, Effort("none"), "adaptive", "low"),
        (ADAPTIVE, Effort(7900), "adaptive", "max"),
        (Adaptive(True, True, False), Effort("max"), "adaptive", "xhigh"),
        (Adaptive(True, False, False), Effort("max"), "adaptive", "high"),
        (Adaptive(True, False, True), Effort("xhigh"), "adaptive", "high"),
        (Leveled(True, frozenset({"low", "xhigh"})), Effort("max"), "adaptive", "xhigh"),
        (ADAPTIVE, "off", "disabled", None),
        (Adaptive(False, True, True), "off", None, None),
        (None, None, None, None),
        (None, "auto", "adaptive", None),
        (None, Effort("max"), "adaptive", "max"),
        (None, "off", "disabled", None),
        (Unsupported(), Effort("high"), None, None),
        (Unsupported(), "off", None, None),
    ],
)
def test_how_much_to_think(reasoning: Any, wish: Any, field: Any, effort: str | None) -> None:
    body = encoded(of=claude(reasoning=reasoning), reasoning=wish).body
    if field == "adaptive":
        field = {"type": "adaptive", "display": "summarized"}
    elif isinstance(field, dict):
        field = {"type": "enabled", **field, "display": "summarized"}
    elif field:
        field = {"type": field}
    assert body.get("thinking") == field
    assert body.get("output_config") == ({"effort": effort} if effort else None)


def test_lowered_efforts_are_named() -> None:
    result = encoded(of=claude(reasoning=Adaptive(True, False, False)), reasoning=Effort("max"))
    assert result.warnings == ("anthropic/claude-haiku-4-5 has no effort 'max': 'high' is used",)


def test_without_room_there_is_no_thinking() -> None:
    result = encoded(max_tokens=1024)
    assert result.body["thinking"] == {"type": "disabled"}
    assert result.warnings == ("1024 output tokens leave no room for thinking: it is switched off",)
    assert "thinking" not in encoded(of=claude(reasoning=Budgetted(False, 1024)), max_tokens=1000).body


def test_interleaved_thinking_may_take_the_whole_window() -> None:
    wide = claude(context_window=200_000, features=frozenset({"interleaved-thinking"}))
    with_beta: Any = encoded(of=wide, reasoning=Effort(50_000), beta=(INTERLEAVED,)).body
    without: Any = encoded(of=wide, reasoning=Effort(50_000)).body
    assert with_beta["thinking"]["budget_tokens"] == 50_000
    assert without["thinking"]["budget_tokens"] == 7999


def test_an_unknown_output_limit_is_named() -> None:
    result = encoded(of=model("anthropic/claude-new-9", reasoning=Unsupported()))
    assert result.body["max_tokens"] == 2048
    assert result.warnings == (
        "the output limit of anthropic/claude-new-9 is not known: 2048 tokens are used",
    )


@pytest.mark.parametrize(
    ("name", "wish", "given", "sent"),
    [
        ("claude-haiku-4-5", "off", {"temperature": 0.5, "top_k": 9}, {"temperature": 0.5, "top_k": 9}),
        ("claude-haiku-4-5", "off", {"temperature": 0.5, "top_p": 0.9}, {"temperature": 0.5}),
        (
            "claude-3-5-haiku-20241022",
            "off",
            {"temperature": 0.5, "top_p": 0.9},
            {"temperature": 0.5, "top_p": 0.9},
        ),
        ("claude-haiku-4-5", None, {"temperature": 0.5}, {}),
        ("claude-haiku-4-5", None, {"temperature": 1.0, "top_k": 9}, {"temperature": 1.0}),
        ("claude-haiku-4-5", None, {"top_p": 0.94}, {}),
        ("claude-haiku-4-5", None, {"top_p": 0.95}, {"top_p": 0.95}),
        ("claude-opus-4-7", "off", {"temperature": 1.0, "top_p": 1.0, "top_k": 1}, {}),
        ("claude-opus-5-5-20270101", "off", {"temperature": 0.5}, {}),
    ],
)
def test_sampling_that_is_refused_is_left_out(name: str, wish: Any, given: Any, sent: Any) -> None:
    result = encoded(of=claude(name), reasoning=wish, **given)
    names = ("temperature", "top_p", "top_k")
    assert {key: result.body[key] for key in names if key in result.body} == sent
    assert len(result.warnings) == len(given) - len(sent)


def test_stop_words_are_sent() -> None:
    assert encoded(stop_words=("END", " .")).body["stop_sequences"] == ["END", " ."]


def test_stop_words_that_the_api_refuses_are_left_out() -> None:
    result = encoded(stop_words=("\n\n", "", "END"))
    assert result.body["stop_sequences"] == ["END"]
    assert result.warnings == ("anthropic takes no stop words of blanks only: they were left out",)
    assert "stop_sequences" not in encoded(stop_words=("\n",)).body


@pytest.mark.parametrize(
    ("name", "generation"),
    [
        ("claude-opus-4-7", (4, 7)),
        ("claude-opus-4-1-20250805", (4, 1)),
        ("claude-sonnet-4-20250514", (4, 0)),
        ("claude-fable-5", (5, 0)),
        ("claude-3-5-sonnet-20241022", (0, 0)),
        ("other", (0, 0)),
    ],
)
def test_generations(name: str, generation: tuple[int, int]) -> None:
    assert generation_of(name) == generation


# Tools

TOOLS = [tool("one", path=Parameter("string", required=True)), tool("two")]


def test_tools() -> None:
    body = encoded(tools=TOOLS, reasoning="off").body
    assert body["tools"] == [
        {
            "type": "custom",
            "name": "one",
            "description": "Runs one.",
            "input_schema": {
                "type": "object",
                "properties": {"path": {"type": "string"}},
                "required": ["path"],
            },
        },
        {
            "type": "custom",
            "name": "two",
            "description": "Runs two.",
            "input_schema": {"type": "object", "properties": {}},
        },
    ]


def test_tools_are_strict_only_with_the_beta_and_the_model() -> None:
    beta = ("structured-outputs-2025-10-27",)
    able = claude(structured_output=True)
    strict: Any = encoded(tools=TOOLS, of=able, beta=beta).body["tools"]
    assert strict[0]["strict"] is True
    assert strict[0]["input_schema"]["additionalProperties"] is False
    for details, headers in ((able, ()), (claude(), beta)):
        plain: Any = encoded(tools=TOOLS, of=details, beta=headers).body["tools"]
        assert "strict" not in plain[0]
        assert "additionalProperties" not in plain[0]["input_schema"]


@pytest.mark.parametrize(
    ("choice", "field"),
    [
        ("auto", {"type": "auto", "disable_parallel_tool_use": False}),
        ("required", {"type": "any", "disable_parallel_tool_use": False}),
        ("none", {"type": "none"}),
        (NamedTool("two"), {"type": "tool", "name": "two", "disable_parallel_tool_use": False}),
    ],
)
def test_tool_choices_without_thinking(choice: Any, field: Any) -> None:
    result = encoded(tools=TOOLS, choice=choice, reasoning="off")
    assert result.body["tool_choice"] == field
    assert result.owed is None


def test_a_single_tool_is_not_named() -> None:
    body: Any = encoded(tools=TOOLS[:1], choice=NamedTool("one"), reasoning="off").body
    assert body["tool_choice"]["type"] == "any"


def test_a_choice_without_tools_is_not_sent() -> None:
    assert "tool_choice" not in encoded(choice="required").body


@pytest.mark.parametrize(
    ("reasoning", "wish", "is_owed"),
    [(BUDGETTED, None, True), (BUDGETTED, "off", False), (None, "off", True), (None, None, True),
     (Adaptive(False, True, True), "off", True), (Unsupported(), None, False)],
)  # fmt: skip
def test_thinking_models_are_nudged_instead_of_forced(reasoning: Any, wish: Any, is_owed: bool) -> None:
    result = encoded(
        tools=TOOLS, choice=NamedTool("two"), of=claude(reasoning=reasoning), reasoning=wish, system=["S"]
    )
    body: Any = result.body
    assert body["tool_choice"]["type"] == ("auto" if is_owed else "tool")
    assert (result.owed is not None) is is_owed
    assert len(body["system"]) == 1 + is_owed
    if is_owed:
        assert body["system"][1]["text"].startswith("IMPORTANT: You MUST use the function named 'two'")


# Cache marks

MARK = {"type": "ephemeral", "ttl": "5m"}


def marks(body: Any) -> list[str]:
    """Say where marks are."""
    found = [
        f"message {block['type']}"
        for m in body["messages"]
        for block in m["content"]
        if "cache_control" in block
    ]
    found += [f"system {i}" for i, block in enumerate(body.get("system", [])) if "cache_control" in block]
    found += [f"tool {block['name']}" for block in body.get("tools", []) if "cache_control" in block]
    return [*found, *(["request"] if "cache_control" in body else [])]


def marked(said: str) -> Any:
    return event(ChatRequest(said), cache_breakpoint=True)


@pytest.mark.requirement("F22")
@pytest.mark.parametrize(
    ("events", "cache", "expected"),
    [
        ([], 300, ["message document", "system 3", "tool t11", "request"]),
        ([], 0, []),
        ([marked("a")], 300, ["message document", "message text", "system 3"]),
        ([marked("a")], 0, []),
        ([marked("a"), says("x"), marked("b")], 300, ["message document", "message text", "message text"]),
        ([marked(str(i)) for i in range(6)], 300, ["message text"] * 3),
    ],
)
def test_there_are_never_more_than_four_marks(events: Any, cache: int, expected: list[str]) -> None:
    history = [user("q"), says("a")] * 6
    body = encoded(
        *history,
        *events,
        user("Hello"),
        system=["1", "2", "3", "4"],
        attachments=[TextAttachment(f"a{i}", "x") for i in range(3)],
        tools=[tool(f"t{i}") for i in range(12)],
        cache=CachePolicy(cache),
    ).body
    assert marks(body) == expected


@pytest.mark.parametrize(
    ("seconds", "ttl"), [(1, "5m"), (300, "5m"), (1799, "5m"), (1800, "1h"), (3600, "1h")]
)
def test_how_long_the_cache_lives(seconds: int, ttl: str) -> None:
    assert encoded(cache=CachePolicy(seconds)).body["cache_control"] == {"type": "ephemeral", "ttl": ttl}


def test_what_comes_and_goes_carries_no_mark() -> None:
    body = encoded(
        system=["S"],
        tools=TOOLS,
        choice="required",
        schema={"type": "object"},
        of=claude(structured_output=False),
        cache=CachePolicy(300),
    ).body
    assert marks(body) == ["system 0", "tool two", "request"]
    assert len(list(body["system"])) == 3  # type: ignore[arg-type]


@pytest.mark.requirement("F26")
def test_the_standing_part_is_the_same_in_every_request() -> None:
    def standing(*events: Any) -> str:
        body = encoded(*events, system=["S"], tools=TOOLS, cache=CachePolicy(300)).body
        return repr((body["system"], body["tools"]))

    assert standing(user("a")) == standing(user("a"), says("b"), user("c"))


# Betas and schemas


def test_context_management_needs_its_beta() -> None:
    beta = ("context-editing-2025-06-27",)
    mine = {"edits": [{"type": "x"}]}
    assert "context_management" not in encoded(other={"context_management": mine}).body
    assert encoded(other={"context_management": mine}, beta=beta).body["context_management"] == mine
    assert encoded(beta=beta).body["context_management"] == {"edits": [{"type": "clear_tool_uses_20250919"}]}


def test_format_and_effort_share_a_member() -> None:
    body = encoded(of=claude(reasoning=ADAPTIVE), schema={"type": "object"}).body
    assert body["output_config"] == {
        "format": {"type": "json_schema", "schema": {"type": "object", "additionalProperties": False}},
        "effort": "high",
    }


def test_a_model_that_cannot_enforce_a_schema_is_asked_in_words() -> None:
    result = encoded(of=claude(reasoning=Unsupported(), structured_output=False), schema={"type": "object"})
    assert "output_config" not in result.body
    assert "JSON schema" in repr(result.body["system"])
    assert result.warnings == (
        "anthropic/claude-haiku-4-5 cannot enforce a schema: it is only asked to keep to it",
    )


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (
            {"type": "string", "pattern": "^a", "minLength": 2, "format": "date", "description": "D"},
            {"type": "string", "format": "date", "description": "D\n\n{pattern: ^a, minLength: 2}"},
        ),
        ({"type": "string", "format": "regex"}, {"type": "string", "description": "{format: regex}"}),
        (
            {"type": "array", "minItems": 1, "maxItems": 1, "items": {"type": "integer", "minimum": 0}},
            {
                "type": "array",
                "minItems": 1,
                "items": {"type": "integer", "description": "{minimum: 0}"},
                "description": "{maxItems: 1}",
            },
        ),
        ({"type": "array", "minItems": 2}, {"type": "array", "description": "{minItems: 2}"}),
        ({"type": "array", "minItems": []}, {"type": "array", "description": "{minItems: []}"}),
        (
            {"oneOf": [{"type": "object", "additionalProperties": {"type": "string"}}, {"const": 1}]},
            {"anyOf": [{"type": "object", "additionalProperties": False}, {"const": 1}]},
        ),
        ({"anyOf": [{"const": 1}], "oneOf": [{"const": 2}]}, {"anyOf": [{"const": 1}, {"const": 2}]}),
        ({"enum": ["a"], "default": "a", "title": "T"}, {"enum": ["a"], "default": "a", "title": "T"}),
        ({"$ref": "#/$defs/x", "description": "gone"}, {"$ref": "#/$defs/x"}),
        (
            {"$defs": {"x": {"type": "object", "properties": {"a": {"maximum": 3}}, "required": ["a"]}}},
            {
                "$defs": {
                    "x": {
                        "type": "object",
                        "properties": {"a": {"description": "{maximum: 3}"}},
                        "required": ["a"],
                        "additionalProperties": False,
                    }
                }
            },
        ),
        ({}, {}),
    ],
)
def test_schemas_are_made_fit(schema: Any, expected: Any) -> None:
    assert transform(schema) == expected


_SCHEMAS = st.recursive(
    st.fixed_dictionaries({"type": st.sampled_from(["string", "object", "array", "integer"])}),
    lambda inner: (
        st.dictionaries(
            st.sampled_from(["items", "additionalProperties", "not", "format", "minItems", "x"]),
            inner,
            max_size=3,
        )
        | st.builds(lambda a: {"type": "object", "properties": {"a": a}}, inner)
        | st.builds(lambda a: {"anyOf": [a]}, inner)
    ),
    max_leaves=8,
)


@given(schema=_SCHEMAS)
def test_every_object_of_a_schema_is_closed(schema: Any) -> None:
    def check(node: Any) -> None:
        if isinstance(node, dict):
            if "object" in types_of(node) or "properties" in node:
                assert node["additionalProperties"] is False
            for value in node.values():
                check(value)
        elif isinstance(node, list):
            for value in node:
                check(value)

    check(transform(schema))


def test_what_is_given_is_not_changed() -> None:
    asked = request(
        user("Hello"),
        calls("a", x=1),
        returns("a"),
        attachments=[TextAttachment("a", "b")],
        tools=TOOLS,
        system=["S"],
    )
    before = repr(asked)
    one, other = (
        encode(asked),
        encode(replace(asked, parameters=replace(asked.parameters, cache=CachePolicy(0)))),
    )
    assert repr(asked) == before
    assert marks(one.body)
    assert not marks(other.body)

"""Cerebras, DeepSeek and xAI: what differs from the rest of the family, beyond the recordings."""

from typing import Any

import pytest

from jp_lsp.conversation.thread import BinaryAttachment
from jp_lsp.ports.provider import CycleRequest, Effort, Leveled, ModelDetails, Unsupported
from jp_lsp.providers.chat import cerebras, deepseek, xai
from jp_lsp.providers.chat.encode import EncodedRequest, encode
from jp_lsp.providers.chat.response_schema import closed_schema
from jp_lsp.tools.definition import NamedTool
from tests.adapters.providers.making import (
    calls,
    model,
    request,
    returns,
    says,
    short_name,
    thinks,
    tool,
    user,
)
from tests.adapters.providers.recorded_events import to_json
from tests.adapters.providers.replay import EXCHANGES, Json, play, whole
from tests.adapters.providers.server_tools import SERVER_TOOL

DIALECTS = {"cerebras": cerebras.DIALECT, "deepseek": deepseek.DIALECT, "xai": xai.DIALECT}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


def encoded(asked: CycleRequest) -> EncodedRequest:
    return encode(asked, DIALECTS[asked.model.id.provider])


def body(*events: Any, of: ModelDetails, **options: Any) -> Any:
    return encoded(request(*events, of=of, **options)).body


def leveled(*levels: Any, can_disable: bool = False) -> Leveled:
    return Leveled(can_disable, frozenset(levels))


OSS = model("cerebras/gpt-oss-120b", reasoning=leveled("low", "medium", "high"))
GLM = model("cerebras/zai-glm-4.7", reasoning=leveled(can_disable=True))
V4 = model("deepseek/deepseek-v4-pro", reasoning=leveled("low", "high", "max", can_disable=True))
GROK_45 = model("xai/grok-4.5", reasoning=leveled("low", "medium", "high"), features=frozenset({"no_stop"}))
GROK_43 = model("xai/grok-4.3", reasoning=leveled("low", "medium", "high", can_disable=True))
GROK_4 = model("xai/grok-4", reasoning=leveled(), features=frozenset({"no_stop"}))
GROK_3 = model("xai/grok-3", reasoning=Unsupported())


# Thinking


ENABLED, DISABLED = {"type": "enabled"}, {"type": "disabled"}
PARSED = {"reasoning_format": "parsed"}


@pytest.mark.parametrize(
    ("of", "wish", "fields"),
    [
        (OSS, None, {**PARSED, "reasoning_effort": "medium"}),
        (OSS, "off", PARSED),
        (OSS, Effort("max"), {**PARSED, "reasoning_effort": "high"}),
        (OSS, Effort("xlow"), {**PARSED, "reasoning_effort": "low"}),
        (OSS, Effort(10_000), {**PARSED, "reasoning_effort": "medium"}),
        (GLM, "off", {**PARSED, "reasoning_effort": "none"}),
        (GLM, None, PARSED),
        (GLM, Effort("high"), PARSED),
        (GLM, Effort("none"), {**PARSED, "reasoning_effort": "none"}),
        (model("cerebras/new"), "off", {**PARSED, "reasoning_effort": "none"}),
        (model("cerebras/new"), None, PARSED),
        (model("cerebras/new"), "auto", PARSED),
        (model("cerebras/old", reasoning=Unsupported()), "off", {}),
        (V4, None, {"thinking": ENABLED, "reasoning_effort": "high"}),
        (V4, "off", {"thinking": DISABLED}),
        (V4, Effort("none"), {"thinking": DISABLED}),
        (V4, Effort("xlow"), {"thinking": ENABLED, "reasoning_effort": "low"}),
        (V4, Effort("xhigh"), {"thinking": ENABLED, "reasoning_effort": "high"}),
        (V4, Effort("max"), {"thinking": ENABLED, "reasoning_effort": "max"}),
        (V4, Effort(500), {"thinking": ENABLED}),
        (model("deepseek/new"), None, {}),
        (model("deepseek/new"), "auto", {"thinking": ENABLED}),
        (GROK_45, None, {"reasoning_effort": "medium"}),
        (GROK_45, "off", {"reasoning_effort": "low"}),
        (GROK_45, Effort("max"), {"reasoning_effort": "high"}),
        (GROK_43, "off", {"reasoning_effort": "none"}),
        (GROK_43, Effort("auto"), {}),
        (GROK_4, Effort("high"), {}),
        (GROK_3, "off", {}),
        (model("xai/new"), Effort("high"), {}),
    ],
    ids=short_name,
)
def test_efforts(of: ModelDetails, wish: Any, fields: dict[str, Any]) -> None:
    made = body(of=of, reasoning=wish)
    common = {"model", "messages", "stream", "stream_options"}
    assert {name: value for name, value in made.items() if name not in common} == fields


@pytest.mark.parametrize(
    ("of", "wish", "is_told"),
    [
        (GROK_4, Effort("high"), True),
        (model("xai/new"), Effort("high"), True),
        (GROK_45, Effort("high"), False),
        (GROK_4, "auto", False),
        (GROK_4, None, False),
    ],
    ids=short_name,
)
def test_a_wish_that_counts_for_nothing_is_told(of: ModelDetails, wish: Any, is_told: bool) -> None:
    sentence = f"{of.id} is not known to take an effort: the reasoning setting was left out"
    assert encoded(request(of=of, reasoning=wish)).warnings == ((sentence,) if is_told else ())


# History


def test_earlier_thoughts_have_each_vendors_name() -> None:
    events = [user("Hello"), thinks("hm"), says("Hi"), user("More")]
    for of, member in ((OSS, "reasoning"), (V4, "reasoning_content"), (GROK_45, "reasoning_content")):
        (_, said, _) = body(*events, of=of)["messages"]
        assert said == {"role": "assistant", "content": "Hi", member: "hm"}


# The vendor refuses a turn with calls that has no thoughts, and other vendors' turns have none.
def test_deepseek_gets_a_place_for_thoughts_with_every_call() -> None:
    (_, said, _) = body(user("Hello"), calls("c1"), returns("c1"), of=V4)["messages"]
    assert said["reasoning_content"] == ""
    (_, said, _) = body(user("Hello"), calls("c1"), returns("c1"), of=GROK_4)["messages"]
    assert "reasoning_content" not in said


# Trap 63.
@pytest.mark.parametrize(("of", "is_sent"), [(OSS, False), (V4, False), (GROK_4, True)], ids=short_name)
def test_images_go_where_they_are_understood(of: ModelDetails, is_sent: bool) -> None:
    made = encoded(request(of=of, attachments=[BinaryAttachment("a.png", b"x", "image/png")]))
    assert ("image_url" in str(made.body)) is is_sent
    vendor = of.id.provider
    sentence = f"{vendor} takes no image/png: attachment 'a.png' was left out"
    assert made.warnings == (() if is_sent else (sentence,))


# Settings


SETTINGS: Any = {"max_tokens": 9, "temperature": 0.5, "top_p": 0.9, "top_k": 3, "stop_words": ("END",)}


@pytest.mark.parametrize(
    ("of", "wish", "sent", "refused"),
    [
        (
            OSS,
            None,
            {"max_completion_tokens": 9, "temperature": 0.5, "top_p": 0.9, "stop": ["END"]},
            ["cerebras takes no top_k"],
        ),
        (
            model("cerebras/shy", features=frozenset({"no_temperature", "no_stop"})),
            None,
            {"max_completion_tokens": 9, "top_p": 0.9},
            [
                "cerebras/shy takes no temperature",
                "cerebras takes no top_k",
                "cerebras/shy takes no stop words",
            ],
        ),
        (
            V4,
            "off",
            {"max_tokens": 9, "temperature": 0.5, "top_p": 0.9, "stop": ["END"]},
            ["deepseek takes no top_k"],
        ),
        (
            V4,
            None,
            {"max_tokens": 9, "stop": ["END"]},
            [
                "deepseek/deepseek-v4-pro takes no temperature while it thinks",
                "deepseek/deepseek-v4-pro takes no top_p while it thinks",
                "deepseek takes no top_k",
            ],
        ),
        (
            GROK_4,
            None,
            {"max_tokens": 9, "temperature": 0.5, "top_p": 0.9},
            ["xai takes no top_k", "xai/grok-4 takes no stop words"],
        ),
        (
            GROK_3,
            None,
            {"max_tokens": 9, "temperature": 0.5, "top_p": 0.9, "stop": ["END"]},
            ["xai takes no top_k"],
        ),
    ],
    ids=short_name,
)
def test_settings(of: ModelDetails, wish: Any, sent: Json, refused: list[str]) -> None:
    made = encoded(request(of=of, reasoning=wish, **SETTINGS))
    names = {"max_tokens", "max_completion_tokens", "temperature", "top_p", "top_k", "stop"}
    assert {name: value for name, value in made.body.items() if name in names} == sent
    assert made.warnings == tuple(f"{sentence}: the setting was left out" for sentence in refused)


# Trap 67.
def test_usage_is_asked_for_where_that_is_understood() -> None:
    assert "stream_options" not in body(of=OSS)
    assert body(of=V4)["stream_options"] == {"include_usage": True}
    assert body(of=GROK_4)["stream_options"] == {"include_usage": True}


# Tools and schemas


@pytest.mark.requirement("F23")
@pytest.mark.parametrize("of", [OSS, V4, GROK_4], ids=short_name)
def test_tools_are_loose(of: ModelDetails) -> None:
    made = body(of=of, tools=[SERVER_TOOL, tool("run")], choice=NamedTool("run"))
    assert made["tool_choice"] == {"type": "function", "function": {"name": "run"}}
    (server, run) = (entry["function"] for entry in made["tools"])
    assert "strict" not in run
    assert server["parameters"]["required"] == ["tags", "mode"]
    assert server["parameters"]["properties"]["tags"]["items"] == {"$ref": "#/$defs/Tag"}


def test_schemas() -> None:
    closed = {**SCHEMA, "additionalProperties": False}
    sent = body(of=OSS, schema=SCHEMA)["response_format"]["json_schema"]
    assert sent == {"name": "structured_output", "schema": closed, "strict": True}
    assert body(of=GROK_4, schema=SCHEMA)["response_format"]["json_schema"]["schema"] == SCHEMA


@pytest.mark.parametrize("structured", [None, False])
def test_deepseek_is_asked_for_json_in_words(structured: bool | None) -> None:
    made = encoded(
        request(of=model("deepseek/x", structured_output=structured), schema=SCHEMA, system=["Be kind."])
    )
    assert made.body["response_format"] == {"type": "json_object"}
    sent: Any = made.body["messages"]
    kind, words, _ = sent
    assert kind == {"role": "system", "content": "Be kind."}
    assert '"required":["a"]' in words["content"]
    assert made.warnings == ("deepseek/x cannot enforce a schema: it is only asked to keep to it",)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 1},
         {"type": "array", "items": {"type": "string"}, "description": "{minItems: 1, maxItems: 1}"}),
        ({"type": "object", "properties": {"a": {"type": "string", "pattern": "x", "description": "A."}}},
         {"type": "object", "properties": {"a": {"type": "string", "description": "A.\n\n{pattern: x}"}},
          "required": ["a"], "additionalProperties": False}),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer", "minimum": 1, "format": "int32"}}},
         {"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer", "minimum": 1, "description": "{format: int32}"}}}),
        ({"anyOf": [{"const": 1}, {"enum": ["a"], "default": "a", "title": "T"}], "$schema": "s"},
         {"anyOf": [{"const": 1}, {"enum": ["a"], "default": "a", "title": "T"}]}),
        ({"type": "object"}, {"type": "object", "required": [], "additionalProperties": False}),
        ({}, {}),
    ],
)  # fmt: skip
def test_closed_schemas(schema: Json, expected: Json) -> None:
    assert closed_schema(schema) == expected


# Errors


@pytest.mark.requirement("R52", "R57", "R58", "R59", "F13")
@pytest.mark.parametrize(
    ("vendor", "status", "text", "kind", "message"),
    [
        (
            "cerebras",
            401,
            '{"message":"Wrong API Key","type":"invalid_request_error","code":"wrong_api_key"}',
            "auth",
            "Wrong API Key (HTTP 401)",
        ),
        (
            "deepseek",
            402,
            '{"error":{"message":"Insufficient Balance","type":"unknown_error"}}',
            "quota",
            "Insufficient Balance (HTTP 402). Check plan and billing at https://platform.deepseek.com/top_up",
        ),
        ("deepseek", 422, '{"error":{"message":"bad field"}}', "malformed", "bad field (HTTP 422)"),
        ("deepseek", 503, "busy", "transient", "busy (HTTP 503)"),
        (
            "xai",
            400,
            '{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***."}',
            "auth",
            "Incorrect API key provided: xa***. (HTTP 400)",
        ),
        ("xai", 404, '{"code":"x","error":"The model grok-9 does not exist"}', "unknown_model", None),
        ("xai", 529, "", "rate_limit", "the server gave no explanation (HTTP 529)"),
    ],
)
def test_refusals(vendor: str, status: int, text: str, kind: str, message: str | None) -> None:
    answer = {"status": status, "headers": {"content-type": "application/json"}, "body": text}
    (failure,) = play(EXCHANGES[vendor](request(of=model(f"{vendor}/x"))), [answer], whole).events
    assert to_json(failure)["kind"] == kind
    assert message is None or getattr(failure, "message", "") == message

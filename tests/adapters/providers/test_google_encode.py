"""Requests to Gemini beyond what the recordings hold."""

import json
from typing import Any

import pytest

from jp_lsp.conversation.event import StructuredResponse
from jp_lsp.conversation.thread import BinaryAttachment, TextAttachment
from jp_lsp.ports.provider import (
    Budgetted,
    Effort,
    Leveled,
    ModelDetails,
    ReasoningSupport,
    ReasoningWish,
    Unsupported,
)
from jp_lsp.providers.continuation import CONTINUE
from jp_lsp.providers.google.contents import FILLER
from jp_lsp.providers.google.encode import EncodedRequest, encode
from jp_lsp.providers.google.schema import answer_schema, tool_schema
from jp_lsp.tools.definition import NamedTool, Parameter
from tests.adapters.providers.making import calls, event, model, request, returns, says, thinks, tool, user
from tests.adapters.providers.server_tools import SERVER_TOOL

GEMINI = model("google/gemini-2.5-flash")


def encoded(*events: Any, of: ModelDetails = GEMINI, **options: Any) -> EncodedRequest:
    return encode(request(*events, of=of, **options))


def contents(*events: Any, **options: Any) -> Any:
    return encoded(*events, **options).body["contents"]


def generation(**options: Any) -> Any:
    return encoded(**options).body.get("generationConfig", {})


def signed(call_id: str, signature: str, name: str = "run") -> Any:
    item = calls(call_id, name)
    return event(item.event.kind, google_thought_signature=signature)


# What goes out at least


def test_unset_settings_are_not_sent() -> None:
    assert encoded().body == {
        "contents": [{"role": "user", "parts": [{"text": "Hello"}]}],
        "toolConfig": {"functionCallingConfig": {"mode": "NONE"}},
    }


def test_settings_are_sent() -> None:
    sent = generation(max_tokens=100, temperature=0.5, top_p=0.9, top_k=40, stop_words=("END",))
    assert sent == {
        "maxOutputTokens": 100,
        "temperature": 0.5,
        "topP": 0.9,
        "topK": 40,
        "stopSequences": ["END"],
    }


def test_the_model_says_how_much_it_can_write() -> None:
    assert generation(of=model("google/x", max_output_tokens=65_536)) == {"maxOutputTokens": 65_536}


def test_more_stop_words_than_the_api_takes() -> None:
    result = encoded(stop_words=("a", "b", "c", "d", "e", "f"))
    assert result.body["generationConfig"] == {"stopSequences": ["a", "b", "c", "d", "e"]}
    assert result.warnings == ("google takes 5 stop words: the others were left out",)


@pytest.mark.requirement("F26")
def test_system_parts_stand_apart() -> None:
    body = encoded(system=["Be kind.", " ", "Be short."]).body
    assert body["systemInstruction"] == {"parts": [{"text": "Be kind."}, {"text": "Be short."}]}
    assert json.dumps(encoded(system=["Be kind."]).body) == json.dumps(encoded(system=["Be kind."]).body)


# What was said


def test_neighbours_of_one_speaker_are_one_content() -> None:
    data = event(StructuredResponse({"a": [1]}))
    assert contents(user("a"), thinks("hm"), says("b"), data, calls("1", x=1), returns("1"), user("c")) == [
        {"role": "user", "parts": [{"text": "a"}]},
        {
            "role": "model",
            "parts": [
                {"text": "hm", "thought": True},
                {"text": "b"},
                {"text": '{"a":[1]}'},
                {
                    "functionCall": {"id": "1", "name": "tool", "args": {"x": 1}},
                    "thoughtSignature": FILLER,
                },
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "1", "name": "tool", "response": {"content": "done"}}},
                {"text": "c"},
            ],
        },
    ]


@pytest.mark.requirement("F16")
@pytest.mark.parametrize(
    ("items", "signatures"),
    [
        ([calls("1"), calls("2")], [FILLER, None]),
        ([signed("1", "s1"), calls("2")], ["s1", None]),
        ([calls("1"), signed("2", "s2")], [None, "s2"]),
        ([signed("1", "s1"), signed("2", "s2")], ["s1", "s2"]),
        ([signed("1", "")], [FILLER]),
    ],
)
def test_of_parallel_calls_one_needs_a_signature(items: list[Any], signatures: list[str | None]) -> None:
    answers = [returns(str(i + 1)) for i in range(len(items))]
    parts = contents(user("a"), *items, *answers)[1]["parts"]
    assert [part.get("thoughtSignature") for part in parts] == signatures


def test_signatures_on_texts_go_back_and_other_vendors_stay_away() -> None:
    said = event(says("b").event.kind, google_thought_signature="s")
    thought = thinks("hm", anthropic_thinking_signature="other")
    assert contents(user("a"), thought, said, user("c"))[1]["parts"] == [
        {"text": "hm", "thought": True},
        {"text": "b", "thoughtSignature": "s"},
    ]


def test_thinking_without_words_is_left_out() -> None:
    assert contents(user("a"), thinks("", anthropic_redacted_thinking="x"), user("b")) == [
        {"role": "user", "parts": [{"text": "a"}, {"text": "b"}]}
    ]


@pytest.mark.requirement("F17")
def test_half_an_answer_at_the_end_is_asked_to_go_on() -> None:
    go_on = {"role": "user", "parts": [{"text": CONTINUE}]}
    assert contents(user("a"), says("Half a sen"))[-1] == go_on
    assert contents(user("a"), thinks("hm"))[-1] == go_on
    prefilling = model("google/x", prefill=True)
    assert contents(user("a"), says("Half"), of=prefilling)[-1] == {
        "role": "model",
        "parts": [{"text": "Half"}],
    }
    assert contents(user("a"), says("b"), calls("1"), returns("1"))[-1]["role"] == "user"


def test_attachments_are_a_content_of_their_own() -> None:
    attachments = [
        TextAttachment("file:///a & b.txt", "1 < 2"),
        BinaryAttachment('file:///"x".pdf', b"%PDF", "application/pdf"),
        BinaryAttachment("file:///c.png", b"\x89PNG", "image/png"),
        BinaryAttachment("file:///d.flac", b"fLaC", "audio/flac"),
    ]
    first, second = contents(user("Look"), attachments=attachments)
    assert [part.get("text") or part["inlineData"] for part in first["parts"]] == [
        "<documents>\n  <document>\n    <index>0</index>\n    <source><![CDATA[file:///a & b.txt]]></source>\n"
        "    <content><![CDATA[1 < 2]]></content>\n  </document>\n</documents>",
        '[Attached file: file:///"x".pdf]',
        {"mimeType": "application/pdf", "data": "JVBERg=="},
        "[Attached file: file:///c.png]",
        {"mimeType": "image/png", "data": "iVBORw=="},
        "[Attached file: file:///d.flac]",
        {"mimeType": "audio/flac", "data": "ZkxhQw=="},
    ]
    assert second == {"role": "user", "parts": [{"text": "Look"}]}


def test_a_request_without_words_is_an_empty_text() -> None:
    (attached, asked) = contents(user(""), attachments=[TextAttachment("a.txt", "text")])
    assert (len(attached["parts"]), asked) == (1, {"role": "user", "parts": [{"text": ""}]})


# Tools


@pytest.mark.parametrize(
    ("choice", "config"),
    [
        ("auto", {"mode": "VALIDATED"}),
        ("none", {"mode": "NONE"}),
        ("required", {"mode": "ANY"}),
        (NamedTool("run"), {"mode": "ANY", "allowedFunctionNames": ["run"]}),
    ],
)
def test_tool_choices(choice: Any, config: dict[str, Any]) -> None:
    body = encoded(tools=[tool(x=Parameter("string", required=True))], choice=choice).body
    assert body["toolConfig"] == {"functionCallingConfig": config}
    assert body["tools"] == [
        {
            "functionDeclarations": [
                {
                    "name": "run",
                    "description": "Runs run.",
                    "parametersJsonSchema": {
                        "type": "object",
                        "properties": {"x": {"type": "string"}},
                        "required": ["x"],
                        "additionalProperties": False,
                    },
                }
            ]
        }
    ]


def test_without_tools_none_may_be_called() -> None:
    body = encoded(user("a"), calls("1"), returns("1"), choice="required").body
    assert body["toolConfig"] == {"functionCallingConfig": {"mode": "NONE"}}
    assert "tools" not in body


@pytest.mark.requirement("F23")
def test_a_servers_tool_has_no_word_that_the_api_refuses() -> None:
    assert tool_schema(SERVER_TOOL) == {
        "type": "object",
        "properties": {
            "tags": {
                "type": "array",
                "items": {"type": "string", "description": "{maxLength: 9}"},
                "description": "{uniqueItems: true}",
            },
            "mode": {"description": "How."},
            "when": {
                "type": "string",
                "format": "date-time",
                "description": '{examples: ["2030-01-01T00:00:00Z"]}',
            },
            "tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/Tree"}}},
            "size": {"anyOf": [{"type": "integer"}, {"type": "string", "description": "{minLength: 1}"}]},
        },
        "required": ["tags", "mode"],
        "additionalProperties": False,
        # One of them refers to itself, so it cannot be written out.
        "$defs": {
            "Tag": {"type": "string", "description": "{maxLength: 9}"},
            "Tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/Tree"}}},
        },
    }


# Values


def test_a_schema_makes_the_answer_json() -> None:
    schema = {"type": "object", "properties": {"b": {"const": 1}, "a": {"$ref": "#/$defs/A"}}}
    sent = generation(schema={**schema, "$defs": {"A": {"type": "string", "pattern": "x+"}}})
    assert sent == {
        "responseMimeType": "application/json",
        "_responseJsonSchema": {
            "type": "object",
            "properties": {"b": {"enum": [1]}, "a": {"type": "string", "description": "{pattern: x+}"}},
            "propertyOrdering": ["b", "a"],
        },
    }


@pytest.mark.parametrize(
    ("schema", "rewritten"),
    [
        (
            {"anyOf": [{"const": None}, {"type": "object", "properties": {"a": {}, "b": {}}}]},
            {
                "anyOf": [
                    {"enum": [None]},
                    {"type": "object", "properties": {"a": {}, "b": {}}, "propertyOrdering": ["a", "b"]},
                ]
            },
        ),
        (
            {"type": "object", "additionalProperties": {"const": 2}},
            {"type": "object", "additionalProperties": {"enum": [2]}},
        ),
        (
            {"type": "array", "prefixItems": [{"const": 1}], "items": {"const": 2}},
            {"type": "array", "prefixItems": [{"enum": [1]}], "items": {"enum": [2]}},
        ),
        (
            {"allOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}], "type": "object"},
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        ),
        (
            {"$ref": "#/$defs/N", "$defs": {"N": {"properties": {"next": {"$ref": "#/$defs/N"}}}}},
            {
                "properties": {"next": {"$ref": "#/$defs/N"}},
                "$defs": {"N": {"properties": {"next": {"$ref": "#/$defs/N"}}}},
            },
        ),
        ({"$ref": "#/nowhere", "title": "t"}, {"$ref": "#/nowhere", "title": "t"}),
    ],
)
def test_schemas_of_answers(schema: Any, rewritten: Any) -> None:
    before = json.dumps(schema)
    assert answer_schema(schema) == rewritten
    assert json.dumps(schema) == before


def test_references_that_double_at_every_step_stay_small() -> None:
    doubling = {f"L{i}": {"anyOf": [{"$ref": f"#/$defs/L{i + 1}"}] * 2} for i in range(40)}
    schema: Any = {"$ref": "#/$defs/L0", "$defs": {**doubling, "L40": {"type": "string"}}}
    assert len(json.dumps(answer_schema(schema))) < 10_000_000


def test_a_model_without_schemas_is_asked_in_words() -> None:
    result = encoded(schema={"type": "object"}, of=model("google/x", structured_output=False), system=["S"])
    system: Any = result.body["systemInstruction"]
    first, second = system["parts"]
    assert (first, second["text"].splitlines()[-1]) == ({"text": "S"}, '{"type":"object"}')
    assert "generationConfig" not in result.body
    assert result.warnings == ("google/x cannot enforce a schema: it is only asked to keep to it",)


# Thinking

BUDGET = Budgetted(True, 512, 24_576)
LADDER = Leveled(False, frozenset({"low", "high"}))
LOOSE_LADDER = Leveled(True, frozenset({"xlow", "low", "medium", "high"}))


def on(**fields: Any) -> dict[str, Any]:
    return {"includeThoughts": True, **fields}


def off(**fields: Any) -> dict[str, Any]:
    return {"includeThoughts": False, **fields}


@pytest.mark.parametrize(
    ("support", "wish", "field"),
    [
        (BUDGET, None, on(thinkingBudget=5000)),
        (BUDGET, "off", off(thinkingBudget=512)),
        (BUDGET, Effort("low"), on(thinkingBudget=2000)),
        (BUDGET, Effort("none"), on(thinkingBudget=512)),
        (BUDGET, Effort(99_999), on(thinkingBudget=24_576)),
        (Budgetted(True, 0, 100), "off", off(thinkingBudget=0)),
        (Budgetted(True, 0, 100), Effort("none"), off(thinkingBudget=0)),
        (Budgetted(True, 0, 100), Effort(0), off(thinkingBudget=0)),
        (LADDER, None, on(thinkingLevel="HIGH")),
        (LADDER, "off", off(thinkingLevel="LOW")),
        (LADDER, Effort("xlow"), on(thinkingLevel="LOW")),
        (LADDER, Effort("medium"), on(thinkingLevel="HIGH")),
        (LADDER, Effort("max"), on(thinkingLevel="HIGH")),
        (LADDER, Effort(1000), on(thinkingLevel="LOW")),
        (LOOSE_LADDER, None, on(thinkingLevel="MEDIUM")),
        (LOOSE_LADDER, "off", off(thinkingBudget=0)),
        (LOOSE_LADDER, Effort("none"), on(thinkingLevel="MINIMAL")),
        (LOOSE_LADDER, Effort("auto"), on()),
        (None, None, None),
        (None, "off", off(thinkingBudget=0)),
        (None, "auto", on()),
        (None, Effort("max"), on(thinkingLevel="HIGH")),
        (None, Effort("low"), on(thinkingLevel="LOW")),
        (Unsupported(), "auto", None),
        (Unsupported(), Effort("high"), None),
    ],
)
def test_thinking(support: ReasoningSupport | None, wish: ReasoningWish, field: Any) -> None:
    of = model("google/x", reasoning=support, max_output_tokens=10_000)
    assert generation(of=of, reasoning=wish).get("thinkingConfig") == field


@pytest.mark.parametrize(
    ("support", "wish", "sentence"),
    [
        (Unsupported(), Effort("high"), "google/x does not reason: the reasoning setting was left out"),
        (
            LADDER,
            Effort("medium"),
            "google/x cannot think with effort 'medium': it is asked for effort 'high'",
        ),
        (LADDER, Effort("xlow"), "google/x cannot think with effort 'xlow': it is asked for effort 'low'"),
    ],
)
def test_wishes_that_cannot_be_met_are_told(support: Any, wish: Any, sentence: str) -> None:
    assert encoded(of=model("google/x", reasoning=support), reasoning=wish).warnings == (sentence,)

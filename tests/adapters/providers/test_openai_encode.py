"""OpenAI requests beyond what the recordings hold."""

from typing import Any

import pytest

from jp_lsp.conversation.event import MessageResponse, StructuredResponse
from jp_lsp.conversation.thread import BinaryAttachment, TextAttachment
from jp_lsp.ports.provider import CachePolicy, Effort, ModelDetails, Unsupported
from jp_lsp.providers.continuation import CONTINUE
from jp_lsp.providers.openai.encode import EncodedRequest, encode
from jp_lsp.providers.openai.models import describe
from jp_lsp.tools.definition import NamedTool, Parameter
from tests.adapters.providers.making import calls, event, model, request, returns, says, thinks, tool, user
from tests.adapters.providers.server_tools import SERVER_TOOL

UNKNOWN = model("openai/gpt-new")
SYSTEM = {"type": "message", "role": "system", "content": []}
HELLO = {"type": "message", "role": "user", "content": "Hello"}
GO_ON = {"type": "message", "role": "user", "content": CONTINUE}


def encoded(*events: Any, of: ModelDetails = UNKNOWN, **options: Any) -> EncodedRequest:
    return encode(request(*events, of=of, **options))


def body(*events: Any, **options: Any) -> Any:
    return encoded(*events, **options).body


def history(*events: Any, **options: Any) -> Any:
    """The items behind the system message."""
    first, *rest = body(*events, **options)["input"]
    assert first["role"] == "system"
    return rest


def assistant(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": text}


def reasoning(item_id: str, text: str, encrypted: str | None = None) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": text}]
    return {"type": "reasoning", "id": item_id, "summary": summary, "encrypted_content": encrypted}


def thought(item_id: str, text: str = "hm", **metadata: Any) -> Any:
    return thinks(text, provider="openai", openai_item_id=item_id, **metadata)


def message(item_id: str, text: str = "Hi", **metadata: Any) -> Any:
    return event(MessageResponse(text), provider="openai", openai_item_id=item_id, **metadata)


def native(item_id: str, text: str = "Hi", **members: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {
        **{"type": "message", "id": item_id, "role": "assistant", "status": "completed", "content": content},
        **members,
    }


def call(call_id: str, arguments: str = "{}") -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": "tool", "arguments": arguments}


def output(call_id: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": "done"}


# What is always there


def test_the_smallest_request() -> None:
    assert body(cache=CachePolicy(0)) == {
        "model": "gpt-new",
        "input": [SYSTEM, HELLO],
        "store": False,
        "stream": True,
        "truncation": "auto",
        "tools": [],
        "tool_choice": "auto",
    }


def test_system_parts_are_one_message() -> None:
    first = body(system=["Be kind.", "Be brief."])["input"][0]
    texts = [{"type": "input_text", "text": text} for text in ("Be kind.", "Be brief.")]
    assert first == {**SYSTEM, "content": texts}


# History


@pytest.mark.requirement("R44", "F18")
def test_what_the_vendor_said_comes_back_as_it_was() -> None:
    phase = {"openai_phase": "commentary"}
    assert history(
        user("Hello"),
        thought("rs_1", openai_encrypted_content="enc"),
        message("msg_1", **phase),
        thought("rs_2", ""),
        calls("c1", a=1),
        returns("c1"),
        says("Done."),
        user("More"),
    ) == [
        HELLO,
        reasoning("rs_1", "hm", "enc"),
        native("msg_1", phase="commentary"),
        reasoning("rs_2", ""),
        call("c1", '{"a":1}'),
        output("c1"),
        assistant("Done."),
        {**HELLO, "content": "More"},
    ]


# Trap 62: a conversation that other vendors took part in.
@pytest.mark.requirement("R44")
def test_what_others_said_is_plain() -> None:
    value = event(StructuredResponse({"ok": True}))
    signed = thinks("deep", anthropic_thinking_signature="sig")
    silent = thinks(" ", anthropic_redacted_thinking="data")
    assert history(user("Hello"), signed, silent, says("Hi"), value, user("Hello")) == [
        HELLO,
        assistant("<think>\ndeep\n</think>\n\n"),
        assistant("Hi"),
        assistant('{"ok":true}'),
        HELLO,
    ]


# Trap 46: the result bears the id of its call, whatever it is.
def test_long_ids_of_other_vendors_are_shortened_and_stay_different() -> None:
    fits, one, other = "c" * 64, "c" * 65, "c" * 66
    sent = history(*(e for call_id in (fits, one, other) for e in (calls(call_id), returns(call_id))))
    ids = [item["call_id"] for item in sent]
    assert ids[::2] == ids[1::2]
    assert ids[0] == fits
    assert len(set(ids)) == 3
    assert {len(call_id) for call_id in ids} == {64}


@pytest.mark.requirement("R214", "F17", "F18")
@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param([says("Half")], [assistant("Half"), GO_ON], id="a message"),
        # The half message never was an item of the vendor's, so its thought would be refused alone.
        pytest.param(
            [thought("rs_1"), says("Half")],
            [assistant("<think>\nhm\n</think>\n\n"), assistant("Half"), GO_ON],
            id="a thought and half a message",
        ),
        pytest.param(
            [thought("rs_1")], [assistant("<think>\nhm\n</think>\n\n"), GO_ON], id="a thought alone"
        ),
        pytest.param([thought("rs_1", "")], [], id="an empty thought alone"),
        pytest.param([message("msg_1")], [native("msg_1"), GO_ON], id="an item"),
        pytest.param([calls("c1"), returns("c1")], [call("c1"), output("c1")], id="a call"),
        pytest.param(
            [thought("rs_1"), thought("rs_2"), message("msg_1")],
            [reasoning("rs_1", "hm"), reasoning("rs_2", "hm"), native("msg_1"), GO_ON],
            id="two thoughts",
        ),
    ],
)
def test_a_broken_answer_is_continued(events: list[Any], expected: list[Any]) -> None:
    assert history(user("Hello"), *events) == [HELLO, *expected]


# Trap 65.
def test_a_request_without_words_stays_one() -> None:
    picture = BinaryAttachment("a.png", b"x", "image/png")
    files, asked = history(user(""), attachments=[picture, picture])
    assert [block["type"] for block in files["content"]] == ["input_text", "input_image"] * 2
    assert asked == {**HELLO, "content": ""}


# Attachments


def test_attachments_stand_in_front_with_their_names(caplog: pytest.LogCaptureFixture) -> None:
    attachments = [
        TextAttachment("file:///a.txt", "x < y"),
        BinaryAttachment("a.png", b"\x89PNG", "image/png"),
        BinaryAttachment('b"<.pdf', b"%PDF", "application/pdf"),
        BinaryAttachment("c.zip", b"PK", "application/zip"),
    ]
    made = encoded(attachments=attachments)
    items: Any = made.body["input"]
    content = items[1]["content"]
    assert [block["type"] for block in content] == [
        *("input_text", "input_text", "input_image", "input_text", "input_file", "input_text")
    ]
    assert "<![CDATA[x < y]]>" in content[0]["text"]
    assert content[2] == {
        "type": "input_image",
        "detail": "auto",
        "image_url": "data:image/png;base64,iVBORw==",
    }
    assert content[4] == {
        "type": "input_file",
        "file_data": "data:application/pdf;base64,JVBERg==",
        "filename": 'b"<.pdf',
    }
    assert content[5]["text"] == "[Attached file: c.zip]"
    assert made.warnings == ("openai takes no application/zip: attachment 'c.zip' was left out",)


# Tools


@pytest.mark.requirement("F19")
def test_tools_are_strict() -> None:
    where = Parameter("object", properties={"line": Parameter("integer", required=True)})
    one = tool("run", path=Parameter("string", required=True), limit=Parameter("integer"), where=where)
    closed = {"additionalProperties": False, "required": ["line"]}
    inside = {"type": "object", "properties": {"line": {"type": "integer"}}, **closed}
    (sent,) = body(tools=[one])["tools"]
    assert sent == {
        "type": "function",
        "name": "run",
        "description": "Runs run.",
        "strict": True,
        "parameters": {
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "limit": {"type": ["integer", "null"]},
                "where": {"anyOf": [inside, {"type": "null"}]},
            },
            "additionalProperties": False,
            "required": ["path", "limit", "where"],
        },
    }


# Trap 60.
@pytest.mark.requirement("F23")
def test_a_tool_of_a_server_goes_out_in_words_that_the_vendor_knows() -> None:
    (sent,) = body(tools=[SERVER_TOOL])["tools"]
    parameters = sent["parameters"]
    assert parameters["properties"]["tags"]["items"] == {"$ref": "#/$defs/Tag"}
    assert parameters["properties"]["mode"] == {"description": "How."}
    assert "examples" not in parameters["properties"]["when"]
    assert "oneOf" not in str(parameters)
    assert parameters["required"] == ["tags", "mode", "when", "tree", "size"]


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        (NamedTool("run"), {"type": "function", "name": "run"}),
    ],
)
def test_tool_choices(choice: Any, sent: Any) -> None:
    assert body(tools=[tool()], choice=choice)["tool_choice"] == sent
    without_tools = "none" if choice == "none" else "auto"
    assert body(choice=choice)["tool_choice"] == without_tools, "without tools nothing can be demanded"


# Reasoning


@pytest.mark.parametrize(
    ("name", "wish", "effort", "is_on"),
    [
        ("gpt-5.6-sol", None, "medium", True),
        ("gpt-5.6-sol", "auto", "medium", True),
        ("gpt-5.6-sol", "off", "none", False),
        ("gpt-5.6-sol", Effort("max"), "max", True),
        ("gpt-5.6-sol", Effort("none"), "none", False),
        ("gpt-5.6-sol", Effort(120_000), "max", True),
        ("gpt-5.6-sol", Effort(110_000), "xhigh", True),
        ("gpt-5.6-sol", Effort(30_000), "medium", True),
        ("gpt-5", Effort("xlow"), "minimal", True),
        ("gpt-5", "off", "minimal", False),
        ("gpt-5.4-pro", "off", "medium", False),
        ("o3", Effort("low"), "low", True),
        ("o3", "off", "low", False),
        ("gpt-5-mini", "off", "minimal", False),
        ("gpt-5-mini", Effort("xhigh"), "xhigh", True),
        ("gpt-4o", "off", None, False),
        ("gpt-4o", Effort("high"), None, False),
        ("gpt-new", None, None, False),
        ("gpt-new", "auto", "medium", True),
        ("gpt-new", "off", "none", False),
        ("gpt-new", Effort("max"), "xhigh", True),
        ("gpt-new", Effort(500), "medium", True),
    ],
)
def test_efforts(name: str, wish: Any, effort: str | None, is_on: bool) -> None:
    made = encoded(of=describe(name), reasoning=wish)
    field: Any = made.body.get("reasoning")
    assert (field and field["effort"]) == effort
    assert field is None or field["summary"] == "auto"
    assert made.reasons is is_on
    assert made.body.get("include") == (["reasoning.encrypted_content"] if is_on else None)


@pytest.mark.parametrize(
    ("name", "wish", "effort"),
    [
        ("gpt-5.1", "xhigh", "high"),
        ("gpt-5.1", "xlow", "low"),
        ("gpt-5.4-pro", "low", "medium"),
        ("gpt-5.4-pro", "none", "medium"),
        ("gpt-5.5", "max", "xhigh"),
        ("o4-mini", "xlow", "low"),
        ("o4-mini", "max", "high"),
    ],
)
def test_an_effort_that_the_model_lacks_is_the_nearest(name: str, wish: Any, effort: str) -> None:
    made = encoded(of=describe(name), reasoning=Effort(wish))
    assert made.body["reasoning"] == {"effort": effort, "summary": "auto"}
    assert made.warnings == (f"openai/{name} has no effort {wish!r}: {effort!r} is used",)


def test_reasoning_of_a_model_without_it_is_worth_a_sentence() -> None:
    made = encoded(of=model("openai/gpt-4o", reasoning=Unsupported()), reasoning=Effort("high"))
    assert made.warnings == ("openai/gpt-4o does not reason: the reasoning setting was left out",)


def test_the_pro_mode_is_for_models_that_have_it() -> None:
    options: Any = {"reasoning": Effort("low"), "other": {"reasoning_mode": "pro"}}
    pro = encoded(of=describe("gpt-5.6-luna"), **options)
    assert pro.body["reasoning"] == {
        **{"effort": "low", "summary": "auto", "mode": "pro", "context": "all_turns"}
    }
    plain = encoded(of=describe("gpt-5.5"), **options)
    assert plain.body["reasoning"] == {"effort": "low", "summary": "auto"}
    assert plain.warnings == ("openai/gpt-5.5 has no pro mode: reasoning_mode was left out",)


# Settings


# Trap 59.
@pytest.mark.parametrize(
    ("name", "wish", "is_sent"),
    [
        ("gpt-5.5", "off", True),
        ("gpt-5.5", Effort("low"), False),
        ("gpt-5-nano", Effort("low"), True),
        ("gpt-5", "off", False),
        ("gpt-4o", None, True),
        ("gpt-new", None, True),
        ("gpt-new", "auto", False),
    ],
)
def test_sampling_settings_need_a_model_that_does_not_think(name: str, wish: Any, is_sent: bool) -> None:
    made = encoded(of=describe(name), reasoning=wish, temperature=0.5, top_p=0.9, max_tokens=100)
    assert made.body["max_output_tokens"] == 100
    assert (made.body.get("temperature"), made.body.get("top_p")) == ((0.5, 0.9) if is_sent else (None, None))
    sentence = "openai/{} takes no {} while it thinks: the setting was left out"
    left_out = (
        () if is_sent else tuple(sentence.format(name, setting) for setting in ("temperature", "top_p"))
    )
    assert made.warnings == left_out


def test_settings_that_the_vendor_does_not_have_are_worth_a_sentence() -> None:
    made = encoded(top_k=5, stop_words=("END",), other={"verbosity": "loud", "unknown": 1})
    assert made.warnings == (
        "openai takes no top_k: the setting was left out",
        "openai takes no stop words: the setting was left out",
        "openai knows no verbosity 'loud': it is one of low, medium, high",
    )
    assert not {"top_k", "stop", "text", "unknown"} & made.body.keys()


# Structured output


SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
    "required": ["a"],
}


def test_a_schema_is_enforced() -> None:
    assert body(schema=SCHEMA, other={"verbosity": "low"})["text"] == {
        "format": {
            "type": "json_schema",
            "name": "structured_output",
            "description": "Structured output",
            "strict": True,
            "schema": {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": ["integer", "null"]}},
                "required": ["a", "b"],
                "additionalProperties": False,
            },
        },
        "verbosity": "low",
    }


# Trap 60.
def test_words_of_a_schema_that_the_vendor_refuses_move_into_the_description() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"oneOf": [{"type": "string", "pattern": "^x"}, {"type": "integer"}]},
            "b": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "minItems": 2},
        },
        "required": ["a", "b"],
        "not": {"required": ["c"]},
    }
    sent: Any = body(schema=schema)["text"]
    assert sent["format"]["schema"] == {
        "type": "object",
        "properties": {
            "a": {"anyOf": [{"type": "string", "pattern": "^x"}, {"type": "integer"}]},
            "b": {
                "type": "array",
                "items": {"type": "string"},
                "minItems": 2,
                "description": "{uniqueItems: true}",
            },
        },
        "required": ["a", "b"],
        "additionalProperties": False,
        "description": '{not: {"required":["c"]}}',
    }


# Trap 61: the text of such an answer is a message, which the exchange knows from the schema alone.
def test_a_verbosity_alone_is_no_schema() -> None:
    assert body(other={"verbosity": "high"})["text"] == {"verbosity": "high"}


def test_a_model_that_cannot_enforce_a_schema_is_asked_in_words() -> None:
    made = encoded(of=model("openai/old", structured_output=False), schema=SCHEMA, system=["Be kind."])
    assert "text" not in made.body
    items: Any = made.body["input"]
    kind, words = items[0]["content"]
    assert kind["text"] == "Be kind."
    assert '"properties"' in words["text"]
    assert made.warnings == ("openai/old cannot enforce a schema: it is only asked to keep to it",)


# Caching


@pytest.mark.requirement("F26")
@pytest.mark.parametrize(
    ("name", "seconds", "members", "marks"),
    [
        ("gpt-5.5", 300, {"prompt_cache_key": "jp:conversation:0"}, 0),
        ("gpt-5.5", 0, {}, 0),
        ("gpt-5.6-sol", 300, {"prompt_cache_key": "jp:conversation:0"}, 2),
        ("gpt-5.6-sol", 0, {"prompt_cache_options": {"mode": "explicit"}}, 0),
    ],
)
def test_caching(name: str, seconds: int, members: dict[str, Any], marks: int) -> None:
    attachments = [TextAttachment("a", "text"), BinaryAttachment("b", b"x", "image/png")]
    asked: Any = {"system": ["One", "Two"], "attachments": attachments, "cache": CachePolicy(seconds)}
    made = body(of=describe(name), **asked)
    assert {key: value for key, value in made.items() if "cache" in key} == members
    blocks = [block for item in made["input"][:2] for block in item["content"]]
    marked = [block.get("text", block["type"]) for block in blocks if "prompt_cache_breakpoint" in block]
    assert marked == ["Two", "input_image"][:marks]


def test_a_model_that_does_not_stream_is_not_asked_to() -> None:
    made = encoded(of=describe("gpt-5.5-pro-2026-04-23"))
    assert (made.streams, made.body["stream"]) == (False, False)

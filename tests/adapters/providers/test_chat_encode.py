"""Requests of the chat-completions family beyond what the recordings hold."""

from dataclasses import replace
from typing import Any

import pytest

from jp_lsp.conversation.event import StructuredResponse
from jp_lsp.conversation.thread import BinaryAttachment, TextAttachment
from jp_lsp.ports.provider import CycleRequest, Effort, Unsupported
from jp_lsp.providers.chat import compatible, llamacpp, lmstudio
from jp_lsp.providers.chat.dialect import Dialect
from jp_lsp.providers.chat.encode import EncodedRequest, encode
from jp_lsp.providers.continuation import CONTINUE
from jp_lsp.tools.definition import NamedTool, Parameter
from tests.adapters.providers.making import calls, event, model, request, returns, says, thinks, tool, user

LLAMACPP = llamacpp.DIALECT
COMPATIBLE = compatible.DIALECT
QWEN = model("llamacpp/qwen3:8b")


def encoded(asked: CycleRequest, dialect: Dialect = LLAMACPP) -> EncodedRequest:
    return encode(asked, dialect)


def messages(*events: Any, dialect: Dialect = LLAMACPP, **options: Any) -> Any:
    return encoded(request(*events, of=QWEN, **options), dialect).body["messages"]


def assistant(**members: Any) -> dict[str, Any]:
    return {"role": "assistant", **members}


HELLO = {"role": "user", "content": "Hello"}


# Settings


def test_settings_are_sent() -> None:
    body = encoded(
        request(of=QWEN, max_tokens=100, temperature=0.5, top_p=0.9, top_k=40, stop_words=("END",))
    ).body
    expected = {"max_tokens": 100, "temperature": 0.5, "top_p": 0.9, "top_k": 40, "stop": ["END"]}
    assert {name: body[name] for name in expected} == expected


def test_unset_settings_are_not_sent() -> None:
    assert encoded(request(of=QWEN)).body == {
        "model": "qwen3:8b",
        "messages": [HELLO],
        "stream": True,
        "reasoning_format": "none",
        "chat_template_kwargs": {"enable_thinking": False},
    }


def test_what_a_server_cannot_take_is_dropped_with_a_sentence() -> None:
    shy = replace(COMPATIBLE, max_tokens_member="max_completion_tokens")
    result = encoded(request(of=QWEN, top_k=1, max_tokens=9), shy)
    assert "top_k" not in result.body
    assert result.body["max_completion_tokens"] == 9
    assert result.warnings == ("compatible takes no top_k: the setting was left out",)


def test_usage_is_asked_for_only_where_it_is_understood() -> None:
    assert "stream_options" not in encoded(request(of=QWEN), LLAMACPP).body
    assert "stream_options" not in encoded(request(of=QWEN), COMPATIBLE).body
    assert encoded(request(of=QWEN), lmstudio.DIALECT).body["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize(
    ("wish", "is_thinking"),
    [(None, False), ("off", False), ("auto", True), (Effort("low"), True), (Effort(512), True),
     (Effort("none"), False), (Effort(0), False)],
)  # fmt: skip
def test_llamacpp_is_told_to_think_or_not(wish: Any, is_thinking: bool) -> None:
    body = encoded(request(of=QWEN, reasoning=wish)).body
    assert body["chat_template_kwargs"] == {"enable_thinking": is_thinking}
    assert body["reasoning_format"] == ("deepseek" if is_thinking else "none")


@pytest.mark.parametrize(
    ("wish", "word"),
    [(None, None), ("off", None), ("auto", None), (Effort("low"), "low"), (Effort("xhigh"), "high"),
     (Effort("xlow"), "low"), (Effort(900), "high"), (Effort(10), "low")],
)  # fmt: skip
def test_compatible_servers_get_a_common_word(wish: Any, word: str | None) -> None:
    body = encoded(request(of=QWEN, reasoning=wish, max_tokens=1000), COMPATIBLE).body
    assert body.get("reasoning_effort") == word


def test_reasoning_for_a_model_without_it_is_named() -> None:
    result = encoded(request(of=model("llamacpp/x", reasoning=Unsupported()), reasoning=Effort("high")))
    assert result.warnings == ("llamacpp/x does not reason: the reasoning setting was left out",)


# Tools


TOOLS = [tool("one", path=Parameter("string", required=True)), tool("two")]


@pytest.mark.parametrize("choice", ["auto", "none", "required"])
def test_simple_tool_choices(choice: Any) -> None:
    assert encoded(request(of=QWEN, tools=TOOLS, choice=choice)).body["tool_choice"] == choice


def test_a_named_tool_is_the_only_one_offered_where_it_cannot_be_named() -> None:
    body: Any = encoded(request(of=QWEN, tools=TOOLS, choice=NamedTool("two"))).body
    assert body["tool_choice"] == "required"
    assert [entry["function"]["name"] for entry in body["tools"]] == ["two"]


def test_a_named_tool_is_named_where_it_can_be() -> None:
    body: Any = encoded(request(of=QWEN, tools=TOOLS, choice=NamedTool("two")), COMPATIBLE).body
    assert body["tool_choice"] == {"type": "function", "function": {"name": "two"}}
    assert len(body["tools"]) == 2


def test_no_tools_no_choice() -> None:
    body = encoded(request(of=QWEN, choice="required")).body
    assert "tools" not in body
    assert "tool_choice" not in body


@pytest.mark.requirement("R275", "F19")
def test_strict_and_loose_tools() -> None:
    strict: Any = encoded(request(of=QWEN, tools=TOOLS)).body["tools"]
    assert strict[0]["function"]["strict"] is True
    assert strict[0]["function"]["description"] == "Runs one."
    assert strict[0]["function"]["parameters"]["additionalProperties"] is False
    loose: Any = encoded(request(of=QWEN, tools=TOOLS), COMPATIBLE).body["tools"]
    assert "strict" not in loose[0]["function"]
    assert loose[0]["function"]["parameters"]["additionalProperties"] is True


# Messages


@pytest.mark.requirement("R44")
def test_system_parts_documents_and_images_come_first() -> None:
    attachments = [
        BinaryAttachment("a.png", b"\x01", "image/png"),
        TextAttachment("b.txt", "words"),
        BinaryAttachment("c.pdf", b"\x02", "application/pdf"),
    ]
    result = encoded(request(user("Hello"), of=QWEN, system=["One", "Two"], attachments=attachments))
    sent: Any = result.body["messages"]
    assert [message["role"] for message in sent] == ["system", "system", "system", "user", "user"]
    assert "<source>b.txt</source>" in sent[2]["content"]
    assert sent[3]["content"] == [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AQ=="}}]
    assert result.warnings == ("llamacpp takes no application/pdf: attachment 'c.pdf' was left out",)


def test_a_text_only_server_gets_no_images() -> None:
    blind = replace(COMPATIBLE, takes_images=False)
    image = BinaryAttachment("a.png", b"\x01", "image/png")
    result = encoded(request(of=QWEN, attachments=[image]), blind)
    assert result.body["messages"] == [HELLO]
    assert result.warnings == ("compatible takes no image/png: attachment 'a.png' was left out",)


def test_an_empty_message_of_the_user_is_sent() -> None:
    assert messages(user("")) == [{"role": "user", "content": ""}]


def test_what_the_assistant_did_in_a_row_is_one_message() -> None:
    function = {"name": "run", "arguments": '{"x":1}'}
    assert messages(
        user("Hello"),
        thinks("hm"),
        says("Let me look."),
        calls("a", "run", x=1),
        calls("b", "run"),
        returns("a", "A"),
        returns("b", "", is_error=True),
        says("Done."),
        user("Hello"),
    ) == [
        HELLO,
        assistant(
            reasoning_content="hm",
            content="Let me look.",
            tool_calls=[
                {"id": "a", "type": "function", "function": function},
                {"id": "b", "type": "function", "function": {"name": "run", "arguments": "{}"}},
            ],
        ),
        {"role": "tool", "tool_call_id": "a", "content": "A"},
        {"role": "tool", "tool_call_id": "b", "content": ""},
        assistant(content="Done."),
        HELLO,
    ]


def test_what_was_said_in_pieces_is_paragraphs() -> None:
    sent = messages(
        user("Hello"), thinks("a"), says("One."), says("Two."), thinks("b"), says("Next."), HELLO_USER
    )
    assert sent[1] == assistant(reasoning_content="a\n\nb", content="One.\n\nTwo.\n\nNext.")


HELLO_USER = user("Hello")


def test_structured_answers_stay_apart() -> None:
    sent = messages(
        user("Hello"), event(StructuredResponse({"a": 1})), event(StructuredResponse([2])), HELLO_USER
    )
    assert sent[1] == assistant(content='{"a":1}\n\n[2]')


@pytest.mark.requirement("F05")
def test_reasoning_alone_has_an_empty_content() -> None:
    assert messages(user("Hello"), thinks("Plan: look at the lock"), HELLO_USER)[1] == assistant(
        reasoning_content="Plan: look at the lock", content=""
    )


def test_nothing_said_is_no_message() -> None:
    assert messages(user("Hello"), says(""), thinks(""), HELLO_USER) == [HELLO, HELLO]


def test_arguments_nested_beyond_reason_do_not_spoil_the_conversation() -> None:
    deep: Any = "bottom"
    for _ in range(100_000):
        deep = [deep]
    arguments = messages(user("Hello"), calls("a", x=deep), returns("a"))[1]["tool_calls"][0]["function"][
        "arguments"
    ]
    assert arguments.startswith('{"x":[[[')
    assert "(nested too deeply)" in arguments


def test_the_name_of_the_reasoning_member_is_the_dialects() -> None:
    other = replace(COMPATIBLE, reasoning_member="reasoning")
    assert messages(user("Hello"), thinks("hm"), says("x"), HELLO_USER, dialect=other)[1] == assistant(
        reasoning="hm", content="x"
    )


@pytest.mark.requirement("F26")
def test_the_standing_part_is_the_same_in_every_request() -> None:
    def standing(*events: Any) -> Any:
        body: Any = encoded(
            request(*events, of=QWEN, system=["S"], attachments=[TextAttachment("f", "t")], tools=TOOLS)
        ).body
        return repr([m for m in body["messages"] if m["role"] == "system"]), repr(body["tools"])

    assert standing(user("a")) == standing(user("a"), says("b"), user("c"))


# Going on


@pytest.mark.requirement("R180", "R185", "F17", "R214")
def test_a_broken_answer_is_continued() -> None:
    said = [user("Hello"), says("Half a sen")]
    prefilled = [HELLO, assistant(content="Half a sen")]
    asked = [*prefilled, {"role": "user", "content": CONTINUE}]
    # llama.cpp writes on, unless the model thinks; a server of which we know nothing is asked.
    assert messages(*said) == prefilled
    assert messages(*said, reasoning="auto") == asked
    assert messages(*said, dialect=COMPATIBLE) == asked
    knows = request(*said, of=replace(QWEN, prefill=True))
    refuses = request(*said, of=replace(QWEN, prefill=False))
    assert encoded(knows, COMPATIBLE).body["messages"] == prefilled
    assert encoded(refuses).body["messages"] == asked


@pytest.mark.requirement("F05", "F17")
def test_broken_thinking_is_continued_by_a_request() -> None:
    assert messages(user("Hello"), thinks("Plan"))[-1] == {"role": "user", "content": CONTINUE}


def test_after_a_tool_result_nothing_needs_to_be_continued() -> None:
    sent = messages(user("Hello"), calls("a"), returns("a"))
    assert sent[-1]["role"] == "tool"


# Structured output

SCHEMA = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^x"}}}


def test_the_schema_goes_out_as_it_is() -> None:
    body = encoded(request(of=QWEN, schema=SCHEMA)).body
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "structured_output", "schema": SCHEMA, "strict": True},
    }


def test_a_model_that_cannot_enforce_a_schema_is_asked_in_words() -> None:
    result = encoded(request(of=replace(QWEN, structured_output=False), system=["S"], schema=SCHEMA))
    sent: Any = result.body["messages"]
    assert "response_format" not in result.body
    assert [message["role"] for message in sent] == ["system", "system", "user"]
    assert '"pattern":"^x"' in sent[1]["content"]
    assert result.warnings == ("llamacpp/qwen3:8b cannot enforce a schema: it is only asked to keep to it",)

"""The table of methods, its examples, and what both say together."""

import re
import subprocess
import sys
from typing import Any

import pytest
from pydantic import BaseModel

from jp_lsp.protocol.chunk import ChunkNotification
from jp_lsp.protocol.errors import ERRORS, CancelledData, ErrorCode, ErrorData
from jp_lsp.protocol.export.examples import EXAMPLES
from jp_lsp.protocol.methods import METHODS, Method
from jp_lsp.protocol.reading import read

NAMES = {
    "jp/query",
    "jp/interrupt",
    "jp/answer",
    "jp/turn/list",
    "jp/conversation/list",
    "jp/conversation/search",
    "jp/conversation/render",
    "jp/conversation/show",
    "jp/conversation/new",
    "jp/conversation/use",
    "jp/conversation/fork",
    "jp/conversation/title",
    "jp/conversation/labels",
    "jp/conversation/pin",
    "jp/conversation/expiry",
    "jp/conversation/archive",
    "jp/conversation/unarchive",
    "jp/conversation/remove",
    "jp/conversation/move",
    "jp/conversation/export",
    "jp/conversation/edit",
    "jp/conversation/replay",
    "jp/conversation/compact",
    "jp/conversation/trash",
    "jp/conversation/restore",
    "jp/model/list",
    "jp/config/get",
    "jp/config/explain",
    "jp/config/set",
    "jp/config/list",
    "jp/prompt",
    "jp/chunk",
    "jp/notice",
    "jp/conversationChanged",
}

each_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())


def to_json(model: BaseModel) -> Any:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def without_defaults(value: Any, sent: Any) -> Any:
    """Keep of a value what was sent, which may have left defaults out."""
    if isinstance(value, dict):
        return {key: without_defaults(value[key], field) for key, field in sent.items()}
    if isinstance(value, list):
        return [without_defaults(item, of) for item, of in zip(value, sent, strict=True)]
    return value


@pytest.mark.requirement("R326", "R332", "R339")
def test_the_table_holds_what_is_promised() -> None:
    assert METHODS.keys() == NAMES
    assert METHODS.keys() == EXAMPLES.keys()


@each_method
def test_names_and_sentences_follow_the_rules(method: Method) -> None:
    assert re.fullmatch(r"jp(/[a-z][A-Za-z]*)+", method.name)
    assert re.fullmatch(r"[A-Z].*[^.]\.", method.summary)
    assert re.fullmatch(r"\d+\.\d+\.\d+", method.since)
    assert method.forms
    assert (method.result is not None) == ("request" in method.forms)
    ending = "Params" if method.sender == "client" or "request" in method.forms else "Notification"
    assert method.params.__name__.endswith(ending)
    if method.result is not None:
        assert method.result.__name__ == method.params.__name__.replace("Params", "Result")


@each_method
def test_each_method_of_the_client_has_a_command(method: Method) -> None:
    if method.sender == "client":
        assert method.command == method.name.replace("/", ".")
    else:
        assert method.command is None


def test_commands_are_as_many_as_methods_of_the_client() -> None:
    assert {method.command for method in METHODS.values()} - {None} == {
        "jp.query",
        "jp.interrupt",
        "jp.answer",
        "jp.turn.list",
        "jp.conversation.list",
        "jp.conversation.search",
        "jp.conversation.render",
        "jp.conversation.show",
        "jp.conversation.new",
        "jp.conversation.use",
        "jp.conversation.fork",
        "jp.conversation.title",
        "jp.conversation.labels",
        "jp.conversation.pin",
        "jp.conversation.expiry",
        "jp.conversation.archive",
        "jp.conversation.unarchive",
        "jp.conversation.remove",
        "jp.conversation.move",
        "jp.conversation.export",
        "jp.conversation.edit",
        "jp.conversation.replay",
        "jp.conversation.compact",
        "jp.conversation.trash",
        "jp.conversation.restore",
        "jp.model.list",
        "jp.config.get",
        "jp.config.explain",
        "jp.config.set",
        "jp.config.list",
    }


@each_method
def test_examples_are_true(method: Method) -> None:
    """What we send is complete in an example; of what we receive defaults may be missing."""
    for example in EXAMPLES[method.name]:
        params = to_json(read(method.params, example.params, method.name))
        if method.sender == "server":
            assert params == example.params
        else:
            assert without_defaults(params, example.params) == example.params
        assert example.has_result == (method.result is not None)
        if method.result is None:
            continue
        if example.result is None:
            assert method.may_answer_null
            continue
        result = to_json(read(method.result, example.result, method.name))
        assert result == example.result


@each_method
def test_types_have_a_description(method: Method) -> None:
    for model in (method.params, method.result):
        assert model is None or re.fullmatch(r"[A-Z].*\.", (model.__doc__ or "").strip(), re.DOTALL)


@pytest.mark.requirement("R343")
def test_each_error_code_has_a_number_and_a_sentence() -> None:
    assert set(ERRORS) == set(ErrorCode.__value__.__args__)
    assert all(re.fullmatch(r"[A-Z].*\.", error.meaning) for error in ERRORS.values())
    numbers = {code: int(error.number) for code, error in ERRORS.items() if error.number != -32803}
    assert numbers == {
        "invalid_params": -32602,
        "cancelled": -32800,
        "not_initialized": -32002,
        "invalid_request": -32600,
        "method_not_found": -32601,
        "parse_error": -32700,
    }


@pytest.mark.requirement("R299", "R344")
def test_error_data_look_as_promised() -> None:
    plain = {
        "code": "config_invalid",
        "chain": ["a", "b"],
        "origin": ".jp/config.toml",
        "trace": "t1",
        "draft": "hi",
    }
    assert read(ErrorData, plain, "data").to_json() == plain
    cancelled = {
        "code": "cancelled",
        "chain": [],
        "trace": "t2",
        "outcome": "stopped",
        "turns": [{"index": 1, "outcome": "stopped", "cycles": 1, "eventsFrom": 0, "eventsTo": 3}],
        "partialSaved": True,
    }
    assert read(CancelledData, cancelled, "data").to_json() == cancelled


def test_no_chunk_can_be_taken_for_the_progress_of_work() -> None:
    """Stock clients look at `kind` in a progress value, and know `begin`, `report` and `end`."""
    schema = ChunkNotification.model_json_schema(by_alias=True)
    types = {
        definition["properties"]["type"]["const"]: definition["properties"]
        for definition in schema["$defs"].values()
        if "v" in definition.get("properties", {})
    }
    assert len(types) == 18
    assert not {"begin", "report", "end"} & types.keys()
    assert not any("kind" in properties for properties in types.values())


def test_importing_the_table_builds_no_model_and_loads_no_exporter() -> None:
    """A server that starts must not pay for models that it does not use yet."""
    code = (
        "import sys\n"
        "from jp_lsp.protocol.methods import METHODS\n"
        "built = [m.name for m in METHODS.values() if m.params.__pydantic_complete__]\n"
        "assert not built, built\n"
        "assert not [name for name in sys.modules if name.startswith('jp_lsp.protocol.export')]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

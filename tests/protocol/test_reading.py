"""What arrives is read as it is promised, and what does not fit is named."""

import pytest
from pydantic import BaseModel

from jp_lsp.protocol.capability import ClientCapabilities
from jp_lsp.protocol.conversation import ConversationListParams, RenderParams
from jp_lsp.protocol.prompt import AnswerParams, PromptResult
from jp_lsp.protocol.reading import InvalidParams, read
from jp_lsp.protocol.search import ConversationSearchParams
from jp_lsp.protocol.turn import InterruptParams, QueryParams

CONVERSATION = "jp-c17912345678"


def check_refused(model: type[BaseModel], value: object, message: str) -> None:
    with pytest.raises(InvalidParams) as refusal:
        read(model, value, "jp/x")
    assert str(refusal.value) == f"jp/x: {message}"


@pytest.mark.requirement("R233")
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "the params must be an object, not null"),
        ([], "the params must be an object, not an array"),
        ("hi", "the params must be an object, not a string"),
        ({"text": 5}, "`text` must be a string, not a number"),
        ({"text": ["a"]}, "`text` must be a string, not an array"),
        ({"persist": "yes"}, "`persist` must be true or false, not a string"),
        ({"persist": 1}, "`persist` must be true or false, not a number"),
        (
            {"conversation": "newest"},
            "`conversation` must be a conversation id such as 'jp-c17912345678', 'new' or 'last', not \"newest\"",
        ),
        ({"conversation": 17912345678}, "`conversation` must be a string, not a number"),
        ({"fork": {}}, "`fork.from` is missing"),
        ({"fork": CONVERSATION}, "`fork` must be an object, not a string"),
        ({"fork": {"from": "last", "keepTurns": -1}}, "`fork.keepTurns` must be 0 or more, not -1"),
        ({"fork": {"from": "new"}}, "`fork.from` must be a conversation that exists: its id, or 'last'"),
        ({"replay": 0}, "`replay` must be 1 or more, not 0"),
        ({"replay": -3}, "`replay` must be 1 or more, not -3"),
        ({"replay": 1.5}, "`replay` must be an integer, not 1.5"),
        ({"replay": True}, "`replay` must be an integer, not true"),
        ({"config": "a=b"}, "`config` must be an array, not a string"),
        ({"config": ["a=b", 3, 4]}, "`config[1]` must be a string, not a number"),
        ({"attachments": [{}]}, "`attachments[0]` must be a string, not an object"),
        (
            {"toolChoice": "maybe"},
            "`toolChoice` must be 'auto', 'none', 'required' or an object, not \"maybe\"",
        ),
        (
            {"toolChoice": {}},
            "`toolChoice` must be 'auto', 'none', 'required' or an object with `name`, not an object",
        ),
        ({"schema": {}}, "`schema` must be a string, not an object"),
        ({"workDoneToken": 1.5}, "`workDoneToken` must be an integer or a string, not 1.5"),
        ({"partialResultToken": []}, "`partialResultToken` must be an integer or a string, not an array"),
        ({"content": [{}]}, "`content[0].type` is missing"),
        ({"content": [{"type": "video"}]}, "`content[0].type` must be 'text' or 'resource', not \"video\""),
        ({"content": [{"type": "text"}]}, "`content[0].text` is missing"),
        ({"content": [{"type": "text", "text": 1}]}, "`content[0].text` must be a string, not a number"),
        ({"content": [{"type": "resource", "uri": 1}]}, "`content[0].uri` must be a string, not a number"),
        (
            {"fork": {"from": "last"}, "conversation": CONVERSATION},
            "`fork` makes a new conversation, so `conversation` must be left out",
        ),
        (
            {"resume": True, "text": "go on"},
            "`resume` goes on with what was asked, so `text` and `content` must be left out",
        ),
        (
            {"resume": True, "replay": 2},
            "`resume` goes on where a turn was cut off, so it takes no other place to ask",
        ),
        (
            {"text": 1, "queue": 2},
            "`text` must be a string, not a number; `queue` must be true or false, not a number",
        ),
    ],
)
def test_a_wrong_query_is_refused_by_the_name_of_the_field(value: object, message: str) -> None:
    check_refused(QueryParams, value, message)


@pytest.mark.parametrize(
    ("model", "value", "message"),
    [
        (AnswerParams, {}, "`decisionId` is missing"),
        (AnswerParams, {"decision_id": "d1"}, "`decisionId` is missing"),
        (AnswerParams, {"decisionId": "d1", "action": 1}, "`action` must be a string, not a number"),
        (PromptResult, {"text": False}, "`text` must be a string, not false"),
        (InterruptParams, {"turn": {}}, "`turn` must be an integer or a string, not an object"),
        (ConversationListParams, {"limit": 0}, "`limit` must be 1 or more, not 0"),
        (
            ConversationSearchParams,
            {"pattern": "x", "limit": 10_001},
            "`limit` must be 10000 or less, not 10001",
        ),
        (RenderParams, {}, "`conversation` is missing"),
        (
            RenderParams,
            {"conversation": "last"},
            "`conversation` must be a conversation id such as 'jp-c17912345678', not \"last\"",
        ),
        (
            RenderParams,
            {"conversation": CONVERSATION, "turns": {"fromTurn": 3, "toTurn": 2}},
            "`turns` must not end before it begins (`fromTurn` 3, `toTurn` 2)",
        ),
        (
            RenderParams,
            {"conversation": CONVERSATION, "turns": {"last": 3, "toTurn": 2}},
            "`turns` takes either `last`, or `fromTurn` and `toTurn`",
        ),
        (
            RenderParams,
            {"conversation": CONVERSATION, "config": "old"},
            "`config` must be 'per_turn' or 'fixed', not \"old\"",
        ),
        (ClientCapabilities, {"maxActions": 0}, "`maxActions` must be 1 or more, not 0"),
        (ClientCapabilities, {"prompt": {"kinds": "menu"}}, "`prompt.kinds` must be an array, not a string"),
    ],
)
def test_other_params_are_refused_in_the_same_words(
    model: type[BaseModel], value: object, message: str
) -> None:
    check_refused(model, value, message)


@pytest.mark.parametrize("field", ["text", "title", "schema"])
def test_a_text_of_the_user_is_never_quoted_in_a_complaint_about_its_neighbour(field: str) -> None:
    with pytest.raises(InvalidParams) as refusal:
        read(QueryParams, {field: "hunter2", "replay": 0, "persist": "hunter2"}, "jp/query")
    assert "hunter2" not in str(refusal.value)


def test_a_flood_of_problems_is_counted_instead_of_listed() -> None:
    wrong: dict[str, object] = dict.fromkeys(
        ("text", "conversation", "title", "schema", "expires", "queue", "explain"), 1
    )
    with pytest.raises(InvalidParams) as refusal:
        read(QueryParams, wrong, "jp/query")
    assert str(refusal.value).count(";") == 5
    assert str(refusal.value).endswith("and 2 more problems")


def test_a_long_list_of_wrong_items_makes_one_problem() -> None:
    check_refused(QueryParams, {"config": [0] * 100_000}, "`config[0]` must be a string, not a number")


def test_a_long_value_is_cut_in_the_message() -> None:
    with pytest.raises(InvalidParams) as refusal:
        read(QueryParams, {"conversation": "x" * 100_000}, "jp/query")
    assert len(str(refusal.value)) < 250


def test_unknown_fields_are_ignored_at_every_depth() -> None:
    value = {
        "text": "hi",
        "newer": {"a": [1]},
        "fork": {"from": "last", "newer": 1},
        "content": [{"type": "text", "text": "more", "newer": True}],
    }
    read_value = read(QueryParams, value, "jp/query").to_json()
    assert read_value["fork"] == {"from": "last"}
    assert read_value["content"] == [{"type": "text", "text": "more"}]
    assert "newer" not in read_value


def test_null_means_that_the_field_is_left_out() -> None:
    nothing = dict.fromkeys(
        ("text", "content", "conversation", "fork", "replay", "resume", "config", "persist", "workDoneToken")
    )
    assert read(QueryParams, nothing, "jp/query") == read(QueryParams, {}, "jp/query")
    check_refused(AnswerParams, {"decisionId": None}, "`decisionId` is missing")


def test_only_the_names_of_the_wire_are_read() -> None:
    query = read(
        QueryParams, {"tool_choice": "none", "work_done_token": "a", "json_schema": "{}"}, "jp/query"
    )
    assert query == QueryParams()


@pytest.mark.parametrize("text", ["new", "last", CONVERSATION, f"{CONVERSATION}-otvo8", "jp-c0"])
def test_each_form_of_a_conversation_is_read(text: str) -> None:
    assert read(QueryParams, {"conversation": text}, "jp/query").conversation == text


@pytest.mark.parametrize(
    "text",
    ["", "New", " last", "c17912345678", "jp-17912345678", "jp-c", "jp-cx", f"{CONVERSATION}-", "jp-c-1"],
)
def test_no_other_form_of_a_conversation_is_read(text: str) -> None:
    with pytest.raises(InvalidParams):
        read(QueryParams, {"conversation": text}, "jp/query")


def test_models_do_not_change() -> None:
    with pytest.raises(ValueError):
        QueryParams(text="a").text = "b"  # type: ignore[misc]  # that is the point

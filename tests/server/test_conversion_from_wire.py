"""What editors send becomes domain values, and what makes no sense is refused in words."""

import pytest

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.protocol.capability import ClientCapabilities, PromptCapability
from jp_lsp.protocol.prompt import AnswerParams
from jp_lsp.protocol.reading import InvalidParams, read
from jp_lsp.protocol.turn import InterruptParams, QueryParams
from jp_lsp.server import from_wire
from jp_lsp.server.message_request import UnknownAnswer
from jp_lsp.tools.decision import Choice, Decision, DecisionId, DecisionKind
from jp_lsp.tools.definition import NamedTool
from jp_lsp.tools.switches import ToolSwitch
from jp_lsp.turn.inputs import Answered, Dismissed, Pressed
from jp_lsp.turn.query import Fork, Query

ID = DecisionId("d1")
CHOICES = (Choice("skip", "Skip"), Choice("run", "Run"))
CONVERSATION = ConversationId("jp-c17912345678")


def read_query(**fields: object) -> Query:
    return from_wire.query(read(QueryParams, fields, "jp/query"))


def decision(kind: DecisionKind, *choices: Choice) -> Decision:
    return Decision(ID, kind, "?", choices)


@pytest.mark.requirement("R230", "R326")
def test_every_field_of_a_query_reaches_the_domain() -> None:
    assert read_query(
        text="Which files?",
        content=[
            {"type": "text", "text": "The selection:"},
            {"type": "resource", "uri": "file:///b.py"},
            {"type": "text", "text": "x = 1"},
        ],
        conversation="new",
        fork={"from": f"{CONVERSATION}-otvo8", "keepTurns": 2},
        replay=3,
        config=["a=b", "c:=1"],
        attachments=["file:///a.py"],
        tools=[{"enable": False}, {"enable": True, "name": "list_files"}],
        toolChoice={"name": "list_files"},
        schema='{"type": "array"}',
        template=True,
        title="Files",
        persist=False,
        interactive=False,
        explain=True,
        expires="1h 30m",
        queue=True,
        workDoneToken=1,
        partialResultToken="p",
    ) == Query(
        text="Which files?\n\nThe selection:\n\nx = 1",
        conversation="new",
        fork=Fork(CONVERSATION, keep_turns=2),
        replay=3,
        overrides=("a=b", "c:=1"),
        attachments=("file:///a.py", "file:///b.py"),
        tool_switches=(ToolSwitch(False), ToolSwitch(True, "list_files")),
        tool_choice=NamedTool("list_files"),
        schema={"type": "array"},
        is_template=True,
        title="Files",
        persist=False,
        interactive=False,
        explain=True,
        expires_after=5400.0,
        queue=True,
    )


def test_an_empty_query_is_the_default() -> None:
    assert read_query() == Query()


def test_a_turn_is_resumed_where_it_was_cut_off() -> None:
    assert read_query(resume=True, conversation=CONVERSATION) == Query(resume=True, conversation=CONVERSATION)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("new", "new"),
        ("last", "last"),
        (CONVERSATION, CONVERSATION),
        (f"{CONVERSATION}-otvo8", CONVERSATION),
        (None, None),
    ],
)
def test_conversations_are_named_in_three_ways(said: str | None, meant: str | None) -> None:
    assert read_query(conversation=said).conversation == meant


@pytest.mark.requirement("R239")
@pytest.mark.parametrize("choice", ["auto", "none", "required"])
def test_tool_choices(choice: str) -> None:
    assert read_query(toolChoice=choice).tool_choice == choice


@pytest.mark.parametrize(("title", "meant"), [("", ""), ("A", "A"), (None, None)])
def test_an_empty_title_is_not_the_same_as_none(title: str | None, meant: str | None) -> None:
    assert read_query(title=title).title == meant


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("0s", 0),
        ("250ms", 0.25),
        ("90s", 90),
        ("2h", 7200),
        ("2h30m", 9000),
        ("2h 30m", 9000),
        (" 1 d ", 86_400),
        ("1w2d", 777_600),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert read_query(expires=text).expires_after == seconds


@pytest.mark.parametrize(
    "text", ["", "5", "h", "2 hours", "-1h", "1.5h", "1y", "٣h", "9999999999s", "2h,30m"]
)
def test_wrong_durations_are_named(text: str) -> None:
    with pytest.raises(InvalidParams) as refusal:
        read_query(expires=text)
    assert str(refusal.value) == f"jp/query: `expires` must be a duration such as '2h 30m', not {text!r}"


def test_no_duration_leads_beyond_what_a_file_can_say() -> None:
    assert read_query(expires="5200w").expires_after == 5200 * 604_800
    with pytest.raises(InvalidParams, match="must be at most 5200 weeks"):
        read_query(expires="5200w 1ms")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "`schema` cannot be read: line 1, column 1: the schema is empty; name at least one field"),
        ("a\n ?b c", "`schema` cannot be read: line 2, column 5: 'c' is no type; types are str, int, float, bool, any, "
                     "[T], { fields } or a literal"),
        ('{"minimum": NaN}', "`schema` cannot be read: this is no JSON: NaN is not JSON"),
    ],
)  # fmt: skip
def test_wrong_schemas_are_named(text: str, message: str) -> None:
    with pytest.raises(InvalidParams) as refusal:
        read_query(schema=text)
    assert str(refusal.value) == f"jp/query: {message}"


def test_a_schema_may_be_written_as_fields() -> None:
    size = {"enum": ["s", "m"], "description": "shirt size"}
    expected = {"type": "object", "properties": {"size": size}, "required": ["size"]}
    assert read_query(schema='size "s"|"m": shirt size').schema == expected


def test_a_schema_that_nests_without_end_is_refused() -> None:
    with pytest.raises(InvalidParams):
        read_query(schema='{"a":' * 100_000)


@pytest.mark.requirement("R332")
@pytest.mark.parametrize(
    ("params", "press"),
    [
        ({}, Pressed()),
        ({"turn": "t", "action": "stop"}, Pressed("stop")),
        ({"action": "reply", "text": "Hm."}, Pressed("reply", "Hm.")),
    ],
)
def test_presses(params: object, press: Pressed) -> None:
    assert from_wire.press(read(InterruptParams, params, "jp/interrupt")) == press


ANSWERS: list[tuple[Decision, JsonValue, Answered | Dismissed]] = [
    (decision("approval", *CHOICES), None, Dismissed(ID)),
    (decision("approval", *CHOICES), {}, Dismissed(ID)),
    (decision("approval", *CHOICES), {"action": None}, Dismissed(ID)),
    (decision("approval", *CHOICES), {"action": "run"}, Answered(ID, choice="run")),
    (decision("menu", *CHOICES), {"action": "run", "text": "a"}, Answered(ID, choice="run", text="a")),
    (decision("text"), {"text": ""}, Answered(ID, text="")),
    (decision("secret"), {"text": "hunter2"}, Answered(ID, text="hunter2")),
    (decision("edit", Choice("discard", "Discard")), {"action": "discard"}, Answered(ID, choice="discard")),
    (decision("edit", Choice("discard", "Discard")), {"text": "{}"}, Answered(ID, text="{}")),
]


@pytest.mark.requirement("R328", "R330", "S14")
@pytest.mark.parametrize(("asked", "result", "answer"), ANSWERS)
def test_answers_to_prompts(asked: Decision, result: JsonValue, answer: Answered | Dismissed) -> None:
    assert from_wire.prompt_answer(asked, result) == answer


@pytest.mark.requirement("R328", "R330")
@pytest.mark.parametrize(
    ("asked", "result", "answer"), [case for case in ANSWERS if isinstance(case[1], dict)]
)
def test_answers_without_a_request_mean_the_same(
    asked: Decision, result: dict[str, JsonValue], answer: Answered | Dismissed
) -> None:
    params = read(AnswerParams, {"decisionId": ID, **result}, "jp/answer")
    assert from_wire.answer(asked, params) == answer


@pytest.mark.requirement("R330")
@pytest.mark.parametrize(
    ("asked", "result", "message"),
    [
        (
            decision("approval", *CHOICES),
            {"action": "Run"},
            "action 'Run' was not offered; the actions are: 'skip', 'run'",
        ),
        (decision("text"), {"action": "ok"}, "action 'ok' was not offered; the actions are: none"),
        (
            decision("pick", *CHOICES),
            {"text": "run"},
            "a text came where one of the actions was asked for",
        ),
        (
            decision("pick", *CHOICES),
            "run",
            "the answer to jp/prompt: the params must be an object, not a string",
        ),
        (
            decision("secret"),
            {"text": 4711},
            "the answer to jp/prompt: `text` must be a string, not a number",
        ),
    ],
)
def test_an_answer_that_was_not_offered_is_none(asked: Decision, result: JsonValue, message: str) -> None:
    with pytest.raises(UnknownAnswer) as refusal:
        from_wire.prompt_answer(asked, result)
    assert str(refusal.value) == message


@pytest.mark.requirement("R340")
@pytest.mark.parametrize(
    ("experimental", "capabilities"),
    [
        (None, ClientCapabilities()),
        ([], ClientCapabilities()),
        ({}, ClientCapabilities()),
        ({"other": {"chunks": True}}, ClientCapabilities()),
        ({"jp": None}, ClientCapabilities()),
        (
            {"jp": {"prompt": {"kinds": ["menu", "hologram"]}, "chunks": True, "maxActions": 3, "newer": 1}},
            ClientCapabilities(
                prompt=PromptCapability(kinds=("menu", "hologram")), chunks=True, max_actions=3
            ),
        ),
    ],
)
def test_clients_say_what_they_can_do(experimental: JsonValue, capabilities: ClientCapabilities) -> None:
    assert from_wire.client_capabilities(experimental) == (capabilities, None)


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (True, "the params must be an object, not true"),
        ({"chunks": "yes"}, "`chunks` must be true or false, not a string"),
        ({"maxActions": 0}, "`maxActions` must be 1 or more, not 0"),
    ],
)
def test_a_client_that_says_it_wrong_is_told_and_treated_as_a_plain_one(
    said: JsonValue, problem: str
) -> None:
    assert from_wire.client_capabilities({"jp": said}) == (
        ClientCapabilities(),
        f"capabilities.experimental.jp: {problem}",
    )

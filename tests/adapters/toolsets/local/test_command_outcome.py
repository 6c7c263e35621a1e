"""What a command's output means."""

import json
import logging
from typing import Any

import pytest

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.ports.process import Exited
from jp_lsp.tools.outcome import Failed, NeedsInput, Succeeded, ToolOutcome, ToolQuestion
from jp_lsp.toolsets.command_outcome import read_result, to_outcome
from tests.support.processes import printed

ERROR = '{"type": "error", "message": "no", "trace": ["a", "ü"], "transient": %s}'


def outcome(end: Exited) -> ToolOutcome:
    return to_outcome(read_result(end, 2_000_000), "grep")


def failure(stdout: str, stderr: str = "") -> Failed:
    """The text of raw output that failed, as stored conversations have it."""
    text = json.dumps(stdout, ensure_ascii=False)
    errors = json.dumps(stderr, ensure_ascii=False)
    return Failed(f'{{"message":"Tool \'grep\' execution failed.","stderr":{errors},"stdout":{text}}}')


OUTCOMES: list[tuple[str, int, ToolOutcome]] = [
    # An object that is understood; the exit code does not count (trap 46).
    ('{"type":"success","content":"done"}', 0, Succeeded("done")),
    ('{"type":"success","content":"","more":1}', 3, Succeeded("")),
    ('\n {"content": "spaced", "type": "success"}\n', 0, Succeeded("spaced")),
    (ERROR % "true", 0, Failed('{"message":"no","trace":["a","ü"]}')),
    (ERROR % "true", 1, Failed('{"message":"no","trace":["a","ü"]}')),
    (ERROR % "false", 0, Failed(ERROR % "false")),
    # Everything else is raw.
    ("", 0, Succeeded("")),
    (" text \n", 0, Succeeded(" text \n")),
    ("", 2, failure("")),
    ('say "hi"\n', -15, failure('say "hi"\n')),
    ("[1, 2]", 0, Succeeded("[1, 2]")),
    ('"success"', 0, Succeeded('"success"')),
    ('log\n{"type":"success","content":"x"}', 0, Succeeded('log\n{"type":"success","content":"x"}')),  # trap 47
    ('{"type":"success","content":"x"}\n{}', 0, Succeeded('{"type":"success","content":"x"}\n{}')),
    ('{"type":"success","content":["x"]}', 0, Succeeded('{"type":"success","content":["x"]}')),
    ('{"type":"success"}', 1, failure('{"type":"success"}')),
    ('{"type":"error","message":"m","transient":true}', 0, Succeeded('{"type":"error","message":"m","transient":true}')),
    ('{"type":"error","message":"m","trace":[1],"transient":true}', 1, failure('{"type":"error","message":"m","trace":[1],"transient":true}')),
    ('{"type":"error","message":"m","trace":[],"transient":1}', 1, failure('{"type":"error","message":"m","trace":[],"transient":1}')),
    ('{"type":"spawn","handle":"h"}', 0, Succeeded('{"type":"spawn","handle":"h"}')),  # reserved
    ('{"type":7}', 0, Succeeded('{"type":7}')),
    ('{"type":"success","content":NaN}', 0, Succeeded('{"type":"success","content":NaN}')),
    ('{"type":"needs_input"}', 0, Succeeded('{"type":"needs_input"}')),
]  # fmt: skip


@pytest.mark.requirement("T10", "R275", "G46", "G47", "G48")
@pytest.mark.parametrize(("stdout", "code", "expected"), OUTCOMES)
def test_what_output_means(stdout: str, code: int, expected: ToolOutcome) -> None:
    assert outcome(printed(stdout, code=code)) == expected


def test_a_failure_tells_what_the_command_said() -> None:
    assert outcome(printed("out", "err\n", code=1)) == failure("out", "err\n")


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert outcome(printed(b"a\xffb")) == Succeeded("a\ufffdb")


def test_json_of_any_depth_is_raw_output() -> None:
    assert outcome(printed("[" * 100_000)) == Succeeded("[" * 100_000)


@pytest.mark.requirement("T05")
def test_output_that_was_not_kept_whole_is_raw_and_says_so() -> None:
    note = "\n[cut here: 7 more bytes were left out]"
    whole = '{"type":"success","content":"x"}'
    assert outcome(printed(whole, lost=7)) == Succeeded(whole + note)
    assert outcome(printed("ab", code=1, lost=7)) == failure(f"ab{note}")
    assert outcome(printed("aä".encode()[:2], lost=7)) == Succeeded(f"a{note}")


# ------------------------------------------------------------------------------------------- questions

FULL: dict[str, Any] = {
    "id": "which",
    "text": "Which branch?",
    "pre_amble": "Two match.",
    "answer_type": {"Select": {"options": ["main", "dev"]}},
    "default": "main",
}
ASKED = ToolQuestion("which", "Which branch?", "select", "Two match.", ("main", "dev"), "main")


def ask(question: JsonValue) -> ToolOutcome:
    return outcome(printed(json.dumps({"type": "needs_input", "question": question})))


def test_a_question() -> None:
    assert ask(FULL) == NeedsInput(ASKED)


QUESTIONS: list[tuple[dict[str, Any], ToolQuestion]] = [
    ({"answer_type": "Boolean"}, ToolQuestion("q", "Sure?", "boolean")),
    ({"answer_type": "boolean", "default": False}, ToolQuestion("q", "Sure?", "boolean", default=False)),
    ({"answer_type": {"Boolean": None}}, ToolQuestion("q", "Sure?", "boolean")),
    ({"answer_type": "Text", "default": "x"}, ToolQuestion("q", "Sure?", "text", default="x")),
    ({"answer_type": "secret"}, ToolQuestion("q", "Sure?", "secret", is_remembered=False)),
    ({"answer_type": "Secret", "default": "x"}, ToolQuestion("q", "Sure?", "secret", is_remembered=False)),
    (
        {"answer_type": {"select": {"options": ["a", "b", "a"]}}, "default": "c"},
        ToolQuestion("q", "Sure?", "select", options=("a", "b")),
    ),
    ({"answer_type": {"Select": {"options": ["a"]}}}, ToolQuestion("q", "Sure?", "select", options=("a",))),
    ({"answer_type": "Boolean", "default": "yes"}, ToolQuestion("q", "Sure?", "boolean")),
    ({"answer_type": "Text", "default": 1}, ToolQuestion("q", "Sure?", "text")),
    ({"answer_type": "Text", "context": "c", "pre_amble": "p"}, ToolQuestion("q", "Sure?", "text", "c")),
    ({"answer_type": "Text", "exclusive": True}, ToolQuestion("q", "Sure?", "text", is_exclusive=True)),
    ({"answer_type": "Text", "persistence": "none"}, ToolQuestion("q", "Sure?", "text", is_remembered=False)),
    ({"answer_type": "Text", "persistence": "None"}, ToolQuestion("q", "Sure?", "text", is_remembered=False)),
    ({"answer_type": "Text", "persistence": "turn"}, ToolQuestion("q", "Sure?", "text")),
    (
        {"answer_type": "Text", "text": "Sure?\nIt is\nlong.", "pre_amble": "p"},
        ToolQuestion("q", "Sure?", "text", "It is\nlong.\n\np"),
    ),
]


@pytest.mark.requirement("R108", "R115")
@pytest.mark.parametrize(("members", "question"), QUESTIONS)
def test_forms_of_questions(members: dict[str, Any], question: ToolQuestion) -> None:
    assert ask({"id": "q", "text": "Sure?", **members}) == NeedsInput(question)


def test_a_default_that_is_no_answer_is_told_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    ask({**FULL, "default": "other"})
    assert caplog.messages == ["the default of question 'which' is no possible answer; it is ignored"]


def test_a_choice_without_options_is_a_failure() -> None:
    question = {**FULL, "answer_type": {"Select": {"options": []}}}
    assert ask(question) == Failed("Tool 'grep' asked question 'which' without any option to choose from.")


@pytest.mark.parametrize(
    "question",
    [
        "Sure?",
        {},
        {**FULL, "id": 1},
        {**FULL, "text": None},
        {**FULL, "answer_type": "Number"},
        {**FULL, "answer_type": None},
        {**FULL, "answer_type": "SELECT"},
        {**FULL, "answer_type": "Select"},
        {**FULL, "answer_type": {"Select": ["a"]}},
        {**FULL, "answer_type": {"Select": {"options": [1]}}},
        {**FULL, "answer_type": {"Select": {"options": ["a"]}, "Text": None}},
        {**FULL, "pre_amble": 3},
        {**FULL, "exclusive": "no"},
        {**FULL, "persistence": 0},
    ],
)
def test_what_is_no_question_is_raw_output(question: JsonValue, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    text = json.dumps({"type": "needs_input", "question": question})
    assert outcome(printed(text)) == Succeeded(text)
    assert len(caplog.messages) == 1
    assert caplog.messages[0].endswith("taken as raw output")


@pytest.mark.requirement("G48")
def test_an_outcome_without_a_trace_is_told_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """It was meant as a failure and counts as a success (trap 48)."""
    outcome(printed('{"type":"error","message":"m","transient":true}'))
    assert caplog.messages == [
        "a tool printed an outcome of type 'error' that lacks a member; taken as raw output"
    ]

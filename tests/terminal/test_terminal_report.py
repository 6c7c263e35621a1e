"""How a query ended: sentences and exit codes, for every outcome and every error."""

from typing import Any, get_args

import pytest

from jp_lsp.protocol.errors import ERRORS
from jp_lsp.protocol.model import FailureClass, Usage
from jp_lsp.protocol.turn import Outcome, QueryResult
from jp_lsp.terminal.connection import RequestError
from jp_lsp.terminal.operations import Say
from jp_lsp.terminal.report import EXIT_CODES, Ending, ending_of_error, ending_of_result, summary

RESULT: dict[str, Any] = {"conversation": "jp-c17", "outcome": "completed", "persisted": True}


def result(**fields: Any) -> QueryResult:
    return QueryResult.model_validate({**RESULT, **fields})


OUTCOMES: dict[str, tuple[int, str]] = {
    "completed": (0, ""),
    "truncated": (0, "The answer was cut off: the model reached its limit."),
    "empty": (1, "The model gave no answer. Ask again, perhaps in other words."),
    "refused": (1, "The model refused. Ask in other words, or another model."),
    "stopped": (0, "Stopped."),
    "aborted": (0, "Discarded."),
    "interrupted": (130, "Interrupted."),
    "killed": (130, "Interrupted at once."),
    "failed": (1, "error: the query failed."),
    "replied": (0, ""),
    "waiting_for_input": (75, "A tool waits for an answer, and nobody was there to give it."),
    "empty_query": (0, 'There was nothing to ask. Give a text, as in `jp-lsp query "..."`.'),
    "cancelled_before_start": (0, "Cancelled before anything was sent."),
}


@pytest.mark.requirement("R131")
@pytest.mark.parametrize(("outcome", "expected"), OUTCOMES.items(), ids=OUTCOMES)
def test_outcomes(outcome: Outcome, expected: tuple[int, str]) -> None:
    code, sentence = expected
    ending = ending_of_result(result(outcome=outcome, draft="d"))
    assert (ending.exit_code, [say.text for say in ending.says]) == (code, [sentence] if sentence else [])
    assert ending.draft == "d"


def test_no_outcome_is_forgotten() -> None:
    assert set(get_args(Outcome.__value__)) == EXIT_CODES.keys() == OUTCOMES.keys()


@pytest.mark.parametrize("failure_class", get_args(FailureClass.__value__))
def test_every_failure_is_told_and_most_say_what_to_do(failure_class: str) -> None:
    failure = {"class": failure_class, "message": "It broke\x1b[1m", "attempts": 3}
    ending = ending_of_result(result(outcome="failed", error=failure))
    first, *help_for_it = ending.says
    assert first == Say("error: It broke[1m (3 attempts)", "error")
    assert len(help_for_it) == (0 if failure_class in {"other", "malformed"} else 1)


def test_one_attempt_is_not_counted() -> None:
    failure = {"class": "other", "message": "It broke", "attempts": 1}
    ending = ending_of_result(result(outcome="failed", error=failure))
    assert ending == Ending(1, (Say("error: It broke", "error"),))


@pytest.mark.requirement("R343")
@pytest.mark.parametrize("code", ERRORS)
def test_every_error_has_an_exit_code(code: str) -> None:
    error = {"code": int(ERRORS[code].number), "message": "No.", "data": {"code": code, "draft": "d"}}
    ending = ending_of_error(RequestError(error))
    expected = {"invalid_params": 2, "cancelled": 130}.get(code, 1)
    assert ending.exit_code == expected
    assert ending.says[0].text == ("No." if code == "cancelled" else "error: No.")
    assert ending.draft == (None if code == "invalid_params" else "d")


@pytest.mark.parametrize("data", [None, 3, {"code": 7, "chain": "x", "draft": 1}])
def test_an_error_of_any_shape_is_told(data: Any) -> None:
    ending = ending_of_error(RequestError({"code": -1, "message": "No.", "data": data}))
    assert ending == Ending(1, (Say("error: No.", "error"),))


@pytest.mark.parametrize(
    ("fields", "seconds", "line"),
    [
        ({}, 3.21, "jp-c17 · 3.2 s"),
        ({"usage": Usage(input_tokens=1204, output_tokens=18)}, 61.4, "jp-c17 · 1,204 in, 18 out · 61 s"),
        ({"usage": Usage(output_tokens=18)}, 125.0, "jp-c17 · 18 out · 2 min 5 s"),
        ({"persisted": False}, 0.04, "jp-c17 · 0.0 s · not saved"),
        ({"conversation": None, "persisted": False}, 1.0, "1.0 s"),
    ],
)
def test_summary(fields: dict[str, Any], seconds: float, line: str) -> None:
    assert summary(result(**fields), seconds) == Say(line)

r"""How a query ended, for people and for shells: sentences, and the exit code (query pipeline 1.10).

| code | when |
| --- | --- |
| 0 | an answer, also one that was cut off or that the user stopped or discarded in the menu |
| 1 | no answer: it failed, was refused, stayed empty, or could not begin |
| 2 | the command line was wrong |
| 75 | a tool waits for an answer that nobody was there to give |
| 130, 131, 143, 129 | Ctrl+C without a menu or repeated, Ctrl+\, SIGTERM, SIGHUP |
| 141 | whoever read the output stopped reading |
"""

from collections.abc import Mapping
from dataclasses import dataclass

from jp_lsp.protocol.model import Failure, Usage
from jp_lsp.protocol.turn import Outcome, QueryResult
from jp_lsp.terminal.connection import RequestError
from jp_lsp.terminal.operations import Say
from jp_lsp.terminal.words import duration, plain

COMPLETED = 0
FAILED = 1
USAGE = 2
WAITING = 75
HANGUP = 129
INTERRUPTED = 130
QUIT = 131
BROKEN_PIPE = 141
TERMINATED = 143

_INVALID_PARAMS = -32602

EXIT_CODES: Mapping[Outcome, int] = {
    "completed": COMPLETED,
    "truncated": COMPLETED,
    "empty": FAILED,
    "refused": FAILED,
    "stopped": COMPLETED,
    "aborted": COMPLETED,
    "interrupted": INTERRUPTED,
    "killed": INTERRUPTED,
    "failed": FAILED,
    "replied": COMPLETED,
    "waiting_for_input": WAITING,
    "empty_query": COMPLETED,
    "cancelled_before_start": COMPLETED,
}

_SENTENCES: Mapping[Outcome, Say] = {
    "truncated": Say("The answer was cut off: the model reached its limit.", "warning"),
    "empty": Say("The model gave no answer. Ask again, perhaps in other words.", "error"),
    "refused": Say("The model refused. Ask in other words, or another model.", "error"),
    "stopped": Say("Stopped."),
    "aborted": Say("Discarded."),
    "interrupted": Say("Interrupted."),
    "killed": Say("Interrupted at once."),
    "waiting_for_input": Say("A tool waits for an answer, and nobody was there to give it.", "warning"),
    "empty_query": Say('There was nothing to ask. Give a text, as in `jp-lsp query "..."`.', "warning"),
    "cancelled_before_start": Say("Cancelled before anything was sent."),
}

_HELP_FOR_FAILURE: Mapping[str, str] = {
    "timeout": "Try again later, or ask another model with --model.",
    "connect": "Check the network, and the vendor's base URL if you set one.",
    "rate_limit": "Wait a little, or ask another model with --model.",
    "transient": "Try again later, or ask another model with --model.",
    "quota": "Check the account at the vendor, or ask another model with --model.",
    "output_limit": "Raise `assistant.request.max_response_bytes` if you expected as much.",
    "auth": "`jp-lsp doctor` says which key is used.",
    "permission": "The key may not use this model; choose another one with --model.",
    "unknown_model": "Choose another one with --model.",
    "missing_structured_data": "Ask another model with --model, or for less with --schema.",
    "context_length": "Begin a new conversation with --new, or ask a model that takes more.",
}

_HELP_FOR_ERROR: Mapping[str, str] = {
    "conversation_busy": "Wait for the other query, or ask in a new conversation with --new.",
    "conversation_not_found": "Begin a new conversation with --new.",
    "lock_timeout": "End the other program, or ask in a new conversation with --new.",
    "no_workspace": "`jp-lsp init` makes one here.",
    "model_unknown": "`jp-lsp doctor` says which models can be used.",
    "provider_auth": "Set the variable, or choose another model with --model; `jp-lsp doctor` says what is there.",
    "internal": "Run it again with --verbose to see the server's log.",
}


@dataclass(frozen=True, slots=True)
class Ending:
    """What to say at the end, and the exit code.

    Attributes:
        exit_code: of the process.
        says: what the user must know.
        draft: text of the user's that went nowhere.
        summary: a line for people who look at a terminal.
    """

    exit_code: int
    says: tuple[Say, ...] = ()
    draft: str | None = None
    summary: Say | None = None


def ending_of_result(result: QueryResult) -> Ending:
    """Say how a query ended that became a turn."""
    says: list[Say] = []
    if result.error is not None:
        says += _failure(result.error)
    elif result.outcome == "failed":
        says.append(Say("error: the query failed.", "error"))
    elif (sentence := _SENTENCES.get(result.outcome)) is not None:
        says.append(sentence)
    says += [
        Say(f"The value does not fit the schema: {plain(text)}", "warning")
        for text in result.data_errors or ()
    ]
    if result.recovery_uri is not None:
        says.append(Say(f"The conversation was saved as a copy: {plain(result.recovery_uri)}", "warning"))
    return Ending(EXIT_CODES[result.outcome], tuple(says), result.draft)


def ending_of_error(error: RequestError) -> Ending:
    """Say why a query could not begin, or that it was cancelled."""
    data = error.data
    code = data.get("code")
    draft = data.get("draft")
    kept = draft if isinstance(draft, str) else None
    if code == "cancelled":
        return Ending(INTERRUPTED, (Say(plain(str(error))),), kept)
    says = [Say(f"error: {plain(str(error))}", "error"), *_chain(error)]
    if isinstance(code, str) and code in _HELP_FOR_ERROR:
        says.append(Say(_HELP_FOR_ERROR[code]))
    is_usage = error.code == _INVALID_PARAMS
    return Ending(USAGE if is_usage else FAILED, tuple(says), None if is_usage else kept)


def summary(result: QueryResult, seconds: float) -> Say:
    """Say in one line where the conversation is, what it took, and how long."""
    parts = [result.conversation or "", _tokens(result.usage), duration(seconds)]
    if result.conversation is not None and not result.persisted:
        parts.append("not saved")
    return Say(" · ".join(part for part in parts if part))


def _failure(failure: Failure) -> list[Say]:
    attempts = f" ({failure.attempts} attempts)" if failure.attempts > 1 else ""
    says = [Say(f"error: {plain(failure.message)}{attempts}", "error")]
    if failure.failure_class in _HELP_FOR_FAILURE:
        says.append(Say(_HELP_FOR_FAILURE[failure.failure_class]))
    return says


def _chain(error: RequestError) -> list[Say]:
    """Give the steps from what was tried to the cause, as far as the message does not say them already."""
    chain = error.data.get("chain")
    steps = [step for step in chain if isinstance(step, str)] if isinstance(chain, list) else []
    return [Say(f"  {plain(step)}") for step in steps if step not in str(error)]


def _tokens(usage: Usage | None) -> str:
    if usage is None:
        return ""
    counts = ((usage.input_tokens, "in"), (usage.output_tokens, "out"))
    return ", ".join(f"{count:,} {word}" for count, word in counts if count is not None)

"""What a local tool's output means (config-and-tools 4.6, query pipeline 3.4).

A tool may print one JSON object as its whole output, with a `type`: `success`, `error` or `needs_input`.
Everything else is raw output, whose exit code then says whether the tool succeeded: text, JSON of another
kind, and also types that later versions of the protocol may bring. When an object is understood, the exit
code does not count.

The texts of failures are those of the command-line tool that shares the conversations, so that a stored
result and a new one compare equal.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from jp_lsp.conversation.json_text import from_text
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.ports.process import Exited, Output
from jp_lsp.tools.limits import note_omitted, room_beside_note
from jp_lsp.tools.outcome import Failed, NeedsInput, Succeeded, ToolOutcome, ToolQuestion

_log = logging.getLogger(__name__)

_AnswerKind: TypeAlias = Literal["boolean", "select", "text", "secret"]

_KINDS: Mapping[str, _AnswerKind] = {
    "boolean": "boolean",
    "select": "select",
    "text": "text",
    "secret": "secret",
}
"""Types of answers. Written with a capital first letter they mean the same."""


@dataclass(frozen=True, slots=True)
class Content:
    """The tool succeeded."""

    text: str


@dataclass(frozen=True, slots=True)
class Problem:
    """The tool failed; `is_transient` says that trying again may help. `source` is the text it was read from."""

    message: str
    trace: tuple[str, ...]
    is_transient: bool
    source: str


@dataclass(frozen=True, slots=True)
class Raw:
    """The tool printed something else."""

    code: int
    stdout: str
    stderr: str


CommandResult: TypeAlias = Content | Problem | ToolQuestion | Raw


def read_result(end: Exited, limit: int, file: str | None = None) -> CommandResult:
    """Understand what a command printed; of raw output, `limit` bytes are decoded and the rest is counted.

    An object is read as long as all of it was kept: it may be long and say little. `file` is where more of
    raw output is found.
    """
    if not end.stdout.omitted and end.stdout.head.lstrip()[:1] == b"{":
        result = _read_object(end.stdout.text())
        if result is not None:
            return result
    return Raw(end.code, head_text(end.stdout, limit, file), head_text(end.stderr, limit))


def head_text(output: Output, limit: int, file: str | None = None) -> str:
    """Decode the begin of an output; with the note of what is missing, it takes `limit` bytes."""
    if output.size <= min(limit, len(output.head)):
        return output.text()
    kept = min(room_beside_note(output.size, limit, file), len(output.head))
    return note_omitted(output.text(kept), output.size - kept, file)


def to_outcome(result: CommandResult, name: str) -> ToolOutcome:
    """Turn the result of a pass into what the model is given; `name` is what the command is told it is called."""
    match result:
        case Content(text):
            return Succeeded(text)
        case Problem(message, trace, is_transient, source):
            return Failed(_compact({"message": message, "trace": trace}) if is_transient else source)
        case ToolQuestion(id=id, kind="select", options=()):
            return Failed(f"Tool '{name}' asked question '{id}' without any option to choose from.")
        case ToolQuestion():
            return NeedsInput(result)
        case Raw(code=0, stdout=stdout):
            return Succeeded(stdout)
        case Raw(stdout=stdout, stderr=stderr):
            message = f"Tool '{name}' execution failed."
            return Failed(_compact({"message": message, "stderr": stderr, "stdout": stdout}))


def _read_object(text: str) -> Content | Problem | ToolQuestion | None:
    try:
        value = from_text(text)
    except ValueError:
        return None
    match value:
        case {"type": "success", "content": str(content)}:
            return Content(content)
        case {"type": "error", "message": str(message), "trace": trace, "transient": bool(is_transient)}:
            lines = _texts(trace)
            return None if lines is None else Problem(message, lines, is_transient, text)
        case {"type": "needs_input", "question": Mapping() as question}:
            return _read_question(question)
        case {"type": "success" | "error" | "needs_input" as kind}:
            _log.warning(
                "a tool printed an outcome of type %r that lacks a member; taken as raw output", kind
            )
            return None
        case _:
            return None


def _read_question(question: JsonObject) -> ToolQuestion | None:
    """Read a question; `None` if it is none, which makes it raw output."""
    answer = _read_answer_type(question.get("answer_type"))
    context = question.get("context", question.get("pre_amble"))
    persistence = question.get("persistence", "turn")
    is_exclusive = question.get("exclusive", False)
    match question.get("id"), question.get("text"), context, persistence, is_exclusive:
        case str(id), str(text), (str() | None) as before, str(memory), bool(is_for_user) if answer:
            kind, options = answer
            line, _, rest = text.strip().partition("\n")
            return ToolQuestion(
                id=id,
                text=line.strip(),
                kind=kind,
                context="\n\n".join(part for part in (rest.strip(), before) if part) or None,
                options=options,
                default=_fitting_default(question.get("default"), kind, options, id),
                is_exclusive=is_for_user,
                is_remembered=memory.lower() != "none" and kind != "secret",
            )
        case _:
            _log.warning("a tool printed a question that lacks a member; taken as raw output")
            return None


def _read_answer_type(value: JsonValue) -> tuple[_AnswerKind, tuple[str, ...]] | None:
    """Read `"Boolean"` or `{"Select": {"options": [...]}}`; options are told apart, the first of equals stays."""
    name: JsonValue = value
    details: JsonValue = None
    if isinstance(value, Mapping) and len(value) == 1:
        name, details = next(iter(value.items()))
    kind = _KINDS.get(name[:1].lower() + name[1:]) if isinstance(name, str) else None
    if kind != "select":
        return None if kind is None else (kind, ())
    options = _texts(details.get("options")) if isinstance(details, Mapping) else None
    return None if options is None else (kind, tuple(dict.fromkeys(options)))


def _fitting_default(default: JsonValue, kind: str, options: Sequence[str], question: str) -> JsonValue:
    """Keep a default that is a possible answer (trap 79); a secret is not to be read anywhere."""
    match kind, default:
        case (_, None):
            return None
        case ("boolean", bool()) | ("text", str()):
            return default
        case ("select", str()) if default in options:
            return default
        case _:
            _log.warning("the default of question %r is no possible answer; it is ignored", question)
            return None


def _texts(value: JsonValue) -> tuple[str, ...] | None:
    """Give a list of texts, or `None` if it is something else."""
    if not isinstance(value, list):
        return None
    texts = tuple(item for item in value if isinstance(item, str))
    return texts if len(texts) == len(value) else None


def _compact(value: JsonObject) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

"""The tools that are part of this program: they describe, ask, tell, and work in the user's editor.

`ports.toolset.ToolExecutor` for tools whose source is a `BuiltinSource` (query pipeline 7.4). Which tool it
is says the name of its entry in the configuration, not what stands behind the dot of its source.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.ports.editor import EditorDocuments
from jp_lsp.ports.toolset import RunObserver, ToolRun
from jp_lsp.tools import builtin
from jp_lsp.tools.outcome import Failed, NeedsInput, Succeeded, ToolOutcome, ToolQuestion
from jp_lsp.tools.spec import ToolSpec
from jp_lsp.toolsets.describe_tools import describe_tools
from jp_lsp.toolsets.editor_tools import edit_file, list_documents, read_file

ANSWER = "answer"
"""The id of the one question that `ask_user` asks."""

_LEAST_OPTIONS = 2
_WORDS = {"true": True, "yes": True, "false": False, "no": False}


class BuiltinExecutor:
    """Runs the tools of this program.

    Args:
        offered: gives the tools of the turn that a call belongs to; no others are described.
        editor: the documents of the client; without it there is no editor to work in.
    """

    def __init__(
        self,
        offered: Callable[[ToolRun], Sequence[ToolSpec]],
        editor: EditorDocuments | None = None,
    ) -> None:
        self._offered = offered
        self._editor = editor

    async def run(self, run: ToolRun, observer: RunObserver) -> ToolOutcome:
        """Do one pass."""
        match run.tool.name:
            case builtin.DESCRIBE_TOOLS:
                tools = {tool.name: tool.definition for tool in self._offered(run)}
                return describe_tools(run.arguments.get("tools"), tools)
            case builtin.ASK_USER:
                return ask_user(run.arguments, run.answers)
            case builtin.TELL_USER:
                return tell_user(run.arguments)
            case builtin.EDITOR_LIST_DOCUMENTS | builtin.EDITOR_READ_FILE | builtin.EDITOR_EDIT_FILE:
                return await self._in_editor(run)
            case name:
                return Failed(f"There is no built-in tool {name!r}.")

    async def _in_editor(self, run: ToolRun) -> ToolOutcome:
        if self._editor is None:
            return Failed("No editor is connected that has documents.")
        match run.tool.name:
            case builtin.EDITOR_LIST_DOCUMENTS:
                return await list_documents(self._editor, run.root)
            case builtin.EDITOR_READ_FILE:
                return await read_file(self._editor, run.root, run.arguments)
            case _:
                return await edit_file(self._editor, run.root, run.arguments, is_proposal=not run.is_allowed)


def tell_user(arguments: Mapping[str, JsonValue]) -> ToolOutcome:
    """Acknowledge a message. Whoever shows the call shows the message, live and again later (pipeline 7.4)."""
    if not _text(arguments.get(builtin.TELL_MESSAGE)).strip():
        return Failed("The `message` must not be empty.")
    return Succeeded("Message shown to user.")


def ask_user(arguments: Mapping[str, JsonValue], answers: Mapping[str, JsonValue]) -> ToolOutcome:
    """Ask, or pass the answer on. Only the user may answer, and nothing is remembered (pipeline 7.4)."""
    try:
        question = _question(arguments)
    except ValueError as problem:
        return Failed(str(problem))
    if ANSWER not in answers:
        return NeedsInput(question)
    result = {"answer_type": question.kind, "answer": answers[ANSWER]}
    return Succeeded(json.dumps(result, ensure_ascii=False, separators=(",", ":")))


def _question(arguments: Mapping[str, JsonValue]) -> ToolQuestion:
    """Read the arguments of `ask_user`.

    Raises:
        ValueError: they make no question; says why, for the model.
    """
    text = arguments.get("question")
    if not isinstance(text, str) or not text.strip():
        raise ValueError("The `question` must not be empty.")
    if len(text.strip().splitlines()) > 1:
        raise ValueError("The `question` must be one line; put the rest into `context`.")
    kind = _text(arguments.get("answer_type", "text"))
    options = _options(arguments.get("options"))
    default = arguments.get("default")
    context = arguments.get("context")
    said = context if isinstance(context, str) and context.strip() else None
    match kind:
        case "text":
            _require(default is None or isinstance(default, str), "The `default` of a text must be a text.")
        case "boolean":
            default = _as_boolean(default)
        case "select":
            _require(len(options) >= _LEAST_OPTIONS, "The answer type `select` needs two or more `options`.")
            _require(len(set(options)) == len(options), "The `options` must be different from each other.")
            _require(default is None or default in options, "The `default` must be one of the `options`.")
        case _:
            raise ValueError("The `answer_type` must be `boolean`, `select` or `text`.")
    _require(kind == "select" or not options, "`options` belong to the answer type `select`.")
    return ToolQuestion(
        ANSWER, text.strip(), kind, said, options, default, is_exclusive=True, is_remembered=False
    )


def _as_boolean(default: JsonValue) -> bool | None:
    """Read a default that a model may have written as a word."""
    value = _WORDS.get(default.strip().lower(), default) if isinstance(default, str) else default
    if value is None or isinstance(value, bool):
        return value
    raise ValueError("The `default` of a boolean must be true or false.")


def _options(value: JsonValue) -> tuple[str, ...]:
    if value is None:
        return ()
    items = value if isinstance(value, Sequence) and not isinstance(value, str) else ("",)
    _require(
        all(isinstance(option, str) and option.strip() for option in items),
        "The `options` must be an array of texts that are not empty.",
    )
    return tuple(cast("Sequence[str]", items))


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise ValueError(problem)

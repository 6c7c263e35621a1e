"""The tools that are part of this program, as a model is told of them (query pipeline 7.4).

Their names are reserved. An entry of that name in the configuration changes how such a tool is treated, and
what it leaves out is taken from here. Only `describe_tools` is on by itself; the others are switched on by
name, because not every user wants a model that asks, tells and edits.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from jp_lsp.tools.definition import Parameter, ToolDefinition

DESCRIBE_TOOLS = "describe_tools"
ASK_USER = "ask_user"
TELL_USER = "tell_user"
TELL_MESSAGE = "message"
"""The parameter of `tell_user` that the user is shown."""

EDITOR_LIST_DOCUMENTS = "editor_list_documents"
EDITOR_READ_FILE = "editor_read_file"
EDITOR_EDIT_FILE = "editor_edit_file"


@dataclass(frozen=True, slots=True)
class BuiltinTool:
    """A tool of ours. One that `needs_no_approval` runs unasked unless its entry says otherwise."""

    definition: ToolDefinition
    needs_no_approval: bool = False


def _define(
    name: str, summary: str, parameters: Mapping[str, Parameter], description: str | None = None
) -> ToolDefinition:
    return ToolDefinition(name, parameters, summary, description)


_DESCRIBE_TOOLS = _define(
    DESCRIBE_TOOLS,
    "Tells how tools are used: what they do at length, their parameters, examples.",
    {
        "tools": Parameter(
            "array", required=True, summary="The names of the tools.", items=Parameter("string")
        )
    },
)

_ASK_USER = _define(
    ASK_USER,
    "Asks the user a question and waits for the answer.",
    {
        "question": Parameter("string", required=True, summary="The question, on one line."),
        "context": Parameter("string", summary="What the user should know to answer; may have many lines."),
        "answer_type": Parameter(
            "string",
            default="text",
            summary="What the answer is: yes or no, one of `options`, or any text.",
            enum=("boolean", "select", "text"),
        ),
        "options": Parameter(
            "array",
            summary="What to choose from; two or more different texts, for `select` only.",
            items=Parameter("string"),
        ),
        "default": Parameter(
            ("string", "boolean"), summary="The answer to suggest; must be one that the question takes."
        ),
    },
    "The user sees the question at once and may take any time to answer, or close it. Ask when a decision is "
    "the user's to make and a wrong guess would cost more than the interruption.",
)

_TELL_USER = _define(
    TELL_USER,
    "Shows the user a message while the work goes on.",
    {TELL_MESSAGE: Parameter("string", required=True, summary="The message, as Markdown.")},
    "No answer comes back. The final answer need not repeat the message.",
)

_PATH = Parameter(
    "string", required=True, summary="The file: relative to the workspace, absolute, or a `file:` URI."
)

_EDITOR_LIST_DOCUMENTS = _define(
    EDITOR_LIST_DOCUMENTS,
    "Lists the documents of the workspace that are open in the user's editor.",
    {},
    "Each comes with its URI, its language, its version, and whether it has unsaved changes.",
)

_EDITOR_READ_FILE = _define(
    EDITOR_READ_FILE,
    "Reads a file as the user's editor has it, with unsaved changes.",
    {
        "path": _PATH,
        "start_line": Parameter("integer", summary="The first line to give, counted from 1."),
        "end_line": Parameter("integer", summary="The last line to give."),
    },
    "A file that is not open is read from disk. The first line of the result says which of the two it is, and "
    "the version, which `editor_edit_file` must be given.",
)

_EDITOR_EDIT_FILE = _define(
    EDITOR_EDIT_FILE,
    "Changes a file through the user's editor, which may ask the user to confirm.",
    {
        "path": _PATH,
        "version": Parameter(
            "string",
            required=True,
            summary="The version that `editor_read_file` gave for the text that the edits are made against.",
        ),
        "edits": Parameter(
            "array",
            required=True,
            summary="What to replace by what; all of it is done, or none.",
            items=Parameter(
                "object",
                properties={
                    "old": Parameter(
                        "string",
                        required=True,
                        summary="Text of the file, to the letter; must be there exactly once.",
                    ),
                    "new": Parameter("string", required=True, summary="What stands there afterwards."),
                },
            ),
        ),
    },
    "The file must exist. When it has changed since that version, nothing is done: read it again. The editor "
    "does not save the file.",
)

BUILTIN_TOOLS: Mapping[str, BuiltinTool] = {
    tool.definition.name: tool
    for tool in (
        BuiltinTool(_ASK_USER, needs_no_approval=True),
        BuiltinTool(_TELL_USER, needs_no_approval=True),
        BuiltinTool(_EDITOR_LIST_DOCUMENTS),
        BuiltinTool(_EDITOR_READ_FILE),
        BuiltinTool(_EDITOR_EDIT_FILE),
        BuiltinTool(_DESCRIBE_TOOLS, needs_no_approval=True),
    )
}
"""All of them, by name."""

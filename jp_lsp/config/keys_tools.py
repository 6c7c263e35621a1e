"""Keys of `conversation.tools`: `'*'` holds what all tools share, any other name is a tool (2.4, 4)."""

from types import MappingProxyType

from jp_lsp.config.keys_assistant import OVERRIDES
from jp_lsp.config.kind import FreeJson, Key, ListOf, MapOf, Table, Variant, map_of
from jp_lsp.config.scalars import boolean, choice, text
from jp_lsp.config.shapes import (
    COMMAND,
    ENABLE,
    INLINE_RESULTS,
    JSON_MAP,
    LINK,
    SOURCE,
    TYPE,
    command_line,
    option,
    section,
    table,
)
from jp_lsp.tools.spec import DEFAULT_CANCELLATION

TOOL_DEFAULTS_ENTRY = "*"

_RUN = choice("ask", "unattended", "edit", "skip")
_RESULT = choice("unattended", "ask", "edit", "skip")
_FORMAT = choice("ask", "unattended")

_PARAMETER_STYLE = Variant(
    command_line("`json`, `function_call`, `off` or a command that formats the arguments"),
    COMMAND.table,
)

STYLE = table(
    {
        "hidden": Key(boolean(), "Do not show calls of the tool.", default=False),
        "inline_results": Key(
            INLINE_RESULTS, "How much of a result is shown.", default={"truncate": {"lines": 10}}
        ),
        "results_file_link": Key(LINK, "How a link to the whole result is shown.", default="full"),
        "parameters": Key(_PARAMETER_STYLE, "How the arguments of a call are shown.", default="json"),
        "error": section(
            table(
                {
                    "inline_results": Key(INLINE_RESULTS, "How much of a failed result is shown."),
                    "results_file_link": Key(LINK, "How a link to a failed result is shown."),
                }
            ),
            "What differs for failed calls.",
        ),
    }
)


def _parameter_node() -> Table:
    """Make the node of a parameter; nodes nest through `items` and `properties`."""
    keys = {
        "type": Key(TYPE, "The JSON type, or several."),
        "default": Key(FreeJson(), "The value when the model leaves the argument out."),
        "required": Key(boolean(), "Whether the model must give it.", default=False),
        "summary": Key(text(), "What it is, in one sentence."),
        "description": Key(text(), "What it is, at length."),
        "examples": Key(text(), "Examples, shown on demand."),
        "enum": Key(ListOf(FreeJson(), "replace"), "The values that are allowed."),
    }
    node = Table(MappingProxyType(keys))
    keys["items"] = Key(node, "What each item of a list is.")
    keys["properties"] = Key(map_of(node), "The fields of an object.")
    return node


PARAMETER = _parameter_node()

_QUESTION = table(
    {
        "target": Key(
            Variant(choice("user", "assistant"), OVERRIDES),
            "Who answers: the user or a model.",
            default="user",
        ),
        "answer": Key(FreeJson(), "The answer, so that nobody is asked."),
    }
)

_PERMISSIONS = ("read", "write", "create", "update", "delete", "execute")
_ACCESS_RULE = table(
    {
        "path": Key(text(), "The path that the rule is about, relative to the workspace.", required=True),
        "external": Key(boolean(), "Whether the path leads out of the workspace."),
        **{name: Key(boolean(), f"Whether the tool may {name} there.") for name in _PERMISSIONS},
    }
)

TOOL_DEFAULTS = table(
    {
        "enable": Key(ENABLE, "Whether tools are offered."),
        "run": Key(_RUN, "Whether a call needs the user's approval.", required=True),
        "format": Key(_FORMAT, "When a command may format the arguments."),
        "result": Key(_RESULT, "Whether a result needs the user's approval.", default="unattended"),
        "cancellation_response": Key(
            text(), "What the model is told of a cancelled call.", default=DEFAULT_CANCELLATION
        ),
        "style": section(STYLE, "How calls are shown."),
    }
)

TOOL = table(
    {
        "source": Key(SOURCE, "Where the tool comes from.", required=True),
        "enable": Key(ENABLE, "Whether the tool is offered."),
        "command": Key(COMMAND, "The command of a local tool."),
        "summary": Key(text(), "What the tool does, in one sentence; always told to the model."),
        "description": Key(text(), "What the tool does, at length; told on demand."),
        "examples": Key(text(), "Examples; told on demand."),
        "parameters": Key(map_of(PARAMETER, whole=True), "The arguments that the tool takes.", default={}),
        "run": Key(_RUN, "Whether a call needs the user's approval."),
        "format": Key(_FORMAT, "When a command may format the arguments."),
        "result": Key(_RESULT, "Whether a result needs the user's approval."),
        "cancellation_response": Key(text(), "What the model is told of a cancelled call."),
        "style": option(STYLE, "How calls are shown; replaces the shared style as a whole."),
        "questions": Key(
            map_of(_QUESTION, whole=True), "How questions of the tool are answered.", default={}
        ),
        "options": Key(JSON_MAP, "Values handed to the tool.", default={}),
        "access": option(
            table({"fs": Key(ListOf(_ACCESS_RULE, "mergeable"), "Rules for files.")}),
            "What a local tool may touch.",
        ),
    }
)

TOOLS = MapOf(TOOL, MappingProxyType({TOOL_DEFAULTS_ENTRY: TOOL_DEFAULTS}), clears=False)

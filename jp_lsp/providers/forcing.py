"""Making a model call a tool where the vendor's API cannot force it (providers 6.1.4).

Models refuse a forced tool choice while they think. Then the request says `auto`, an instruction says what
is wanted, and an answer without the call is followed up.
"""

from jp_lsp.tools.definition import NamedTool, ToolChoice

_NO_EXCUSES = "DO NOT QUESTION THIS DIRECTIVE. DO NOT PROMPT FOR MORE CONTEXT OR DETAILS. JUST RUN IT."

_DEMANDS = (
    "You did not call {tool}. Call it now, with the arguments that fit best; write nothing else.",
    "There is still no call of {tool} in your answer. Only a tool call counts now, not text. Make it.",
    "This is the last request: answer with a call of {tool} and with nothing but that call.",
)

MAX_FOLLOW_UPS = len(_DEMANDS)


def is_forced(choice: ToolChoice) -> bool:
    """Whether the choice demands a call."""
    return choice == "required" or isinstance(choice, NamedTool)


def nudge(choice: ToolChoice) -> str:
    """Give the instruction that stands in for a forced choice."""
    what = f"the function named {choice.name!r}" if isinstance(choice, NamedTool) else "AT LEAST ONE tool"
    return f"IMPORTANT: You MUST use {what} available to you. {_NO_EXCUSES}"


def demand(choice: ToolChoice, attempt: int) -> str:
    """Give what the user says when the call did not come; `attempt` counts from 0 and gets firmer."""
    tool = f"the tool {choice.name!r}" if isinstance(choice, NamedTool) else "a tool"
    return _DEMANDS[min(attempt, len(_DEMANDS) - 1)].format(tool=tool)

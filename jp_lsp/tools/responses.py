"""Texts that answer a tool call in place of a tool's own result (query pipeline 3.13).

Some stand in conversations that JP wrote, so they are kept to the letter (config-and-tools 4.5 to 4.8).
"""

NOT_RUN = "The turn ended before this tool ran."
SKIPPED = "Tool skipped by user."
SKIPPED_REMEMBERED = "Tool skipped by user (remembered)."
SKIPPED_BY_CONFIGURATION = "Tool skipped by configuration."
INPUT_CANCELLED = "Tool input cancelled by user."
WITHHELD = "Result delivery skipped by user."
WITHHELD_BY_CONFIGURATION = "Result delivery skipped by configuration."
DELIVERY_CANCELLED = "The tool completed, but the delivery of its result was cancelled by the user."
NEEDS_APPROVAL = "The tool needs the user's approval, and there is nobody to ask. It did not run."
APPROVAL_FAILED = "The user's approval could not be obtained. The tool did not run."
RESULT_NEEDS_APPROVAL = "The tool ran, but its result needs the user's approval, and there is nobody to ask."
MAY_HAVE_RUN = "The turn was cut off, and this tool may have run already. It was not run again, because there is nobody to ask."
TOO_MANY_CALLS = "Too many tool calls in one turn; this one did not run."
EDIT_CANCELLED = "edit cancelled"
TOO_MANY_PASSES = "The tool asked for input too many times and was given up."


def unavailable(name: str) -> str:
    """Answer a call to a tool that is not offered."""
    return f'Tool "{name}" is not enabled in this conversation; do not call it again until it is listed.'


def bad_json(problem: str) -> str:
    """Answer a call whose arguments could not be read."""
    return f"Arguments were not a JSON object ({problem}); the tool did not run."


def skipped(reason: str | None) -> str:
    """Answer a call that the user did not want, perhaps with the reason."""
    return f"Tool skipped by user: {reason.strip()}" if reason and reason.strip() else SKIPPED


def cancelled_with_message(text: str) -> str:
    """Answer a call that the user stopped with something to say."""
    return f"Tool run cancelled by user with a custom message:\n\n{text}"


def formatter_failed(name: str, problem: str) -> str:
    """Answer a call whose arguments could not be shown to the user."""
    return f"Tool '{name}' was not executed because the argument formatter failed: {problem}"


def crashed(name: str, problem: str) -> str:
    """Answer a call that broke in our own hands."""
    return f"Tool '{name}' could not be run: {problem}"


def question_unanswered(question: str, why: str) -> str:
    """Answer a call whose question nobody could answer."""
    return f"The tool asked {question!r}, and {why}. It did not finish."


def inquiry_failed(question: str, problem: str) -> str:
    """Answer a call whose question a second model was asked, in vain."""
    return (
        f"The tool's question {question!r} was passed on to a secondary assistant, which failed: {problem}. "
        "You may call the tool again."
    )


def edited_note(content: str) -> str:
    """Tell the model that what ran is not what it asked for."""
    return f"{content}\n\n(The user changed the arguments of this call before it ran.)"

"""Asking a model to go on with an answer that broke off (providers 5).

A conversation may end with the assistant's own words: after an interrupt or a lost stream. Models with
prefill simply write on. All others get one more user message, which is part of the request only and is never
stored.
"""

CONTINUE = (
    "Your last message was cut off in the middle. Write on from its very last character, in the same voice and "
    "format. Repeat nothing of it, and do not mention this interruption."
)

THINK_OPEN = "<think>\n"
THINK_CLOSE = "\n</think>\n\n"


def think_text(reasoning: str) -> str:
    """Give reasoning as ordinary text, for a model that cannot be given it in its own form."""
    return f"{THINK_OPEN}{reasoning}{THINK_CLOSE}"

"""The content of a chunk, which most servers give as a text and some as a list of parts (providers 6.5, 6.10).

Models of Mistral think in parts of their own: `{"type": "thinking", "thinking": [{"type": "text", "text": …}]}`
beside `{"type": "text", "text": …}`. Parts that are neither, such as references, say nothing that we could show.
"""

from collections.abc import Iterator
from typing import Literal

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.providers.untrusted import as_list, as_object, as_text

Kind = Literal["reasoning", "content"]


def read_content(content: JsonValue) -> Iterator[tuple[Kind, str]]:
    """Give the texts of a content in their order, and of each whether the model thinks it or says it."""
    if text := as_text(content):
        yield "content", text
    for item in as_list(content):
        part = as_object(item)
        if text := as_text(part.get("text")):
            yield "content", text
        elif text := _thoughts(part.get("thinking")):
            yield "reasoning", text


def _thoughts(thinking: JsonValue) -> str:
    """Put the texts of a thinking part together; some servers write them as one."""
    return as_text(thinking) or "".join(as_text(as_object(item).get("text")) for item in as_list(thinking))

"""A response that came in one piece, told as the stream that it would have been (providers 6.2.2).

So there is one reading of items, and both ways of getting an answer give the same events (F10).
"""

from collections.abc import Iterator

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.providers.untrusted import as_list, as_object, as_text


def events_of(response: JsonObject) -> Iterator[JsonObject]:
    """Give the stream's events: each item begun, said and done, in order, and the end."""
    for index, value in enumerate(as_list(response.get("output"))):
        item = as_object(value)
        yield {"type": "response.output_item.added", "output_index": index, "item": item}
        for event in _said(item):
            yield {**event, "output_index": index}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    # Its state says how it ended; one that is no end at all is as good as a lost connection.
    yield {"type": f"response.{as_text(response.get('status')) or 'failed'}", "response": response}


def _said(item: JsonObject) -> Iterator[JsonObject]:
    match as_text(item.get("type")):
        case "message":
            for content in as_list(item.get("content")):
                yield from _text(as_object(content))
        case "reasoning":
            for index, summary in enumerate(as_list(item.get("summary"))):
                yield {"type": "response.reasoning_summary_part.added", "summary_index": index}
                text = as_text(as_object(summary).get("text"))
                yield {"type": "response.reasoning_summary_text.delta", "delta": text}
            for content in as_list(item.get("content")):
                text = as_text(as_object(content).get("text"))
                yield {"type": "response.reasoning_text.delta", "delta": text}
        case "function_call":
            arguments = as_text(item.get("arguments"))
            yield {"type": "response.function_call_arguments.delta", "delta": arguments}
        case _:
            pass


def _text(content: JsonObject) -> Iterator[JsonObject]:
    match as_text(content.get("type")):
        case "output_text":
            yield {"type": "response.output_text.delta", "delta": as_text(content.get("text"))}
        case "refusal":
            yield {"type": "response.refusal.delta", "delta": as_text(content.get("refusal"))}
        case _:
            pass

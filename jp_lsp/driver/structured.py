"""Before a structured turn begins: is its schema one, and can the model answer with a value (query pipeline 7.2)."""

import anyio.to_thread

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.ports.provider import ModelDetails
from jp_lsp.ports.refusal import Refusal
from jp_lsp.turn.answer_schema import find_schema_problem


async def require_structured(schema: JsonObject | None, model: ModelDetails) -> None:
    """Look a schema over, in a worker thread: what checks values takes long to load, and the turn will need it.

    Raises:
        Refusal: it is no JSON schema, or the model gives no text that could hold a value.
    """
    if schema is None:
        return
    if not model.answers_in_text:
        text = f"{model.id} gives no text, so it cannot answer with a value that fits `schema`. Choose another model."
        raise Refusal("structured_output_unsupported", text, origin="schema")
    problem = await anyio.to_thread.run_sync(find_schema_problem, schema)
    if problem is not None:
        raise Refusal("invalid_params", f"`schema` is no JSON schema: {problem}", origin="schema")

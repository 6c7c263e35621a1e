"""Keys of `assistant`: what the model is told, and how it is asked (config-and-tools 2.2)."""

from types import MappingProxyType

from jp_lsp.config.kind import FreeJson, Key, ListOf, Table, Text, Variant, map_of
from jp_lsp.config.model_id import MODEL_ID, REASONING
from jp_lsp.config.scalars import real, text, whole
from jp_lsp.config.shapes import CACHE, NO_ITEMS, TOOL_CHOICE, section, table
from jp_lsp.config.value import MergedText

DEFAULT_SYSTEM_PROMPT = "You are a helpful assistant."

_POSITION = Key(
    whole(minimum=-(2**31), maximum=2**31 - 1),
    "Where it stands among sections and instructions; smaller comes first.",
    default=0,
)

SECTION = Table(
    MappingProxyType(
        {
            "content": Key(text(), "The text of the section.", required=True),
            "tag": Key(text(), "A tag to put around the text."),
            "title": Key(text(), "A heading, or the title attribute of the tag."),
            "position": _POSITION,
        }
    ),
    shorthand="content",
)

_EXAMPLE = Variant(
    text("text, or a table with `good` and `bad`"),
    table(
        {
            "good": Key(text(), "What is wanted.", required=True),
            "bad": Key(text(), "What is not wanted.", required=True),
            "reason": Key(text(), "Why the one is better."),
        }
    ),
)

INSTRUCTION = Table(
    MappingProxyType(
        {
            "title": Key(text(), "What the instruction is about."),
            "description": Key(text(), "A paragraph before the items."),
            "position": _POSITION,
            "items": Key(ListOf(text(), "replace"), "The single rules."),
            "examples": Key(ListOf(_EXAMPLE, "replace"), "Examples, plain or as a contrast."),
        }
    ),
    shorthand="title",
)

PARAMETERS = Table(
    MappingProxyType(
        {
            "max_tokens": Key(whole(), "The most tokens that one answer may take."),
            "reasoning": Key(REASONING, "How much the model thinks before it answers."),
            "temperature": Key(real(), "How freely the model chooses its words."),
            "top_p": Key(real(), "The share of likely words to choose from."),
            "top_k": Key(whole(), "How many likely words to choose from."),
            "stop_words": Key(ListOf(text(), "append"), "Texts that end an answer.", default=NO_ITEMS),
            "other": Key(
                map_of(FreeJson(deep=False)),
                "Parameters that only the provider knows; sent as they are.",
                default={},
                keeps_empty=True,
            ),
        }
    ),
    unknown="collect",
)

MODEL = Table(
    MappingProxyType(
        {
            "id": Key(MODEL_ID, "The model, as `provider/name` or an alias.", required=True),
            "parameters": section(PARAMETERS, "Settings of each request to the model."),
        }
    ),
    unknown="ignore",
)


def _request(max_response_bytes: int, zero: str) -> Table:
    return table(
        {
            "max_retries": Key(whole(), "How often a failed request is tried again; 0 for never.", default=5),
            "base_backoff_ms": Key(whole(), "The first wait before a retry, in milliseconds.", default=1000),
            "max_backoff_secs": Key(whole(), "The longest wait before a retry, in seconds.", default=60),
            "stream_idle_timeout_secs": Key(
                whole(),
                "Seconds of silence after which a response counts as broken; 0 for no limit.",
                default=60,
            ),
            "max_response_bytes": Key(
                whole(), f"Bytes after which a response is stopped; 0 {zero}.", default=max_response_bytes
            ),
            "cache": Key(CACHE, "How long the vendor may keep the prompt.", default=True),
        }
    )


REQUEST = _request(1_048_576, "for no limit")

OVERRIDES = table(
    {
        "system_prompt": Key(text(), "The first system text for this question."),
        "system_prompt_sections": Key(ListOf(SECTION, "append"), "Further system texts.", default=NO_ITEMS),
        "tool_choice": Key(TOOL_CHOICE, "Which tools this model may choose."),
        "model": Key(MODEL, "The model that answers; the main one if unset."),
        "request": Key(_request(0, "to do as the main model does"), "How this model is asked."),
    }
)
"""What may differ for a model that answers a tool's question (4.8)."""

ASSISTANT = table(
    {
        "name": Key(text(), "The assistant's name in transcripts."),
        "system_prompt": Key(
            Text(),
            "The first text that the model is told.",
            default=MergedText(DEFAULT_SYSTEM_PROMPT, discard=True),
        ),
        "system_prompt_sections": Key(
            ListOf(SECTION, "mergeable"), "Further texts that the model is told.", default=NO_ITEMS
        ),
        # The reference documents an example here that never takes effect (trap 14), so there is none.
        "instructions": Key(ListOf(INSTRUCTION, "mergeable"), "Rules for the model.", default=NO_ITEMS),
        "tool_choice": Key(TOOL_CHOICE, "Whether the model must use a tool, or which.", default="auto"),
        "model": section(MODEL, "Which model answers."),
        "request": section(REQUEST, "How requests are repeated and limited."),
    }
)

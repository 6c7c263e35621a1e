"""Keys of `conversation` beside its tools (config-and-tools 2.3)."""

from types import MappingProxyType

from jp_lsp.config.keys_assistant import MODEL, OVERRIDES
from jp_lsp.config.keys_tools import TOOLS
from jp_lsp.config.kind import FreeJson, Key, Leaf, ListOf, MapOf, Misfit, Variant
from jp_lsp.config.scalars import boolean, choice, text
from jp_lsp.config.shapes import ATTACHMENT, BOUND, COMMAND, NO_ITEMS, option, section, table
from jp_lsp.config.value import MergedList, MergedMap, Value
from jp_lsp.conversation.json_value import JsonValue

_RULE = table(
    {
        "keep_first": Key(BOUND, "How much of the beginning stays.", default=1),
        "keep_last": Key(BOUND, "How much of the end stays.", default=1),
        "reasoning": Key(choice("strip"), "What happens to reasoning."),
        "tool_calls": Key(
            choice(
                "strip",
                "strip-responses",
                "strip-requests",
                "omit",
                also={"s": "strip", "sres": "strip-responses", "sreq": "strip-requests", "o": "omit"},
            ),
            "What happens to tool calls.",
        ),
        "summary": Key(
            table(
                {
                    "model": option(MODEL, "The model that writes the summary."),
                    "instructions": Key(text(), "What the summary must hold."),
                    "context": Key(FreeJson(), "What the model is shown beside the turns."),
                }
            ),
            "Put a summary in place of what is left out.",
            keeps_empty=True,
        ),
    }
)

_LABEL = Variant(
    text("text, or a table with `value`"),
    table(
        {
            "value": Key(
                Variant(
                    text("text, or a table with `cmd`"),
                    table({"cmd": Key(COMMAND, "Prints it.", required=True)}),
                ),
                "The label's value, or the command that prints it.",
            ),
            "apply_on": section(
                table(
                    {
                        "new": Key(boolean(), "Give it to new conversations.", default=True),
                        "fork": Key(boolean(), "Give it to forks.", default=False),
                    }
                ),
                "When the label is given.",
            ),
            "run": Key(choice("ask", "unattended", "deny"), "Whether its command may run.", default="ask"),
        }
    ),
)

_ID_SPELLINGS = {
    "last": "last-activated",
    "last_activated": "last-activated",
    "last_created": "last-created",
    "prev": "previous",
}
_ID_EXPECTED = "`ask`, `last-activated`, `last-created`, `previous` or the id of a conversation"


def _read_default_id(raw: JsonValue) -> Value:
    if not isinstance(raw, str) or not raw:
        raise Misfit(_ID_EXPECTED, raw)
    return _ID_SPELLINGS.get(raw, raw)


_DEFAULT_ID = Leaf(
    _ID_EXPECTED,
    _read_default_id,
    _read_default_id,
    words=("ask", "last-activated", "last-created", "previous"),
)

CONVERSATION = table(
    {
        "title": section(
            table(
                {
                    "generate": section(
                        table(
                            {
                                "auto": Key(boolean(), "Let a model think of a title.", default=True),
                                "model": option(
                                    MODEL, "The model that thinks of titles; the main one if unset."
                                ),
                            }
                        ),
                        "Titles made by a model.",
                    ),
                    "from_heading": Key(
                        boolean(), "Take a heading of the first query as the title.", default=True
                    ),
                }
            ),
            "What conversations are called.",
        ),
        "tools": Key(TOOLS, "The tools that the model may use.", default={}),
        "compaction": section(
            table(
                {
                    "rules": Key(
                        ListOf(_RULE, "mergeable"),
                        "How old turns are made shorter.",
                        default=MergedList(({"reasoning": "strip", "tool_calls": "strip"},), discard=True),
                    )
                }
            ),
            "How long conversations are made shorter.",
        ),
        "attachments": Key(
            ListOf(ATTACHMENT, "mergeable"), "What is shown to the model with each query.", default=NO_ITEMS
        ),
        "labels": Key(
            MapOf(_LABEL, MappingProxyType({}), annotated=True),
            "Labels of new conversations.",
            default=MergedMap(),
        ),
        "inquiry": section(
            table({"assistant": section(OVERRIDES, "The model that answers tools' questions.")}),
            "Questions of tools that a model answers.",
        ),
        "start_local": Key(boolean(), "Keep new conversations out of the workspace.", default=False),
        "default_id": Key(
            _DEFAULT_ID,
            "Which conversation a query continues when it names none.",
            stored=False,
        ),
    }
)

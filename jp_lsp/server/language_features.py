"""Which features around texts the server announces, and who handles each.

The handlers are imported when one is first needed; this table alone is there from the start.
"""

from collections.abc import Mapping
from typing import Any

from lsprotocol import types

CHECKED_SUFFIXES = (".toml", ".json", ".json5", ".yaml", ".yml")
"""Documents with such a name may be configuration files, and are checked when they change."""

_COMPLETION_STARTERS = [".", "[", '"', "=", "/", "{", ",", "@", ":"]
_ACTION_KINDS = [types.CodeActionKind.QuickFix, "jp"]


def language_features() -> Mapping[str, tuple[str, str, Any]]:
    """Give, by method, the module of its handler, the handler, and what is announced."""
    return {
        types.TEXT_DOCUMENT_COMPLETION: (
            "language",
            "completion",
            types.CompletionOptions(trigger_characters=_COMPLETION_STARTERS),
        ),
        types.TEXT_DOCUMENT_HOVER: ("language", "hover", types.HoverOptions()),
        types.TEXT_DOCUMENT_DEFINITION: ("language", "definition", types.DefinitionOptions()),
        types.TEXT_DOCUMENT_CODE_ACTION: (
            "language",
            "code_action",
            types.CodeActionOptions(code_action_kinds=_ACTION_KINDS),
        ),
        types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: (
            "outline",
            "document_symbol",
            types.DocumentSymbolOptions(),
        ),
        types.TEXT_DOCUMENT_FOLDING_RANGE: (
            "outline",
            "folding_range",
            types.FoldingRangeOptions(),
        ),
        types.TEXT_DOCUMENT_DOCUMENT_LINK: (
            "outline",
            "document_link",
            types.DocumentLinkOptions(resolve_provider=True),
        ),
        types.DOCUMENT_LINK_RESOLVE: ("query_document", "resolve_link", None),
        types.TEXT_DOCUMENT_CODE_LENS: (
            "query_document",
            "code_lens",
            types.CodeLensOptions(resolve_provider=False),
        ),
    }

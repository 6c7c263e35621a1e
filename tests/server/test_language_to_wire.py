"""Proposals on the wire: what stands in a menu, and what beside it."""

import pytest

from jp_lsp.language.completion import Proposal
from jp_lsp.language.findings import Replacement
from jp_lsp.language.positions import Lines, Span
from jp_lsp.server.language_to_wire import completion_item

CASES = [
    ("nothing", "", "", None, None),
    ("short", "a number", "How many.", "a number", "How many."),
    (
        "long",
        "one of `hidden`, `full`, `summary`, `static`, or a number of characters",
        "How to show it.",
        "one of `hidden`, `full`, …",
        "How to show it.\n\none of `hidden`, `full`, `summary`, `static`, or a number of characters",
    ),
    (
        "long, with nothing beside it",
        "Reads a file of the workspace, or a part of it.",
        "",
        "Reads a file of the …",
        "Reads a file of the workspace, or a part of it.",
    ),
]


@pytest.mark.parametrize(
    ("detail", "documentation", "shown", "beside"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_a_menu_stays_narrow(detail: str, documentation: str, shown: str | None, beside: str | None) -> None:
    proposal = Proposal("name", "key", Replacement(Span(0, 0), "name"), detail, documentation)
    item = completion_item(proposal, 0, Lines("", "utf-16"), None)
    assert (item.detail, item.documentation) == (shown, beside)

"""`jp-lsp query --explain`: what would be sent, for people."""

import pytest

from jp_lsp.protocol.explanation import QueryExplanation
from jp_lsp.protocol.reading import read
from jp_lsp.server.explanation_to_wire import explanation_to_wire
from jp_lsp.terminal.explained import explained
from jp_lsp.turn.explanation import Explanation
from tests.support.explanations import BARE, FULL

EVERYTHING = """\
# Request to test/big

## System prompt

Be brief.

## Section (instruction: Rules)

Do.

## Section

More.

## Attachments

- a.py: The file (text, 2 bytes)
- b.png (image/png, 3 bytes)

## Tools (choice: greet)

- greet (local): Greets
  {"type": "object", "properties": {"name": {"type": "string", "description": "Whom"}}, "required": ["name"]}
- find (mcp, web): Finds
  {"type": "object"}
- ask_user (builtin)
  {"type": "object", "properties": {}, "required": []}
- not offered: gone: its server did not start

## Query, behind 4 earlier events

hi

Schema of the answer: {"type": "object"}

## Settings

- assistant.name = "Ada" (.jp/config.toml:3)
- assistant.instructions = [1] (a, --cfg b)

Nothing was sent and nothing was stored.
MCP servers were started: web.
"""

NOTHING = """\
# Request to test/big

## Query, behind 0 earlier events

hi

Nothing was sent and nothing was stored.
"""


@pytest.mark.parametrize(("explanation", "text"), [(FULL, EVERYTHING), (BARE, NOTHING)])
def test_an_explanation_as_text(explanation: Explanation, text: str) -> None:
    assert explained(read(QueryExplanation, explanation_to_wire(explanation), "explanation")) == text

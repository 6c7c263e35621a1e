"""What a query would send, as JSON: exactly this, and what the protocol promises."""

import pytest

from jp_lsp.protocol.explanation import QueryExplanation
from jp_lsp.protocol.reading import read
from jp_lsp.protocol.turn import QueryResult as WireResult
from jp_lsp.server import to_wire
from jp_lsp.server.explanation_to_wire import explanation_to_wire
from jp_lsp.turn.explanation import Explanation
from jp_lsp.turn.outcome import Outcome, QueryResult
from tests.support.explanations import BARE, FULL


def check(explanation: Explanation, expected: object) -> None:
    value = explanation_to_wire(explanation)
    assert value == expected
    kept = read(QueryExplanation, value, "explanation")
    assert kept.model_dump(mode="json", by_alias=True, exclude_unset=True) == expected


def test_an_explanation_with_everything() -> None:
    check(
        FULL,
        {
            "schemaVersion": 1,
            "systemPrompt": "Be brief.",
            "sections": [{"content": "Do.", "tag": "instruction", "title": "Rules"}, {"content": "More."}],
            "tools": [
                {
                    "name": "greet",
                    "source": "local",
                    "description": "Greets",
                    "parameters": {
                        "type": "object",
                        "properties": {"name": {"type": "string", "description": "Whom"}},
                        "required": ["name"],
                    },
                },
                {
                    "name": "find",
                    "source": "mcp",
                    "server": "web",
                    "description": "Finds",
                    "parameters": {"type": "object"},
                },
                {
                    "name": "ask_user",
                    "source": "builtin",
                    "parameters": {"type": "object", "properties": {}, "required": []},
                },
            ],
            "droppedTools": [{"name": "gone", "reason": "its server did not start"}],
            "attachments": [
                {"source": "a.py", "title": "The file", "size": 2},
                {"source": "b.png", "mediaType": "image/png", "size": 3},
            ],
            "request": {
                "model": "test/big",
                "text": "hi",
                "jsonSchema": '{"type": "object"}',
                "toolChoice": {"name": "greet"},
                "earlierEvents": 4,
            },
            "origins": [
                {
                    "key": "assistant.name",
                    "value": "Ada",
                    "places": [{"layer": "workspace", "name": ".jp/config.toml", "line": 3}],
                },
                {
                    "key": "assistant.instructions",
                    "value": [1],
                    "places": [
                        {"layer": "user_global", "name": "a"},
                        {"layer": "request", "name": "--cfg b"},
                    ],
                },
            ],
            "effects": ["MCP servers were started: web."],
        },
    )


def test_an_explanation_with_nothing() -> None:
    check(
        BARE,
        {
            "schemaVersion": 1,
            "sections": [],
            "tools": [],
            "droppedTools": [],
            "attachments": [],
            "request": {"model": "test/big", "text": "hi", "toolChoice": "auto", "earlierEvents": 0},
            "origins": [],
            "effects": [],
        },
    )


@pytest.mark.parametrize("explanation", [BARE, FULL, None])
def test_it_is_part_of_the_result(explanation: Explanation | None) -> None:
    value = to_wire.query_result(QueryResult(None, Outcome.COMPLETED, explanation=explanation), last_seq=0)
    assert ("explanation" in value) is (explanation is not None)
    assert read(WireResult, value, "jp/query").explanation is None or explanation is not None

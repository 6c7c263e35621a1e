"""Examples of asking, steering and being told: `jp/query`, the questions of a turn, and notifications."""

from collections.abc import Mapping
from types import MappingProxyType

from jp_lsp.protocol.export.example import CONVERSATION, Example

TURNS: Mapping[str, tuple[Example, ...]] = MappingProxyType(
    {
        "jp/query": (
            Example(
                "A question in the conversation that was used last",
                {"text": "What does `main` do?", "partialResultToken": "jp/1"},
                {
                    "conversation": CONVERSATION,
                    "outcome": "completed",
                    "turns": [
                        {"index": 3, "outcome": "completed", "cycles": 1, "eventsFrom": 12, "eventsTo": 15}
                    ],
                    "text": "It reads the arguments and starts the server.",
                    "usage": {"inputTokens": 1204, "outputTokens": 18},
                    "notices": [],
                    "persisted": True,
                    "lastSeq": 4,
                },
            ),
            Example(
                "What is written in a document, with another model than it says",
                {
                    "document": {"uri": "file:///home/user/project/ask.jp.md"},
                    "config": ["assistant.model.id=anthropic/claude-haiku-4-5"],
                },
                {
                    "conversation": CONVERSATION,
                    "outcome": "completed",
                    "turns": [
                        {"index": 1, "outcome": "completed", "cycles": 1, "eventsFrom": 0, "eventsTo": 3}
                    ],
                    "text": "It subtracts because of a slip.",
                    "usage": {"inputTokens": 310, "outputTokens": 9},
                    "notices": [],
                    "persisted": True,
                    "lastSeq": 9,
                },
            ),
            Example(
                "A value instead of text, in a new conversation, without asking the user anything",
                {
                    "text": "Which files hold tests?",
                    "conversation": "new",
                    "config": ["assistant.model.id=anthropic/claude-sonnet-4-5"],
                    "attachments": ["file:///home/user/project/README.md"],
                    "toolChoice": {"name": "list_files"},
                    "schema": '{"type": "array", "items": {"type": "string"}}',
                    "title": "Test files",
                    "interactive": False,
                },
                {
                    "conversation": CONVERSATION,
                    "outcome": "completed",
                    "turns": [
                        {"index": 1, "outcome": "completed", "cycles": 2, "eventsFrom": 0, "eventsTo": 6}
                    ],
                    "text": "",
                    "data": ["tests/test_main.py"],
                    "dataValid": True,
                    "notices": [],
                    "persisted": True,
                    "lastSeq": 9,
                },
            ),
            Example(
                "A turn that failed is a result, too; what had come is kept",
                {
                    "text": "Go on, please.",
                    "conversation": CONVERSATION,
                    "workDoneToken": 7,
                },
                {
                    "conversation": CONVERSATION,
                    "outcome": "failed",
                    "turns": [
                        {"index": 4, "outcome": "failed", "cycles": 1, "eventsFrom": 15, "eventsTo": 17}
                    ],
                    "text": "",
                    "error": {
                        "class": "rate_limit",
                        "message": "Rate limited: slow down",
                        "provider": "openai",
                        "status": 429,
                        "attempts": 6,
                        "chain": ["gave up after 6 attempts", "Rate limited (openai, HTTP 429)", "slow down"],
                    },
                    "notices": [],
                    "persisted": True,
                    "lastSeq": 2,
                },
            ),
        ),
        "jp/interrupt": (
            Example(
                "Open the menu of the turn",
                {"turn": "jp/1"},
                {"handled": "menu", "phase": "interrupted_stream"},
            ),
            Example(
                "Stop at once and reply",
                {"turn": "jp/1", "action": "reply", "text": "In one sentence, please."},
                {"handled": "action", "phase": "finishing"},
            ),
            Example(
                "An action that does not exist here",
                {"turn": "jp/1", "action": "restart"},
                {
                    "handled": "none",
                    "phase": "streaming",
                    "allowed": ["continue", "reply", "stop", "abort"],
                },
            ),
        ),
        "jp/answer": (
            Example("Approve a tool call", {"decisionId": "d3", "action": "run"}),
            Example(
                "Skip it, with a reason",
                {"decisionId": "d3", "action": "skip_with_reason", "text": "Not now."},
            ),
        ),
        "jp/turn/list": (
            Example(
                "One query runs and waits for an approval; another one was cut off by a crash",
                {},
                {
                    "active": [
                        {
                            "turn": "jp/1",
                            "conversation": CONVERSATION,
                            "phase": "executing",
                            "calls": [{"callId": "call_9", "name": "make", "state": "awaiting_run_mode"}],
                            "decisions": [
                                {
                                    "decisionId": "d3",
                                    "kind": "approval",
                                    "message": "Run local tool make?",
                                    "actions": [
                                        {"id": "skip", "title": "Skip"},
                                        {"id": "run", "title": "Run"},
                                    ],
                                    "callId": "call_9",
                                }
                            ],
                        }
                    ],
                    "unfinished": [
                        {
                            "conversation": "jp-c17912000000",
                            "index": 2,
                            "calls": [{"callId": "call_2", "name": "write_file", "state": "pending"}],
                            "inquiries": [{"inquiryId": "call_2.overwrite", "text": "Overwrite a.txt?"}],
                        }
                    ],
                },
            ),
        ),
        "jp/prompt": (
            Example(
                "An approval",
                {
                    "decisionId": "d3",
                    "kind": "approval",
                    "message": "Run local tool make?",
                    "actions": [{"id": "skip", "title": "Skip"}, {"id": "run", "title": "Run"}],
                    "callId": "call_9",
                },
                {"action": "run"},
            ),
            Example(
                "A document to edit",
                {
                    "decisionId": "d4",
                    "kind": "edit",
                    "message": "Edit the arguments of make",
                    "value": '{\n  "target": "all"\n}',
                    "language": "json",
                    "actions": [],
                    "callId": "call_9",
                },
                {"text": '{\n  "target": "docs"\n}'},
            ),
            Example(
                "A prompt that the user closed",
                {"decisionId": "d5", "kind": "text", "message": "Your reply", "actions": []},
                None,
            ),
        ),
        "jp/chunk": (
            Example(
                "The same body that `$/progress` would carry",
                {
                    "v": 1,
                    "seq": 4,
                    "turn": "jp/1",
                    "conversation": CONVERSATION,
                    "cycle": 1,
                    "class": "durable",
                    "md": "It reads the arguments and starts the server.",
                    "type": "text",
                    "region": "message",
                    "block": "paragraph",
                    "part": "whole",
                    "indent": 0,
                },
            ),
        ),
        "jp/notice": (
            Example(
                "A title could not be made",
                {
                    "level": "warning",
                    "code": "title_failed",
                    "text": "No title was made: the model 'test/small' is unknown.",
                    "conversation": CONVERSATION,
                },
            ),
        ),
        "jp/conversationChanged": (
            Example(
                "A title was made",
                {"conversation": CONVERSATION, "change": "updated", "title": "Test files"},
            ),
        ),
    }
)

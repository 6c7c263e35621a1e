"""Messages as they look on the wire, for the protocol page and for the tests.

Each method has at least one example, and so has each type of chunk. The tests read every example into its
model and compare what comes out with the example, so the page shows nothing that is not true.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

_CONVERSATION = "jp-c17912345678"

_SUMMARY: Mapping[str, Any] = {
    "conversation": _CONVERSATION,
    "title": "Test files",
    "createdAt": "2026-10-05T21:09:27.800Z",
    "lastActivatedAt": "2026-10-05T21:11:02.500Z",
    "labels": [],
    "archived": False,
    "local": False,
    "active": True,
    "busy": False,
}

_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Example:
    """One exchange; a notification has no `result`."""

    title: str
    params: Mapping[str, Any]
    result: Any = _ABSENT

    @property
    def has_result(self) -> bool:
        """Whether it is answered; the answer itself may be `None`."""
        return self.result is not _ABSENT


EXAMPLES: Mapping[str, tuple[Example, ...]] = MappingProxyType(
    {
        "jp/query": (
            Example(
                "A question in the conversation that was used last",
                {"text": "What does `main` do?", "partialResultToken": "jp/1"},
                {
                    "conversation": _CONVERSATION,
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
                    "conversation": _CONVERSATION,
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
                    "conversation": _CONVERSATION,
                    "workDoneToken": 7,
                },
                {
                    "conversation": _CONVERSATION,
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
                            "conversation": _CONVERSATION,
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
        "jp/conversation/list": (
            Example(
                "The latest two",
                {"limit": 2},
                {
                    "conversations": [
                        _SUMMARY,
                        {
                            **_SUMMARY,
                            "conversation": "jp-c17912000000",
                            "title": "Locks",
                            "createdAt": "2026-10-05T11:33:20Z",
                            "lastActivatedAt": "2026-10-05T11:40:00Z",
                            "pinnedAt": "2026-10-05T12:00:00Z",
                            "labels": [{"key": "area", "value": "storage"}, {"key": "wip", "value": ""}],
                            "active": False,
                            "busy": True,
                        },
                    ]
                },
            ),
            Example(
                "The archived ones with a label and a word in the title",
                {"archived": True, "labels": ["area=storage"], "title": "lock"},
                {"conversations": []},
            ),
        ),
        "jp/conversation/search": (
            Example(
                "In the results of tools, from the start of a line",
                {"pattern": "^fn main", "regex": True, "scopes": ["tool_result"], "limit": 100},
                {
                    "hits": [
                        {
                            "conversation": _CONVERSATION,
                            "title": "Test files",
                            "scope": "tool_result",
                            "turn": 1,
                            "event": 3,
                            "before": "",
                            "match": "fn main",
                            "after": "() {",
                            "count": 1,
                        }
                    ],
                    "found": 1,
                    "searched": 12,
                    "more": False,
                    "unreadable": [],
                },
            ),
        ),
        "jp/conversation/render": (
            Example(
                "The last turn, with its reasoning hidden",
                {
                    "conversation": _CONVERSATION,
                    "turns": {"last": 1},
                    "overlay": {"reasoning": "hidden"},
                    "partialResultToken": "jp/2",
                },
                {"turns": 1, "seq": 5, "notices": []},
            ),
            Example(
                "Without a token the text is in the result",
                {"conversation": _CONVERSATION, "turns": {"fromTurn": 3, "toTurn": 3}},
                {
                    "turns": 1,
                    "seq": 5,
                    "md": "## You\n\nWhat does `main` do?\n\n## Assistant\n\nIt reads the arguments and starts the server.\n",
                    "notices": [],
                },
            ),
        ),
        "jp/conversation/show": (
            Example(
                "Everything that is known of it",
                {"conversation": _CONVERSATION},
                {
                    **_SUMMARY,
                    "turns": 3,
                    "events": 15,
                    "lastEventAt": "2026-10-05T21:11:09.250Z",
                    "model": "anthropic/claude-sonnet-4-5",
                    "attachments": ["README.md"],
                    "compactions": [{"fromTurn": 1, "toTurn": 2, "summarized": True}],
                    "unfinished": False,
                    "folder": "file:///home/user/project/.jp/conversations/17912345678-test-files",
                },
            ),
        ),
        "jp/conversation/new": (
            Example(
                "With a persona that `jp/config/list` gave",
                {"config": ["personas/architect"], "title": "Test files"},
                _SUMMARY,
            ),
        ),
        "jp/conversation/use": (Example("Go on there", {"conversation": _CONVERSATION}, _SUMMARY),),
        "jp/conversation/fork": (
            Example(
                "Up to the end of its second turn",
                {"conversation": "jp-c17912000000", "firstTurns": 2, "title": "Test files", "use": True},
                _SUMMARY,
            ),
        ),
        "jp/conversation/title": (
            Example("A title", {"conversation": _CONVERSATION, "title": "Test files"}, _SUMMARY),
        ),
        "jp/conversation/labels": (
            Example(
                "One comes, one goes",
                {
                    "conversation": _CONVERSATION,
                    "add": [{"key": "area", "value": "tests"}],
                    "remove": ["wip"],
                },
                {**_SUMMARY, "labels": [{"key": "area", "value": "tests"}]},
            ),
        ),
        "jp/conversation/pin": (
            Example(
                "Pin it",
                {"conversation": _CONVERSATION, "pinned": True},
                {**_SUMMARY, "pinnedAt": "2026-10-05T21:12:00Z"},
            ),
        ),
        "jp/conversation/expiry": (
            Example(
                "May be removed from tomorrow on",
                {"conversation": _CONVERSATION, "expires": "1d"},
                {**_SUMMARY, "expiresAt": "2026-10-06T21:12:00Z"},
            ),
        ),
        "jp/conversation/archive": (
            Example(
                "Keep it, out of the way",
                {"conversation": _CONVERSATION},
                {**_SUMMARY, "archivedAt": "2026-10-05T21:12:00Z", "archived": True, "active": False},
            ),
        ),
        "jp/conversation/unarchive": (Example("Back again", {"conversation": _CONVERSATION}, _SUMMARY),),
        "jp/conversation/remove": (
            Example(
                "It is in two places, and so it is in two trashes",
                {"conversation": _CONVERSATION},
                {
                    "conversation": _CONVERSATION,
                    "trash": [
                        "file:///home/user/.local/share/jp/workspace/project-ab12c/conversations/.trash/"
                        "17912345678-test-files",
                        "file:///home/user/project/.jp/conversations/.trash/17912345678-test-files",
                    ],
                },
            ),
        ),
        "jp/conversation/move": (
            Example(
                "Out of the workspace",
                {"conversation": _CONVERSATION, "local": True},
                {**_SUMMARY, "local": True},
            ),
        ),
        "jp/conversation/export": (
            Example(
                "The last turn",
                {"conversation": _CONVERSATION, "turns": {"last": 1}},
                {"text": "# Test files\n\nHello.\n", "name": "17912345678-test-files.md", "turns": 1},
            ),
        ),
        "jp/conversation/edit": (
            Example(
                "Another question",
                {"conversation": _CONVERSATION, "turn": 2, "text": "And the tests?"},
                {
                    **_SUMMARY,
                    "copyUri": "file:///home/me/.local/share/jp/workspace/app-k3x9q/recovery/17912345678",
                },
            ),
        ),
        "jp/conversation/compact": (
            Example(
                "Results of tools are left out, but for the last two turns",
                {"conversation": _CONVERSATION, "toolCalls": "strip_responses", "keepLast": 2},
                {
                    "conversation": _CONVERSATION,
                    "compactions": [{"fromTurn": 1, "toTurn": 5, "summarized": False}],
                    "added": {"fromTurn": 1, "toTurn": 5, "summarized": False},
                },
            ),
        ),
        "jp/conversation/trash": (
            Example(
                "One was removed",
                {},
                {
                    "conversations": [
                        {
                            "conversation": _CONVERSATION,
                            "title": "Test files",
                            "removedAt": "2026-10-06T08:00:00Z",
                            "folders": [
                                "file:///home/me/app/.jp/conversations/.trash/17912345678-test-files"
                            ],
                        }
                    ]
                },
            ),
        ),
        "jp/conversation/restore": (
            Example("Taken back", {"conversation": _CONVERSATION}, {**_SUMMARY, "active": False}),
        ),
        "jp/model/list": (
            Example(
                "Two vendors are set up, and one of them does not answer",
                {},
                {
                    "models": [
                        {
                            "id": "anthropic/claude-sonnet-4-5",
                            "vendor": "anthropic",
                            "name": "claude-sonnet-4-5",
                            "displayName": "Claude Sonnet 4.5",
                            "contextWindow": 200000,
                            "maxOutputTokens": 64000,
                            "reasoning": "budget",
                            "structuredOutput": True,
                            "knowledgeCutoff": "2025-07-01",
                            "deprecated": False,
                            "aliases": ["sonnet"],
                            "effective": True,
                        }
                    ],
                    "aliases": [{"name": "sonnet", "model": "anthropic/claude-sonnet-4-5"}],
                    "effective": "anthropic/claude-sonnet-4-5",
                    "notices": [
                        {
                            "level": "warning",
                            "code": "models",
                            "text": "The models of lmstudio could not be listed: no answer within 5 seconds.",
                        }
                    ],
                },
            ),
        ),
        "jp/config/get": (
            Example(
                "One value, with an expression on top",
                {"key": "assistant.name", "config": ["assistant.name=Ada"]},
                {"value": "Ada", "problems": []},
            ),
        ),
        "jp/config/explain": (
            Example(
                "A file of the workspace wins over the user's own",
                {"key": "assistant.name"},
                {
                    "order": [
                        "user_global",
                        "workspace",
                        "cwd",
                        "user_workspace",
                        "conversation",
                        "environment",
                        "request",
                    ],
                    "settings": [
                        {
                            "key": "assistant.name",
                            "value": "Ada",
                            "place": {
                                "layer": "workspace",
                                "name": ".jp/config.toml",
                                "uri": "file:///home/user/project/.jp/config.toml",
                                "line": 4,
                            },
                            "contributions": [
                                {
                                    "place": {
                                        "layer": "user_global",
                                        "name": "/home/user/.config/jp/config.toml",
                                        "uri": "file:///home/user/.config/jp/config.toml",
                                        "line": 1,
                                    },
                                    "state": "shadowed",
                                    "value": "JP",
                                },
                                {
                                    "place": {
                                        "layer": "workspace",
                                        "name": ".jp/config.toml",
                                        "uri": "file:///home/user/project/.jp/config.toml",
                                        "line": 4,
                                    },
                                    "state": "wins",
                                    "value": "Ada",
                                },
                            ],
                            "items": [],
                            "notes": [],
                        }
                    ],
                    "problems": [],
                },
            ),
        ),
        "jp/config/list": (
            Example(
                "A persona of the workspace",
                {},
                {
                    "files": [
                        {
                            "name": "architect",
                            "expression": "architect",
                            "group": "personas",
                            "title": "Software Architect",
                            "description": "You are a principal software architect.",
                            "uris": ["file:///home/user/project/.jp/config/personas/architect.toml"],
                        }
                    ]
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
                    "conversation": _CONVERSATION,
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
                    "conversation": _CONVERSATION,
                },
            ),
        ),
        "jp/conversationChanged": (
            Example(
                "A title was made",
                {"conversation": _CONVERSATION, "change": "updated", "title": "Test files"},
            ),
        ),
    }
)
"""Examples by method."""

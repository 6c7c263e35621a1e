"""Examples of what is done to conversations: `jp/conversation/…`."""

from collections.abc import Mapping
from types import MappingProxyType

from jp_lsp.protocol.export.example import CONVERSATION, SUMMARY, Example

CONVERSATIONS: Mapping[str, tuple[Example, ...]] = MappingProxyType(
    {
        "jp/conversation/list": (
            Example(
                "The latest two",
                {"limit": 2},
                {
                    "conversations": [
                        SUMMARY,
                        {
                            **SUMMARY,
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
                            "conversation": CONVERSATION,
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
                    "conversation": CONVERSATION,
                    "turns": {"last": 1},
                    "overlay": {"reasoning": "hidden"},
                    "partialResultToken": "jp/2",
                },
                {"turns": 1, "seq": 5, "notices": []},
            ),
            Example(
                "Without a token the text is in the result",
                {"conversation": CONVERSATION, "turns": {"fromTurn": 3, "toTurn": 3}},
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
                {"conversation": CONVERSATION},
                {
                    **SUMMARY,
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
                SUMMARY,
            ),
        ),
        "jp/conversation/use": (Example("Go on there", {"conversation": CONVERSATION}, SUMMARY),),
        "jp/conversation/fork": (
            Example(
                "Up to the end of its second turn",
                {"conversation": "jp-c17912000000", "firstTurns": 2, "title": "Test files", "use": True},
                SUMMARY,
            ),
        ),
        "jp/conversation/title": (
            Example("A title", {"conversation": CONVERSATION, "title": "Test files"}, SUMMARY),
        ),
        "jp/conversation/labels": (
            Example(
                "One comes, one goes",
                {
                    "conversation": CONVERSATION,
                    "add": [{"key": "area", "value": "tests"}],
                    "remove": ["wip"],
                },
                {**SUMMARY, "labels": [{"key": "area", "value": "tests"}]},
            ),
        ),
        "jp/conversation/pin": (
            Example(
                "Pin it",
                {"conversation": CONVERSATION, "pinned": True},
                {**SUMMARY, "pinnedAt": "2026-10-05T21:12:00Z"},
            ),
        ),
        "jp/conversation/expiry": (
            Example(
                "May be removed from tomorrow on",
                {"conversation": CONVERSATION, "expires": "1d"},
                {**SUMMARY, "expiresAt": "2026-10-06T21:12:00Z"},
            ),
        ),
        "jp/conversation/archive": (
            Example(
                "Keep it, out of the way",
                {"conversation": CONVERSATION},
                {**SUMMARY, "archivedAt": "2026-10-05T21:12:00Z", "archived": True, "active": False},
            ),
        ),
        "jp/conversation/unarchive": (Example("Back again", {"conversation": CONVERSATION}, SUMMARY),),
        "jp/conversation/remove": (
            Example(
                "It is in two places, and so it is in two trashes",
                {"conversation": CONVERSATION},
                {
                    "conversation": CONVERSATION,
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
                {"conversation": CONVERSATION, "local": True},
                {**SUMMARY, "local": True},
            ),
        ),
        "jp/conversation/export": (
            Example(
                "The last turn",
                {"conversation": CONVERSATION, "turns": {"last": 1}},
                {"text": "# Test files\n\nHello.\n", "name": "17912345678-test-files.md", "turns": 1},
            ),
        ),
        "jp/conversation/edit": (
            Example(
                "Another question",
                {"conversation": CONVERSATION, "turn": 2, "text": "And the tests?"},
                {
                    **SUMMARY,
                    "copyUri": "file:///home/me/.local/share/jp/workspace/app-k3x9q/recovery/17912345678",
                },
            ),
        ),
        "jp/conversation/replay": (
            Example(
                "The last question again, in other words",
                {"conversation": CONVERSATION, "text": "What does `main` do, in a sentence?"},
                {
                    "conversation": CONVERSATION,
                    "outcome": "completed",
                    "turns": [
                        {"index": 3, "outcome": "completed", "cycles": 1, "eventsFrom": 12, "eventsTo": 15}
                    ],
                    "text": "It starts the server.",
                    "notices": [],
                    "persisted": True,
                    "lastSeq": 4,
                },
            ),
        ),
        "jp/conversation/compact": (
            Example(
                "A model sums up all turns but the last two",
                {
                    "conversation": CONVERSATION,
                    "summarize": {"model": "anthropic/claude-haiku-4-5"},
                    "keepLast": 2,
                    "workDoneToken": 9,
                },
                {
                    "conversation": CONVERSATION,
                    "compactions": [{"fromTurn": 1, "toTurn": 5, "summarized": True}],
                    "added": [{"fromTurn": 1, "toTurn": 5, "summarized": True}],
                },
            ),
            Example(
                "Results of tools are left out, but for the last two turns",
                {"conversation": CONVERSATION, "toolCalls": "strip_responses", "keepLast": 2},
                {
                    "conversation": CONVERSATION,
                    "compactions": [{"fromTurn": 1, "toTurn": 5, "summarized": False}],
                    "added": [{"fromTurn": 1, "toTurn": 5, "summarized": False}],
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
                            "conversation": CONVERSATION,
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
            Example("Taken back", {"conversation": CONVERSATION}, {**SUMMARY, "active": False}),
        ),
    }
)

"""Examples of models and settings: `jp/model/…` and `jp/config/…`."""

from collections.abc import Mapping
from types import MappingProxyType

from jp_lsp.protocol.export.example import Example

SETTINGS: Mapping[str, tuple[Example, ...]] = MappingProxyType(
    {
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
        "jp/config/set": (
            Example(
                "A key of the workspace's file, which the environment has more to say about",
                {
                    "target": "workspace",
                    "set": [{"key": "assistant.name", "value": "Ada"}],
                    "unset": ["assistant.tool_choice"],
                },
                {
                    "name": ".jp/config.toml",
                    "uri": "file:///home/user/project/.jp/config.toml",
                    "written": "file",
                    "settings": [
                        {
                            "key": "assistant.name",
                            "value": "Bo",
                            "place": {"layer": "environment", "name": "JP_CFG_ASSISTANT_NAME"},
                            "state": "shadowed",
                            "own": "Ada",
                        },
                        {
                            "key": "assistant.tool_choice",
                            "value": "auto",
                            "place": {"layer": "defaults", "name": "the program's defaults"},
                            "state": "not set",
                        },
                    ],
                    "questions": [],
                    "problems": [],
                },
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
    }
)

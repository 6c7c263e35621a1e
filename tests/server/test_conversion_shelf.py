"""Conversations, settings and models become JSON that the protocol's models accept, with every field in its place."""

from datetime import date
from pathlib import Path

import pytest
from pydantic import BaseModel

from jp_lsp.config.explanation import Contribution, Explanation, Item
from jp_lsp.config.layer import Origin
from jp_lsp.config.named_list import NamedConfiguration
from jp_lsp.config.problem import Problem
from jp_lsp.conversation.directive import Compaction
from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.driver.describing import Content, Description
from jp_lsp.driver.model_catalogue import ModelListing
from jp_lsp.ports.provider import (
    Adaptive,
    Budgetted,
    Leveled,
    ModelDetails,
    ModelId,
    ReasoningSupport,
    Unsupported,
)
from jp_lsp.ports.upkeep import ConversationFacts
from jp_lsp.protocol.configuration import ConfigExplainResult, ConfigGetResult, ConfigListResult
from jp_lsp.protocol.conversation import ConversationSummary
from jp_lsp.protocol.model import ModelListResult
from jp_lsp.protocol.reading import read
from jp_lsp.protocol.upkeep import ConversationShowResult
from jp_lsp.server.config_to_wire import config_explanations, config_values, named_configurations
from jp_lsp.server.conversation_to_wire import (
    ListedConversations,
    conversation_description,
    conversation_summary,
)
from jp_lsp.server.model_to_wire import model_listing
from jp_lsp.turn.outcome import Notice

ID = ConversationId("jp-c17912345678")
AT = Timestamp.parse("2026-10-05 21:11:00.5")
BARE = ConversationFacts(ID, "projected", is_archived=False)


def check(value: JsonValue, expected: JsonValue, promised: type[BaseModel]) -> None:
    """The JSON is exactly this, keeps the promise, and has nothing that the promise does not know."""
    assert value == expected
    kept = read(promised, value, promised.__name__)
    assert kept.model_dump(mode="json", by_alias=True, exclude_unset=True) == expected


def test_what_is_listed_again_is_made_again_only_where_it_changed() -> None:
    listed = ListedConversations()
    first = listed.summary(BARE, is_active=False, is_busy=False)
    assert first == conversation_summary(BARE, is_active=False, is_busy=False)
    assert listed.summary(BARE, is_active=False, is_busy=False) is first
    assert listed.summary(BARE, is_active=True, is_busy=False)["active"] is True
    assert listed.summary(BARE, is_active=True, is_busy=True)["busy"] is True
    renamed = ConversationFacts(ID, "projected", is_archived=False, title="T")
    assert listed.summary(renamed, is_active=True, is_busy=True)["title"] == "T"


def test_a_conversation_with_everything() -> None:
    facts = ConversationFacts(
        ID,
        "user_local",
        is_archived=True,
        title="A\x1b[0m title",
        last_activated_at=AT,
        pinned_at=AT,
        archived_at=AT,
        expires_at=AT,
        labels={"area": ("auth", "ui"), "wip": ("",)},
        problem=None,
    )
    check(
        conversation_summary(facts, is_active=True, is_busy=True),
        {
            "conversation": "jp-c17912345678",
            "title": "A title",
            "createdAt": "2026-10-05T21:09:27.800Z",
            "lastActivatedAt": "2026-10-05T21:11:00.500Z",
            "pinnedAt": "2026-10-05T21:11:00.500Z",
            "archivedAt": "2026-10-05T21:11:00.500Z",
            "expiresAt": "2026-10-05T21:11:00.500Z",
            "labels": [
                {"key": "area", "value": "auth"},
                {"key": "area", "value": "ui"},
                {"key": "wip", "value": ""},
            ],
            "archived": True,
            "local": True,
            "active": True,
            "busy": True,
        },
        ConversationSummary,
    )


def test_a_conversation_of_which_only_the_place_is_known() -> None:
    facts = ConversationFacts(ID, "external", is_archived=False, problem="metadata.json is missing")
    check(
        conversation_summary(facts, is_active=False, is_busy=False),
        {
            "conversation": "jp-c17912345678",
            "createdAt": "2026-10-05T21:09:27.800Z",
            "lastActivatedAt": "2026-10-05T21:09:27.800Z",
            "labels": [],
            "archived": False,
            "local": False,
            "active": False,
            "busy": False,
            "problem": "metadata.json is missing",
        },
        ConversationSummary,
    )


def test_a_description_counts_turns_from_one_and_one_of_a_damaged_conversation_says_why() -> None:
    content = Content(
        3,
        9,
        AT,
        (Compaction(AT, 0, 1, summary="short"), Compaction(AT, 1, 1)),
        is_unfinished=True,
        model=ModelId("test", "big"),
        attachments=("a.txt",),
    )
    summary = conversation_summary(BARE, is_active=False, is_busy=False)
    check(
        conversation_description(
            Description(BARE, content, None, "half a thought", "file:///f"), is_active=False, is_busy=False
        ),
        {
            **summary,
            "turns": 3,
            "events": 9,
            "lastEventAt": "2026-10-05T21:11:00.500Z",
            "model": "test/big",
            "attachments": ["a.txt"],
            "compactions": [
                {"fromTurn": 1, "toTurn": 2, "summarized": True},
                {"fromTurn": 2, "toTurn": 2, "summarized": False},
            ],
            "unfinished": True,
            "draft": "half a thought",
            "folder": "file:///f",
        },
        ConversationShowResult,
    )
    check(
        conversation_description(
            Description(BARE, None, "events.json is missing", None, None), is_active=False, is_busy=False
        ),
        {**summary, "unreadable": "events.json is missing"},
        ConversationShowResult,
    )


FILE = Origin("workspace", ".jp/config.toml", Path("/w/.jp/config.toml"), 4)
PLACE = {"layer": "workspace", "name": ".jp/config.toml", "uri": "file:///w/.jp/config.toml", "line": 4}


def test_an_explanation_with_everything() -> None:
    silent = Origin("environment", "environment")
    explanation = Explanation(
        "a.b",
        ["x"],
        FILE,
        (
            Contribution(silent, "not found"),
            Contribution(FILE, "adds", ["x"], "because"),
        ),
        ("workspace", "environment"),
        (Item("x", FILE, is_duplicate=True),),
        ("a\x1b[0m note",),
        ["y"],
    )
    check(
        config_explanations([explanation], ("workspace",), [Problem("", "odd", None, "hint")]),
        {
            "order": ["workspace"],
            "settings": [
                {
                    "key": "a.b",
                    "value": ["x"],
                    "place": PLACE,
                    "contributions": [
                        {
                            "place": {"layer": "environment", "name": "environment"},
                            "state": "not found",
                        },
                        {"place": PLACE, "state": "adds", "value": ["x"], "reason": "because"},
                    ],
                    "items": [{"value": "x", "place": PLACE, "duplicate": True}],
                    "notes": ["a note"],
                    "withoutConversation": ["y"],
                }
            ],
            "problems": [{"severity": "hint", "text": "odd"}],
        },
        ConfigExplainResult,
    )


def test_values_come_with_what_is_wrong() -> None:
    check(
        config_values(False, [Problem("a.b", "wrong", FILE)]),
        {"value": False, "problems": [{"severity": "error", "text": "wrong", "key": "a.b", "place": PLACE}]},
        ConfigGetResult,
    )
    check(config_values(None, []), {"problems": []}, ConfigGetResult)


def test_named_files() -> None:
    paths = (Path("/u/config/roles/dev.toml"), Path("/w/cfg/roles/dev.toml"))
    check(
        named_configurations(
            [NamedConfiguration("dev", "dev", "Developer", "Writes\ncode.", paths, "is broken")]
        ),
        {
            "files": [
                {
                    "name": "dev",
                    "expression": "dev",
                    "group": "roles",
                    "title": "Developer",
                    "description": "Writes code.",
                    "uris": ["file:///u/config/roles/dev.toml", "file:///w/cfg/roles/dev.toml"],
                    "problem": "is broken",
                }
            ]
        },
        ConfigListResult,
    )


@pytest.mark.parametrize(
    ("support", "word"),
    [
        (Unsupported(), "none"),
        (Budgetted(can_disable=True, min_tokens=1), "budget"),
        (Leveled(can_disable=True, levels=frozenset({"low"})), "levels"),
        (Adaptive(can_disable=True, xhigh=False, max=False), "adaptive"),
    ],
)
def test_models(support: ReasoningSupport, word: str) -> None:
    big, small = ModelId("test", "big"), ModelId("test", "small")
    listing = ModelListing(
        (
            ModelDetails(
                big,
                display_name="Big",
                context_window=1000,
                max_output_tokens=100,
                reasoning=support,
                knowledge_cutoff=date(2026, 1, 1),
                deprecated=False,
                structured_output=True,
            ),
            ModelDetails(small),
        ),
        small,
        {"b": big, "a": big},
        (Notice("warning", "models", "one is missing"),),
    )
    check(
        model_listing(listing),
        {
            "models": [
                {
                    "id": "test/big",
                    "vendor": "test",
                    "name": "big",
                    "displayName": "Big",
                    "contextWindow": 1000,
                    "maxOutputTokens": 100,
                    "reasoning": word,
                    "structuredOutput": True,
                    "knowledgeCutoff": "2026-01-01",
                    "deprecated": False,
                    "aliases": ["a", "b"],
                    "effective": False,
                },
                {"id": "test/small", "vendor": "test", "name": "small", "aliases": [], "effective": True},
            ],
            "aliases": [{"name": "a", "model": "test/big"}, {"name": "b", "model": "test/big"}],
            "effective": "test/small",
            "notices": [{"level": "warning", "code": "models", "text": "one is missing"}],
        },
        ModelListResult,
    )

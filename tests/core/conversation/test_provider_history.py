"""Whose metadata an event carries: the provider configured before it."""

import pytest

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.conversation.provider_history import ProviderHistory
from jp_lsp.conversation.thread import build_thread
from tests.support.streams import Raw, at, delta, message, raw, stream_of, turn, user


def model(id: JsonValue, **aliases: JsonValue) -> Raw:
    return {"assistant": {"model": {"id": id}}, "providers": {"llm": {"aliases": aliases}}}


def change(**fields: JsonValue) -> Raw:
    return {"type": "config_delta", "timestamp": str(at(0)), **fields}


@pytest.mark.parametrize(
    ("base", "changes", "provider"),
    [
        ({}, [], None),
        (model({"provider": "google", "name": "g"}), [], "google"),
        (model("openrouter/a/b"), [], "openrouter"),
        (model("fast", fast="anthropic/x"), [], "anthropic"),
        (model("fast", fast="quick", quick={"provider": "xai", "name": "x"}), [], "xai"),
        (model("fast", fast="fast"), [], None),
        (model("fast"), [], None),
        (model(7), [], None),
        ({"assistant": "broken", "providers": []}, [], None),
        (model("a/b"), [change(delta=model("c/d"))], "c"),
        (model("a/b"), [change(delta={"assistant": {"name": "x"}})], "a"),
        (model("a/b"), [change(delta=model({"name": "d"}))], "a"),
        (model("fast", fast="a/b"), [change(delta=model({"provider": "c"}))], "c"),
        (model("fast", fast="a/b"), [change(delta=model(None, fast="c/d"))], "c"),
        (model("a/b"), [change(delta={}, unsets=["assistant.model"])], None),
        (model("a/b"), [change(delta=model("c/d"), unsets=["assistant"])], "c"),
        (model("f", f="a/b"), [change(delta={}, unsets=["providers.llm.aliases.f"])], None),
        (model("f", f="a/b"), [change(delta={}, unsets=["providers"])], None),
        (model("v1.5", **{"v1.5": "a/b"}), [change(delta={}, unsets=["providers.llm.aliases.v1.5"])], None),
        (model("a/b"), [change(op="reset")], None),
        (model("a/b"), [change(op="reset"), change(delta=model("c/d"))], "c"),
    ],
)
def test_the_provider_after_changes(base: Raw, changes: list[Raw], provider: str | None) -> None:
    stream = stream_of(*changes, base=base)
    assert ProviderHistory(stream).at(len(stream)) == provider


def test_each_event_has_the_provider_before_it() -> None:
    summary = raw("compaction", 9, from_turn=1, to_turn=1, summary={"summary": "S"})
    stream = stream_of(
        turn(),
        user("u"),
        message("m"),
        delta(1, **model("google/g")),
        turn(),
        user("v"),
        delta(2, **model("openai/o")),
        turn(),
        user("w"),
        summary,
        base=model("anthropic/a"),
    )
    assert [event.provider for event in build_thread(stream).events] == [
        "anthropic",
        "anthropic",
        "google",
        "google",
        "openai",
    ]

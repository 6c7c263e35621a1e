"""`conversation.attachments`, and what a query adds to it."""

from typing import Any

import pytest

from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.attachment import AttachmentEntry

TABLE = '{"type": "cmd", "path": "git log", "params": {"arg": ["-1", "-2"], "description": "d"}}'


def test_both_spellings_become_entries(world: Any) -> None:
    world.workspace(
        "conversation.attachments = ['file:a?exclude', 'MCP+Notes+memo://x', "
        "{ type = 'cmd', path = 'git log', params = { arg = ['-1', '-2'], description = 'd' } }, "
        "{ type = 'file', path = 'b' }]"
    )
    entries = world.settings().resolve((), None).attachments
    assert entries == (
        AttachmentEntry("file:a?exclude", "file", "a?exclude"),
        AttachmentEntry("MCP+Notes+memo://x", "MCP+Notes+memo", "//x"),
        AttachmentEntry(TABLE, "cmd", "git log", {"arg": ("-1", "-2"), "description": ("d",)}),
        AttachmentEntry('{"type": "file", "path": "b"}', "file", "b", {}),
    )
    assert [(entry.handler, entry.server) for entry in entries] == [
        ("file", None),
        ("mcp", "Notes"),
        ("cmd", None),
        ("file", None),
    ]


def test_what_a_query_attaches_is_stored_once(world: Any) -> None:
    world.workspace("conversation.attachments = ['file:a']")
    settings = world.settings()
    first = settings.resolve((), None, ("file:b", "file:a"))
    assert [entry.text for entry in first.attachments] == ["file:a", "file:b"]
    stream = ConversationStream.new(Timestamp(0), first.partial)
    again = settings.resolve((), stream, ("file:b",))
    assert again.attachments == first.attachments
    assert settings.delta(stream, again) is None
    more = settings.resolve((), stream, ("file:c",))
    assert [entry.text for entry in more.attachments] == ["file:a", "file:b", "file:c"]
    assert "file:c" in str(settings.delta(stream, more))


@pytest.mark.requirement("T15", "R306")
def test_a_command_that_the_query_names_needs_no_trust_until_the_conversation_names_it(world: Any) -> None:
    settings = world.settings()
    asked = settings.resolve((), None, ("cmd:git log",))
    assert asked.untrusted == ()
    stream = ConversationStream.new(Timestamp(0), asked.partial)
    assert [item.name for item in settings.resolve((), stream).untrusted] == ["cmd:git log"]
    assert settings.resolve((), stream, ("cmd:git log",)).untrusted == ()
